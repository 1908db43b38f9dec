//! What each operation does to a transaction.
//!
//! Owns the rules of append, put and delete; forks, forgets, imports and sweeps have modules of their own.
//! After an error the transaction drops the whole job. Invariant: a collection's count of documents is its
//! last seq less what was removed.

use bytes::Bytes;
use novelo_engine::path::{CollectionPath, DocumentPath};
use novelo_engine::{Message, Turn};

use super::collection_cache::CollectionHead;
use super::docs;
use super::forget;
use super::fork;
use super::import;
use super::txn::Txn;
use crate::Error;
use crate::codec::{CollectionMeta, collection_key};
use crate::op::{AppendTerms, NewDocument, NewId, Op, Outcome, PutTerms, Reserved, Stamp};
use crate::record::{Record, check_version};

/// An operation with the messages of its documents, scanned before it waited.
pub(super) struct PreparedOp {
    pub op: Op,
    pub messages: Vec<Message>,
}

impl PreparedOp {
    /// Scans the messages of an append on the caller's thread, and copies them so that the request's buffer
    /// can be freed.
    pub fn new(mut op: Op) -> Self {
        let mut messages = Vec::new();
        if let Op::Append { documents, .. } = &mut op {
            for document in documents {
                document.value = Bytes::copy_from_slice(&document.value);
                messages.push(Message::from_stored(document.value.clone()));
            }
        }
        Self { op, messages }
    }
}

pub(super) fn apply(txn: &mut Txn<'_>, prepared: PreparedOp) -> Result<Outcome, Error> {
    match prepared.op {
        Op::Append { to, documents, terms } => {
            append(txn, &to, &documents, prepared.messages, terms).map(Outcome::Appended)
        }
        Op::Put { at, value, terms } => put(txn, &at, value, terms).map(Outcome::Put),
        Op::Delete { at, if_version } => delete(txn, &at, if_version).map(Outcome::Deleted),
        Op::Expect { at } => expect(txn, &at).map(|()| Outcome::Expected),
        Op::Reserve(reserved) => reserve(txn, &reserved).map(|()| Outcome::Reserved),
        Op::Fork { from, at_seq, to } => fork::fork(txn, &from, at_seq, &to).map(Outcome::Forked),
        Op::Forget { what } => forget::forget(txn, &what).map(Outcome::Forgotten),
        Op::Import { documents } => import::import(txn, &documents).map(Outcome::Imported),
        Op::Sweep { now } => forget::sweep(txn, now).map(Outcome::Swept),
    }
}

fn append(
    txn: &mut Txn<'_>,
    to: &CollectionPath,
    documents: &[NewDocument],
    messages: Vec<Message>,
    terms: AppendTerms,
) -> Result<Vec<Stamp>, Error> {
    let key = collection_key(to);
    let before = txn.known(&key)?;
    let mut stamps = Vec::with_capacity(documents.len());
    for (document, message) in documents.iter().zip(messages) {
        stamps.push(match known_document(txn, &key, document)? {
            Some((seq, record)) if record.value == document.value => record.stamp(seq, true),
            Some(_) => return Err(conflict(to.document(document.id.as_str()))),
            None => append_one(txn, &key, document, message)?,
        });
    }
    if stamps.iter().all(|stamp| stamp.existed) {
        return Ok(stamps);
    }
    check_version(terms.if_seq, before.last_seq)?;
    if let Some(documents) = terms.keep_last {
        trim(txn, &key, documents)?;
    }
    Ok(stamps)
}

fn known_document(txn: &mut Txn<'_>, key: &[u8], document: &NewDocument) -> Result<Option<(u64, Record)>, Error> {
    match (&document.id, txn.known(key)?.meta) {
        (NewId::Given(id), Some(meta)) => docs::find(&txn.view(), &meta, id),
        _ => Ok(None),
    }
}

fn append_one(txn: &mut Txn<'_>, key: &[u8], document: &NewDocument, message: Message) -> Result<Stamp, Error> {
    let (meta, last_seq) = txn.ensure(key)?;
    let seq = last_seq + 1;
    let record = Record::appended(document);
    txn.insert(key, meta.number, seq, &record);
    let turn = Turn { seq, id: record.id.clone(), create_time: record.create_time, message };
    txn.advance(key, CollectionHead { meta: Some(meta), last_seq: seq }, false, Some(turn));
    Ok(record.stamp(seq, false))
}

/// Removes the oldest documents until only so many are left.
fn trim(txn: &mut Txn<'_>, key: &[u8], documents: u64) -> Result<(), Error> {
    let known = txn.known(key)?;
    let excess = known.count().saturating_sub(documents);
    let Some(meta) = known.meta.filter(|_| excess > 0) else { return Ok(()) };
    let oldest = {
        let view = txn.view();
        let oldest = docs::ascending(&view, &meta, 0, known.last_seq).take(excess as usize);
        oldest.collect::<Result<Vec<_>, _>>()?
    };
    remove(txn, key, oldest)
}

/// Removes documents of one collection; what its forks share with it is copied to them first.
pub(super) fn remove(txn: &mut Txn<'_>, key: &[u8], documents: Vec<(u64, Record)>) -> Result<(), Error> {
    let Some(first) = documents.iter().map(|(seq, _)| *seq).min() else { return Ok(()) };
    let mut meta = fork::make_own(txn, key, first)?;
    for (seq, record) in &documents {
        txn.erase(meta.number, *seq, record);
    }
    let last_seq = txn.known(key)?.last_seq;
    meta.removed += documents.len() as u64;
    meta.floor = last_seq;
    txn.save(key, CollectionHead { meta: Some(meta), last_seq }, true);
    Ok(())
}

fn put(txn: &mut Txn<'_>, at: &DocumentPath, value: bytes::Bytes, terms: PutTerms) -> Result<Stamp, Error> {
    let key = collection_key(&at.collection());
    let Some((seq, old)) = find(txn, &key, at.id())? else {
        let record = Record::put_new(at.id(), value, terms)?;
        let (meta, last_seq) = txn.ensure(&key)?;
        let seq = last_seq + 1;
        txn.insert(&key, meta.number, seq, &record);
        txn.advance(&key, CollectionHead { meta: Some(meta), last_seq: seq }, true, None);
        return Ok(record.stamp(seq, false));
    };
    let record = old.put(value, terms)?;
    if record != old {
        let meta = fork::make_own(txn, &key, seq)?;
        txn.erase(meta.number, seq, &old);
        txn.insert(&key, meta.number, seq, &record);
        let last_seq = txn.known(&key)?.last_seq;
        txn.advance(&key, CollectionHead { meta: Some(meta), last_seq }, true, None);
    }
    Ok(record.stamp(seq, true))
}

fn delete(txn: &mut Txn<'_>, at: &DocumentPath, if_version: Option<u64>) -> Result<bool, Error> {
    let key = collection_key(&at.collection());
    let found = find(txn, &key, at.id())?;
    check_version(if_version, found.as_ref().map_or(0, |(_, record)| record.version))?;
    let existed = found.is_some();
    remove(txn, &key, found.into_iter().collect())?;
    Ok(existed)
}

fn expect(txn: &mut Txn<'_>, at: &DocumentPath) -> Result<(), Error> {
    match find(txn, &collection_key(&at.collection()), at.id())? {
        Some(_) => Ok(()),
        None => Err(Error::NotFound { path: at.to_string() }),
    }
}

fn reserve(txn: &mut Txn<'_>, reserved: &Reserved) -> Result<(), Error> {
    let key = collection_key(&reserved.of);
    let (mut meta, last_seq) = txn.ensure(&key)?;
    if let Some(more) = reserved.last_seq.checked_sub(last_seq).filter(|more| *more > 0) {
        meta.removed += more;
        meta.floor = reserved.last_seq;
        txn.save(&key, CollectionHead { meta: Some(meta), last_seq: reserved.last_seq }, true);
    }
    Ok(())
}

pub(super) fn find(txn: &mut Txn<'_>, key: &[u8], id: &str) -> Result<Option<(u64, Record)>, Error> {
    match txn.known(key)?.meta {
        Some(meta) => docs::find(&txn.view(), &meta, id),
        None => Ok(None),
    }
}

pub(super) fn conflict(path: Result<DocumentPath, impl std::fmt::Display>) -> Error {
    let path = path.map_or_else(|e| e.to_string(), |path| path.to_string());
    Error::Conflict { path }
}

/// Both sides of a fork's bookkeeping need the same numbers.
pub(super) fn count(meta: &CollectionMeta, last_seq: u64) -> u64 {
    last_seq - meta.removed.min(last_seq)
}
