//! Everything below a prefix, from one moment.
//!
//! Owns an iterator that holds that moment, so that writes go on meanwhile. A fork is exported whole, as if it had
//! been copied. Invariant: what comes out can be imported elsewhere and reads the same.

use std::sync::Arc;

use fjall::Snapshot;
use novelo_engine::path::{CollectionPath, Prefix};

use super::Shared;
use super::db::{Space, View};
use super::docs;
use super::txn::load;
use crate::codec::{Meta, below, collection_path, segments_key};
use crate::op::Exported;
use crate::record::Record;
use crate::{Error, Export};

/// Documents read at once.
const CHUNK: usize = 256;

/// A collection that is still to be read, from a seq on.
struct Left {
    path: CollectionPath,
    meta: Meta,
    next_seq: u64,
}

pub(super) fn export(shared: &Arc<Shared>, what: &Prefix) -> Result<Export, Error> {
    let view = shared.db.read();
    let mut hint = 0;
    let mut left = Vec::new();
    let (low, high) = below(what.segments());
    let single = single(&view, what)?;
    for entry in view.stored(Space::Collections, &low, &high) {
        let (key, bytes) = entry?;
        hint += load(&view, &key)?.count();
        left.push(Left { path: collection_path(&key)?, meta: Meta::decode(&key, &bytes)?, next_seq: 0 });
    }
    left.reverse();
    hint += u64::from(single.is_some());
    let documents = Documents { shared: shared.clone(), snapshot: view.snapshot.clone(), left, ready: Vec::new() };
    Ok(Export::new(single.map(Ok).into_iter().chain(documents), hint))
}

/// The document that the prefix itself names.
fn single(view: &View<'_>, what: &Prefix) -> Result<Option<Exported>, Error> {
    let Some((id, collection)) = what.segments().split_last() else { return Ok(None) };
    if collection.len() % 2 == 0 {
        return Ok(None);
    }
    let key = segments_key(collection);
    let Some(meta) = load(view, &key)?.meta else { return Ok(None) };
    let path = collection_path(&key)?;
    docs::find(view, &meta, id)?.map(|(seq, record)| exported(&path, seq, record)).transpose()
}

struct Documents {
    shared: Arc<Shared>,
    snapshot: Snapshot,
    left: Vec<Left>,
    /// Read already, in reverse.
    ready: Vec<Exported>,
}

impl Iterator for Documents {
    type Item = Result<Exported, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(document) = self.ready.pop() {
                return Some(Ok(document));
            }
            let left = self.left.last_mut()?;
            let view = View { db: &self.shared.db, snapshot: self.snapshot.clone(), over: None };
            match read_chunk(&view, left) {
                Ok(documents) if documents.is_empty() => drop(self.left.pop()),
                Ok(mut documents) => {
                    left.next_seq = documents.last().map_or(u64::MAX, |d| d.seq + 1);
                    documents.reverse();
                    self.ready = documents;
                }
                Err(error) => {
                    self.left.clear();
                    return Some(Err(error));
                }
            }
        }
    }
}

fn read_chunk(view: &View<'_>, left: &Left) -> Result<Vec<Exported>, Error> {
    let documents = docs::ascending(view, &left.meta, left.next_seq, u64::MAX).take(CHUNK);
    documents
        .map(|document| {
            let (seq, record) = document?;
            exported(&left.path, seq, record)
        })
        .collect()
}

fn exported(collection: &CollectionPath, seq: u64, record: Record) -> Result<Exported, Error> {
    let path = collection.document(&record.id).map_err(|e| Error::damaged(collection.to_string(), e.to_string()))?;
    let Record { version, create_time, expires_at, value, .. } = record;
    Ok(Exported { path, seq, create_time, version, expires_at, value })
}
