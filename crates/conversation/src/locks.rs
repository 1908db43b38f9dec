//! Pens: who reads something in order to write it holds its pen meanwhile.
//!
//! Owns a fixed number of locks that keys share. They keep writers of this process from losing races against
//! each other; versions detect other writers. Invariant: a task that holds locks takes no more.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hash};

use tokio::sync::{Mutex, MutexGuard};

const PENS: usize = 64;

static PEN: [Mutex<()>; PENS] = [const { Mutex::const_new(()) }; PENS];

/// Waits for the pens of these keys; in order, so that two who want the same ones never wait for each other.
pub async fn hold<K: Hash>(keys: impl Iterator<Item = K>) -> Vec<MutexGuard<'static, ()>> {
    let number = |key: K| rustc_hash::FxBuildHasher.hash_one(key) as usize % PENS;
    let numbers: BTreeSet<usize> = keys.map(number).collect();
    let mut held = Vec::new();
    for pen in numbers.into_iter().filter_map(|number| PEN.get(number)) {
        held.push(pen.lock().await);
    }
    held
}
