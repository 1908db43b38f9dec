//! What is accepted of a memory's dates, source, confidence and what it replaces.

use novelo_engine::limits::SUPERSEDES_MAX;
use novelo_engine::path::CollectionPath;
use novelo_engine::scope::{THREADS, TURNS, USERS};
use novelo_language::iso_date;
use novelo_store::Range;

use super::memories::StoredMemory;
use super::place;
use crate::error::{Error, Result};
use crate::remember::UserMemory;
use crate::search::validity::{MemorySource, MemoryTerms};

/// How many memories a search for a circle looks at.
const WALKED_MAX: usize = 1_000;

/// Refuses terms that contradict each other or what is stored. `create_time` is that of the memory.
pub(super) async fn check(
    app: &UserMemory,
    user: &str,
    id: Option<&str>,
    terms: &MemoryTerms,
    create_time: f64,
) -> Result<()> {
    for (field, time) in [("valid_from", terms.valid_from), ("valid_to", terms.valid_to)] {
        if time.is_some_and(|time| iso_date(time).is_empty()) {
            return Err(Error::invalid(field, "is a time of no calendar"));
        }
    }
    if terms.confidence.is_some_and(|confidence| !(0.0..=1.0).contains(&confidence)) {
        return Err(Error::invalid("confidence", "must be a number from 0 to 1"));
    }
    let from = terms.valid_from.unwrap_or(create_time);
    if let Some(to) = terms.valid_to.filter(|to| *to <= from) {
        let what = format!("is {}, which is not after valid_from, {}", shown(to), shown(from));
        return Err(Error::invalid("valid_to", what));
    }
    match &terms.supersedes {
        Some(replaced) => replaces(app, user, id, replaced, from).await,
        None => Ok(()),
    }
}

async fn replaces(app: &UserMemory, user: &str, id: Option<&str>, replaced: &[Box<str>], from: f64) -> Result<()> {
    let refuse = |what: String| Err(Error::invalid("supersedes", what));
    if replaced.len() > SUPERSEDES_MAX {
        return refuse(format!("names {} memories; the cap SUPERSEDES_MAX is {SUPERSEDES_MAX}", replaced.len()));
    }
    let of = place::memories(user)?;
    for older in replaced {
        if Some(older.as_ref()) == id {
            return refuse(format!("names the memory itself, {older}"));
        }
        let document = app.store.get(&place::at(&of, "supersedes", older)?).await?;
        let Some(document) = document else { return refuse(format!("names no memory: {older}")) };
        let terms = MemoryTerms::read(&document.value);
        let since = terms.valid_from.unwrap_or(document.create_time);
        if since > from {
            let what = format!("names {older}, which is valid from {}, after this one: {}", shown(since), shown(from));
            return refuse(what);
        }
    }
    match id {
        Some(id) => no_circle(app, &of, id, replaced).await,
        None => Ok(()),
    }
}

/// Refuses a memory that would replace, directly or through others, what replaces it.
async fn no_circle(app: &UserMemory, of: &CollectionPath, id: &str, replaced: &[Box<str>]) -> Result<()> {
    let mut ways: Vec<Vec<Box<str>>> = replaced.iter().map(|older| vec![older.clone()]).collect();
    let mut seen: Vec<Box<str>> = Vec::new();
    while let Some(way) = ways.pop() {
        let Some(last) = way.last().filter(|last| !seen.contains(last) && seen.len() < WALKED_MAX) else { continue };
        seen.push(last.clone());
        let Some(document) = app.store.get(&place::at(of, "supersedes", last)?).await? else { continue };
        let stored: Option<StoredMemory<'_>> = serde_json::from_slice(&document.value).ok();
        for older in stored.and_then(|stored| stored.supersedes).unwrap_or_default() {
            if *older == *id {
                let circle = [&[id.into()], way.as_slice(), &[id.into()]].concat().join(" → ");
                return Err(Error::invalid("supersedes", format!("would make a circle: {circle}")));
            }
            ways.push(way.iter().cloned().chain([older]).collect());
        }
    }
    Ok(())
}

/// A time as errors show it.
fn shown(time: f64) -> String {
    format!("{time} ({})", iso_date(time))
}

/// Where a caller says that a memory is from.
#[derive(Debug, Clone)]
pub enum ClaimedSource {
    /// A turn.
    Turn {
        /// The thread.
        thread: String,
        /// The seq of the turn.
        seq: u64,
    },
    /// A document.
    Document {
        /// The id of the document.
        document: String,
    },
    /// A program stored it.
    Api,
    /// A model stored it.
    Model,
}

/// The source as it is stored: of a turn, who said it.
pub async fn resolve_source(app: &UserMemory, user: &str, source: ClaimedSource) -> Result<MemorySource> {
    match source {
        ClaimedSource::Api => Ok(MemorySource::Api),
        ClaimedSource::Model => Ok(MemorySource::Model),
        ClaimedSource::Document { document } => {
            let at = place::at(&place::documents(user)?, "source.document", &document)?;
            match app.store.get(&at).await?.is_some() {
                true => Ok(MemorySource::Document { document }),
                false => Err(Error::invalid("source.document", format_args!("names no document: {document}"))),
            }
        }
        ClaimedSource::Turn { thread, seq } => {
            let of = CollectionPath::new(&[USERS, user, THREADS, &thread, TURNS]);
            let of = of.map_err(|error| Error::bad_id("source.thread", &error))?;
            let turns = app.store.turns(&of, Range::Between { first: seq, last: seq }).await?;
            let role = turns.iter().next().and_then(|turn| turn.message.shown().role());
            let Some(role) = role else {
                return Err(Error::invalid("source", format_args!("names no turn: {seq} of thread {thread}")));
            };
            Ok(MemorySource::Turn { thread, seq, role: role.name().to_owned() })
        }
    }
}
