//! The store as a plain model: ordered maps behind one lock.
//!
//! Owns documents that are gone with the process. It is the reference that other back-ends are compared with,
//! so it prefers the obvious to the fast. Invariant: an operation checks before it changes, and a write of
//! several operations puts back what it changed when one of them fails.

mod collection;
mod model;

use std::sync::{Arc, Mutex, MutexGuard};

use novelo_engine::path::{CollectionPath, DocumentPath, Prefix};

use self::collection::MemoryCollection;
use self::model::{MemoryModel, document_path};
use crate::Error;
use crate::lock::lock;
use crate::op::{Exported, Op, Outcome, Reserved};
use crate::read::{Document, ExportBatch, Health, Newest, Page, Range, ThreadRow, Turns, Version, Window};

/// Documents in memory; clones share them.
#[derive(Debug, Clone, Default)]
pub struct Memory(Arc<Mutex<MemoryModel>>);

impl Memory {
    pub(crate) fn write(&self, ops: Vec<Op>) -> Result<Vec<Outcome>, Error> {
        let mut model = self.lock();
        if let [_] = ops.as_slice() {
            return ops.into_iter().map(|op| model.apply(op)).collect();
        }
        let before = model.before(&ops);
        let outcomes: Result<_, _> = ops.into_iter().map(|op| model.apply(op)).collect();
        if outcomes.is_err() {
            model.put_back(before);
        }
        outcomes
    }

    pub(crate) fn get(&self, at: &DocumentPath) -> Option<Document> {
        let model = self.lock();
        let (seq, record) = model.collections.get(&at.collection())?.find(at.id())?;
        Some(record.clone().into_document(seq))
    }

    pub(crate) fn turns(&self, of: &CollectionPath, range: Range) -> Turns {
        let model = self.lock();
        let Some(collection) = model.collections.get(of) else {
            return Turns::default();
        };
        let (turns, has_more) = collection.turns(range);
        Turns::from_list(turns, collection.stats(), has_more)
    }

    pub(crate) fn newest_turns(&self, of: &CollectionPath, choice: Newest) -> Turns {
        let model = self.lock();
        let Some(collection) = model.collections.get(of) else { return Turns::default() };
        let (turns, has_more) = collection.newest(choice);
        Turns::from_list(turns, collection.stats(), has_more)
    }

    pub(crate) fn count_within(&self, of: &CollectionPath, begin: Option<f64>, end: Option<f64>) -> u64 {
        let window = Window { begin, end, after: None, limit: usize::MAX };
        self.lock().collections.get(of).map_or(0, |collection| collection.within(window).len() as u64)
    }

    pub(crate) fn scan(&self, of: &CollectionPath, window: Window) -> Page<Document> {
        let model = self.lock();
        let mut items: Vec<Document> = match model.collections.get(of) {
            Some(collection) => collection.within(window),
            None => Vec::new(),
        };
        items.sort_by(|a, b| a.create_time.total_cmp(&b.create_time).then(a.seq.cmp(&b.seq)));
        let has_more = items.len() > window.limit;
        items.truncate(window.limit);
        Page { items, has_more }
    }

    pub(crate) fn threads(
        &self,
        under: &CollectionPath,
        child: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Page<ThreadRow> {
        let model = self.lock();
        let mut rows = model.collections.iter().filter_map(|(path, collection)| {
            let [id, name] = path.segments().strip_prefix(under.segments())? else { return None };
            let (_, newest) = collection.documents.last_key_value()?;
            let listed = &**name == child && after.is_none_or(|after| &**id > after);
            listed.then(|| ThreadRow {
                id: id.clone(),
                turns: collection.documents.len() as u64,
                updated_at: newest.create_time,
            })
        });
        let items = rows.by_ref().take(limit).collect();
        Page { items, has_more: rows.next().is_some() }
    }

    pub(crate) fn version(&self, of: &CollectionPath) -> Version {
        let model = self.lock();
        let version = |c: &MemoryCollection| Version { last_seq: c.last_seq, epoch: c.epoch };
        model.collections.get(of).map_or(Version { last_seq: 0, epoch: 0 }, version)
    }

    /// One counter for all roots.
    pub(crate) fn change_counter(&self) -> u64 {
        self.lock().changes
    }

    pub(crate) fn export(&self, what: &Prefix) -> ExportBatch {
        let model = self.lock();
        let mut batch = ExportBatch::default();
        for (path, collection) in &model.collections {
            let newest = collection.documents.last_key_value().map_or(0, |(seq, _)| *seq);
            if what.holds(path.segments()) && collection.last_seq > newest {
                batch.reserved.push(Reserved { of: path.clone(), last_seq: collection.last_seq });
            }
            for (seq, record) in &collection.documents {
                let path = document_path(path, &record.id);
                if what.holds(path.segments()) {
                    batch.documents.push(Exported {
                        path,
                        seq: *seq,
                        create_time: record.create_time,
                        version: record.version,
                        expires_at: record.expires_at,
                        value: record.value.clone(),
                    });
                }
            }
        }
        batch
    }

    pub(crate) fn health(&self) -> Health {
        Health {
            writable: true,
            why: None,
            hot_bytes: 0,
            hot_threads: self.lock().collections.len(),
            queue_len: 0,
            disk_bytes: 0,
            erasing: false,
        }
    }

    fn lock(&self) -> MutexGuard<'_, MemoryModel> {
        lock(&self.0)
    }
}
