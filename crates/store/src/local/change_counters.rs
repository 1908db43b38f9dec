//! Counters that say whether anything below a root was written, or anything of one kind below it.
//!
//! Owns a fixed number of counters. Roots whose hashes collide share one, which costs a reader a needless
//! read and never a missed change. Only the committer adds, everyone reads, nobody waits. Invariant: a reader
//! that takes the counter, reads, and later sees the same counter has missed no acknowledged write.

use std::hash::Hasher;
use std::sync::atomic::{AtomicU64, Ordering};

use novelo_engine::scope::USERS;
use rustc_hash::FxHasher;

const SLOTS: usize = 4_096;

pub(super) struct ChangeCounters(Vec<AtomicU64>);

impl ChangeCounters {
    pub fn new() -> Self {
        Self((0..SLOTS).map(|_| AtomicU64::new(0)).collect())
    }

    /// The counter of the root of a path. A user's document is in the collection `users`, outside of every
    /// user's root, so the counter of that collection is added to the counter of each user.
    pub(crate) fn of_root<S: AsRef<str>>(&self, path: &[S]) -> u64 {
        let segments = path.iter().map(|segment| segment.as_ref().as_bytes());
        let own = self.slot(segments.clone()).load(Ordering::Acquire);
        match is_below_a_user(segments.clone()) {
            true => own.wrapping_add(self.slot(segments.take(1)).load(Ordering::Acquire)),
            false => own,
        }
    }

    /// The counter of the collections below a root whose last segment is `kind`.
    pub fn of_kind<S: AsRef<str>>(&self, root: &[S], kind: &str) -> u64 {
        let segments = root.iter().map(|segment| segment.as_ref().as_bytes());
        self.kind_slot(segments, kind.as_bytes()).load(Ordering::Acquire)
    }

    /// Counts a write to a collection, given by its key.
    pub fn add(&self, key: &[u8]) {
        let segments = key.split(|byte| *byte == 0);
        let kind = segments.clone().next_back().unwrap_or_default();
        self.kind_slot(segments.clone(), kind).fetch_add(1, Ordering::Release);
        self.slot(segments).fetch_add(1, Ordering::Release);
    }

    /// Counts a change of everything.
    pub(crate) fn add_to_all(&self) {
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
