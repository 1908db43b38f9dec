//! Everything Novelo remembers: JSON documents in collections, addressed by a path.
//!
//! A [`Store`] is a handle on one of three back-ends, which obey the same laws: a model in memory, a
//! directory of this machine, and a Redis server or cluster that several nodes share. A path alternates
//! between collections and documents: `users/ana/convo.sessions/s1/messages` is a collection. The documents
//! of a collection have ids, and are numbered by `seq` in the order in which they were added. A *thread* is a
//! collection that is read by seq; its documents are *turns*.
//!
//! A value is opaque bytes; only a merge parses it. The store has no clock and makes no ids: both come from
//! the caller, so that the same call can be repeated.
//!
//! ```
//! use novelo_engine::path::CollectionPath;
//! use novelo_store::{AppendTerms, NewDocument, NewId, Range, Store};
//!
//! # tokio::runtime::Runtime::new().unwrap().block_on(async {
//! let store = Store::memory();
//! let messages = CollectionPath::new(&["users", "ana", "convo.sessions", "s1", "messages"])?;
//! let hello = NewDocument {
//!     id: NewId::Given("m1".into()),
//!     create_time: 1_700_000_000.0,
//!     value: r#"{"role":"user","content":"Hello"}"#.into(),
//!     expires_at: None,
//! };
//! let stamps = store.append(&messages, vec![hello.clone()], AppendTerms::default()).await?;
//! assert_eq!(stamps[0].seq, 1);
//!
//! // The same document again is answered as before and stored once.
//! let again = store.append(&messages, vec![hello], AppendTerms::default()).await?;
//! assert!(again[0].existed);
//! assert_eq!(store.turns(&messages, Range::Last(10)).await?.len(), 1);
//!
//! let forgotten = store.forget(&messages.prefix()).await?;
//! assert_eq!(forgotten.documents(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```
//!
//! # Laws
//!
//! Each law is tested by `tests/conformance` on every back-end, with a fresh store per test.
//!
//! - **L1** An acknowledged write survives `kill -9` and power loss, unless `LocalOptions::relaxed` is set.
//! - **L2** An append is atomic, costs the same in a long thread as in a short one, and gives seqs without
//!   gaps. Concurrent appends never interleave inside a batch.
//! - **L3** A write is visible to every later read, from any node.
//! - **L4** An append that is repeated with the same id and the same bytes gets the first answer again. Other
//!   bytes under the same id are a conflict.
//! - **L5** The cost of reading the last n turns, or a window, depends on what is returned, not on what is
//!   stored.
//! - **L6** A put merges deeply if asked to. `if_version` refuses a lost update.
//! - **L7** A path names its own documents only, whatever the ids contain.
//! - **L8** A forget removes documents, index entries, caches and traces. Afterwards the raw files hold none
//!   of the text.
//! - **L9** A write is all or nothing. Where a back-end keeps users on several servers, this holds for each
//!   user's part of the write.
//! - **L10** What any released version stored can be opened.

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
pub use read::{Cursor, Document, Finding, Health, Newest, Page, Range, ThreadRow, Turns, Version, Window};
pub use redis::{EvictionState, Redis, RedisOptions, ServerEviction};

/// The names of the laws, so that a test can check that each law has tests.
pub const LAWS: [&str; 10] = ["L1", "L2", "L3", "L4", "L5", "L6", "L7", "L8", "L9", "L10"];

/// A handle on a store; clones are cheap and share it.
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
    /// A new, empty store in memory.
    pub fn memory() -> Self {
        Self::Memory(Memory::default())
    }

    /// Opens the store in a directory, and creates it if there is none. One process can have it open at a
    /// time.
    pub async fn open_local(dir: &Path, options: LocalOptions) -> Result<Self, Error> {
        Local::open(dir, options).await.map(Self::Local)
    }

    /// Opens a directory that this user may read but not write, or that lies on a read-only file system.
    /// Copies of its journals are made in the place for temporary files; every write is refused, and health
    /// gives no reason for it.
    pub async fn open_read_only(dir: &Path, options: LocalOptions) -> Result<Self, Error> {
        Local::open_read_only(dir, options).await.map(Self::Local)
    }

    /// Opens a store in Redis. If no server answers, the error is returned at once. Servers that answer but
    /// do not serve yet are waited for, for 60 seconds at most.
    pub async fn open_redis(options: RedisOptions) -> Result<Self, Error> {
        Redis::open(options).await.map(Self::Redis)
    }

    /// Applies all operations or none (L9), and returns their outcomes in the same order. After an error that
    /// leaves open whether the write was made (`Unavailable`, `ReadOnly`), the same write can be repeated if
    /// it names its ids.
    pub async fn write(&self, ops: Vec<Op>) -> Result<Vec<Outcome>, Error> {
        op::check(&ops)?;
        match self {
            Self::Memory(memory) => memory.write(ops),
            Self::Local(local) => local.write(ops).await,
            Self::Redis(redis) => redis.write(ops).await,
        }
    }

    /// Adds documents at the end of a collection, in this order.
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

    /// Creates a document, replaces it, or merges into it.
    pub async fn put(&self, at: &DocumentPath, value: Bytes, terms: PutTerms) -> Result<Stamp, Error> {
        match self.write_one(Op::Put { at: at.clone(), value, terms }).await? {
            Outcome::Put(stamp) => Ok(stamp),
            other => Err(mismatch(&other)),
        }
    }

    /// Deletes a document. Returns whether it existed.
    pub async fn delete(&self, at: &DocumentPath, if_version: Option<u64>) -> Result<bool, Error> {
        match self.write_one(Op::Delete { at: at.clone(), if_version }).await? {
            Outcome::Deleted(existed) => Ok(existed),
            other => Err(mismatch(&other)),
        }
    }

    /// Makes `to` begin with the turns of `from` up to and including `at_seq`. Returns how many these are.
    pub async fn fork(&self, from: &CollectionPath, at_seq: u64, to: &CollectionPath) -> Result<u64, Error> {
        match self.write_one(Op::Fork { from: from.clone(), at_seq, to: to.clone() }).await? {
            Outcome::Forked(turns) => Ok(turns),
            other => Err(mismatch(&other)),
        }
    }

    /// Removes everything at a prefix and below it, and cleans the raw files (L8). If the cleaning takes
    /// long, this returns before its end, and [`Health::erasing`] is set until then.
    pub async fn forget(&self, what: &Prefix) -> Result<Forgotten, Error> {
        match self.write_one(Op::Forget { what: what.clone() }).await? {
            Outcome::Forgotten(forgotten) => Ok(forgotten),
            other => Err(mismatch(&other)),
        }
    }

    /// Stores exported documents as they were. Returns how many were new.
    pub async fn import(&self, batch: Vec<Exported>) -> Result<u64, Error> {
        match self.write_one(Op::Import { documents: batch }).await? {
            Outcome::Imported(documents) => Ok(documents),
            other => Err(mismatch(&other)),
        }
    }

    /// Removes documents that expired at `now` or before. Returns how many there were.
    pub async fn sweep(&self, now: f64) -> Result<u64, Error> {
        match self.write_one(Op::Sweep { now }).await? {
            Outcome::Swept(documents) => Ok(documents),
            other => Err(mismatch(&other)),
        }
    }

    /// Reads a document.
    pub async fn get(&self, at: &DocumentPath) -> Result<Option<Document>, Error> {
        match self {
            Self::Memory(memory) => Ok(memory.get(at)),
            Self::Local(local) => local.get(at).await,
            Self::Redis(redis) => redis.get(at).await,
        }
    }

    /// Reads turns of a thread by seq.
    pub async fn turns(&self, of: &CollectionPath, range: Range) -> Result<Turns, Error> {
        match self {
            Self::Memory(memory) => Ok(memory.turns(of, range)),
            Self::Local(local) => local.turns(of, range).await,
            Self::Redis(redis) => redis.turns(of, range).await,
        }
    }

    /// Reads the newest turns of a range of time, whatever the order in which they were written. They come in
    /// the order of their seqs; `has_more` says whether the range has older ones.
    pub async fn newest_turns(&self, of: &CollectionPath, choice: Newest) -> Result<Turns, Error> {
        match self {
            Self::Memory(memory) => Ok(memory.newest_turns(of, choice)),
            Self::Local(local) => local.newest_turns(of, choice).await,
            Self::Redis(redis) => redis.newest_turns(of, choice).await,
        }
    }

    /// Counts the documents of a collection that are later than `begin` and not later than `end`. Reads index
    /// entries only, in a directory one for each of these documents.
    pub async fn count_within(&self, of: &CollectionPath, begin: Option<f64>, end: Option<f64>) -> Result<u64, Error> {
        match self {
            Self::Memory(memory) => Ok(memory.count_within(of, begin, end)),
            Self::Local(local) => local.count_within(of, begin, end).await,
            Self::Redis(redis) => redis.count_within(of, begin, end).await,
        }
    }

    /// Reads documents of a collection by time.
    pub async fn scan(&self, of: &CollectionPath, window: Window) -> Result<Page<Document>, Error> {
        match self {
            Self::Memory(memory) => Ok(memory.scan(of, window)),
            Self::Local(local) => local.scan(of, window).await,
            Self::Redis(redis) => redis.scan(of, window).await,
        }
    }

    /// Lists the threads `under/{id}/child` by id. The documents `under/{id}` need not exist.
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

    /// The version of a collection, which changes with every write to it. It may also change without a write:
    /// after the collection was not in use for a while, or when a thread changes that shares turns with it by
    /// a fork.
    pub async fn version(&self, of: &CollectionPath) -> Result<Version, Error> {
        match self {
            Self::Memory(memory) => Ok(memory.version(of)),
            Self::Local(local) => local.version(of).await,
            Self::Redis(redis) => redis.version(of).await,
        }
    }

    /// The versions of many collections, in the same order.
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

    /// Exports everything at a prefix and below it as it is now, whatever is written meanwhile.
    pub async fn export(&self, what: &Prefix) -> Result<Export, Error> {
        match self {
            Self::Memory(memory) => Ok(Export::from_memory(memory.export(what))),
            Self::Local(local) => local.export(what).await.map(Export::from_local),
            Self::Redis(redis) => redis.export(what).await.map(Export::from_redis),
        }
    }

    /// Reads and cross-checks every record. The store is healthy if no finding is a fault.
    pub async fn check(&self) -> Result<Vec<Finding>, Error> {
        match self {
            Self::Memory(_) => Ok(Vec::new()),
            Self::Local(local) => local.check().await,
            Self::Redis(redis) => redis.check().await,
        }
    }

    /// For each server that holds documents, whether it drops some when memory is short. Empty without
    /// servers.
    pub async fn evictions(&self) -> Result<Vec<ServerEviction>, Error> {
        match self {
            Self::Memory(_) | Self::Local(_) => Ok(Vec::new()),
            Self::Redis(redis) => redis.evictions().await,
        }
    }

    /// The state of the store. Reads neither the disk nor the network.
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

/// Whether this process can write to a directory. `false` if it does not exist.
pub fn is_writable(dir: &Path) -> bool {
    rustix::fs::access(dir, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK).is_ok()
}

fn mismatch(outcome: &Outcome) -> Error {
    Error::damaged("the committer", format!("an operation was answered with {outcome:?}"))
}
