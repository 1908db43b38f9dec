//! The writes of the model.
//!
//! Owns all collections by path. Invariant: a single operation that fails has changed nothing.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use novelo_engine::path::{CollectionPath, DocumentPath, Prefix};

use super::collection::MemoryCollection;
use crate::Error;
use crate::op::{AppendTerms, Exported, Forgotten, NewDocument, NewId, Op, Outcome, PutTerms, Reserved, Stamp};
use crate::record::{ForkOrigin, Record, check_version};

#[derive(Debug, Default)]
pub(super) struct MemoryModel {
    pub collections: BTreeMap<CollectionPath, MemoryCollection>,
    numbers_given: u64,
    /// How often something changed.
    pub changes: u64,
    /// The highest epoch of any collection that was forgotten.
    epochs_gone: u64,
}

/// What a write of several operations may change, as it was.
pub(super) struct UndoState {
    collections: Vec<(CollectionPath, Option<MemoryCollection>)>,
    changes: u64,
}

impl MemoryModel {
    pub(crate) fn apply(&mut self, op: Op) -> Result<Outcome, Error> {
        match op {
            Op::Append { to, documents, terms } => self.append(&to, &documents, terms).map(Outcome::Appended),
            Op::Put { at, value, terms } => self.put(&at, value, terms).map(Outcome::Put),
            Op::Delete { at, if_version } => self.delete(&at, if_version).map(Outcome::Deleted),
            Op::Expect { at } => self.expect(&at).map(|()| Outcome::Expected),
            Op::Reserve(reserved) => Ok(self.reserve(&reserved)),
            Op::Fork { from, at_seq, to } => self.fork(&from, at_seq, &to).map(Outcome::Forked),
            Op::Forget { what } => Ok(Outcome::Forgotten(self.forget(&what))),
            Op::Import { documents } => self.import(&documents).map(Outcome::Imported),
            Op::Sweep { now } => Ok(Outcome::Swept(self.sweep(now))),
        }
    }

    /// What a write of these operations may change.
    pub fn before(&self, ops: &[Op]) -> UndoState {
        let paths: BTreeSet<_> = ops
            .iter()
            .filter_map(|op| match op {
                Op::Append { to, .. } => Some(to.clone()),
                Op::Put { at, .. } | Op::Delete { at, .. } => Some(at.collection()),
                Op::Reserve(reserved) => Some(reserved.of.clone()),
                Op::Expect { .. } | Op::Fork { .. } | Op::Forget { .. } | Op::Import { .. } | Op::Sweep { .. } => None,
            })
            .collect();
        let collections = paths.into_iter().map(|path| (path.clone(), self.collections.get(&path).cloned())).collect();
        UndoState { collections, changes: self.changes }
    }

    pub(crate) fn put_back(&mut self, before: UndoState) {
        self.changes = before.changes;
        for (path, collection) in before.collections {
            match collection {
                Some(collection) => self.collections.insert(path, collection),
                None => self.collections.remove(&path),
            };
        }
    }

    fn number(&mut self) -> u64 {
        self.numbers_given += 1;
        self.numbers_given
    }

    /// A collection that is about to change.
    fn collection(&mut self, path: &CollectionPath) -> &mut MemoryCollection {
        self.changes += 1;
        let (number, epoch) = (self.number(), self.epochs_gone + 1);
        self.collections.entry(path.clone()).or_insert_with(|| MemoryCollection::new(number, epoch))
    }

    fn append(
        &mut self,
        to: &CollectionPath,
        documents: &[NewDocument],
        terms: AppendTerms,
    ) -> Result<Vec<Stamp>, Error> {
        let stored = self.collections.get(to);
        let last_seq = stored.map_or(0, |c| c.last_seq);
        let mut added: BTreeMap<u64, Record> = BTreeMap::new();
        let mut stamps = Vec::with_capacity(documents.len());
        for document in documents {
            let known = match &document.id {
                NewId::Given(id) => stored.and_then(|c| c.find(id)).or_else(|| twin(&added, id)),
                NewId::Fresh(_) => None,
            };
            stamps.push(match known {
                Some((seq, record)) if record.value == document.value => record.stamp(seq, true),
                Some(_) => return Err(conflict(&document_path(to, document.id.as_str()))),
                None => {
                    let (seq, record) = (last_seq + 1 + added.len() as u64, Record::appended(document));
                    let stamp = record.stamp(seq, false);
                    added.insert(seq, record);
                    stamp
                }
            });
        }
        if added.is_empty() {
            return Ok(stamps);
        }
        check_version(terms.if_seq, last_seq)?;
        let collection = self.collection(to);
        added.into_iter().for_each(|(seq, record)| collection.insert(seq, record));
        terms.keep_last.into_iter().for_each(|documents| collection.keep_last(documents));
        Ok(stamps)
    }

    fn put(&mut self, at: &DocumentPath, value: Bytes, terms: PutTerms) -> Result<Stamp, Error> {
        let found = self.collections.get(&at.collection()).and_then(|c| c.find(at.id()));
        let Some((seq, old)) = found else {
            let record = Record::put_new(at.id(), value, terms)?;
            let collection = self.collection(&at.collection());
            let stamp = record.stamp(collection.last_seq + 1, false);
            collection.insert(stamp.seq, record);
            return Ok(stamp);
        };
        let record = old.put(value, terms)?;
        let (stamp, changed) = (record.stamp(seq, true), record != *old);
        if changed {
            self.collection(&at.collection()).replace(seq, record);
        }
        Ok(stamp)
    }

    fn delete(&mut self, at: &DocumentPath, if_version: Option<u64>) -> Result<bool, Error> {
        let found = self.collections.get(&at.collection()).and_then(|c| c.find(at.id()));
        check_version(if_version, found.map_or(0, |(_, record)| record.version))?;
        let existed = found.is_some();
        if existed {
            self.collection(&at.collection()).remove(at.id());
        }
        Ok(existed)
    }

    fn expect(&self, at: &DocumentPath) -> Result<(), Error> {
        match self.collections.get(&at.collection()).and_then(|c| c.find(at.id())) {
            Some(_) => Ok(()),
            None => Err(Error::NotFound { path: at.to_string() }),
        }
    }

    fn reserve(&mut self, reserved: &Reserved) -> Outcome {
        let collection = self.collection(&reserved.of);
        if reserved.last_seq > collection.last_seq {
            collection.last_seq = reserved.last_seq;
            collection.epoch += 1;
        }
        Outcome::Reserved
    }

    fn fork(&mut self, from: &CollectionPath, at_seq: u64, to: &CollectionPath) -> Result<u64, Error> {
        let source = self.collections.get(from).ok_or_else(|| Error::NotFound { path: from.to_string() })?;
        if at_seq > source.last_seq {
            return Err(Error::Invalid(format!("at_seq {at_seq} is beyond the end, {}", source.last_seq)));
        }
        let documents: BTreeMap<_, _> = source.documents.range(..=at_seq).map(|(s, r)| (*s, r.clone())).collect();
        let origin = ForkOrigin { from: source.number, at_seq, turns: documents.len() as u64 };
        match self.collections.get(to).map(|c| c.origin) {
            Some(Some(first)) if (first.from, first.at_seq) == (origin.from, at_seq) => return Ok(first.turns),
            Some(_) => return Err(Error::Conflict { path: to.to_string() }),
            None => {}
        }
        self.changes += 1;
        let (number, epoch) = (self.number(), self.epochs_gone + 1);
        self.collections.insert(to.clone(), MemoryCollection::forked(number, epoch, origin, documents));
        Ok(origin.turns)
    }

    fn forget(&mut self, what: &Prefix) -> Forgotten {
        let mut forgotten = Forgotten::default();
        self.collections.retain(|path, collection| {
            let name = path.segments().last().map_or("", |s| s);
            if what.holds(path.segments()) {
                self.changes += 1;
                self.epochs_gone = self.epochs_gone.max(collection.epoch);
                forgotten.count(name, collection.documents.len() as u64);
                return false;
            }
            if let Some([id]) = what.segments().strip_prefix(path.segments()) {
                let removed = u64::from(collection.remove(id));
                self.changes += removed;
                forgotten.count(name, removed);
            }
            true
        });
        forgotten
    }

    fn import(&mut self, documents: &[Exported]) -> Result<u64, Error> {
        let mut planned: BTreeMap<CollectionPath, BTreeMap<u64, Record>> = BTreeMap::new();
        for document in documents {
            let path = document.path.collection();
            let stored = self.collections.get(&path);
            let added = planned.entry(path).or_default();
            let known = stored.and_then(|c| c.find(document.path.id())).or_else(|| twin(added, document.path.id()));
            match known {
                Some((_, record)) if record.value == document.value => continue,
                Some(_) => return Err(conflict(&document.path)),
                None => {}
            }
            let taken = stored.is_some_and(|c| c.documents.contains_key(&document.seq));
            if taken || added.insert(document.seq, Record::imported(document)).is_some() {
                return Err(conflict(&document.path));
            }
        }
        let mut count = 0;
        for (path, added) in planned.into_iter().filter(|(_, added)| !added.is_empty()) {
            count += added.len() as u64;
            let collection = self.collection(&path);
            collection.epoch += 1;
            added.into_iter().for_each(|(seq, record)| collection.insert(seq, record));
        }
        Ok(count)
    }

    fn sweep(&mut self, now: f64) -> u64 {
        let sweep = |collection: &mut MemoryCollection| {
            let expired = collection.expired(now);
            expired.iter().filter(|id| collection.remove(id)).count() as u64
        };
        let swept = self.collections.values_mut().map(sweep).sum();
        self.changes += swept;
        swept
    }
}

fn twin<'a>(added: &'a BTreeMap<u64, Record>, id: &str) -> Option<(u64, &'a Record)> {
    added.iter().find(|(_, record)| &*record.id == id).map(|(seq, record)| (*seq, record))
}

fn conflict(path: &DocumentPath) -> Error {
    Error::Conflict { path: path.to_string() }
}

pub(super) fn document_path(collection: &CollectionPath, id: &str) -> DocumentPath {
    collection.document(id).expect("the id was checked when the write came in")
}
