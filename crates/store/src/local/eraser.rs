//! Cleaning the raw files of what was forgotten.
//!
//! Owns the thread that does it and the marker that makes it resume after a restart. A forgotten record is
//! still in the journal and in old tables: the journal is filled up so that the database changes to a new
//! one, everything in memory is flushed so that it lets the old one go, and every keyspace is compacted so
//! that no table holds it. That is done once for a forget, after the exports that began before it; what fails
//! is tried again, later and later. Invariant: the marker is cleared only when no forget came after the one
//! that was cleaned up.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::db::{Db, ERASE, PIN, Space, refused};
use super::state::LocalState;
use crate::Error;
use crate::lock::lock;

/// The database changes to a new journal once this much is in the old one.
const JOURNAL_FULL_BYTES: u64 = 64_000_000;
const PAD_BYTES: usize = 1024 * 1024;
/// Padding between two flushes, so that memory stays small.
const PADS_PER_FLUSH: u64 = 8;
/// The pause between two checks whether the database has released something, growing from the first to the
/// second.
const LOOK_MIN: Duration = Duration::from_millis(5);
const LOOK_MAX: Duration = Duration::from_millis(500);
const LOOKS_MAX: usize = 60;
/// Between two looks whether exports have ended.
const EXPORTS_LOOK: Duration = Duration::from_millis(50);
/// An export that was not read for so long does not hold up an erasure.
const EXPORT_IDLE_MAX: Duration = Duration::from_secs(60);
/// Between two tries, growing from the first to the second.
const RETRY_MIN: Duration = Duration::from_secs(1);
const RETRY_MAX: Duration = Duration::from_secs(60);

/// Who asked, and how far it is. Written by the committer and the eraser, read by anyone.
#[derive(Debug, Default)]
pub(super) struct Erasure {
    state: Mutex<ErasureState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct ErasureState {
    /// Forgets that are about to commit or did.
    announced: u64,
    /// Forgets whose documents are removed, and whose text is to go from the files.
    wanted: u64,
    /// The last forget for which cleaning was tried.
    tried: u64,
    /// The last forget whose text is gone.
    done: u64,
    stop: bool,
}

impl Erasure {
    /// Before the commit of a forget.
    pub fn announce(&self) {
        self.lock().announced += 1;
    }

    /// When the documents of all forgets are removed: start cleaning.
    pub fn request(&self) {
        let mut state = self.lock();
        state.wanted = state.announced;
        self.changed.notify_all();
    }

    /// After the database was reopened: whether something is to be erased.
    pub fn resume(&self, erases: bool) {
        let mut state = self.lock();
        match erases {
            true => state.announced += 1,
            false => (state.wanted, state.tried, state.done) = (state.announced, state.announced, state.announced),
        }
        self.changed.notify_all();
    }

    pub(crate) fn is_running(&self) -> bool {
        let state = self.lock();
        state.done < state.announced
    }

    pub fn stop(&self) {
        self.lock().stop = true;
        self.changed.notify_all();
    }

    /// Waits until all that was announced is gone, a try failed, or time is up.
    pub fn wait(&self, at_most: Duration) {
        let state = self.lock();
        let announced = state.announced;
        let waits = |state: &mut ErasureState| state.tried < announced && !state.stop;
        drop(self.changed.wait_timeout_while(state, at_most, waits));
    }

    fn next(&self) -> Option<u64> {
        let state = self.changed.wait_while(self.lock(), |state| state.done >= state.wanted && !state.stop);
        let state = state.unwrap_or_else(PoisonError::into_inner);
        (!state.stop).then_some(state.wanted)
    }

    fn pause(&self, at_most: Duration) {
        drop(self.changed.wait_timeout_while(self.lock(), at_most, |state| !state.stop));
    }

    fn stops(&self) -> bool {
        self.lock().stop
    }

    fn lock(&self) -> MutexGuard<'_, ErasureState> {
        lock(&self.state)
    }
}

/// Runs until the store closes.
pub(super) fn run(shared: &LocalState) {
    let mut pause = RETRY_MIN;
    let mut logged = String::new();
    while let Some(target) = shared.erasure.next() {
        let Err(error) = erase(shared, target) else {
            pause = RETRY_MIN;
            logged.clear();
            continue;
        };
        if shared.erasure.stops() {
            return;
        }
        let why = error.to_string();
        if why != logged {
            tracing::warn!(%why, "forgotten text is still in the raw files; this is tried again until it is gone");
            logged = why;
        }
        shared.erasure.lock().tried = target;
        shared.erasure.changed.notify_all();
        shared.erasure.pause(pause);
        pause = (pause * 2).min(RETRY_MAX);
    }
}

fn erase(shared: &LocalState, target: u64) -> Result<(), Error> {
    let db = shared.cell.get()?;
    clean(shared, &db)?;
    let mut state = shared.erasure.lock();
    if state.announced == target {
        db.index.remove(Space::Meta.key(ERASE)).map_err(|e| refused(&db.dir, e))?;
    }
    (state.tried, state.done) = (target, target);
    shared.erasure.changed.notify_all();
    Ok(())
}

fn clean(shared: &LocalState, db: &Db) -> Result<(), Error> {
    shared.room_for(2 * JOURNAL_FULL_BYTES + db.database.disk_space().unwrap_or(0))?;
    let forgotten_at = db.database.visible_seqno();
    while shared.exports.hold(forgotten_at, EXPORT_IDLE_MAX) {
        goes_on(shared)?;
        shared.erasure.pause(EXPORTS_LOOK);
    }
    replace_journals(shared, db)?;
    until(shared, || {
        flush(db)?;
        Ok(db.database.supervisor.snapshot_tracker.get_seqno_safe_to_gc() >= forgotten_at)
    })?;
    for keyspace in [&db.docs, &db.index] {
        keyspace.major_compact().map_err(|e| refused(&db.dir, e))?;
    }
    flush(db)
}

/// Makes the database drop every journal it has now.
fn replace_journals(shared: &LocalState, db: &Db) -> Result<(), Error> {
    let old = journals(&db.dir)?;
    let padding = db.padding()?;
    let pad = vec![0; PAD_BYTES];
    let mut written = 0;
    while journals(&db.dir)?.is_subset(&old) && written < 2 * JOURNAL_FULL_BYTES {
        for _ in 0..PADS_PER_FLUSH {
            padding.insert(PIN, pad.as_slice()).map_err(|e| refused(&db.dir, e))?;
            written += pad.len() as u64;
        }
        db.rotate(&padding)?;
        goes_on(shared)?;
    }
    until(shared, || {
        flush(db)?;
        Ok(journals(&db.dir)?.is_disjoint(&old))
    })
}

/// Writes what is in memory to tables. The pin keeps each keyspace's newest table, without which the database
/// would not release a journal.
fn flush(db: &Db) -> Result<(), Error> {
    for keyspace in [&db.docs, &db.index, &db.padding()?] {
        keyspace.insert(PIN, []).map_err(|e| refused(&db.dir, e))?;
        db.rotate(keyspace)?;
    }
    Ok(())
}

fn journals(dir: &Path) -> Result<BTreeSet<PathBuf>, Error> {
    let entries = std::fs::read_dir(dir).map_err(|e| Error::io(dir, e))?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()).map_err(|e| Error::io(dir, e)));
    paths.filter(|path| path.as_ref().map_or(true, |path| path.extension().is_some_and(|e| e == "jnl"))).collect()
}

/// An erasure ends early when the store closes, or reopens its database.
fn goes_on(shared: &LocalState) -> Result<(), Error> {
    match (shared.erasure.stops(), shared.outage.is_on()) {
        (true, _) => Err(Error::closed()),
        (false, true) => Err(Error::ReadOnly { why: "a write failed".into() }),
        (false, false) => Ok(()),
    }
}

/// Waits for a condition, whose every look writes a little; a reader that still needs what was forgotten
/// makes this `Busy`.
fn until(shared: &LocalState, mut is_true: impl FnMut() -> Result<bool, Error>) -> Result<(), Error> {
    let mut pause = LOOK_MIN;
    for _ in 0..LOOKS_MAX {
        goes_on(shared)?;
        if is_true()? {
            return Ok(());
        }
        shared.erasure.pause(pause);
        pause = (pause * 2).min(LOOK_MAX);
    }
    Err(Error::Busy)
}
