//! The place of the open database, from which it can be taken away and put back.
//!
//! Owns the only long-lived handle. Readers and the eraser borrow it for one operation; recovery takes it
//! away, waits until nobody has it any more, and puts another one in. Invariant: no handle on an old database
//! is left when a new one is put in, so whatever a reader keeps while it holds a handle is of that database.

use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::db::Db;
use crate::Error;
use crate::lock::lock;

/// How long a reader waits for a database that is being reopened.
const READER_WAIT: Duration = Duration::from_secs(2);
const POLL: Duration = Duration::from_millis(2);

pub(super) struct DbCell {
    pub dir: PathBuf,
    /// How often a reader went below the hot threads; a test reads it.
    pub disk_reads: AtomicU64,
    /// Emptied and filled by recovery, read by anyone.
    slot: Mutex<Option<Arc<Db>>>,
    filled: Condvar,
}

impl DbCell {
    pub fn new(db: Arc<Db>) -> Self {
        Self { dir: db.dir.clone(), disk_reads: AtomicU64::new(0), slot: Mutex::new(Some(db)), filled: Condvar::new() }
    }

    /// The database; waits a little while it is being reopened.
    pub fn get(&self) -> Result<Arc<Db>, Error> {
        let waited = self.filled.wait_timeout_while(self.lock(), READER_WAIT, |slot| slot.is_none());
        let (slot, _) = waited.unwrap_or_else(PoisonError::into_inner);
        slot.clone().ok_or_else(|| Error::Unavailable {
            why: "the store is being reopened after a failed write".into(),
            retry_after_s: 1,
        })
    }

    /// The database, if it is there now.
    pub fn peek(&self) -> Option<Arc<Db>> {
        self.lock().clone()
    }

    /// Closes the database once nobody uses it. If it is still in use after this long, it stays.
    pub fn close(&self, at_most: Duration) -> Result<(), Error> {
        let Some(mut db) = self.lock().take() else { return Ok(()) };
        let deadline = Instant::now() + at_most;
        loop {
            match Arc::try_unwrap(db) {
                Ok(db) => return Db::close(db),
                Err(shared) if Instant::now() >= deadline => {
                    self.put(shared);
                    return Err(Error::Unavailable { why: "the store is still being read".into(), retry_after_s: 1 });
                }
                Err(shared) => db = shared,
            }
            std::thread::sleep(POLL);
        }
    }

    pub fn put(&self, db: Arc<Db>) {
        *self.lock() = Some(db);
        self.filled.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<Db>>> {
        lock(&self.slot)
    }
}
