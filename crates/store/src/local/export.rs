//! Everything below a prefix, from one moment.
//!
//! Owns what holds that moment, so that writes go on meanwhile. A fork is exported whole, as if it had
//! been copied. Invariant: what comes out can be imported elsewhere and reads the same.

use std::sync::Arc;

use fjall::Snapshot;
use novelo_engine::path::{CollectionPath, Prefix};

use super::db::{Space, View};
use super::docs;
use super::txn::load;
use super::{Shared, blocking};
use crate::Error;
use crate::codec::{Meta, below, collection_path, segments_key};
use crate::export::{Export, Read, Rest};
use crate::op::{Exported, Reserved};
use crate::record::Record;

/// Documents read at once.
const CHUNK: usize = 256;

/// A collection that is still to be read, from a seq on.
struct Left {
    path: CollectionPath,
    meta: Meta,
    next_seq: u64,
    last_seq: u64,
}

impl Left {
    /// What it has given beyond what was read of it, once that is all.
    fn reserved(self) -> Option<Reserved> {
        (self.last_seq >= self.next_seq.max(1)).then_some(Reserved { of: self.path, last_seq: self.last_seq })
    }
}

pub(super) fn export(shared: &Arc<Shared>, what: &Prefix) -> Result<Export, Error> {
    let view = shared.db.read();
    let mut hint = 0;
    let mut left = Vec::new();
    let (low, high) = below(what.segments());
    let single = single(&view, what)?;
    for entry in view.stored(Space::Collections, &low, &high) {
        let (key, bytes) = entry?;
        let known = load(&view, &key)?;
        hint += known.count();
        let (path, meta) = (collection_path(&key)?, Meta::decode(&key, &bytes)?);
        left.push(Left { path, meta, next_seq: 0, last_seq: known.last_seq });
    }
    left.reverse();
    hint += u64::from(single.is_some());
    let unread = Unread { shared: shared.clone(), snapshot: view.snapshot.clone(), left };
    Ok(Export::new(single, Rest::Local(unread), hint))
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

/// Collections as they were at one moment.
pub(crate) struct Unread {
    shared: Arc<Shared>,
    snapshot: Snapshot,
    left: Vec<Left>,
}

impl Unread {
    /// The next documents, and what is left then.
    pub async fn read(self) -> Result<Read, Error> {
        blocking(move || self.read_now()).await
    }

    fn read_now(mut self) -> Result<Read, Error> {
        let mut reserved = Vec::new();
        while let Some(left) = self.left.last_mut() {
            let view = View { db: &self.shared.db, snapshot: self.snapshot.clone(), over: None };
            let documents = read_chunk(&view, left)?;
            match documents.last() {
                Some(last) => {
                    left.next_seq = last.seq + 1;
                    return Ok(Read { documents, reserved, rest: Rest::Local(self) });
                }
                None => reserved.extend(self.left.pop().and_then(Left::reserved)),
            }
        }
        Ok(Read { documents: Vec::new(), reserved, rest: Rest::None })
    }
}

impl std::fmt::Debug for Unread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Unread").field("collections", &self.left.len()).finish_non_exhaustive()
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
