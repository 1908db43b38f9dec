//! What was made from a document and goes with it: vectors, summaries, traces, answers that are kept,
//! memories and the results of skills.
//!
//! Owns the list of it for one document that is deleted by itself; a forget of a whole thread or user removes
//! most of it by its prefix. `docs/security.md` has the table.

use std::collections::BTreeSet;

use novelo_engine::loaded::summary_path;
use novelo_engine::path::{CollectionPath, DocumentPath, Prefix};
use novelo_engine::scope::{self, THREADS, TURNS, USERS};
use novelo_store::{Cursor, Document, Op, Range, Window};
use serde::Deserialize;

use crate::error::{Code, Error, Result};
use crate::remember::UserMemory;
use crate::remember::{place, results, summary};
use crate::search::{DOCUMENTS, MEMORIES, PASSAGES, vectors};
use crate::thread::compaction;
use crate::trace::TRACES;

const PAGE: usize = 1_000;

/// A document that can be forgotten by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject<'p> {
    Turn { user: &'p str, thread: &'p str },
    Memory { user: &'p str },
    Document { user: &'p str, id: &'p str },
    Passage { user: &'p str },
}

impl<'p> Subject<'p> {
    /// What a path names; `None` for a document from which nothing is made.
    pub fn of(at: &'p DocumentPath) -> Option<Self> {
        let segments: Vec<&str> = at.segments().iter().map(|segment| &**segment).collect();
        match *segments.as_slice() {
            [USERS, user, THREADS, thread, TURNS, _] => Some(Self::Turn { user, thread }),
            [USERS, user, MEMORIES, _] => Some(Self::Memory { user }),
            [USERS, user, DOCUMENTS, id] => Some(Self::Document { user, id }),
            [USERS, user, DOCUMENTS, _, PASSAGES, _] => Some(Self::Passage { user }),
            _ => None,
        }
    }

    pub fn user(self) -> &'p str {
        match self {
            Self::Turn { user, .. } | Self::Memory { user } | Self::Document { user, .. } | Self::Passage { user } => {
                user
            }
        }
    }
}

/// What goes with a document: the operations, and the places that are recorded as forgotten.
#[derive(Debug, Default)]
pub(crate) struct Derived {
    pub ops: Vec<Op>,
    pub places: Vec<Prefix>,
}

impl Derived {
    fn delete(&mut self, at: DocumentPath) {
        self.places.push(at.prefix());
        self.ops.push(Op::Delete { at, if_version: None });
    }

    /// Takes in what goes with one more document; each place is changed once.
    pub fn add(&mut self, more: Self) {
        let place = |op: &Op| match op {
            Op::Delete { at, .. } | Op::Put { at, .. } => Some(at.clone()),
            _ => None,
        };
        let known: BTreeSet<DocumentPath> = self.ops.iter().filter_map(place).collect();
        self.ops.extend(more.ops.into_iter().filter(|op| place(op).is_none_or(|at| !known.contains(&at))));
        self.places.extend(more.places);
    }

    /// A passage, and its vector.
    fn delete_passage(&mut self, of: &CollectionPath, id: &str, seq: u64) -> Result<()> {
        self.delete(of.document(id).map_err(bad_id)?);
        vectors::path(of, seq).into_iter().for_each(|at| self.delete(at));
        Ok(())
    }

    /// What was made from a document that is about to go.
    pub async fn of(app: &UserMemory, at: &DocumentPath, subject: Subject<'_>, document: &Document) -> Result<Self> {
        let mut derived = Self::default();
        vectors::path(&at.collection(), document.seq).into_iter().for_each(|at| derived.delete(at));
        match subject {
            Subject::Turn { user, thread } => derived.of_turn(app, user, thread, document).await?,
            Subject::Document { user, id } => derived.passages(app, &place::passages(user, id)?).await?,
            Subject::Memory { .. } | Subject::Passage { .. } => {}
        }
        derived.skill_results(app, subject.user()).await?;
        Ok(derived)
    }

    async fn of_turn(&mut self, app: &UserMemory, user: &str, thread: &str, turn: &Document) -> Result<()> {
        let at = scope::thread(user, thread).map_err(bad_id)?;
        let traces = at.child(TRACES).map_err(bad_id)?;
        self.all_of(app, &traces).await?;
        self.all_of(app, &at.child("answered").map_err(bad_id)?).await?;
        self.delete(at.child("references").and_then(|of| of.document("last")).map_err(bad_id)?);
        if let Some(op) = summary::without(app, user, thread, turn.seq).await? {
            self.places.push(summary_path(user, thread).map_err(bad_id)?.prefix());
            self.ops.push(op);
        }
        for op in compaction::without(app, user, thread, turn.seq, &turn.id).await? {
            if let Op::Delete { at, .. } | Op::Put { at, .. } = &op {
                self.places.push(at.prefix());
            }
            self.ops.push(op);
        }
        self.memories_of(app, user, thread, Some(&turn.id)).await
    }

    /// Every document of a collection, recorded as one place.
    async fn all_of(&mut self, app: &UserMemory, of: &CollectionPath) -> Result<()> {
        self.places.push(of.prefix());
        let mut window = Window { limit: PAGE, ..Window::default() };
        loop {
            let page = app.store.scan(of, window).await?;
            for document in &page.items {
                self.ops.push(Op::Delete { at: of.document(&document.id).map_err(bad_id)?, if_version: None });
            }
            let Some(last) = page.items.last().filter(|_| page.has_more) else { return Ok(()) };
            window.after = Some(Cursor { create_time: last.create_time, seq: last.seq });
        }
    }

    async fn passages(&mut self, app: &UserMemory, of: &CollectionPath) -> Result<()> {
        let mut seq = 0;
        loop {
            let turns = app.store.turns(of, Range::After { seq, limit: PAGE }).await?;
            for turn in turns.iter() {
                self.delete_passage(of, &turn.id, turn.seq)?;
                seq = turn.seq;
            }
            if !turns.has_more {
                return Ok(());
            }
        }
    }

    /// The memories that were made from a thread, or from one turn of it.
    pub(crate) async fn memories_of(
        &mut self,
        app: &UserMemory,
        user: &str,
        thread: &str,
        turn: Option<&str>,
    ) -> Result<()> {
        let of = place::memories(user)?;
        let mut seq = 0;
        loop {
            let turns = app.store.turns(&of, Range::After { seq, limit: PAGE }).await?;
            for memory in turns.iter() {
                if Origin::of(memory.message.raw()).is_some_and(|origin| origin.is(thread, turn)) {
                    self.delete_passage(&of, &memory.id, memory.seq)?;
                }
                seq = memory.seq;
            }
            if !turns.has_more {
                return Ok(());
            }
        }
    }

    /// What skills answered while tasks were worked on: it may quote anything of the user.
    pub(crate) async fn skill_results(&mut self, app: &UserMemory, user: &str) -> Result<()> {
        for at in results::of_skills(app, user).await? {
            self.delete(at);
        }
        Ok(())
    }
}

/// What a memory says of where it comes from: those that guided answers keep do.
#[derive(Deserialize)]
struct Origin {
    #[serde(rename = "origem")]
    by: String,
    #[serde(rename = "sessao")]
    thread: String,
    #[serde(rename = "turno")]
    turn: Option<String>,
}

impl Origin {
    fn of(memory: &[u8]) -> Option<Self> {
        #[derive(Deserialize)]
        struct MemoryMeta {
            meta: Origin,
        }
        serde_json::from_slice::<MemoryMeta>(memory).ok().map(|kept| kept.meta)
    }

    fn is(&self, thread: &str, turn: Option<&str>) -> bool {
        self.by == "ask-eco" && self.thread == thread && (turn.is_none() || self.turn.as_deref() == turn)
    }
}

fn bad_id(error: novelo_engine::path::PathError) -> Error {
    Error::new(Code::Internal, error.to_string())
}
