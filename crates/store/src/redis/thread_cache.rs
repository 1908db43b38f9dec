//! The cache of threads in this process.
//!
//! Owns the newest turns of threads that were used lately, each with the version it was read at. Another node
//! may write at any time, so nothing is served without a version that the reader asked Redis for. Invariant:
//! what is served under a version is what Redis held at that version.

use std::collections::HashMap;
use std::hash::Hasher;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use bytes::Bytes;
use novelo_engine::Turn;
use rustc_hash::{FxBuildHasher, FxHasher};

use crate::hot_turns::HotTurns;
use crate::lock::lock;
use crate::read::{Range, ThreadStats, Turns, Version};

type ThreadShard = HashMap<Bytes, CachedThread, FxBuildHasher>;

const SHARDS: usize = 64;
/// What a thread costs besides its turns.
const THREAD_BYTES: usize = 320;

pub(super) struct ThreadCache {
    shards: Vec<Mutex<ThreadShard>>,
    bytes: AtomicUsize,
    bytes_max: usize,
    threads: AtomicUsize,
    /// Counts uses, so that the least recently used is known.
    tick: AtomicU64,
    /// The shard where the next eviction looks.
    hand: AtomicUsize,
}

struct CachedThread {
    version: Version,
    count: u64,
    hot: HotTurns,
    used: u64,
}

impl CachedThread {
    fn bytes(&self, key: &Bytes) -> usize {
        THREAD_BYTES + key.len() + self.hot.bytes
    }

    fn stats(&self) -> ThreadStats {
        ThreadStats { last_seq: self.version.last_seq, epoch: self.version.epoch, count: self.count }
    }
}

impl ThreadCache {
    pub fn new(bytes_max: usize) -> Self {
        Self {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            bytes: AtomicUsize::new(0),
            bytes_max,
            threads: AtomicUsize::new(0),
            tick: AtomicU64::new(0),
            hand: AtomicUsize::new(0),
        }
    }

    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    pub fn threads(&self) -> usize {
        self.threads.load(Ordering::Relaxed)
    }

    /// The version of what is cached of a thread.
    pub fn known(&self, key: &Bytes) -> Option<Version> {
        self.shard(key).get(key).map(|cached| cached.version)
    }

    /// The turns of a range, if the thread is cached as of this version and all of them are here.
    pub fn serve(&self, key: &Bytes, version: Version, range: Range) -> Option<Turns> {
        let mut shard = self.shard(key);
        let cached = shard.get_mut(key).filter(|cached| cached.version == version)?;
        cached.used = self.tick.fetch_add(1, Ordering::Relaxed);
        cached.hot.serve(range, cached.stats())
    }

    /// Keeps a thread: all of its turns from `first` on.
    pub(crate) fn install(&self, key: &Bytes, version: Version, count: u64, first: u64, turns: Vec<Turn>) {
        let used = self.tick.fetch_add(1, Ordering::Relaxed);
        let cached = CachedThread { version, count, hot: HotTurns::new(first, turns), used };
        let (mut shard, added) = (self.shard(key), cached.bytes(key));
        match shard.insert(key.clone(), cached) {
            Some(old) => drop(self.bytes.fetch_sub(old.bytes(key), Ordering::Relaxed)),
            None => drop(self.threads.fetch_add(1, Ordering::Relaxed)),
        }
        drop(shard);
        self.bytes.fetch_add(added, Ordering::Relaxed);
        self.shrink();
    }

    /// Adds what was appended between two versions; does nothing if the thread is not cached as of the first.
    pub fn extend(&self, key: &Bytes, from: Version, last_seq: u64, turns: Vec<Turn>) {
        let mut shard = self.shard(key);
        let Some(cached) = shard.get_mut(key).filter(|cached| cached.version == from) else { return };
        let before = cached.hot.bytes;
        cached.version.last_seq = last_seq;
        cached.count += turns.len() as u64;
        cached.hot.append(turns, self.bytes_max);
        self.bytes.fetch_add(cached.hot.bytes, Ordering::Relaxed);
        self.bytes.fetch_sub(before, Ordering::Relaxed);
        drop(shard);
        self.shrink();
    }

    /// Lets the least recently used of one shard after the other go, until all fits.
    fn shrink(&self) {
        let mut misses = 0;
        while self.bytes() > self.bytes_max && misses < SHARDS {
            let at = self.hand.fetch_add(1, Ordering::Relaxed) % SHARDS;
            let Some(mut shard) = self.shards.get(at).map(lock) else { return };
            let oldest = shard.iter().min_by_key(|(_, cached)| cached.used).map(|(key, _)| key.clone());
            match oldest.and_then(|key| shard.remove(&key).map(|cached| cached.bytes(&key))) {
                Some(bytes) => {
                    self.bytes.fetch_sub(bytes, Ordering::Relaxed);
                    self.threads.fetch_sub(1, Ordering::Relaxed);
                    misses = 0;
                }
                None => misses += 1,
            }
        }
    }

    fn shard(&self, key: &Bytes) -> MutexGuard<'_, ThreadShard> {
        let mut hasher = FxHasher::default();
        hasher.write(key);
        let at = (hasher.finish() >> 32) as usize % SHARDS;
        lock(self.shards.get(at).expect("the remainder is below the number of shards"))
    }
}

impl std::fmt::Debug for ThreadCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ThreadCache")
            .field("threads", &self.threads())
            .field("bytes", &self.bytes())
            .finish_non_exhaustive()
    }
}
