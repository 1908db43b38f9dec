//! Counters that tell whether anything below a root was written.
//!
//! Owns a fixed number of them; roots share one when their hashes fall together, which costs a reader a needless look
//! and never a missed one. Only the committer adds, anyone reads, nobody waits. Invariant: a reader that took a pulse,
//! read, and sees the same pulse later has missed no write that was acknowledged.

use std::hash::Hasher;
use std::sync::atomic::{AtomicU64, Ordering};

use novelo_engine::scope::USERS;
use rustc_hash::FxHasher;

const SLOTS: usize = 1_024;

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

    /// Says that a collection, given by its key, was written.
    pub fn beat(&self, key: &[u8]) {
        self.slot(key.split(|byte| *byte == 0)).fetch_add(1, Ordering::Release);
    }

    fn slot<'k>(&self, path: impl Iterator<Item = &'k [u8]> + Clone) -> &AtomicU64 {
        let root_len = if is_below_a_user(path.clone()) { 2 } else { 1 };
        let mut hasher = FxHasher::default();
        path.take(root_len).for_each(|segment| hasher.write(segment));
        let at = (hasher.finish() >> 32) as usize % SLOTS;
        self.0.get(at).expect("the remainder is below the number of slots")
    }
}

fn is_below_a_user<'k>(mut path: impl Iterator<Item = &'k [u8]>) -> bool {
    path.next() == Some(USERS.as_bytes()) && path.next().is_some()
}
