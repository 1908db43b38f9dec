//! Forgetting and expiry.
//!
//! Owns what a forget removes from the keyspaces; `eraser` then cleans the raw files. A forget itself removes
//! the entries of the collections, so that their documents cannot be reached, and notes their numbers
//! as doomed, all in one commit. The documents follow in steps between the writes of others, also after a
//! crash. Invariant: collections outside the prefix read the same afterwards, forks included.

use novelo_engine::path::Prefix;

use super::apply::{count, find, remove};
use super::collection_cache::CollectionHead;
use super::db::{ERASE, Space};
use super::docs;
use super::fork::{forks_of, materialise};
use super::txn::Txn;
use crate::Error;
use crate::codec::{below, ordered, pair_key, segments_key, triple_of};
use crate::op::Forgotten;

/// Expired documents that one operation removes; there may be more then.
pub(super) const SWEPT_MAX: u64 = 2_000;

pub(super) fn forget(txn: &mut Txn<'_>, what: &Prefix) -> Result<Forgotten, Error> {
    let mut forgotten = Forgotten::default();
    let keys = collections_under(txn, what)?;
    keep_forks(txn, &keys)?;
    for key in &keys {
        let documents = drop_collection(txn, key)?;
        forgotten.count(name_of(key), documents);
    }
    if let Some((id, collection)) = what.segments().split_last().filter(|(_, collection)| collection.len() % 2 == 1) {
        let key = segments_key(collection);
        let found = find(txn, &key, id)?;
        forgotten.count(name_of(&key), u64::from(found.is_some()));
        remove(txn, &key, found.into_iter().collect())?;
    }
    if forgotten != Forgotten::default() || !keys.is_empty() {
        txn.put(Space::Meta, ERASE, vec![1]);
        txn.erases = true;
    }
    Ok(forgotten)
}

fn collections_under(txn: &Txn<'_>, what: &Prefix) -> Result<Vec<Box<[u8]>>, Error> {
    let (low, high) = below(what.segments());
    let view = txn.view();
    view.range(Space::Collections, &low, &high).map(|entry| entry.map(|(key, _)| Box::from(&*key))).collect()
}

/// Gives their own copy to the forks that stay.
fn keep_forks(txn: &mut Txn<'_>, keys: &[Box<[u8]>]) -> Result<(), Error> {
    for key in keys {
        let Some(meta) = txn.known(key)?.meta else { continue };
        for fork_key in forks_of(txn, meta.number)? {
            if keys.binary_search(&fork_key).is_err() {
                materialise(txn, &fork_key)?;
            }
        }
    }
    Ok(())
}

fn drop_collection(txn: &mut Txn<'_>, key: &[u8]) -> Result<u64, Error> {
    let known = txn.known(key)?;
    let Some(meta) = known.meta else { return Ok(0) };
    for source in &meta.sources {
        txn.remove(Space::Forks, pair_key(source.number, meta.number));
    }
    txn.put(Space::Doomed, meta.number.to_be_bytes(), Vec::new());
    txn.save(key, CollectionHead::default(), true);
    Ok(count(&meta, known.last_seq))
}

/// A document that expired: the path and the number of its collection, and its seq.
type Expired = (Box<[u8]>, u64, u64);

/// Removes up to so many documents that expired; forks first get their own copies, which expire with the
/// rest.
pub(super) fn sweep(txn: &mut Txn<'_>, now: f64) -> Result<u64, Error> {
    let mut swept = 0;
    while swept < SWEPT_MAX {
        let expired = expired(txn, now)?;
        if expired.is_empty() {
            break;
        }
        for (key, number, seq) in expired {
            let record = docs::record(&txn.view(), number, seq)?;
            remove(txn, &key, vec![(seq, record)])?;
            swept += 1;
        }
    }
    Ok(swept)
}

/// Documents of forgotten collections are not among them: these go anyway.
fn expired(txn: &Txn<'_>, now: f64) -> Result<Vec<Expired>, Error> {
    let view = txn.view();
    let mut high = ordered(now).to_be_bytes().to_vec();
    high.extend_from_slice(&[0xff; 17]);
    let mut expired = Vec::new();
    for entry in view.range(Space::Expiry, &[0, 0], &high) {
        let (key, path) = entry?;
        let (_, number, seq) = triple_of(&key).ok_or_else(|| Error::damaged("expiry", "a key is cut short"))?;
        if view.get(Space::Doomed, &number.to_be_bytes())?.is_none() {
            expired.push((Box::from(&*path), number, seq));
        }
        if expired.len() as u64 >= SWEPT_MAX {
            break;
        }
    }
    Ok(expired)
}

fn name_of(key: &[u8]) -> &str {
    let name = key.rsplit(|byte| *byte == 0).next().unwrap_or_default();
    std::str::from_utf8(name).unwrap_or_default()
}
