//! The store in a directory of this machine.
//!
//! Owns an embedded database, the committer that alone writes to it, and the cache of recent threads.
//! Reads of a cached thread need no disk; concurrent writes share one flush. Invariant:
//! what is published to readers is durable, and what is acknowledged is published.

mod apply;
mod cell;
mod change_counters;
mod check;
mod collection_cache;
mod committer;
mod db;
mod docs;
mod doomed;
mod eraser;
mod export;
mod forget;
mod fork;
mod import;
mod journal;
mod lifecycle;
mod manifest;
mod marker;
mod newest;
mod open;
mod outage;
mod read;
mod recovery;
mod scan;
mod scratch;
mod state;
mod txn;
mod unfinished;
mod witness;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use novelo_engine::path::{CollectionPath, DocumentPath, Prefix};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::oneshot;

use self::apply::PreparedOp;
use self::committer::Job;
pub(crate) use self::export::LocalExport;
use self::lifecycle::LocalInner;
use self::state::LocalState;
use crate::Error;
use crate::lock::lock;
use crate::op::{Op, Outcome};
use crate::read::{Document, ExportStart, Finding, Health, Newest, Page, Range, ThreadRow, Turns, Version, Window};

/// How long a forget waits for clean raw files before it answers; the cleaning then goes on.
const ERASE_WAIT: Duration = Duration::from_secs(10);

/// How a local store behaves.
#[derive(Debug, Clone)]
pub struct LocalOptions {
    /// Bytes of turns that are cached in memory.
    pub hot_bytes_max: usize,
    /// No flush per group: a power loss may take the last moments.
    pub relaxed: bool,
    /// Writes are refused while less than this is free on the disk.
    pub free_bytes_min: u64,
    /// Writes that may wait for the committer.
    pub writes_waiting_max: usize,
    /// Opens a directory in which a restore, import or migration was interrupted. Only the command that
    /// resumes it should set this.
    pub opens_incomplete: bool,
}

impl Default for LocalOptions {
    fn default() -> Self {
        Self {
            hot_bytes_max: 64 * 1024 * 1024,
            relaxed: false,
            free_bytes_min: 32 * 1024 * 1024,
            writes_waiting_max: novelo_engine::limits::WRITE_QUEUE_MAX,
            opens_incomplete: false,
        }
    }
}

/// Documents on disk; clones share them. The directory is free again when the last clone is gone.
#[derive(Debug, Clone)]
pub struct Local(Arc<LocalInner>);

impl Local {
    pub(crate) async fn open(dir: &Path, options: LocalOptions) -> Result<Self, Error> {
        let dir = dir.to_path_buf();
        blocking(move || LocalInner::open(&dir, options)).await.map(|inner| Self(Arc::new(inner)))
    }

    /// Opens a directory that may be read but not written; every write is refused.
    pub(crate) async fn open_read_only(dir: &Path, options: LocalOptions) -> Result<Self, Error> {
        let dir = dir.to_path_buf();
        blocking(move || LocalInner::open_read_only(&dir, options)).await.map(|inner| Self(Arc::new(inner)))
    }

    pub(crate) async fn write(&self, ops: Vec<Op>) -> Result<Vec<Outcome>, Error> {
        if let [Op::Sweep { now }] = ops.as_slice() {
            return self.sweep(*now).await.map(|swept| vec![Outcome::Swept(swept)]);
        }
        let forgets = ops.iter().any(|op| matches!(op, Op::Forget { .. }));
        let outcomes = self.write_once(ops).await?;
        if forgets {
            self.with(|shared| {
                shared.erasure.wait(ERASE_WAIT);
                Ok(())
            })
            .await?;
        }
        Ok(outcomes)
    }

    async fn write_once(&self, ops: Vec<Op>) -> Result<Vec<Outcome>, Error> {
        let (answer, outcome) = oneshot::channel();
        let job = Job { ops: ops.into_iter().map(PreparedOp::new).collect(), answer };
        match lock(&self.0.queue).as_ref().map(|queue| queue.try_send(job)) {
            Some(Ok(())) => {}
            Some(Err(TrySendError::Full(_))) => return Err(Error::Busy),
            Some(Err(TrySendError::Closed(_))) | None => return Err(self.0.shared.ended()),
        }
        outcome.await.map_err(|_| self.0.shared.ended())?
    }

    /// Removes what expired in batches, so that other writers are not blocked.
    async fn sweep(&self, now: f64) -> Result<u64, Error> {
        let mut swept = 0;
        loop {
            match self.write_once(vec![Op::Sweep { now }]).await?.as_slice() {
                [Outcome::Swept(0)] => return Ok(swept),
                [Outcome::Swept(more)] => swept += more,
                other => return Err(Error::damaged("the committer", format!("a sweep was answered with {other:?}"))),
            }
        }
    }

    pub(crate) async fn get(&self, at: &DocumentPath) -> Result<Option<Document>, Error> {
        if let Some(found) = self.0.shared.warm_document(at) {
            return Ok(found);
        }
        let at = at.clone();
        self.with(move |shared| shared.get(&at)).await
    }

    pub(crate) async fn turns(&self, of: &CollectionPath, range: Range) -> Result<Turns, Error> {
        if let Some(turns) = self.0.shared.warm(of, range) {
            return Ok(turns);
        }
        let of = of.clone();
        self.with(move |shared| shared.turns(&of, range)).await
    }

    pub(crate) async fn scan(&self, of: &CollectionPath, window: Window) -> Result<Page<Document>, Error> {
        let of = of.clone();
        self.with(move |shared| shared.scan(&of, window)).await
    }

    pub(crate) async fn newest_turns(&self, of: &CollectionPath, choice: Newest) -> Result<Turns, Error> {
        let of = of.clone();
        self.with(move |shared| shared.newest_turns(&of, choice)).await
    }

    pub(crate) async fn count_within(
        &self,
        of: &CollectionPath,
        begin: Option<f64>,
        end: Option<f64>,
    ) -> Result<u64, Error> {
        let of = of.clone();
        self.with(move |shared| shared.count_within(&of, begin, end)).await
    }

    pub(crate) async fn threads(
        &self,
        under: &CollectionPath,
        child: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Page<ThreadRow>, Error> {
        let (under, child, after) = (under.clone(), child.to_owned(), after.map(str::to_owned));
        self.with(move |shared| shared.threads(&under, &child, after.as_deref(), limit)).await
    }

    pub(crate) async fn version(&self, of: &CollectionPath) -> Result<Version, Error> {
        if let Some(version) = self.0.shared.warm_version(of) {
            return Ok(version);
        }
        let of = of.clone();
        self.with(move |shared| shared.version(&of)).await
    }

    pub(crate) fn change_counter_of_kind<S: AsRef<str>>(&self, root: &[S], kind: &str) -> u64 {
        self.0.shared.change_counters.of_kind(root, kind)
    }

    pub(crate) fn change_counter<S: AsRef<str>>(&self, path: &[S]) -> u64 {
        self.0.shared.change_counters.of_root(path)
    }

    pub(crate) async fn export(&self, what: &Prefix) -> Result<ExportStart<LocalExport>, Error> {
        let (shared, what) = (self.0.shared.clone(), what.clone());
        blocking(move || export::export(&shared, &what)).await
    }

    pub(crate) async fn check(&self) -> Result<Vec<Finding>, Error> {
        self.with(LocalState::check).await
    }

    pub(crate) fn health(&self) -> Health {
        let shared = &self.0.shared;
        let why = shared.why_not_writable();
        let disk_bytes = shared.cell.peek().and_then(|db| db.database.disk_space().ok());
        Health {
            writable: why.is_none() && !shared.is_read_only,
            why,
            hot_bytes: shared.cache.bytes(),
            hot_threads: shared.cache.threads(),
            queue_len: lock(&self.0.queue).as_ref().map_or(0, |queue| queue.max_capacity() - queue.capacity()),
            disk_bytes: disk_bytes.unwrap_or(0),
            erasing: shared.erasure.is_running(),
        }
    }

    pub(crate) async fn close(self) -> Result<(), Error> {
        blocking(move || {
            self.0.stop();
            match self.0.shared.is_read_only {
                true => Ok(()),
                false => self.0.shared.cell.get()?.flush(),
            }
        })
        .await
    }

    /// How often a read of this store went to the disk.
    pub fn disk_reads(&self) -> u64 {
        self.0.shared.cell.disk_reads.load(Ordering::Relaxed)
    }

    #[cfg(test)]
    fn shared(&self) -> &LocalState {
        &self.0.shared
    }

    async fn with<T: Send + 'static>(
        &self,
        read: impl FnOnce(&LocalState) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let shared = self.0.shared.clone();
        blocking(move || read(&shared)).await
    }
}

async fn blocking<T: Send + 'static>(run: impl FnOnce() -> Result<T, Error> + Send + 'static) -> Result<T, Error> {
    let done = tokio::task::spawn_blocking(run).await;
    done.unwrap_or_else(|_| Err(Error::damaged("the store", "reading it failed in an unexpected way")))
}
