//! Counters that tell whether anything below a root was written, or anything of one kind.
//!
//! Owns a fixed number of them; roots, and roots with a kind, share one when their hashes fall together, which costs a reader a needless look
//! and never a missed one. Only the committer adds, anyone reads, nobody waits. Invariant: a reader that took a pulse,
//! read, and sees the same pulse later has missed no write that was acknowledged.

use std::hash::Hasher;
use std::sync::atomic::{AtomicU64, Ordering};

use novelo_engine::scope::USERS;
use rustc_hash::FxHasher;

const SLOTS: usize = 4_096;

pub(super) struct Pulses(Vec<AtomicU64>);

impl Pulses {
    pub fn new() -> Self {
        Self((0..SLOTS).map(|_| AtomicU64::new(0)).collect())
    }

    /// The pulse of the root that a path lies below. A user's document stands in the collection `users`, outside of
    /// every user's root, so that collection's counter is in the pulse of each of them.
    pub fn of<S: AsRef<str>>(&self, path: &[S]) -> u64 {
        let segments = path.iter().map(|segment| segment.as_ref().as_bytes());
        let own = self.slot(segments.clone()).load(Ordering::Acquire);
        match is_below_a_user(segments.clone()) {
            true => own.wrapping_add(self.slot(segments.take(1)).load(Ordering::Acquire)),
            false => own,
        }
    }

    /// The pulse of the collections below a root whose last segment is this.
    pub fn of_kind<S: AsRef<str>>(&self, root: &[S], kind: &str) -> u64 {
        let segments = root.iter().map(|segment| segment.as_ref().as_bytes());
        self.kind_slot(segments, kind.as_bytes()).load(Ordering::Acquire)
    }

    /// Says that a collection, given by its key, was written.
    pub fn beat(&self, key: &[u8]) {
        let segments = key.split(|byte| *byte == 0);
        let kind = segments.clone().next_back().unwrap_or_default();
        self.kind_slot(segments.clone(), kind).fetch_add(1, Ordering::Release);
        self.slot(segments).fetch_add(1, Ordering::Release);
    }

    /// Says that anything may have changed.
    pub fn beat_all(&self) {
        for counter in &self.0 {
            counter.fetch_add(1, Ordering::Release);
        }
    }

    fn slot<'k>(&self, path: impl Iterator<Item = &'k [u8]> + Clone) -> &AtomicU64 {
        self.at(hash_root(path))
    }

    fn kind_slot<'k>(&self, path: impl Iterator<Item = &'k [u8]> + Clone, kind: &[u8]) -> &AtomicU64 {
        let mut hasher = hash_root(path);
        hasher.write_u8(0);
        hasher.write(kind);
        self.at(hasher)
    }

    fn at(&self, hasher: FxHasher) -> &AtomicU64 {
        let at = (hasher.finish() >> 32) as usize % SLOTS;
        self.0.get(at).expect("the remainder is below the number of slots")
    }
}

fn hash_root<'k>(path: impl Iterator<Item = &'k [u8]> + Clone) -> FxHasher {
    let root_len = if is_below_a_user(path.clone()) { 2 } else { 1 };
    let mut hasher = FxHasher::default();
    path.take(root_len).for_each(|segment| hasher.write(segment));
    hasher
}

fn is_below_a_user<'k>(mut path: impl Iterator<Item = &'k [u8]>) -> bool {
    path.next() == Some(USERS.as_bytes()) && path.next().is_some()
}
