//! Putting exported documents back.
//!
//! Owns the rule of import: the same document again is nothing new, other bytes under its path are a
//! conflict, and so is a seq that another document has. Invariant: seqs, times and versions come out as they
//! went in.

use super::apply::conflict;
use super::collection_cache::CollectionHead;
use super::docs;
use super::fork::make_own;
use super::txn::Txn;
use crate::Error;
use crate::codec::collection_key;
use crate::op::Exported;
use crate::record::Record;

/// How many documents were not there yet.
pub(super) fn import(txn: &mut Txn<'_>, documents: &[Exported]) -> Result<u64, Error> {
    let mut count = 0;
    for document in documents {
        count += u64::from(import_one(txn, document)?);
    }
    Ok(count)
}

fn import_one(txn: &mut Txn<'_>, document: &Exported) -> Result<bool, Error> {
    let key = collection_key(&document.path.collection());
    let conflict = || conflict(Ok::<_, Error>(document.path.clone()));
    let (meta, _) = txn.ensure(&key)?;
    match docs::find(&txn.view(), &meta, document.path.id())? {
        Some((_, record)) if record.value == document.value => return Ok(false),
        Some(_) => return Err(conflict()),
        None => {}
    }
    if docs::is_taken(&txn.view(), &meta, document.seq)? {
        return Err(conflict());
    }
    let mut meta = make_own(txn, &key, document.seq)?;
    let last_seq = txn.known(&key)?.last_seq;
    match document.seq.checked_sub(last_seq + 1) {
        Some(skipped) => meta.removed += skipped,
        None => meta.removed = meta.removed.saturating_sub(1),
    }
    txn.insert(&key, meta.number, document.seq, &Record::imported(document));
    txn.save(&key, CollectionHead { meta: Some(meta), last_seq: last_seq.max(document.seq) }, true);
    Ok(true)
}
