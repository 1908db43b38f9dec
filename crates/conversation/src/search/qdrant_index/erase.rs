//! Forgetting in Qdrant.
//!
//! Owns the notes of what is to be erased there (`novelo/points/erasures/{id}`), each written before its
//! documents go and removed when their points are gone: so that a crash, or a server that is down, delays it
//! and no more. A note says whose points are to be looked at; what is removed late is what has no document,
//! so nothing new is lost.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use novelo_engine::path::{CollectionPath, DocumentPath, PathError, Prefix};
use novelo_engine::recall::RecallSource;
use novelo_engine::scope::{THREADS, TURNS, USERS};
use novelo_store::qdrant::{self, Collection, Kind, Scope};
use novelo_store::{PutTerms, Range};
use serde::{Deserialize, Serialize};

use super::super::sources::{DOCUMENTS, MEMORIES, PASSAGES};
use super::{QdrantAnswer, QdrantFault, QdrantIndex, work};
use super::{point_kind, qdrant_collections};
use crate::error::{Code, Error, Result};
use crate::ids;
use crate::search::Search;
use crate::telemetry::now;

const NOTES_MAX: usize = 1_000;
/// How long a forget waits before it goes on in the background.
const FORGET_DEADLINE: Duration = Duration::from_secs(5);

/// Whether notes are left: known ones, or such as another node may have.
#[derive(Debug)]
pub struct Left {
    known: AtomicBool,
    maybe: AtomicBool,
}

impl Default for Left {
    /// After a start there may be some.
    fn default() -> Self {
        Self { known: AtomicBool::new(false), maybe: AtomicBool::new(true) }
    }
}

impl Left {
    pub fn is_known(&self) -> bool {
        self.known.load(Ordering::Relaxed)
    }

    /// Whether it is time to look.
    pub(crate) fn is_to_see(&self) -> bool {
        self.is_known() || self.maybe.load(Ordering::Relaxed)
    }

    /// Says that another node may have left some.
    pub(crate) fn suspect(&self) {
        self.maybe.store(true, Ordering::Relaxed);
    }

    fn leave(&self) {
        self.known.store(true, Ordering::Relaxed);
    }

    fn take(&self) {
        self.known.store(false, Ordering::Relaxed);
        self.maybe.store(false, Ordering::Relaxed);
    }
}

#[derive(Serialize, Deserialize)]
struct Note {
    user: String,
}

fn notes() -> std::result::Result<CollectionPath, PathError> {
    CollectionPath::new(&["novelo", "points", "erasures"])
}

fn unmade(error: impl std::fmt::Display) -> Error {
    Error::new(Code::Internal, format!("a note cannot be made: {error}"))
}

/// Notes that something of a user is about to be forgotten; `None` where there are no points.
pub async fn begin(app: &Search, user: &str) -> Result<Option<DocumentPath>> {
    if app.indexes.points.is_none() {
        return Ok(None);
    }
    let at = notes().and_then(|notes| notes.document(&ids::fresh_text())).map_err(unmade)?;
    let value = serde_json::to_vec(&Note { user: user.to_owned() }).map_err(unmade)?;
    app.store.put(&at, value.into(), PutTerms { now: now(), ..PutTerms::default() }).await?;
    Ok(Some(at))
}

/// Removes the points of what was forgotten. Whether all are gone; those that are not go as soon as they can.
pub async fn finish(app: &Search, user: &str, what: &[Prefix], note: Option<DocumentPath>) -> bool {
    let (Some(points), Some(note)) = (&app.indexes.points, note) else { return true };
    let mut is_done = !points.is_busy_with(user);
    for prefix in what {
        is_done &= match scopes(prefix) {
            Some(scopes) => points.remove_scopes(user, &scopes).await.is_ok(),
            None => false,
        };
    }
    // The documents are gone: a note that cannot be removed is for later.
    if is_done && !points.is_busy_with(user) && app.store.delete(&note, None).await.is_ok() {
        return true;
    }
    points.left.leave();
    app.indexes.waiting.nudge();
    false
}

/// Goes through the notes that are left; `false` when some have to wait longer.
pub async fn again(app: &Search, points: &QdrantIndex) -> Result<bool> {
    // Before they are read: one that is written meanwhile is for the next time.
    points.left.take();
    let done = go_through(app, points).await;
    if !matches!(done, Ok(true)) {
        points.left.leave();
    }
    done
}

async fn go_through(app: &Search, points: &QdrantIndex) -> Result<bool> {
    let of = notes().map_err(unmade)?;
    let left = app.store.turns(&of, Range::Last(NOTES_MAX)).await?;
    for row in left.iter() {
        let note: Option<Note> = serde_json::from_slice(row.message.raw()).ok();
        if let Some(Note { user }) = note
            && !sweep(app, points, &user).await?
        {
            return Ok(false);
        }
        app.store.delete(&of.document(&row.id).map_err(unmade)?, None).await?;
    }
    Ok(!left.has_more)
}

/// Removes all points of a user that have no document.
async fn sweep(app: &Search, points: &QdrantIndex, user: &str) -> Result<bool> {
    for source in RecallSource::ALL {
        let scope = Scope { user, kind: Some(point_kind(source)), parents: &[] };
        for of in qdrant_collections(source) {
            let mut from = None;
            loop {
                let Ok((seen, next)) = points.scroll(*of, &scope, from.as_deref()).await else { return Ok(false) };
                let stale = work::stale(app, source, *of, seen).await?;
                if points.remove(*of, user, &stale).await.is_err() {
                    return Ok(false);
                }
                match next {
                    Some(next) => from = Some(next),
                    None => break,
                }
            }
        }
    }
    Ok(true)
}

/// The points of one kind, all of them or of one thread or document.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PointSelection<'p> {
    of: Collection,
    kind: Option<Kind>,
    parent: Option<&'p str>,
}

/// The points below a path, as far as they are whole; `None` where only a look at each can tell.
fn scopes(what: &Prefix) -> Option<Vec<PointSelection<'_>>> {
    let segments: Vec<&str> = what.segments().iter().map(|segment| &**segment).collect();
    let [USERS, _, below @ ..] = segments.as_slice() else { return None };
    let (of, kind, parent, rest) = match below {
        [] => return Some(Collection::ALL.map(|of| PointSelection { of, kind: None, parent: None }).into()),
        [MEMORIES] => (&[Collection::Conversation][..], Kind::Memory, None, None),
        [THREADS] => (&[Collection::Conversation][..], Kind::Turn, None, None),
        [THREADS, thread, rest @ ..] => {
            (&[Collection::Conversation][..], Kind::Turn, Some(*thread), Some((TURNS, rest)))
        }
        [DOCUMENTS] => (&[Collection::Documents, Collection::Repositories][..], Kind::Passage, None, None),
        [DOCUMENTS, document, rest @ ..] => {
            let of = &[Collection::Documents, Collection::Repositories][..];
            (of, Kind::Passage, Some(*document), Some((PASSAGES, rest)))
        }
        [MEMORIES, ..] => return None,
        _ => return Some(Vec::new()),
    };
    let whole = of.iter().map(|of| PointSelection { of: *of, kind: Some(kind), parent }).collect();
    match rest {
        None | Some((_, [])) => Some(whole),
        Some((passages, [last])) if *last == passages => Some(whole),
        Some((passages, [first, ..])) if *first == passages => None,
        // Traces, vectors, references: what has no points.
        Some(_) => Some(Vec::new()),
    }
}

impl QdrantIndex {
    pub(super) async fn remove_scopes(&self, user: &str, parts: &[PointSelection<'_>]) -> QdrantAnswer<()> {
        for PointSelection { of, kind, parent } in parts {
            let scope = Scope { user, kind: *kind, parents: parent.as_slice() };
            match self.ask(*of, self.requests.remove_all(*of, &scope), FORGET_DEADLINE, qdrant::done).await {
                Ok(()) | Err(QdrantFault::Missing) => {}
                Err(fault) => return Err(fault),
            }
        }
        Ok(())
    }

    /// All points of a user.
    pub(super) async fn remove_user(&self, user: &str) -> QdrantAnswer<()> {
        self.remove_scopes(user, &Collection::ALL.map(|of| PointSelection { of, kind: None, parent: None })).await
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::vectors::VECTORS;
    use super::*;

    /// The points that a forget of a path removes at once.
    fn parts(path: &[&str]) -> Option<String> {
        let prefix = match path.len() % 2 {
            0 => DocumentPath::new(path).unwrap().prefix(),
            _ => CollectionPath::new(path).unwrap().prefix(),
        };
        let part = |part: &PointSelection<'_>| format!("{} {:?} {:?}", part.of.name(), part.kind, part.parent);
        Some(scopes(&prefix)?.iter().map(part).collect::<Vec<_>>().join("; "))
    }

    #[test]
    fn a_forget_removes_what_lies_below_it_and_nothing_else() {
        let whole = |text: &str| Some(text.to_owned());
        let all = "conversation_memory None None; documents None None; repositories None None";
        assert_eq!(parts(&["users", "u"]), whole(all));
        let thread = "conversation_memory Some(Turn) Some(\"t\")";
        assert_eq!(parts(&["users", "u", THREADS, "t"]), whole(thread));
        assert_eq!(parts(&["users", "u", THREADS, "t", TURNS]), whole(thread));
        assert_eq!(parts(&["users", "u", THREADS]), whole("conversation_memory Some(Turn) None"));
        assert_eq!(parts(&["users", "u", MEMORIES]), whole("conversation_memory Some(Memory) None"));
        let document = "documents Some(Passage) Some(\"d\"); repositories Some(Passage) Some(\"d\")";
        assert_eq!(parts(&["users", "u", DOCUMENTS, "d"]), whole(document));
        for nothing in [&["users", "u", THREADS, "t", "traces"][..], &["users", "u", VECTORS], &["users", "u", "data"]]
        {
            assert_eq!(parts(nothing), whole(""));
        }
        for look in [&["users", "u", MEMORIES, "m"][..], &["users", "u", THREADS, "t", TURNS, "7"], &["users"]] {
            assert_eq!(parts(look), None);
        }
    }
}
