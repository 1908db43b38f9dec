//! A group of writes before it is committed.
//!
//! Owns the pending writes and the state of each collection they touch. Every job
//! reads what earlier jobs of the group wrote. Invariant: a job that fails leaves the group as it found it,
//! and the database never sees one key twice in a batch.

use std::collections::HashMap;
use std::sync::Arc;

use fjall::Snapshot;
use novelo_engine::Turn;

use super::collection_cache::{CachedCollection, CollectionCache, CollectionHead};
use super::db::{Db, NUMBER, Space, View, Writes};
use super::docs;
use crate::Error;
use crate::codec::{CollectionMeta, expiry_key, id_key, pair_key, time_key};
use crate::record::Record;

pub(super) struct Txn<'a> {
    db: Arc<Db>,
    cache: &'a CollectionCache,
    snapshot: Snapshot,
    pub writes: Writes,
    pub bytes: usize,
    touched: HashMap<Box<[u8]>, TouchedCollection>,
    /// What the current job changed, so that it can be put back.
    undo: Vec<UndoStep>,
    /// Whether the group asks for the raw files to be cleaned of what it forgets.
    pub erases: bool,
}

/// A collection as it will be when the group is committed.
pub(super) struct TouchedCollection {
    pub cached: Arc<CachedCollection>,
    pub known: CollectionHead,
    /// Turns that a hot thread takes over as they are.
    pub appended: Vec<Turn>,
    /// Something stored was replaced or removed, so what is hot must go.
    pub changed: bool,
}

enum UndoStep {
    Write { at: (Space, Vec<u8>), before: Option<Option<Vec<u8>>> },
    Collection { key: Box<[u8]>, known: CollectionHead, appended: usize, changed: bool },
}

impl<'a> Txn<'a> {
    pub fn new(db: Arc<Db>, cache: &'a CollectionCache) -> Self {
        Self {
            snapshot: db.database.snapshot(),
            db,
            cache,
            writes: Writes::new(),
            bytes: 0,
            touched: HashMap::new(),
            undo: Vec::new(),
            erases: false,
        }
    }

    /// Runs one job: all of it or nothing.
    pub fn job<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        self.undo.clear();
        let outcome = run(self);
        if outcome.is_err() {
            self.roll_back();
        }
        outcome
    }

    pub fn view(&self) -> View<'_> {
        View { db: self.db.clone(), snapshot: self.snapshot.clone(), over: Some(&self.writes) }
    }

    pub fn put(&mut self, space: Space, key: impl Into<Vec<u8>>, value: Vec<u8>) {
        self.write(space, key.into(), Some(value));
    }

    pub fn remove(&mut self, space: Space, key: impl Into<Vec<u8>>) {
        self.write(space, key.into(), None);
    }

    fn write(&mut self, space: Space, key: Vec<u8>, value: Option<Vec<u8>>) {
        self.bytes += key.len() + value.as_ref().map_or(0, Vec::len);
        let at = (space, key);
        let before = self.writes.insert(at.clone(), value);
        self.undo.push(UndoStep::Write { at, before });
    }

    fn roll_back(&mut self) {
        for undo in std::mem::take(&mut self.undo).into_iter().rev() {
            match undo {
                UndoStep::Write { at, before: Some(before) } => drop(self.writes.insert(at, before)),
                UndoStep::Write { at, before: None } => drop(self.writes.remove(&at)),
                UndoStep::Collection { key, known, appended, changed } => {
                    if let Some(touched) = self.touched.get_mut(&key) {
                        touched.known = known;
                        touched.appended.truncate(appended);
                        touched.changed = changed;
                    }
                }
            }
        }
    }

    /// A collection as this group sees it.
    pub fn known(&mut self, key: &[u8]) -> Result<CollectionHead, Error> {
        if let Some(touched) = self.touched.get(key) {
            return Ok(touched.known.clone());
        }
        let cached = self.cache.get(key);
        let known = match self.cache.known(&cached) {
            Some(known) => known,
            None => self.cache.learn(&cached, load(&self.view(), key)?),
        };
        let touched = TouchedCollection { cached, known: known.clone(), appended: Vec::new(), changed: false };
        self.touched.insert(key.into(), touched);
        Ok(known)
    }

    /// What exists under a key, or what is created there now.
    pub fn ensure(&mut self, key: &[u8]) -> Result<(CollectionMeta, u64), Error> {
        let known = self.known(key)?;
        if let Some(meta) = known.meta {
            return Ok((meta, known.last_seq));
        }
        let meta = CollectionMeta::new(self.next_number()?);
        self.save(key, CollectionHead { meta: Some(meta.clone()), last_seq: 0 }, false);
        Ok((meta, 0))
    }

    pub(crate) fn next_number(&mut self) -> Result<u64, Error> {
        let number = self.view().number(NUMBER)?.unwrap_or(0) + 1;
        self.put(Space::Meta, NUMBER, number.to_be_bytes().to_vec());
        Ok(number)
    }

    /// Changes what is known of a touched collection, and its stored entry.
    pub fn save(&mut self, key: &[u8], known: CollectionHead, changed: bool) {
        match &known.meta {
            Some(meta) => self.put(Space::Collections, key, meta.encode(key)),
            None => self.remove(Space::Collections, key),
        }
        self.advance(key, known, changed, None);
    }

    /// Changes what is known of a touched collection: appended turns, or a change that what is hot cannot
    /// follow.
    pub fn advance(&mut self, key: &[u8], known: CollectionHead, changed: bool, appended: Option<Turn>) {
        let Some(touched) = self.touched.get_mut(key) else { return };
        self.undo.push(UndoStep::Collection {
            key: key.into(),
            known: std::mem::replace(&mut touched.known, known),
            appended: touched.appended.len(),
            changed: touched.changed,
        });
        touched.changed |= changed;
        touched.appended.extend(appended);
    }

    /// Writes a document and its index entries.
    pub fn insert(&mut self, collection: &[u8], number: u64, seq: u64, record: &Record) {
        let key = pair_key(number, seq);
        self.put(Space::Docs, key, record.encode(&key));
        self.put(Space::Ids, id_key(number, &record.id), seq.to_be_bytes().to_vec());
        self.put(Space::Times, time_key(number, record.create_time, seq), Vec::new());
        if let Some(at) = record.expires_at {
            self.put(Space::Expiry, expiry_key(at, number, seq), collection.to_vec());
        }
    }

    /// Removes a document and its index entries.
    pub fn erase(&mut self, number: u64, seq: u64, record: &Record) {
        self.remove(Space::Docs, pair_key(number, seq));
        self.remove(Space::Ids, id_key(number, &record.id));
        self.remove(Space::Times, time_key(number, record.create_time, seq));
        if let Some(at) = record.expires_at {
            self.remove(Space::Expiry, expiry_key(at, number, seq));
        }
    }

    /// Where to write what, and the collections to publish once that is committed.
    pub fn finish(self) -> (Arc<Db>, Writes, Vec<TouchedCollection>) {
        (self.db, self.writes, self.touched.into_values().collect())
    }
}

/// What is stored of a collection.
pub(super) fn load(view: &View<'_>, key: &[u8]) -> Result<CollectionHead, Error> {
    let Some(meta) = entry(view, key)? else { return Ok(CollectionHead::default()) };
    let last_seq = docs::last_seq(view, &meta)?;
    Ok(CollectionHead { meta: Some(meta), last_seq })
}

/// The stored entry of a collection.
pub(super) fn entry(view: &View<'_>, key: &[u8]) -> Result<Option<CollectionMeta>, Error> {
    view.get(Space::Collections, key)?.map(|bytes| CollectionMeta::decode(key, &bytes)).transpose()
}
