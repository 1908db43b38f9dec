//! Memories: texts that a user's later conversations may use.
//!
//! Owns `memories/{id}`, appended: `text` and `meta`, and what `validity` reads: when it is true, where it is
//! from, what it replaces. The same id with the same members is the first answer again.

use std::sync::Arc;

use novelo_engine::Turn;
use novelo_engine::path::DocumentPath;
use novelo_language::claims::Replacement;
use novelo_store::{AppendTerms, Error as StoreError, NewDocument, NewId, Op, Outcome, PutTerms, Range};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{TRIES_MAX, check, place, reset, supersede};
use crate::error::{Code, Error, Result};
use crate::ids;
use crate::locks;
use crate::remember::UserMemory;
use crate::remember::forget::{self, Forgotten};
use crate::search::levels::{Level, Levels};
use crate::search::validity::{MemorySource, MemoryTerms};
use crate::search::{LaterSaid, RecallSource, ReplacedMemories, replaced_by_all};
use crate::telemetry::now;

/// A memory to keep.
#[derive(Debug, Clone, Default)]
pub struct NewMemory<'m> {
    /// The id; one is made without it.
    pub id: Option<&'m str>,
    /// What is to be remembered.
    pub text: &'m str,
    /// What is stored with it.
    pub meta: Option<&'m RawValue>,
    /// When it holds, where it is from and what it replaces.
    pub terms: MemoryTerms,
}

/// A memory as its document is.
#[derive(Serialize, Deserialize)]
pub(crate) struct StoredMemory<'m> {
    pub text: String,
    #[serde(borrow, skip_serializing_if = "Option::is_none", default)]
    pub meta: Option<&'m RawValue>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub valid_from: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub valid_to: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub supersedes: Option<Vec<Box<str>>>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub source: Option<MemorySource>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub confidence: Option<f64>,
}

/// A memory as it is listed. What it does not say, and nothing replaced, is left out.
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
    /// From when on it holds, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<f64>,
    /// Until when it holds, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_to: Option<f64>,
    /// Where it is from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<MemorySource>,
    /// How sure it is, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// The memories that it replaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<Vec<SupersedeRow>>,
    /// The memory that replaces it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<SupersedeRow>,
}

/// One side of a replacement, with why.
#[derive(Debug, Serialize)]
pub struct SupersedeRow {
    /// The id of the other memory.
    pub id: Box<str>,
    /// `rule` or `caller`.
    pub by: &'static str,
    /// The rule that decided it.
    #[serde(flatten)]
    pub rule: Option<Replacement>,
}

impl SupersedeRow {
    fn new(id: &str, later: &LaterSaid) -> Self {
        let by = if later.rule.is_some() { "rule" } else { "caller" };
        Self { id: id.into(), by, rule: later.rule.clone() }
    }
}

/// A page of memories.
#[derive(Debug, Serialize)]
pub struct MemoryPage {
    /// The memories.
    pub memories: Vec<Memory>,
    /// Whether more follow.
    pub has_more: bool,
}

/// Changes of a memory; `Some(None)` takes a member away.
#[derive(Debug, Clone, Default)]
pub struct MemoryChange {
    /// From when on it holds.
    pub valid_from: Option<Option<f64>>,
    /// Until when it holds.
    pub valid_to: Option<Option<f64>>,
    /// The ids of the memories that it replaces.
    pub supersedes: Option<Option<Vec<Box<str>>>>,
    /// How sure it is, from 0 to 1.
    pub confidence: Option<Option<f64>>,
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
    if let Some(id) = new.id {
        place::at(&to, "id", id)?;
    }
    let at = now();
    supersede::check(app, user, new.id, &new.terms, at).await?;
    let id = match new.id {
        Some(id) => NewId::Given(id.into()),
        None => NewId::Fresh(ids::fresh_text().into()),
    };
    let MemoryTerms { valid_from, valid_to, supersedes, source, confidence } = new.terms;
    let text = new.text.to_owned();
    let stored = StoredMemory { text, meta: new.meta, valid_from, valid_to, supersedes, source, confidence };
    let value = serde_json::to_vec(&stored).map_err(|e| Error::new(Code::Internal, e.to_string()))?;
    let document = NewDocument { id, create_time: at, value: value.into(), expires_at: None };
    let append = Op::Append { to, documents: vec![document], terms: AppendTerms::default() };
    let outcomes = app.store.write(of.map(|at| Op::Expect { at }).into_iter().chain([append]).collect()).await?;
    app.indexes.touched(user, RecallSource::Memories);
    let Some(Outcome::Appended(stamps)) = outcomes.into_iter().next_back() else { return Err(unnamed()) };
    stamps.into_iter().next().map(|stamp| stamp.id).ok_or_else(unnamed)
}

/// Changes when a memory is true, how sure it is, and what it replaces; `None` if there is none.
pub async fn change(app: &UserMemory, user: &str, id: &str, change: MemoryChange) -> Result<Option<Memory>> {
    let at = place::at(&place::memories(user)?, "id", id)?;
    let _lock = locks::hold([&at].into_iter()).await;
    for _ in 0..TRIES_MAX {
        let Some(document) = app.store.get(&at).await? else { return Ok(None) };
        let stored: StoredMemory<'_> = serde_json::from_slice(&document.value)
            .map_err(|error| Error::new(Code::Conflict, format!("this document is no memory: {error}")))?;
        let changed = StoredMemory {
            valid_from: change.valid_from.unwrap_or(stored.valid_from),
            valid_to: change.valid_to.unwrap_or(stored.valid_to),
            supersedes: change.supersedes.clone().unwrap_or(stored.supersedes),
            confidence: change.confidence.unwrap_or(stored.confidence),
            ..stored
        };
        supersede::check(app, user, Some(id), &changed.terms(), document.create_time).await?;
        let value = serde_json::to_vec(&changed).map_err(|e| Error::new(Code::Internal, e.to_string()))?;
        let terms = PutTerms { if_version: Some(document.version), now: now(), ..PutTerms::default() };
        match app.store.put(&at, value.into(), terms).await {
            Ok(_) => {
                app.indexes.touched(user, RecallSource::Memories);
                return get(app, user, id).await;
            }
            Err(StoreError::Stale { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Error::new(Code::Busy, "this memory is being changed by others again and again"))
}

/// One memory, with what it replaced and what replaced it.
pub async fn get(app: &UserMemory, user: &str, id: &str) -> Result<Option<Memory>> {
    let of = place::memories(user)?;
    let Some(document) = app.store.get(&place::at(&of, "id", id)?).await? else { return Ok(None) };
    let rows = MemoryRows::load(app, user).await?;
    let seq = document.seq;
    let turns = app.store.turns(&of, Range::Between { first: seq, last: seq }).await?;
    Ok(turns.iter().next().and_then(|turn| rows.memory(turn)))
}

impl StoredMemory<'_> {
    pub fn terms(&self) -> MemoryTerms {
        MemoryTerms {
            valid_from: self.valid_from,
            valid_to: self.valid_to,
            supersedes: self.supersedes.clone(),
            source: self.source.clone(),
            confidence: self.confidence,
        }
    }
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
    let rows = MemoryRows::load(app, user).await?;
    let turns = app.store.turns(&of, Range::After { seq, limit }).await?;
    let memories = turns.iter().filter_map(|turn| rows.memory(turn)).collect();
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

/// What the rows of a list need beside their documents.
struct MemoryRows {
    ages: Ages,
    replaced: Arc<ReplacedMemories>,
}

impl MemoryRows {
    async fn load(app: &UserMemory, user: &str) -> Result<Self> {
        Ok(Self { ages: Ages::of(app, user).await?, replaced: replaced_by_all(app, user).await? })
    }

    fn memory(&self, turn: &Turn) -> Option<Memory> {
        let stored: StoredMemory<'_> = serde_json::from_slice(turn.message.raw()).ok()?;
        let later = self.replaced.get(&turn.seq);
        let replaced = self.replaced.values().filter(|later| later.id == turn.id);
        let supersedes: Vec<SupersedeRow> = replaced.map(|later| SupersedeRow::new(&later.earlier, later)).collect();
        Some(Memory {
            id: turn.id.clone(),
            text: stored.text,
            level: self.ages.level(turn.seq),
            meta: stored.meta.map(RawValue::to_owned),
            create_time: turn.create_time,
            valid_from: stored.valid_from,
            valid_to: stored.valid_to.or(later.map(|later| later.since)),
            source: stored.source,
            confidence: stored.confidence,
            supersedes: (stored.supersedes.is_some() || !supersedes.is_empty()).then_some(supersedes),
            superseded_by: later.map(|later| SupersedeRow::new(&later.id, later)),
        })
    }
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
