//! Everything Novelo remembers: JSON documents in collections, addressed by a path.
//!
//! Owns the documents and every key and byte of them. Refuses to know what a document means: a value is
//! opaque bytes, and only a merge parses it. The store has no clock: times and ids come in.
//!
//! Its laws, each a test of `tests/conformance` over every back-end with a fresh store:
//!
//! - **L1** an acknowledged write survives `kill -9` and power loss (`relaxed` must be asked for)
//! - **L2** an append is atomic, costs the same in a long thread as in a short one, and gives a dense seq;
//!   concurrent appends never interleave inside a batch
//! - **L3** a write is visible to every later read, from any node
//! - **L4** the same id and the same bytes again is the first answer again; other bytes are a conflict
//! - **L5** reading the last n, or a window, costs what it returns, not what is stored
//! - **L6** a put merges deeply when asked; `if_version` refuses a lost update
//! - **L7** a path names its own documents only, whatever the ids contain
//! - **L8** a forget removes documents, index entries, caches and traces; the raw files then hold none of
//!   the text
//! - **L9** a write is all or nothing; where a back-end keeps users at several servers, each user's part of
//!   it
//! - **L10** what was stored by any released version opens

mod codec;
mod error;
mod export;
mod hot_turns;
mod incomplete;
mod local;
mod lock;
mod memory;
mod merge;
mod op;
pub mod qdrant;
mod read;
mod record;
mod redis;
mod root;

use std::path::Path;

use bytes::Bytes;
use novelo_engine::path::{CollectionPath, DocumentPath, Prefix};

/// Reads a stream of Redis that comes in pieces: what was read, and the most memory that took. For the fuzz
/// target alone.
#[doc(hidden)]
pub fn read_redis_replies<'p>(pieces: impl Iterator<Item = &'p [u8]>) -> (String, usize) {
    redis::client::resp::read_replies(pieces)
}

pub use error::Error;
pub use export::Export;
pub use incomplete::{FillKind, Incomplete};
pub use local::{Local, LocalOptions};
pub use memory::Memory;
pub use op::{AppendTerms, Exported, Forgotten, NewDocument, NewId, Op, Outcome, PutTerms, Reserved, SEQ_MAX, Stamp};
pub use read::{Cursor, Document, Finding, Health, Page, Range, ThreadRow, Turns, Version, Window};
pub use redis::{EvictionState, Redis, RedisOptions, ServerEviction};

/// The laws by name, so that a test can tell whether one has none.
pub const LAWS: [&str; 10] = ["L1", "L2", "L3", "L4", "L5", "L6", "L7", "L8", "L9", "L10"];

/// A handle on documents; clones are cheap and share them.
#[derive(Debug, Clone)]
pub enum Store {
    /// A plain model, gone with the process.
    Memory(Memory),
    /// A directory on this machine.
    Local(Local),
    /// A server or a cluster that several nodes share.
    Redis(Redis),
}

impl Store {
    pub fn memory() -> Self {
        Self::Memory(Memory::default())
    }

    pub async fn open_local(dir: &Path, options: LocalOptions) -> Result<Self, Error> {
        Local::open(dir, options).await.map(Self::Local)
    }

    /// Opens a directory that this user may read but not write, or that lies on a read-only file system.
    /// Copies of its journals are made in the place for temporary files; every write is refused, and health
    /// gives no reason for it.
    pub async fn open_read_only(dir: &Path, options: LocalOptions) -> Result<Self, Error> {
        Local::open_read_only(dir, options).await.map(Self::Local)
    }

    pub async fn open_redis(options: RedisOptions) -> Result<Self, Error> {
        Redis::open(options).await.map(Self::Redis)
    }

    /// Applies all operations or none, and answers each in order.
    pub async fn write(&self, ops: Vec<Op>) -> Result<Vec<Outcome>, Error> {
        op::check(&ops)?;
        match self {
            Self::Memory(memory) => memory.write(ops),
            Self::Local(local) => local.write(ops).await,
            Self::Redis(redis) => redis.write(ops).await,
        }
    }

    pub async fn append(
        &self,
        to: &CollectionPath,
        documents: Vec<NewDocument>,
        terms: AppendTerms,
    ) -> Result<Vec<Stamp>, Error> {
        match self.write_one(Op::Append { to: to.clone(), documents, terms }).await? {
            Outcome::Appended(stamps) => Ok(stamps),
            other => Err(mismatch(&other)),
        }
    }

    pub async fn put(&self, at: &DocumentPath, value: Bytes, terms: PutTerms) -> Result<Stamp, Error> {
        match self.write_one(Op::Put { at: at.clone(), value, terms }).await? {
            Outcome::Put(stamp) => Ok(stamp),
            other => Err(mismatch(&other)),
        }
    }

    /// Whether there was something to delete.
    pub async fn delete(&self, at: &DocumentPath, if_version: Option<u64>) -> Result<bool, Error> {
        match self.write_one(Op::Delete { at: at.clone(), if_version }).await? {
            Outcome::Deleted(existed) => Ok(existed),
            other => Err(mismatch(&other)),
        }
    }

    /// Makes `to` hold the turns of `from` up to and including `at_seq`; answers how many these are.
    pub async fn fork(&self, from: &CollectionPath, at_seq: u64, to: &CollectionPath) -> Result<u64, Error> {
        match self.write_one(Op::Fork { from: from.clone(), at_seq, to: to.clone() }).await? {
            Outcome::Forked(turns) => Ok(turns),
            other => Err(mismatch(&other)),
        }
    }

    pub async fn forget(&self, what: &Prefix) -> Result<Forgotten, Error> {
        match self.write_one(Op::Forget { what: what.clone() }).await? {
            Outcome::Forgotten(forgotten) => Ok(forgotten),
            other => Err(mismatch(&other)),
        }
    }

    /// Puts exported documents back as they were; answers how many were not there yet.
    pub async fn import(&self, batch: Vec<Exported>) -> Result<u64, Error> {
        match self.write_one(Op::Import { documents: batch }).await? {
            Outcome::Imported(documents) => Ok(documents),
            other => Err(mismatch(&other)),
        }
    }

    /// Removes what expired at `now` or before.
    pub async fn sweep(&self, now: f64) -> Result<u64, Error> {
        match self.write_one(Op::Sweep { now }).await? {
            Outcome::Swept(documents) => Ok(documents),
            other => Err(mismatch(&other)),
        }
    }

    pub async fn get(&self, at: &DocumentPath) -> Result<Option<Document>, Error> {
        match self {
            Self::Memory(memory) => Ok(memory.get(at)),
            Self::Local(local) => local.get(at).await,
            Self::Redis(redis) => redis.get(at).await,
        }
    }

    pub async fn turns(&self, of: &CollectionPath, range: Range) -> Result<Turns, Error> {
        match self {
            Self::Memory(memory) => Ok(memory.turns(of, range)),
            Self::Local(local) => local.turns(of, range).await,
            Self::Redis(redis) => redis.turns(of, range).await,
        }
    }

    pub async fn scan(&self, of: &CollectionPath, window: Window) -> Result<Page<Document>, Error> {
        match self {
            Self::Memory(memory) => Ok(memory.scan(of, window)),
            Self::Local(local) => local.scan(of, window).await,
            Self::Redis(redis) => redis.scan(of, window).await,
        }
    }

    /// The sub-collections `child` of the documents below `under`, by id, whether or not these documents
    /// exist.
    pub async fn threads(
        &self,
        under: &CollectionPath,
        child: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Page<ThreadRow>, Error> {
        match self {
            Self::Memory(memory) => Ok(memory.threads(under, child, after, limit)),
            Self::Local(local) => local.threads(under, child, after, limit).await,
            Self::Redis(redis) => redis.threads(under, child, after, limit).await,
        }
    }

    /// Changes with every write to a collection, and with nothing else that a reader would notice. A
    /// collection that was not in use for a while may have another version than before, though nothing was
    /// written; so may one that shares turns with a fork, when the other of the two changes.
    pub async fn version(&self, of: &CollectionPath) -> Result<Version, Error> {
        match self {
            Self::Memory(memory) => Ok(memory.version(of)),
            Self::Local(local) => local.version(of).await,
            Self::Redis(redis) => redis.version(of).await,
        }
    }

    /// The versions of many collections, in their order.
    pub async fn versions(&self, of: &[CollectionPath]) -> Result<Vec<Version>, Error> {
        if let Self::Redis(redis) = self {
            return redis.versions(of).await;
        }
        let mut versions = Vec::with_capacity(of.len());
        for of in of {
            versions.push(self.version(of).await?);
        }
        Ok(versions)
    }

    /// A counter that changes with every write below the root of a path. The root is the user for paths below
    /// `users/{user}`, and otherwise the first segment. Take it before reading, like a version; what was read
    /// is current for as long as the counter is the same. Writes to other roots may change it too.
    pub async fn change_counter<S: AsRef<str>>(&self, path: &[S]) -> Result<u64, Error> {
        match self {
            Self::Memory(memory) => Ok(memory.change_counter()),
            Self::Local(local) => Ok(local.change_counter(path)),
            Self::Redis(redis) => redis.change_counter(path).await,
        }
    }

    /// The same for the collections below a root whose last segment is `kind`.
    pub async fn change_counter_of_kind<S: AsRef<str>>(&self, root: &[S], kind: &str) -> Result<u64, Error> {
        match self {
            Self::Memory(memory) => Ok(memory.change_counter()),
            Self::Local(local) => Ok(local.change_counter_of_kind(root, kind)),
            Self::Redis(redis) => redis.change_counter_of_kind(root, kind).await,
        }
    }

    /// Everything below a prefix as it is now, whatever is written meanwhile.
    pub async fn export(&self, what: &Prefix) -> Result<Export, Error> {
        match self {
            Self::Memory(memory) => Ok(Export::from_memory(memory.export(what))),
            Self::Local(local) => local.export(what).await.map(Export::from_local),
            Self::Redis(redis) => redis.export(what).await.map(Export::from_redis),
        }
    }

    /// Reads and cross-checks every record; no fault among the findings means healthy.
    pub async fn check(&self) -> Result<Vec<Finding>, Error> {
        match self {
            Self::Memory(_) => Ok(Vec::new()),
            Self::Local(local) => local.check().await,
            Self::Redis(redis) => redis.check().await,
        }
    }

    /// Whether the servers that hold the documents drop some when memory is short; none where no server does.
    pub async fn evictions(&self) -> Result<Vec<ServerEviction>, Error> {
        match self {
            Self::Memory(_) | Self::Local(_) => Ok(Vec::new()),
            Self::Redis(redis) => redis.evictions().await,
        }
    }

    pub fn health(&self) -> Health {
        match self {
            Self::Memory(memory) => memory.health(),
            Self::Local(local) => local.health(),
            Self::Redis(redis) => redis.health(),
        }
    }

    /// Finishes the writes that wait and flushes; later writes through other handles are refused.
    pub async fn close(self) -> Result<(), Error> {
        match self {
            Self::Memory(_) => Ok(()),
            Self::Local(local) => local.close().await,
            Self::Redis(redis) => {
                redis.close();
                Ok(())
            }
        }
    }

    async fn write_one(&self, op: Op) -> Result<Outcome, Error> {
        let mut outcomes = self.write(vec![op]).await?;
        outcomes.pop().ok_or_else(|| Error::damaged("the committer", "a write had no outcome"))
    }
}

/// Whether a directory can be written to by this process; one that does not exist cannot.
pub fn is_writable(dir: &Path) -> bool {
    rustix::fs::access(dir, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK).is_ok()
}

fn mismatch(outcome: &Outcome) -> Error {
    Error::damaged("the committer", format!("an operation was answered with {outcome:?}"))
}
