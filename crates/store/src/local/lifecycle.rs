//! The beginning and the end of a local store.
//!
//! Owns the threads of an open store: the committer, which alone writes, and the eraser, which cleans the raw
//! files. They end with `stop`, or with the last handle.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Instant;

use tokio::sync::mpsc;

use super::committer::{Committer, Job};
use super::doomed::DoomedSweep;
use super::open::{self, Opened};
use super::scratch::Scratch;
use super::state::LocalState;
use super::witness::Witness;
use super::{LocalOptions, eraser};
use crate::Error;
use crate::lock::lock;

/// What ends with the last handle.
pub(super) struct LocalInner {
    pub shared: Arc<LocalState>,
    /// Taken away by `close`; the committer ends when no sender is left.
    pub queue: Mutex<Option<mpsc::Sender<Job>>>,
    /// Joined by `close` or by the last handle.
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// Of a store that is opened for reading; it goes after the database.
    _scratch: Option<Scratch>,
}

impl LocalInner {
    pub fn open(dir: &Path, options: LocalOptions) -> Result<Self, Error> {
        let Opened { db, commit, erases } = open::open(dir, options.opens_incomplete)?;
        let witness = Witness::open(dir)?;
        let timer = tokio::runtime::Builder::new_current_thread().enable_time().build();
        let timer = timer.map_err(|e| Error::io(dir, e))?;
        let (sender, queue) = mpsc::channel(options.writes_waiting_max.max(1));
        let shared = Arc::new(LocalState::new(db, commit, options, false));
        shared.erasure.resume(erases);
        let sweep = erases.then(|| (DoomedSweep::default(), Instant::now()));
        let committer =
            Committer { shared: shared.clone(), queue, witness, timer, commit, sweep, sweep_error: String::new() };
        let committer = spawn("novelo:commit", dir, move || committer.run())?;
        let eraser = {
            let shared = shared.clone();
            spawn("novelo:erase", dir, move || eraser::run(&shared))?
        };
        let (queue, threads) = (Mutex::new(Some(sender)), Mutex::new(vec![committer, eraser]));
        Ok(Self { shared, queue, threads, _scratch: None })
    }

    /// Opens a directory that may be read but not written. There is no committer, so every write is refused.
    pub fn open_read_only(dir: &Path, options: LocalOptions) -> Result<Self, Error> {
        let scratch = Scratch::create(dir)?;
        let Opened { db, commit, .. } = open::open(&scratch.dir, options.opens_incomplete)?;
        let shared = Arc::new(LocalState::new(db, commit, options, true));
        Ok(Self { shared, queue: Mutex::default(), threads: Mutex::default(), _scratch: Some(scratch) })
    }

    /// Finishes the writes that wait, and joins the threads.
    pub fn stop(&self) {
        drop(lock(&self.queue).take());
        self.shared.erasure.stop();
        for thread in lock(&self.threads).drain(..) {
            if thread.join().is_err() {
                tracing::error!("a thread of the store panicked");
            }
        }
        if !self.shared.is_read_only && self.shared.cell.peek().is_some_and(|db| db.sync().is_err()) {
            self.shared.note_failure();
        }
    }
}

impl Drop for LocalInner {
    fn drop(&mut self) {
        self.stop();
    }
}

impl std::fmt::Debug for LocalInner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Local").field(&self.shared.cell.dir).finish()
    }
}

fn spawn(name: &str, dir: &Path, run: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, Error> {
    std::thread::Builder::new().name(name.into()).spawn(run).map_err(|e| Error::io(dir, e))
}
