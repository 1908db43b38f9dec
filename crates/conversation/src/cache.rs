//! The one kind of cache: bounded by bytes, with no clock and no list.
//!
//! Owns two generations of entries. What is used is young; when the young ones fill half of the room, the old
//! ones go and the young ones become old. Whether an entry is still true is for its reader to say.

use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;

/// Entries by key. Any thread reads and writes; an entry goes when it is not used for long enough.
#[derive(Debug)]
pub struct Cache<K, V> {
    generations: Mutex<Generations<K, V>>,
    bytes_max: usize,
}

#[derive(Debug)]
struct Generations<K, V> {
    young: FxHashMap<K, (V, usize)>,
    old: FxHashMap<K, (V, usize)>,
    young_bytes: usize,
}

impl<K: Hash + Eq + Clone, V: Clone> Cache<K, V> {
    /// An empty cache that holds at most `bytes_max` bytes.
    pub fn new(bytes_max: usize) -> Self {
        let generations = Generations { young: FxHashMap::default(), old: FxHashMap::default(), young_bytes: 0 };
        Self { generations: Mutex::new(generations), bytes_max }
    }

    /// The value of a key. It becomes the newest of the cache.
    pub fn get(&self, key: &K) -> Option<V> {
        let mut generations = self.lock();
        if let Some((value, _)) = generations.young.get(key) {
            return Some(value.clone());
        }
        let (value, bytes) = generations.old.remove(key)?;
        self.enter(&mut generations, key.clone(), value.clone(), bytes);
        Some(value)
    }

    /// Keeps a value that takes so many bytes, and says whether it did; one that would fill the cache by
    /// itself is not kept.
    pub fn insert(&self, key: K, value: V, bytes: usize) -> bool {
        let mut generations = self.lock();
        generations.old.remove(&key);
        self.enter(&mut generations, key, value, bytes)
    }

    /// Lets go of all but these.
    pub fn retain(&self, keep: impl Fn(&K) -> bool) {
        let mut generations = self.lock();
        generations.young.retain(|key, _| keep(key));
        generations.old.retain(|key, _| keep(key));
        generations.young_bytes = generations.young.values().map(|(_, bytes)| bytes).sum();
    }

    fn enter(&self, generations: &mut Generations<K, V>, key: K, value: V, bytes: usize) -> bool {
        let room = self.bytes_max / 2;
        if let Some((_, before)) = generations.young.remove(&key) {
            generations.young_bytes -= before;
        }
        if bytes > room {
            return false;
        }
        if generations.young_bytes + bytes > room {
            generations.old = std::mem::take(&mut generations.young);
            generations.young_bytes = 0;
        }
        generations.young_bytes += bytes;
        generations.young.insert(key, (value, bytes));
        true
    }

    /// No code of others runs under this lock but `keep`, which only compares.
    fn lock(&self) -> MutexGuard<'_, Generations<K, V>> {
        self.generations.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_stays_and_all_of_it_fits() {
        let cache = Cache::new(100);
        for n in 0..50 {
            cache.insert(n, n, 10);
            assert_eq!(cache.get(&0), Some(0), "after {n}");
        }
        let kept = (1..50).filter(|n| cache.get(n).is_some()).count();
        assert!((1..=9).contains(&kept), "{kept} others");
    }

    #[test]
    fn what_does_not_fit_is_not_kept() {
        let cache = Cache::new(100);
        assert!(cache.insert("a", 1, 50));
        assert!(!cache.insert("a", 2, 51));
        assert_eq!(cache.get(&"a"), None);
    }

    #[test]
    fn what_is_let_go_is_gone_from_both_generations() {
        let cache = Cache::new(100);
        for key in ["a", "b", "c", "d"] {
            cache.insert(key, key, 20);
        }
        cache.retain(|key| *key == "d");
        assert_eq!(["a", "b", "c", "d"].map(|key| cache.get(&key)), [None, None, None, Some("d")]);
    }
}
