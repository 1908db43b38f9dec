//! Striped locks: a task that reads something in order to write it holds its lock meanwhile.
//!
//! A fixed number of locks is shared by all keys. They keep writers of this process from losing races against
//! each other; versions detect the writers of other processes. Invariant: a task that holds locks takes no
//! more.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hash};

use tokio::sync::{Mutex, MutexGuard};

const STRIPES: usize = 64;

static LOCKS: [Mutex<()>; STRIPES] = [const { Mutex::const_new(()) }; STRIPES];

/// Waits for the locks of these keys. They are taken in one order, so that tasks never wait for each other.
pub async fn hold<K: Hash>(keys: impl Iterator<Item = K>) -> Vec<MutexGuard<'static, ()>> {
    let number = |key: K| rustc_hash::FxBuildHasher.hash_one(key) as usize % STRIPES;
    let numbers: BTreeSet<usize> = keys.map(number).collect();
    let mut held = Vec::new();
    for lock in numbers.into_iter().filter_map(|number| LOCKS.get(number)) {
        held.push(lock.lock().await);
    }
    held
}
