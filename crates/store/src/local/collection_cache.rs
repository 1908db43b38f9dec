//! The cache of collections: what is published of each, and its newest turns.
//!
//! Owns one `CachedCollection` per path in use; readers and the committer share it. Only the committer
//! publishes, after a commit and before it answers; a reader installs what it loaded only if nothing was
//! published meanwhile. So nothing here is ever stale, and no reader sees a seq that was not acknowledged.
//!
//! Lock order: a shard, then a collection's state. Neither is held over a disk read.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use novelo_engine::Turn;
use rustc_hash::{FxBuildHasher, FxHasher};

use crate::codec::CollectionMeta;
use crate::hot_turns::HotTurns;
use crate::lock::lock;
use crate::read::{Document, Range, ThreadStats, Turns, Version};

/// The collections in use with keys of one hash.
type CollectionShard = HashMap<Box<[u8]>, Arc<CachedCollection>, FxBuildHasher>;

const SHARDS: usize = 64;
/// Epochs are given by readers too, so an opening has room for many beside each commit.
const EPOCH_BITS: u32 = 24;
/// What a collection costs in the map besides its turns.
const ENTRY_BYTES: usize = 320;
/// Documents that one collection keeps for readers by id: so many, each so small.
const DOCUMENTS_MAX: usize = 16;
const DOCUMENT_BYTES_MAX: usize = 16 * 1024;

pub(super) struct CollectionCache {
    shards: Vec<Mutex<CollectionShard>>,
    /// All that is kept, turns and entries; written under a collection's lock, read by anyone.
    bytes: AtomicUsize,
    bytes_max: usize,
    threads: AtomicUsize,
    /// Counts uses, so that the least recently used is known.
    tick: AtomicU64,
    /// The next epoch of any collection: none comes twice in a process.
    epochs: AtomicU64,
    /// The shard where the next eviction looks.
    hand: AtomicUsize,
}

/// One collection. The map holds one reference, and evicts only what nobody else holds.
pub(super) struct CachedCollection {
    pub key: Box<[u8]>,
    used: AtomicU64,
    state: Mutex<CachedState>,
}

#[derive(Default)]
struct CachedState {
    known: Option<CollectionHead>,
    epoch: u64,
    /// A commit that replaces or removes is under way: nothing may be installed.
    changing: bool,
    hot: Option<HotTurns>,
    /// Small documents that were read by id, and ids that have none; gone with the next change.
    documents: HashMap<Box<str>, Option<Document>, FxBuildHasher>,
}

impl CachedState {
    fn version(&self, known: &CollectionHead) -> Version {
        Version { last_seq: known.last_seq, epoch: self.epoch }
    }
}

/// What is published of a collection.
#[derive(Debug, Clone, Default)]
pub(super) struct CollectionHead {
    /// `None` when the collection does not exist.
    pub meta: Option<CollectionMeta>,
    pub last_seq: u64,
}

impl CollectionHead {
    pub fn count(&self) -> u64 {
        self.last_seq - self.meta.as_ref().map_or(0, |meta| meta.removed.min(self.last_seq))
    }
}

/// What a reader finds.
pub(super) enum CacheLookup {
    /// Everything asked for.
    Served(Turns),
    /// Nothing is known yet: load, then `learn`.
    Unknown,
    /// The disk is needed.
    Cold(CacheMiss),
}

/// A collection at the moment when a reader went to the disk.
#[derive(Debug, Clone, Copy)]
pub(super) struct CacheMiss {
    pub last_seq: u64,
    pub epoch: u64,
    pub count: u64,
    /// Where the hot turns begin, if there are any.
    pub hot_first: Option<u64>,
    pub hot_len: usize,
}

impl CollectionCache {
    /// `commit` is the last one that was found: epochs of one opening are none of another, so that what was
    /// kept by a version, and stored, is not taken for that of something else after a restart.
    pub fn new(bytes_max: usize, commit: u64) -> Self {
        Self {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            bytes: AtomicUsize::new(0),
            bytes_max,
            threads: AtomicUsize::new(0),
            tick: AtomicU64::new(0),
            epochs: AtomicU64::new((commit << EPOCH_BITS) + 1),
            hand: AtomicUsize::new(0),
        }
    }

    pub fn get(&self, key: &[u8]) -> Arc<CachedCollection> {
        let cached = {
            let mut shard = lock(self.shard(key));
            match shard.get(key) {
                Some(cached) => cached.clone(),
                None => self.enter(&mut shard, key),
            }
        };
        cached.used.store(self.tick.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        self.shrink();
        cached
    }

    fn enter(&self, shard: &mut CollectionShard, key: &[u8]) -> Arc<CachedCollection> {
        self.bytes.fetch_add(ENTRY_BYTES + 2 * key.len(), Ordering::Relaxed);
        let state = CachedState { epoch: self.epoch(), ..CachedState::default() };
        let cached = Arc::new(CachedCollection { key: key.into(), used: AtomicU64::new(0), state: Mutex::new(state) });
        shard.insert(key.into(), cached.clone());
        cached
    }

    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    pub fn threads(&self) -> usize {
        self.threads.load(Ordering::Relaxed)
    }

    pub fn look(&self, cached: &CachedCollection, range: Range) -> CacheLookup {
        let state = lock(&cached.state);
        let Some(known) = &state.known else { return CacheLookup::Unknown };
        let stats = ThreadStats { last_seq: known.last_seq, epoch: state.epoch, count: known.count() };
        if known.count() == 0 {
            return CacheLookup::Served(Turns::from_list(Vec::new(), stats, false));
        }
        if let Some(turns) = state.hot.as_ref().and_then(|hot| hot.serve(range, stats)) {
            return CacheLookup::Served(turns);
        }
        CacheLookup::Cold(CacheMiss {
            last_seq: known.last_seq,
            epoch: state.epoch,
            count: known.count(),
            hot_first: state.hot.as_ref().map(|hot| hot.first),
            hot_len: state.hot.as_ref().map_or(0, HotTurns::len),
        })
    }

    /// A document by id, or that there is none, where that is known.
    pub(crate) fn look_document(&self, cached: &CachedCollection, id: &str) -> Option<Option<Document>> {
        let state = lock(&cached.state);
        if state.changing {
            return None;
        }
        match &state.known {
            Some(CollectionHead { meta: None, .. }) => Some(None),
            _ => state.documents.get(id).cloned(),
        }
    }

    /// The version at which a reader goes to the disk for a document; `None` while a change is under way.
    pub(crate) fn settled_version(&self, cached: &CachedCollection) -> Option<Version> {
        let state = lock(&cached.state);
        state.known.as_ref().filter(|_| !state.changing).map(|known| state.version(known))
    }

    /// Caches a small document that was read, unless something was published since that version.
    pub(crate) fn install_document(
        &self,
        cached: &CachedCollection,
        version: Option<Version>,
        id: &str,
        found: &Option<Document>,
    ) {
        let small = found.as_ref().is_none_or(|document| document.value.len() <= DOCUMENT_BYTES_MAX);
        if !small || version.is_none() {
            return;
        }
        let mut state = lock(&cached.state);
        let now = state.known.as_ref().map(|known| state.version(known));
        if now != version || state.changing || state.documents.len() >= DOCUMENTS_MAX {
            return;
        }
        let bytes = document_bytes(id, found);
        if state.documents.insert(id.into(), found.clone()).is_none() {
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
        drop(state);
        self.shrink();
    }

    /// What is published, if it was loaded.
    pub fn known(&self, cached: &CachedCollection) -> Option<CollectionHead> {
        lock(&cached.state).known.clone()
    }

    /// What a reader may keep under, if the collection was loaded. While a commit replaces or removes, this
    /// is a version that holds for that while only: whether a reader then finds the old or the new,
    /// publishing ends it.
    pub fn version(&self, cached: &CachedCollection) -> Option<Version> {
        let state = lock(&cached.state);
        state.known.as_ref().map(|known| state.version(known))
    }

    /// Tells what was loaded, unless something was published since; answers what is published.
    pub(crate) fn learn(&self, cached: &CachedCollection, loaded: CollectionHead) -> CollectionHead {
        lock(&cached.state).known.get_or_insert(loaded).clone()
    }

    /// Keeps turns that a reader loaded: all from `first` on that were not hot yet. Does nothing if the
    /// thread moved.
    pub(crate) fn install(&self, cached: &CachedCollection, cold: CacheMiss, first: u64, turns: Vec<Turn>) {
        let mut state = lock(&cached.state);
        if state.changing || state.epoch != cold.epoch || turns.is_empty() {
            return;
        }
        let grew = state.known.as_ref().is_none_or(|known| known.last_seq != cold.last_seq);
        let before = state.hot.as_ref().map_or(0, |hot| hot.bytes);
        match &mut state.hot {
            Some(hot) if turns.last().is_some_and(|turn| turn.seq < hot.first) => hot.extend_back(first, turns),
            Some(_) => return,
            None if grew => return,
            None => {
                self.threads.fetch_add(1, Ordering::Relaxed);
                state.hot = Some(HotTurns::new(first, turns));
            }
        }
        let after = state.hot.as_ref().map_or(0, |hot| hot.bytes);
        self.bytes.fetch_add(after - before, Ordering::Relaxed);
        drop(state);
        self.shrink();
    }

    /// Before a commit that replaces or removes.
    pub(crate) fn begin_change(&self, cached: &CachedCollection) {
        let mut state = lock(&cached.state);
        state.changing = true;
        state.epoch = self.epoch();
        self.cool(&mut state);
    }

    /// After a commit that failed.
    pub(crate) fn abandon_change(&self, cached: &CachedCollection) {
        let mut state = lock(&cached.state);
        state.changing = false;
        state.epoch = self.epoch();
    }

    /// Before another database is put in: nothing is known any more. Readers and the committer hold no view
    /// then.
    pub fn reset(&self) {
        for cached in self.shards.iter().flat_map(|shard| lock(shard).values().cloned().collect::<Vec<_>>()) {
            let mut state = lock(&cached.state);
            state.known = None;
            state.changing = false;
            state.epoch = self.epoch();
            self.cool(&mut state);
        }
    }

    /// After a commit: what is true from now on, and the turns that were appended.
    pub(crate) fn publish(&self, cached: &CachedCollection, known: CollectionHead, changed: bool, appended: Vec<Turn>) {
        let mut state = lock(&cached.state);
        self.drop_documents(&mut state);
        let is_new = state.known.as_ref().is_none_or(|before| before.last_seq == 0) && !changed;
        state.known = Some(known);
        if changed {
            state.changing = false;
            state.epoch = self.epoch();
            self.cool(&mut state);
            return;
        }
        if is_new && state.hot.is_none() && !appended.is_empty() {
            self.threads.fetch_add(1, Ordering::Relaxed);
            state.hot = Some(HotTurns::new(1, Vec::new()));
        }
        let Some(hot) = &mut state.hot else { return };
        let before = hot.bytes;
        hot.append(appended, self.bytes_max);
        self.bytes.fetch_add(hot.bytes, Ordering::Relaxed);
        self.bytes.fetch_sub(before, Ordering::Relaxed);
        drop(state);
        self.shrink();
    }

    fn shard(&self, key: &[u8]) -> &Mutex<CollectionShard> {
        use std::hash::Hasher;
        let mut hasher = FxHasher::default();
        hasher.write(key);
        let at = (hasher.finish() >> 32) as usize % SHARDS;
        self.shards.get(at).expect("the remainder is below the number of shards")
    }

    fn epoch(&self) -> u64 {
        self.epochs.fetch_add(1, Ordering::Relaxed)
    }

    fn drop_documents(&self, state: &mut CachedState) {
        let bytes: usize = state.documents.drain().map(|(id, found)| document_bytes(&id, &found)).sum();
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    fn cool(&self, state: &mut CachedState) {
        self.drop_documents(state);
        if let Some(hot) = state.hot.take() {
            self.bytes.fetch_sub(hot.bytes, Ordering::Relaxed);
            self.threads.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Lets the least recently used of one shard after the other go, until all fits.
    fn shrink(&self) {
        let mut misses = 0;
        while self.bytes() > self.bytes_max && misses < SHARDS {
            let at = self.hand.fetch_add(1, Ordering::Relaxed) % SHARDS;
            let Some(shard) = self.shards.get(at) else { return };
            misses = if self.evict_from(&mut lock(shard)) { 0 } else { misses + 1 };
        }
    }

    fn evict_from(&self, shard: &mut CollectionShard) -> bool {
        let idle = shard.values().filter(|cached| Arc::strong_count(cached) == 1);
        let Some(key) = idle.min_by_key(|cached| cached.used.load(Ordering::Relaxed)).map(|cached| cached.key.clone())
        else {
            return false;
        };
        let Some(cached) = shard.remove(&key) else { return false };
        self.cool(&mut lock(&cached.state));
        self.bytes.fetch_sub(ENTRY_BYTES + 2 * key.len(), Ordering::Relaxed);
        true
    }
}

/// What a kept document costs.
fn document_bytes(id: &str, found: &Option<Document>) -> usize {
    128 + id.len() + found.as_ref().map_or(0, |document| document.id.len() + document.value.len())
}
