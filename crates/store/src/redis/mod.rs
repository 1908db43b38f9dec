//! The store in a Redis server or cluster that several nodes share.
//!
//! Owns the keys of a prefix and a cache of threads. Every write is one script on one root,
//! so that nodes never interleave; every read asks for the version, so that no node serves what another has
//! changed. Redis holds everything: a node can end at any moment. Invariant: what is acknowledged is in
//! Redis, whole, and found by every node.

mod bench_list;
mod check;
pub(crate) mod client;
mod eraser;
mod eviction;
mod export;
mod forget;
mod import;
mod names;
mod read;
mod reply_list;
mod roots;
mod script;
mod sweep;
mod thread_cache;
mod write;
mod write_args;

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use bytes::Bytes;

use self::client::{Client, ClientOptions, Command, Reply};
pub use self::eviction::{EvictionState, ServerEviction};
pub(crate) use self::export::RedisExport;
use self::names::KeyNames;
use self::thread_cache::ThreadCache;
use crate::Error;
use crate::op::{Op, Outcome};
use crate::read::Health;

/// How long opening waits for servers that answer but do not serve yet, because they load their files or
/// because their cluster recovers. With the default `cluster-node-timeout` of 15 s, a cluster counts a server
/// that came back as failed for up to 30 s.
const RECOVERY_WAIT_MAX: Duration = Duration::from_secs(60);

/// Where the server is, and how a store in it behaves.
#[derive(Debug, Clone)]
pub struct RedisOptions {
    /// `redis://[user[:password]@]host[:port][/db][,host:port…]`, `rediss://` for TLS; to use a cluster, name
    /// one or more of its servers.
    pub url: String,
    /// A prefix of every key, so that several stores can share a server.
    pub prefix: String,
    /// How long one answer may take.
    pub timeout: Duration,
    /// Bytes of turns that are cached in memory.
    pub hot_bytes_max: usize,
}

/// A handle on a shared store; clones are cheap.
#[derive(Debug, Clone)]
pub struct Redis(Arc<RedisInner>);

#[derive(Debug)]
struct RedisInner {
    client: Client,
    names: KeyNames,
    thread_cache: ThreadCache,
    eraser: eraser::SharedEraser,
}

impl Redis {
    pub(crate) async fn open(options: RedisOptions) -> Result<Self, Error> {
        let RedisOptions { url, prefix, timeout, hot_bytes_max } = options;
        if prefix.contains(['{', '}']) {
            return Err(Error::Invalid("a prefix of keys holds no braces: they are for the tags of users".into()));
        }
        let client = Client::open(ClientOptions { url, timeout, recovery_wait_max: RECOVERY_WAIT_MAX }).await?;
        let (names, thread_cache) = (KeyNames::new(&prefix), ThreadCache::new(hot_bytes_max));
        let redis = Self(Arc::new(RedisInner { client, names, thread_cache, eraser: eraser::SharedEraser::default() }));
        redis.resume_erasure().await?;
        Ok(redis)
    }

    pub(crate) async fn write(&self, ops: Vec<Op>) -> Result<Vec<Outcome>, Error> {
        let alone = match ops.as_slice() {
            [Op::Fork { from, at_seq, to }] => self.fork(from, *at_seq, to).await.map(Outcome::Forked)?,
            [Op::Forget { what }] => self.forget(what).await.map(Outcome::Forgotten)?,
            [Op::Import { documents }] => self.import(documents).await.map(Outcome::Imported)?,
            [Op::Sweep { now }] => self.sweep(*now).await.map(Outcome::Swept)?,
            ops => return self.write_together(ops).await,
        };
        Ok(vec![alone])
    }

    pub(crate) fn health(&self) -> Health {
        let why = self.0.client.fault();
        Health {
            writable: why.is_none(),
            why,
            hot_bytes: self.0.thread_cache.bytes(),
            hot_threads: self.0.thread_cache.threads(),
            queue_len: 0,
            disk_bytes: 0,
            erasing: self.0.eraser.is_erasing(),
        }
    }

    /// Nothing is flushed: what was acknowledged is in Redis.
    pub(crate) fn close(self) {
        drop(self);
    }

    /// One command; a refusal is an error.
    async fn command(&self, key: &Bytes, command: Command) -> Result<Reply, Error> {
        match self.0.client.call(key, command).await? {
            Reply::Refused(why) => Err(reply_list::refused(why)),
            reply => Ok(reply),
        }
    }
}

/// A random number below 2⁵³, which Lua and JSON represent exactly. It identifies one state of a collection,
/// also across nodes.
fn random() -> u64 {
    static SEED: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    static COUNT: AtomicU64 = AtomicU64::new(0);
    (SEED.hash_one(COUNT.fetch_add(1, Ordering::Relaxed)) >> 11).max(1)
}
