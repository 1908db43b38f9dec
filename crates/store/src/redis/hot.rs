//! Threads kept ready in this process.
//!
//! Owns the newest turns of threads that were used lately, each with the version it was read at. Another node may write
//! at any time, so nothing is served without a version that was asked for after the read began: whoever asks brings it.
//! Invariant: what is served under a version is what Redis held at that version.

use std::collections::HashMap;
use std::hash::Hasher;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use novelo_engine::Turn;
use rustc_hash::{FxBuildHasher, FxHasher};

use crate::hot::{Hot, Moment};
use crate::read::{Range, Turns, Version};

type Shard = HashMap<Bytes, Kept, FxBuildHasher>;

const SHARDS: usize = 64;
/// What a thread costs besides its turns.
const THREAD_BYTES: usize = 320;

pub(super) struct Threads {
    shards: Vec<Mutex<Shard>>,
    bytes: AtomicUsize,
    bytes_max: usize,
    threads: AtomicUsize,
    /// Counts uses, so that the least recently used is known.
    tick: AtomicU64,
    /// The shard where the next eviction looks.
    hand: AtomicUsize,
}

struct Kept {
    version: Version,
    count: u64,
    hot: Hot,
    used: u64,
}

impl Kept {
    fn bytes(&self, key: &Bytes) -> usize {
        THREAD_BYTES + key.len() + self.hot.bytes
    }

    fn moment(&self) -> Moment {
        Moment { last_seq: self.version.last_seq, epoch: self.version.epoch, count: self.count }
    }
}

impl Threads {
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

    /// The version of what is kept of a thread.
    pub fn known(&self, key: &Bytes) -> Option<Version> {
        self.shard(key).get(key).map(|kept| kept.version)
    }

    /// The turns of a range, if the thread is kept as of this version and all of them are here.
    pub fn serve(&self, key: &Bytes, version: Version, range: Range) -> Option<Turns> {
        let mut shard = self.shard(key);
        let kept = shard.get_mut(key).filter(|kept| kept.version == version)?;
        kept.used = self.tick.fetch_add(1, Ordering::Relaxed);
        kept.hot.serve(range, kept.moment())
    }

    /// Keeps a thread: all of its turns from `first` on.
    pub fn install(&self, key: &Bytes, version: Version, count: u64, first: u64, turns: Vec<Turn>) {
        let used = self.tick.fetch_add(1, Ordering::Relaxed);
        let kept = Kept { version, count, hot: Hot::new(first, turns), used };
        let (mut shard, added) = (self.shard(key), kept.bytes(key));
        match shard.insert(key.clone(), kept) {
            Some(old) => drop(self.bytes.fetch_sub(old.bytes(key), Ordering::Relaxed)),
            None => drop(self.threads.fetch_add(1, Ordering::Relaxed)),
        }
        drop(shard);
        self.bytes.fetch_add(added, Ordering::Relaxed);
        self.shrink();
    }

    /// Adds what was appended between two versions; does nothing if the thread is not kept as of the first.
    pub fn extend(&self, key: &Bytes, from: Version, last_seq: u64, turns: Vec<Turn>) {
        let mut shard = self.shard(key);
        let Some(kept) = shard.get_mut(key).filter(|kept| kept.version == from) else { return };
        let before = kept.hot.bytes;
        kept.version.last_seq = last_seq;
        kept.count += turns.len() as u64;
        turns.into_iter().for_each(|turn| kept.hot.push(turn));
        self.bytes.fetch_add(kept.hot.bytes - before, Ordering::Relaxed);
        drop(shard);
        self.shrink();
    }

    /// Lets the least recently used of one shard after the other go, until all fits.
    fn shrink(&self) {
        let mut misses = 0;
        while self.bytes() > self.bytes_max && misses < SHARDS {
            let at = self.hand.fetch_add(1, Ordering::Relaxed) % SHARDS;
            let Some(mut shard) = self.shards.get(at).map(lock) else { return };
            let oldest = shard.iter().min_by_key(|(_, kept)| kept.used).map(|(key, _)| key.clone());
            match oldest.and_then(|key| shard.remove(&key).map(|kept| kept.bytes(&key))) {
                Some(bytes) => {
                    self.bytes.fetch_sub(bytes, Ordering::Relaxed);
                    self.threads.fetch_sub(1, Ordering::Relaxed);
                    misses = 0;
                }
                None => misses += 1,
            }
        }
    }

    fn shard(&self, key: &Bytes) -> MutexGuard<'_, Shard> {
        let mut hasher = FxHasher::default();
        hasher.write(key);
        let at = (hasher.finish() >> 32) as usize % SHARDS;
        lock(self.shards.get(at).expect("the remainder is below the number of shards"))
    }
}

impl std::fmt::Debug for Threads {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Threads")
            .field("threads", &self.threads())
            .field("bytes", &self.bytes())
            .finish_non_exhaustive()
    }
}

/// These locks guard whole values only, so a poisoned one is as good as any.
fn lock(shard: &Mutex<Shard>) -> MutexGuard<'_, Shard> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}
