//! The compactions of a thread as documents: which spans are shown in short, and with which text.
//!
//! Owns where they are stored, and how they are added, listed, undone, forked and forgotten. The turns
//! themselves are never changed, so a compaction is undone by removing its document.

use novelo_engine::compact::{CompactedSpan, SpanSource};
use novelo_engine::limits::{PAGE_MAX, THREAD_COMPACTIONS_MAX, THREAD_PINS_MAX};
use novelo_engine::path::{CollectionPath, DocumentPath, PathError};
use novelo_engine::scope;
use novelo_store::{Cursor, Document, Error as StoreError, Op, PutTerms, Store, Window};
use serde::{Deserialize, Serialize};

use crate::error::{Code, Error, Result};
use crate::telemetry::now;
use crate::thread::Threads;

/// The collection of compactions below a thread.
const COMPACTIONS: &str = "compactions";
/// The document among them that names the pinned turns.
const PINS: &str = "pins";

/// A compaction as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Compaction {
    /// `c` and its number in the thread.
    pub id: String,
    /// When it was made, in seconds since 1970.
    pub created_at: f64,
    /// What the prompt cost before.
    pub tokens_before: u32,
    /// What it costs with the texts.
    pub tokens_after: u32,
    /// The cap that it was made for.
    pub max_tokens: u32,
    /// The name of what counted the tokens.
    pub tokenizer: String,
    /// What was replaced, in order.
    pub spans: Vec<CompactedSpan>,
}

/// The turns of a thread that stay word for word.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pins {
    /// The ids of the turns.
    pub turns: Vec<String>,
}

/// All documents of the collection.
pub(crate) struct StoredCompactions {
    /// In the order in which they were made.
    pub compactions: Vec<Compaction>,
    pub versions: Vec<u64>,
    pub pins: Vec<Box<str>>,
    pub pins_version: u64,
}

impl StoredCompactions {
    pub async fn read(store: &Store, of: &CollectionPath) -> Result<Self> {
        let mut all = Self { compactions: Vec::new(), versions: Vec::new(), pins: Vec::new(), pins_version: 0 };
        let mut after = None;
        loop {
            let page = store.scan(of, Window { after, limit: PAGE_MAX, ..Window::default() }).await?;
            after = page.items.last().map(|document| Cursor { create_time: document.create_time, seq: document.seq });
            page.items.into_iter().for_each(|document| all.add(document));
            if !page.has_more {
                break;
            }
        }
        let mut both: Vec<(Compaction, u64)> = all.compactions.into_iter().zip(all.versions).collect();
        both.sort_by_key(|(compaction, _)| number(&compaction.id));
        (all.compactions, all.versions) = both.into_iter().unzip();
        Ok(all)
    }

    /// Takes a document in. Callers may write documents: what cannot be read says nothing.
    fn add(&mut self, document: Document) {
        if &*document.id == PINS {
            let pins: Option<Pins> = serde_json::from_slice(&document.value).ok();
            self.pins = pins.map(|pins| pins.turns.into_iter().map(Into::into).collect()).unwrap_or_default();
            self.pins_version = document.version;
            return;
        }
        let Ok(compaction) = serde_json::from_slice::<Compaction>(&document.value) else { return };
        if number(&compaction.id).is_some() && *compaction.id == *document.id {
            self.compactions.push(compaction);
            self.versions.push(document.version);
        }
    }
}

/// Stores a compaction, unless one of the turns that it was made from is gone. One that another request made
/// meanwhile stays, and this one is not stored.
pub(crate) async fn store(
    app: &Threads,
    user: &str,
    thread: &str,
    made: &Compaction,
    turns: &[DocumentPath],
) -> Result<bool> {
    let expects = turns.iter().map(|at| Op::Expect { at: at.clone() });
    let put = made.put(app, user, thread, Some(0))?;
    match app.store.write(expects.chain([put]).collect()).await {
        Ok(_) => Ok(true),
        Err(StoreError::Stale { .. } | StoreError::NotFound { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

impl Compaction {
    pub(crate) fn put(&self, app: &Threads, user: &str, thread: &str, if_version: Option<u64>) -> Result<Op> {
        let at = path(user, thread, &self.id)?;
        let value = serde_json::to_vec(self).map_err(|e| Error::new(Code::Internal, e.to_string()))?;
        let expires_at = app.settings.threads.ttl.map(|ttl| self.created_at + ttl.as_secs_f64());
        let terms = PutTerms { if_version, now: now(), expires_at, ..PutTerms::default() };
        Ok(Op::Put { at, value: value.into(), terms })
    }
}

pub(crate) fn collection(user: &str, thread: &str) -> Result<CollectionPath> {
    scope::thread(user, thread).and_then(|at| at.child(COMPACTIONS)).map_err(bad_id)
}

fn path(user: &str, thread: &str, id: &str) -> Result<DocumentPath> {
    collection(user, thread)?.document(id).map_err(bad_id)
}

/// The id of a compaction.
pub(crate) fn compaction_id(number: u64) -> String {
    format!("c{number}")
}

/// The number of a compaction.
pub(crate) fn number(id: &str) -> Option<u64> {
    id.strip_prefix('c')?.parse().ok()
}

/// The compaction that a span belongs to.
pub(crate) fn compaction_of(span: &str) -> Option<String> {
    let (number, _) = span.strip_prefix('s')?.split_once('-')?;
    number.parse().ok().map(compaction_id)
}

fn bad_id(error: PathError) -> Error {
    Error::bad_id("user or thread", &error)
}
/// Removes the oldest compactions that lie inside others, where a thread has too many.
pub(crate) async fn trim(app: &Threads, user: &str, thread: &str) -> Result<()> {
    let all = StoredCompactions::read(&app.store, &collection(user, thread)?).await?.compactions;
    let over = all.len().saturating_sub(THREAD_COMPACTIONS_MAX);
    let is_inside = |span: &CompactedSpan, later: &[Compaction]| {
        let spans = later.iter().flat_map(|it| &it.spans);
        span.restored_at.is_some()
            || spans.clone().any(|outer| outer.first_seq <= span.first_seq && span.last_seq <= outer.last_seq)
    };
    for (n, compaction) in all.iter().enumerate().take(over) {
        let later = all.get(n + 1..).unwrap_or_default();
        if compaction.spans.iter().all(|span| is_inside(span, later)) {
            app.store.delete(&path(user, thread, &compaction.id)?, None).await?;
        }
    }
    Ok(())
}

/// The compactions of a thread, oldest first, after one and at most so many.
pub async fn list(
    app: &Threads,
    user: &str,
    thread: &str,
    after: Option<&str>,
    limit: usize,
) -> Result<(Vec<Compaction>, bool)> {
    let all = StoredCompactions::read(&app.store, &collection(user, thread)?).await?.compactions;
    let from = match after {
        None => 0,
        Some(after) => all.iter().position(|it| it.id == after).map_or(all.len(), |at| at + 1),
    };
    let limit = limit.min(PAGE_MAX);
    let has_more = all.len() > from.saturating_add(limit);
    Ok((all.into_iter().skip(from).take(limit).collect(), has_more))
}

/// One compaction.
pub async fn get(app: &Threads, user: &str, thread: &str, id: &str) -> Result<Option<Compaction>> {
    Ok(read(&app.store, user, thread, id).await?.map(|(compaction, _)| compaction))
}

pub(crate) async fn read(store: &Store, user: &str, thread: &str, id: &str) -> Result<Option<(Compaction, u64)>> {
    number(id).ok_or_else(|| Error::not_found(format_args!("compaction {id}")))?;
    let Some(document) = store.get(&path(user, thread, id)?).await? else { return Ok(None) };
    let compaction = serde_json::from_slice(&document.value).ok();
    Ok(compaction.map(|compaction| (compaction, document.version)))
}

/// Undoes a compaction: what it replaced is shown again, or the spans of earlier ones that lie below.
pub async fn undo(app: &Threads, user: &str, thread: &str, id: &str) -> Result<bool> {
    number(id).ok_or_else(|| Error::not_found(format_args!("compaction {id}")))?;
    Ok(app.store.delete(&path(user, thread, id)?, None).await?)
}

/// Pins these turns of a thread, and no others.
pub async fn set_pins(app: &Threads, user: &str, thread: &str, mut pins: Pins) -> Result<Pins> {
    pins.turns.sort_unstable();
    pins.turns.dedup();
    if pins.turns.len() > THREAD_PINS_MAX {
        let problem = format!("has {} entries; the cap THREAD_PINS_MAX is {THREAD_PINS_MAX}", pins.turns.len());
        return Err(Error::invalid("turns", problem));
    }
    let turns = scope::turns(user, thread).map_err(bad_id)?;
    let mut ops = Vec::new();
    for (n, id) in pins.turns.iter().enumerate() {
        let param = format!("turns[{n}]");
        let at = turns.document(id).map_err(|e| Error::bad_id(&param, &e))?;
        if app.store.get(&at).await?.is_none() {
            return Err(Error::invalid(param, format_args!("is {id:?}, which is no turn of this thread")));
        }
        ops.push(Op::Expect { at });
    }
    let at = path(user, thread, PINS)?;
    match pins.turns.is_empty() {
        true => ops.push(Op::Delete { at, if_version: None }),
        false => ops.push(pins.put(user, thread, None)?),
    }
    app.store.write(ops).await?;
    Ok(pins)
}

impl Pins {
    fn put(&self, user: &str, thread: &str, if_version: Option<u64>) -> Result<Op> {
        let value = serde_json::to_vec(self).map_err(|e| Error::new(Code::Internal, e.to_string()))?;
        let terms = PutTerms { if_version, now: now(), ..PutTerms::default() };
        Ok(Op::Put { at: path(user, thread, PINS)?, value: value.into(), terms })
    }
}

/// What takes a turn out of the compactions of its thread: the spans that it lies in go, since their texts
/// may quote it, and its pin. What is left of the spans is shown word for word.
pub async fn without(app: &Threads, user: &str, thread: &str, seq: u64, id: &str) -> Result<Vec<Op>> {
    let of = collection(user, thread)?;
    if app.store.version(&of).await?.last_seq == 0 {
        return Ok(Vec::new());
    }
    let stored = StoredCompactions::read(&app.store, &of).await?;
    let mut ops = Vec::new();
    for (mut compaction, version) in stored.compactions.into_iter().zip(stored.versions) {
        let before = compaction.spans.len();
        compaction.spans.retain(|span| !span.holds(SpanSource::Thread, seq));
        if compaction.spans.len() == before {
            continue;
        }
        ops.push(match compaction.spans.is_empty() {
            true => Op::Delete { at: path(user, thread, &compaction.id)?, if_version: Some(version) },
            false => compaction.put(app, user, thread, Some(version))?,
        });
    }
    if stored.pins.iter().any(|pin| &**pin == id) {
        let turns = stored.pins.iter().filter(|pin| &***pin != id).map(ToString::to_string).collect();
        ops.push(Pins { turns }.put(user, thread, Some(stored.pins_version))?);
    }
    Ok(ops)
}

/// Gives a fork the compactions of the turns that it has.
pub async fn fork(store: &Store, user: &str, thread: &str, at_seq: u64, to: &str) -> Result<()> {
    let of = collection(user, thread)?;
    if store.version(&of).await?.last_seq == 0 {
        return Ok(());
    }
    let stored = StoredCompactions::read(store, &of).await?;
    let turns = scope::turns(user, to).map_err(bad_id)?;
    let mut pins = Pins::default();
    for pin in &stored.pins {
        if store.get(&turns.document(pin).map_err(bad_id)?).await?.is_some() {
            pins.turns.push(pin.to_string());
        }
    }
    let mut ops = Vec::new();
    for mut compaction in stored.compactions {
        compaction.spans.retain(|span| span.last_seq <= at_seq);
        if compaction.spans.is_empty() {
            continue;
        }
        let value = serde_json::to_vec(&compaction).map_err(|e| Error::new(Code::Internal, e.to_string()))?;
        let at = path(user, to, &compaction.id)?;
        ops.push(Op::Put { at, value: value.into(), terms: PutTerms { now: now(), ..PutTerms::default() } });
    }
    if !pins.turns.is_empty() {
        ops.push(pins.put(user, to, None)?);
    }
    if !ops.is_empty() {
        store.write(ops).await?;
    }
    Ok(())
}
