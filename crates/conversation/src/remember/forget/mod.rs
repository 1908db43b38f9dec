//! Forgetting: the one way in which documents of a user leave together.
//!
//! Owns the order of it. Background writers are paused, the documents are removed, and with them all that was
//! made from them. Invariant: what was made from a forgotten document is neither stored nor served
//! afterwards: code that stores such a thing names the document in the same write (`Op::Expect`), so that it
//! holds for a forget on any node.

mod derived;
mod erasure;
mod filter;
pub mod log;

use std::collections::BTreeSet;

use novelo_engine::path::{DocumentPath, Prefix};
use novelo_store::{Error as StoreError, Op, Outcome};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::context::collapse::retract;
use crate::error::{Code, Error, Result};
use crate::remember::UserMemory;
use crate::search::qdrant_index::erase;
use crate::search::vectors::VECTORS;
use crate::search::{PASSAGES, RecallSource};
use crate::thread::retention;
use crate::trace::TRACES;
use derived::{Derived, Subject};
pub use erasure::PendingErasure;
pub(crate) use erasure::erase_when_due;
pub use filter::RestoreFilter;
pub use log::{ForgetEntry, ForgetLog};

/// Which traces go along that are on their way to the store; those that are stored go with what they are
/// below.
#[derive(Debug, Clone, Copy)]
pub enum Traces<'a> {
    /// They stay.
    Stay,
    /// Those of this thread.
    OfThread(&'a str),
    /// Those of the user.
    OfUser,
}

/// What is gone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// Documents that were deleted.
    pub documents: u64,
    /// Passages that left the indexes.
    pub passages: u64,
    /// Traces that were deleted.
    pub traces: u64,
    /// Whether the raw files, or Qdrant, are still being cleaned of it.
    pub erasing: bool,
}

impl Forgotten {
    /// Vectors are made from passages and count as nothing.
    fn count(&mut self, collection: &str, documents: u64) {
        match collection {
            TRACES => self.traces += documents,
            PASSAGES => self.passages += documents,
            VECTORS => {}
            _ => self.documents += documents,
        }
    }

    /// The counts as JSON.
    pub fn counts(&self) -> Value {
        json!({"documents": self.documents, "passages": self.passages, "traces": self.traces})
    }

    /// The counts as the answer of a request.
    pub fn answer(self) -> Value {
        json!({"forgotten": self.counts(), "erasing": self.erasing})
    }
}

/// Forgets what is at these places and below them, all of one user.
pub async fn forget(app: &UserMemory, user: &str, what: &[Prefix], traces: Traces<'_>) -> Result<Forgotten> {
    let mut derived = Derived::default();
    if let Traces::OfThread(thread) = traces {
        derived.memories_of(app, user, thread, None).await?;
    }
    match traces {
        Traces::Stay => {}
        Traces::OfThread(thread) => retention::forget_thread(&app.store, user, thread).await?,
        Traces::OfUser => retention::forget_user(&app.store, user).await?,
    }
    let memories = derived.ops.iter().filter(|op| is_memory(op)).count() as u64;
    derived.skill_results(app, user).await?;
    let note = erase::begin(app, user).await?;
    let places = [what, &derived.places].concat();
    app.forgets.record(&app.store, &places).await?;
    let recorder = app.recorder.pause().await;
    let vectors = app.indexes.waiting.pause().await;
    if !derived.ops.is_empty() {
        app.store.write(derived.ops).await?;
    }
    let mut forgotten = from_store(app, what).await?;
    // Again, with a time behind the removal: a backup that was taken in between holds what is gone now.
    app.forgets.record(&app.store, &places).await?;
    forgotten.documents += memories;
    forgotten.traces += let_go(app, user, &places, traces);
    app.indexes.forget(user);
    drop((vectors, recorder));
    let is_erased = erase::finish(app, user, &places, note).await;
    forgotten.erasing = app.store.health().erasing || !is_erased;
    Ok(forgotten)
}

fn is_memory(op: &Op) -> bool {
    matches!(op, Op::Delete { at, .. } if matches!(Subject::of(at), Some(Subject::Memory { .. })))
}

/// Lets go of all that this process has in memory of what was forgotten; how many traces were on their way.
fn let_go(app: &UserMemory, user: &str, what: &[Prefix], traces: Traces<'_>) -> u64 {
    let count = match traces {
        Traces::Stay => 0,
        Traces::OfThread(thread) => app.recorder.forget(user, Some(thread)),
        Traces::OfUser => app.recorder.forget(user, None),
    };
    (app.let_go)(user, traces);
    what.iter().for_each(|prefix| app.caches.forget(prefix));
    app.made.retain(|_| false);
    count
}

/// How often a deletion is tried again because what was made from the document changed meanwhile.
const TRIES_MAX: usize = 10;

/// Applies operations of a caller. Turns, memories and documents among the deleted take along what was made
/// from them, in the same write. The raw files are cleaned of them soon after.
pub async fn write(app: &UserMemory, ops: Vec<Op>) -> Result<Vec<Outcome>> {
    for _ in 0..TRIES_MAX {
        match write_once(app, &ops).await {
            // A summary was made in the background. Versions that the caller names are checked anew.
            Err(error) if error.code == Code::Stale && ops.iter().any(is_subject) => {}
            done => return done,
        }
    }
    write_once(app, &ops).await
}

fn is_subject(op: &Op) -> bool {
    matches!(op, Op::Delete { at, .. } if Subject::of(at).is_some())
}

async fn write_once(app: &UserMemory, ops: &[Op]) -> Result<Vec<Outcome>> {
    if !ops.iter().any(is_subject) {
        return retract::write(&app.store, ops.to_vec()).await;
    }
    // Before what was made is looked for: a trace or a vector that is stored afterwards would stay.
    let background = (app.recorder.pause().await, app.indexes.waiting.pause().await);
    let mut derived = Derived::default();
    let mut gone = Vec::new();
    for op in ops {
        let Op::Delete { at, if_version } = op else { continue };
        let Some(subject) = Subject::of(at) else { continue };
        match app.store.get(at).await? {
            Some(document) => {
                check_version(*if_version, document.version)?;
                let more = Derived::of(app, at, subject, &document).await?;
                derived.places.push(at.prefix());
                derived.add(more);
            }
            // Gone already: also where another node did it, and passes the request on.
            None => check_version(*if_version, 0)?,
        }
        gone.push((at, subject));
    }
    // What was made from them goes first: a summary that the caller puts in the same write is to stay.
    let before = derived.ops.len();
    let all = derived.ops.into_iter().chain(ops.iter().cloned()).collect();
    let (outcomes, notes) = delete(app, all, &gone, &derived.places).await?;
    drop(background);
    for (user, note) in notes {
        erase::finish(app, user, &derived.places, note).await;
    }
    Ok(outcomes.into_iter().skip(before).take(ops.len()).collect())
}

fn check_version(expected: Option<u64>, actual: u64) -> Result<()> {
    match expected {
        Some(expected) if expected != actual => Err(StoreError::Stale { expected, actual }.into()),
        _ => Ok(()),
    }
}

/// What is left to be erased in Qdrant, by user.
type ErasureNotes<'p> = Vec<(&'p str, Option<DocumentPath>)>;

async fn delete<'p>(
    app: &UserMemory,
    mut ops: Vec<Op>,
    gone: &[(&DocumentPath, Subject<'p>)],
    places: &[Prefix],
) -> Result<(Vec<Outcome>, ErasureNotes<'p>)> {
    let (mut notes, mut entries) = (Vec::new(), Vec::new());
    if !places.is_empty() {
        for user in gone.iter().map(|(_, subject)| subject.user()).collect::<BTreeSet<_>>() {
            notes.push((user, erase::begin(app, user).await?));
        }
        let (recording, recorded) = app.forgets.prepare(&app.store, places, true).await?;
        ops.extend(recording);
        entries = recorded;
    }
    let outcomes = retract::write(&app.store, ops).await?;
    if !places.is_empty() {
        app.forgets.append(entries).await;
        app.erasure.request();
    }
    for (at, subject) in gone {
        let (traces, source) = match subject {
            Subject::Turn { thread, .. } => (Traces::OfThread(thread), RecallSource::Turns),
            Subject::Memory { .. } => (Traces::Stay, RecallSource::Memories),
            Subject::Document { .. } | Subject::Passage { .. } => (Traces::Stay, RecallSource::Documents),
        };
        let_go(app, subject.user(), &[at.prefix()], traces);
        app.indexes.touched(subject.user(), source);
        if let Subject::Turn { user, thread } = subject {
            app.touched(user, thread);
        }
    }
    places.iter().for_each(|place| app.caches.forget(place));
    Ok((outcomes, notes))
}

/// All at once, so that the raw files are cleaned once.
async fn from_store(app: &UserMemory, what: &[Prefix]) -> Result<Forgotten> {
    let mut running = JoinSet::new();
    for prefix in what {
        let (store, prefix) = (app.store.clone(), prefix.clone());
        running.spawn(async move { store.forget(&prefix).await });
    }
    let mut all = Forgotten::default();
    while let Some(done) = running.join_next().await {
        let one = done.map_err(|e| Error::new(Code::Internal, format!("a forget ended early: {e}")))??;
        one.documents_by_collection.iter().for_each(|(collection, count)| all.count(collection, *count));
    }
    Ok(all)
}
