//! Memories: texts that a user's later conversations may use.
//!
//! Owns `memories/{id}`: `{text, meta?}`, appended. The same id with the same text and meta is the first
//! answer again.

use novelo_engine::Turn;
use novelo_engine::path::DocumentPath;
use novelo_store::{AppendTerms, NewDocument, NewId, Op, Outcome, Range};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{check, place, reset};
use crate::error::{Code, Error, Result};
use crate::ids;
use crate::remember::UserMemory;
use crate::remember::forget::{self, Forgotten};
use crate::search::RecallSource;
use crate::search::levels::{Level, Levels};
use crate::telemetry::now;

/// A memory to keep.
#[derive(Debug, Clone, Copy)]
pub struct NewMemory<'m> {
    /// The id; one is made without it.
    pub id: Option<&'m str>,
    /// What is to be remembered.
    pub text: &'m str,
    /// What is stored with it.
    pub meta: Option<&'m RawValue>,
}

/// A memory as its document is.
#[derive(Serialize, Deserialize)]
pub(crate) struct StoredMemory<'m> {
    pub text: String,
    #[serde(borrow, skip_serializing_if = "Option::is_none", default)]
    pub meta: Option<&'m RawValue>,
}

/// A memory as it is listed.
#[derive(Debug, Serialize)]
pub struct Memory {
    /// The id.
    pub id: Box<str>,
    /// What is remembered.
    pub text: String,
    /// How long ago it was stored, in levels.
    pub level: Level,
    /// What is stored with it.
    pub meta: Option<Box<RawValue>>,
    /// When it was stored, in seconds since 1970.
    pub create_time: f64,
}

/// A page of memories.
#[derive(Debug, Serialize)]
pub struct MemoryPage {
    /// The memories.
    pub memories: Vec<Memory>,
    /// Whether more follow.
    pub has_more: bool,
}

/// Keeps a memory; its id.
pub async fn add(app: &UserMemory, user: &str, new: NewMemory<'_>) -> Result<Box<str>> {
    add_of(app, user, new, None).await
}

/// The same of one that was made from a document of the user; where that is gone it is `not_found`.
pub(crate) async fn add_of(
    app: &UserMemory,
    user: &str,
    new: NewMemory<'_>,
    of: Option<DocumentPath>,
) -> Result<Box<str>> {
    check::text("text", new.text, check::MEMORY)?;
    check::meta(new.meta)?;
    let to = place::memories(user)?;
    let id = match new.id {
        Some(id) => {
            place::at(&to, "id", id)?;
            NewId::Given(id.into())
        }
        None => NewId::Fresh(ids::fresh_text().into()),
    };
    let stored = StoredMemory { text: new.text.to_owned(), meta: new.meta };
    let value = serde_json::to_vec(&stored).map_err(|e| Error::new(Code::Internal, e.to_string()))?;
    let document = NewDocument { id, create_time: now(), value: value.into(), expires_at: None };
    let append = Op::Append { to, documents: vec![document], terms: AppendTerms::default() };
    let outcomes = app.store.write(of.map(|at| Op::Expect { at }).into_iter().chain([append]).collect()).await?;
    app.indexes.touched(user, RecallSource::Memories);
    let Some(Outcome::Appended(stamps)) = outcomes.into_iter().next_back() else { return Err(unnamed()) };
    stamps.into_iter().next().map(|stamp| stamp.id).ok_or_else(unnamed)
}

fn unnamed() -> Error {
    Error::new(Code::Internal, "a memory was given no id")
}

/// Memories in the order in which they came, from the one after `after` on.
pub async fn list(app: &UserMemory, user: &str, after: Option<&str>, limit: usize) -> Result<MemoryPage> {
    let of = place::memories(user)?;
    let seq = match after {
        Some(id) => {
            let last = app.store.get(&place::at(&of, "after", id)?).await?;
            last.ok_or_else(|| Error::invalid("after", "names no memory"))?.seq
        }
        None => 0,
    };
    let ages = Ages::of(app, user).await?;
    let turns = app.store.turns(&of, Range::After { seq, limit }).await?;
    let memories = turns.iter().filter_map(|turn| memory(turn, &ages)).collect();
    Ok(MemoryPage { memories, has_more: turns.has_more })
}

/// Deletes a memory with all that was made from it. Whether there was such a memory.
pub async fn remove(app: &UserMemory, user: &str, id: &str) -> Result<bool> {
    let at = place::at(&place::memories(user)?, "id", id)?;
    let done = forget::write(app, vec![Op::Delete { at, if_version: None }]).await?;
    Ok(done.first() == Some(&Outcome::Deleted(true)))
}

/// Forgets all memories of a user, with their vectors.
pub async fn forget_all(app: &UserMemory, user: &str) -> Result<Forgotten> {
    reset::reset(app, user, None, reset::Scope::Vector).await
}

fn memory(turn: &Turn, ages: &Ages) -> Option<Memory> {
    let stored: StoredMemory<'_> = serde_json::from_slice(turn.message.raw()).ok()?;
    Some(Memory {
        id: turn.id.clone(),
        text: stored.text,
        level: ages.level(turn.seq),
        meta: stored.meta.map(RawValue::to_owned),
        create_time: turn.create_time,
    })
}

/// How many memories are newer than each, as far as a level asks for it.
pub(crate) struct Ages {
    levels: Levels,
    /// The seqs of the newest memories, newest first.
    newest: Vec<u64>,
}

impl Ages {
    pub async fn of(app: &UserMemory, user: &str) -> Result<Self> {
        let levels = Levels::of(&app.settings);
        let newest = app.store.turns(&place::memories(user)?, Range::Last(levels.bounded_max())).await?;
        Ok(Self { levels, newest: newest.iter().rev().map(|turn| turn.seq).collect() })
    }

    pub fn level(&self, seq: u64) -> Level {
        self.levels.level(self.newest.partition_point(|newer| *newer > seq))
    }
}
