//! Cleaning the raw files of what was forgotten.
//!
//! Owns the thread that does it and the marker that makes it resume after a restart. A forgotten record is still in
//! the journal and in old tables: the journal is filled up so that the database changes to a new one, everything in
//! memory is flushed so that it lets the old one go, and every keyspace is compacted so that no table holds it.
//! Invariant: the marker is cleared only when no forget came after the one that was cleaned up.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::Shared;
use super::db::{Db, ERASE, PIN, Space, refused};
use crate::Error;

/// The database changes to a new journal once this much is in the old one.
const JOURNAL_FULL_BYTES: u64 = 64_000_000;
const PAD_BYTES: usize = 1024 * 1024;
/// Padding between two flushes, so that memory stays small.
const PADS_PER_FLUSH: u64 = 8;
const WAIT: Duration = Duration::from_millis(5);
const WAITS_MAX: usize = 2_000;

/// Who asked, and how far it is. Written by the committer and the eraser, read by anyone.
#[derive(Debug, Default)]
pub(super) struct Erasure {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Forgets that are about to commit or did.
    announced: u64,
    /// Forgets that are committed and want their text gone.
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

    /// After it: start cleaning.
    pub fn request(&self) {
        let mut state = self.lock();
        state.wanted = state.announced;
        self.changed.notify_all();
    }

    pub fn is_running(&self) -> bool {
        let state = self.lock();
        state.done < state.wanted
    }

    pub fn stop(&self) {
        self.lock().stop = true;
        self.changed.notify_all();
    }

    /// Waits until all that was requested is gone, a try failed, or time is up.
    pub fn wait(&self, at_most: Duration) {
        let state = self.lock();
        let wanted = state.wanted;
        let waits = |state: &mut State| state.tried < wanted && !state.stop;
        drop(self.changed.wait_timeout_while(state, at_most, waits));
    }

    fn next(&self) -> Option<u64> {
        let state = self.changed.wait_while(self.lock(), |state| state.tried >= state.wanted && !state.stop);
        let state = state.unwrap_or_else(PoisonError::into_inner);
        (!state.stop).then_some(state.wanted)
    }

    fn stops(&self) -> bool {
        self.lock().stop
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs until the store closes.
pub(super) fn run(shared: &Shared) {
    while let Some(target) = shared.erasure.next() {
        let cleaned = clean(shared);
        if matches!(cleaned, Err(Error::Busy)) {
            continue;
        }
        let mut state = shared.erasure.lock();
        state.tried = target;
        let settled = cleaned.and_then(|()| match state.announced == target {
            true => shared.db.index.remove(Space::Meta.key(ERASE)).map_err(|e| refused(&shared.db.dir, e)),
            false => Ok(()),
        });
        match settled {
            Ok(()) => state.done = target,
            Err(error) => tracing::warn!(%error, "forgotten text is still in the raw files; a restart tries again"),
        }
        shared.erasure.changed.notify_all();
    }
}

fn clean(shared: &Shared) -> Result<(), Error> {
    let db = &shared.db;
    let needed = 2 * JOURNAL_FULL_BYTES + db.database.disk_space().unwrap_or(0);
    if let Err((free_bytes, needed_bytes)) = shared.room_for(needed) {
        return Err(Error::DiskFull { free_bytes, needed_bytes });
    }
    let forgotten_at = db.database.visible_seqno();
    replace_journals(shared)?;
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
fn replace_journals(shared: &Shared) -> Result<(), Error> {
    let db = &shared.db;
    let old = journals(&db.dir)?;
    let padding = db.padding()?;
    let pad = vec![0; PAD_BYTES];
    let mut written = 0;
    while journals(&db.dir)?.is_subset(&old) && written < 2 * JOURNAL_FULL_BYTES {
        for _ in 0..PADS_PER_FLUSH {
            padding.insert(PIN, pad.as_slice()).map_err(|e| refused(&db.dir, e))?;
            written += pad.len() as u64;
        }
        padding.rotate_memtable_and_wait().map_err(|e| refused(&db.dir, e))?;
    }
    until(shared, || {
        flush(db)?;
        Ok(journals(&db.dir)?.is_disjoint(&old))
    })
}

/// Writes what is in memory to tables. The pin keeps each keyspace's newest table, without which the database would
/// not let go of a journal.
fn flush(db: &Db) -> Result<(), Error> {
    for keyspace in [&db.docs, &db.index, &db.padding()?] {
        let flushed = keyspace.insert(PIN, []).and_then(|()| keyspace.rotate_memtable_and_wait());
        flushed.map_err(|e| refused(&db.dir, e))?;
    }
    Ok(())
}

fn journals(dir: &Path) -> Result<BTreeSet<PathBuf>, Error> {
    let entries = std::fs::read_dir(dir).map_err(|e| Error::io(dir, e))?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()).map_err(|e| Error::io(dir, e)));
    paths.filter(|path| path.as_ref().map_or(true, |path| path.extension().is_some_and(|e| e == "jnl"))).collect()
}

/// Waits for a condition; an export that still reads what was forgotten makes this `Busy`.
fn until(shared: &Shared, mut is_true: impl FnMut() -> Result<bool, Error>) -> Result<(), Error> {
    for _ in 0..WAITS_MAX {
        if shared.erasure.stops() {
            return Err(Error::closed());
        }
        if is_true()? {
            return Ok(());
        }
        std::thread::sleep(WAIT);
    }
    Err(Error::Busy)
}
