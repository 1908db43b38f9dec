//! Reading turns and documents.
//!
//! Owns the way from a path to bytes: what is hot is answered at once; anything else is read on a blocking
//! thread from one snapshot of the database. Invariant: a reader returns nothing above the published last
//! seq, and caches only what did not change meanwhile.

use novelo_engine::path::{CollectionPath, DocumentPath};
use novelo_engine::{Message, Turn};

use super::collection_cache::{CacheLookup, CacheMiss, CachedCollection, CollectionHead};
use super::docs;
use super::state::LocalState;
use super::txn::{entry, load};
use crate::Error;
use crate::codec::collection_key;
use crate::read::{Document, Range, ThreadStats, Turns, Version};
use crate::record::Record;

/// A cold thread is warmed with at least this many of its newest turns.
const WARM_TURNS: usize = 64;

impl LocalState {
    /// The turns, if no disk is needed.
    pub(crate) fn warm(&self, of: &CollectionPath, range: Range) -> Option<Turns> {
        let cached = self.cache.get(&collection_key(of));
        match self.cache.look(&cached, range) {
            CacheLookup::Served(turns) => Some(turns),
            CacheLookup::Unknown | CacheLookup::Cold(_) => None,
        }
    }

    pub fn turns(&self, of: &CollectionPath, range: Range) -> Result<Turns, Error> {
        let cached = self.cache.get(&collection_key(of));
        loop {
            match self.cache.look(&cached, range) {
                CacheLookup::Served(turns) => return Ok(turns),
                CacheLookup::Unknown => drop(self.known(&cached)?),
                CacheLookup::Cold(cold) => {
                    return match range {
                        Range::Last(count) => self.last(&cached, cold, count),
                        Range::After { seq, limit } => self.after(&cached, cold, seq, limit),
                        Range::Between { first, last } => self.between(&cached, cold, first, last),
                    };
                }
            }
        }
    }

    /// What is published of a collection, loaded if need be.
    pub fn known(&self, cached: &CachedCollection) -> Result<CollectionHead, Error> {
        match self.cache.known(cached) {
            Some(known) => Ok(known),
            None => {
                // The view is held until this is learnt, so that it cannot be of a database that was
                // replaced.
                let view = self.view()?;
                Ok(self.cache.learn(cached, load(&view, &cached.key)?))
            }
        }
    }

    /// The version, if the collection is known.
    pub(crate) fn warm_version(&self, of: &CollectionPath) -> Option<Version> {
        self.cache.version(&self.cache.get(&collection_key(of)))
    }

    pub fn version(&self, of: &CollectionPath) -> Result<Version, Error> {
        let cached = self.cache.get(&collection_key(of));
        loop {
            match self.cache.version(&cached) {
                Some(version) => return Ok(version),
                None => drop(self.known(&cached)?),
            }
        }
    }

    /// The document, or that there is none, if no disk is needed to tell.
    pub(crate) fn warm_document(&self, at: &DocumentPath) -> Option<Option<Document>> {
        let cached = self.cache.get(&collection_key(&at.collection()));
        self.cache.look_document(&cached, at.id())
    }

    pub fn get(&self, at: &DocumentPath) -> Result<Option<Document>, Error> {
        let cached = self.cache.get(&collection_key(&at.collection()));
        self.known(&cached)?;
        let version = self.cache.settled_version(&cached);
        let view = self.view()?;
        let Some(meta) = entry(&view, &cached.key)? else { return Ok(None) };
        let found = docs::find(&view, &meta, at.id())?.map(|(seq, record)| record.into_document(seq));
        self.cache.install_document(&cached, version, at.id(), &found);
        Ok(found)
    }

    fn last(&self, cached: &CachedCollection, cold: CacheMiss, count: usize) -> Result<Turns, Error> {
        let view = self.view()?;
        let Some(meta) = entry(&view, &cached.key)? else { return Ok(cold.turns(Vec::new(), false)) };
        let wanted = count.max(WARM_TURNS).saturating_sub(cold.hot_len);
        let below = cold.hot_first.map_or(cold.last_seq, |first| first - 1);
        let mut older = docs::descending(&view, &meta, below).take(wanted).map(turn).collect::<Result<Vec<_>, _>>()?;
        let first = if older.len() < wanted { 1 } else { older.last().map_or(1, |turn| turn.seq) };
        older.reverse();
        self.cache.install(cached, cold, first, older);
        if let CacheLookup::Served(turns) = self.cache.look(cached, Range::Last(count)) {
            return Ok(turns);
        }
        let newest = docs::descending(&view, &meta, cold.last_seq).take(count.saturating_add(1)).map(turn);
        let mut turns = newest.collect::<Result<Vec<_>, _>>()?;
        let has_more = turns.len() > count;
        turns.truncate(count);
        turns.reverse();
        Ok(cold.turns(turns, has_more))
    }

    fn after(&self, cached: &CachedCollection, cold: CacheMiss, seq: u64, limit: usize) -> Result<Turns, Error> {
        let view = self.view()?;
        let Some(meta) = entry(&view, &cached.key)? else { return Ok(cold.turns(Vec::new(), false)) };
        let mut later = docs::ascending(&view, &meta, seq.saturating_add(1), cold.last_seq);
        let turns = later.by_ref().take(limit).map(turn).collect::<Result<Vec<_>, _>>()?;
        let has_more = later.next().transpose()?.is_some();
        Ok(cold.turns(turns, has_more))
    }

    fn between(&self, cached: &CachedCollection, cold: CacheMiss, first: u64, last: u64) -> Result<Turns, Error> {
        let view = self.view()?;
        let Some(meta) = entry(&view, &cached.key)? else { return Ok(cold.turns(Vec::new(), false)) };
        let inside = docs::ascending(&view, &meta, first, last.min(cold.last_seq)).map(turn);
        Ok(cold.turns(inside.collect::<Result<Vec<_>, _>>()?, false))
    }
}

impl CacheMiss {
    fn turns(self, turns: Vec<Turn>, has_more: bool) -> Turns {
        let Self { last_seq, epoch, count, .. } = self;
        Turns::from_list(turns, ThreadStats { last_seq, epoch, count }, has_more)
    }
}

pub(super) fn turn(document: Result<(u64, Record), Error>) -> Result<Turn, Error> {
    let (seq, record) = document?;
    let message = Message::from_stored(record.value);
    Ok(Turn { seq, id: record.id, create_time: record.create_time, message })
}
