//! Forks: a thread that shares its beginning with another.
//!
//! Owns who shares what. A fork copies nothing: it names the runs of seqs that are stored under other
//! collections' numbers. Before a shared document is replaced or removed, every collection that shares it
//! gets a copy of its own, in the same transaction. Invariant: a run that some fork names is never changed
//! while it is named.

use novelo_engine::path::CollectionPath;

use super::collection_cache::CollectionHead;
use super::db::Space;
use super::docs;
use super::txn::Txn;
use crate::Error;
use crate::codec::{CollectionMeta, SeqRun, collection_key, pair_key};
use crate::record::ForkOrigin;
use crate::record::Record;

/// Forks of forks name at most this many runs; deeper ones copy.
const SOURCES_MAX: usize = 16;

pub(super) fn fork(txn: &mut Txn<'_>, from: &CollectionPath, at_seq: u64, to: &CollectionPath) -> Result<u64, Error> {
    let (from_key, to_key) = (collection_key(from), collection_key(to));
    let source = txn.known(&from_key)?;
    let Some(meta) = source.meta else { return Err(Error::NotFound { path: from.to_string() }) };
    if at_seq > source.last_seq {
        return Err(Error::Invalid(format!("at_seq {at_seq} is beyond the end, {}", source.last_seq)));
    }
    if let Some(existing) = txn.known(&to_key)?.meta {
        return match existing.origin {
            Some(first) if (first.from, first.at_seq) == (meta.number, at_seq) => Ok(first.turns),
            _ => Err(Error::Conflict { path: to.to_string() }),
        };
    }
    let turns = match meta.removed {
        0 => at_seq,
        _ => count_up_to(txn, &meta, at_seq)?,
    };
    let sources = shared_runs(&meta, at_seq);
    let fork = CollectionMeta {
        number: txn.next_number()?,
        floor: at_seq,
        removed: at_seq - turns,
        origin: Some(ForkOrigin { from: meta.number, at_seq, turns }),
        sources,
    };
    for source in &fork.sources {
        txn.put(Space::Forks, pair_key(source.number, fork.number), to_key.to_vec());
    }
    let is_deep = fork.sources.len() > SOURCES_MAX;
    txn.save(&to_key, CollectionHead { meta: Some(fork), last_seq: at_seq }, true);
    if is_deep {
        materialise(txn, &to_key)?;
    }
    Ok(turns)
}

fn count_up_to(txn: &Txn<'_>, meta: &CollectionMeta, seq: u64) -> Result<u64, Error> {
    let view = txn.view();
    docs::ascending(&view, meta, 0, seq).try_fold(0, |count, document| document.map(|_| count + 1))
}

fn shared_runs(meta: &CollectionMeta, at_seq: u64) -> Vec<SeqRun> {
    meta.runs().map(|run| SeqRun { last: run.last.min(at_seq), ..run }).filter(|run| run.first <= run.last).collect()
}

/// Makes a collection the only owner of its documents from `seq` on, so that they may change.
pub(super) fn make_own(txn: &mut Txn<'_>, key: &[u8], seq: u64) -> Result<CollectionMeta, Error> {
    let shares = |meta: &CollectionMeta| meta.sources.last().is_some_and(|source| seq <= source.last);
    if txn.known(key)?.meta.as_ref().is_some_and(shares) {
        materialise(txn, key)?;
    }
    let Some(meta) = txn.known(key)?.meta else {
        return Err(Error::damaged("a collection", "it vanished while it was written"));
    };
    for fork_key in forks_of(txn, meta.number)? {
        let names = |fork: &CollectionMeta| fork.sources.iter().any(|s| s.number == meta.number && seq <= s.last);
        if txn.known(&fork_key)?.meta.as_ref().is_some_and(names) {
            materialise(txn, &fork_key)?;
        }
    }
    Ok(meta)
}

/// The paths of the forks that share documents stored under a number.
pub(super) fn forks_of(txn: &Txn<'_>, number: u64) -> Result<Vec<Box<[u8]>>, Error> {
    let view = txn.view();
    let forks = view.range(Space::Forks, &pair_key(number, 0), &pair_key(number, u64::MAX));
    forks.map(|entry| entry.map(|(_, path)| Box::from(&*path))).collect()
}

/// Copies what a fork shares, so that it shares nothing any more. Nobody sees a difference.
pub(super) fn materialise(txn: &mut Txn<'_>, key: &[u8]) -> Result<(), Error> {
    let known = txn.known(key)?;
    let Some(mut meta) = known.meta else { return Ok(()) };
    let Some(last) = meta.sources.last().map(|source| source.last) else { return Ok(()) };
    let shared: Vec<(u64, Record)> = {
        let view = txn.view();
        docs::ascending(&view, &meta, 0, last).collect::<Result<_, _>>()?
    };
    for (seq, record) in &shared {
        txn.insert(key, meta.number, *seq, record);
    }
    for source in std::mem::take(&mut meta.sources) {
        txn.remove(Space::Forks, pair_key(source.number, meta.number));
    }
    txn.save(key, CollectionHead { meta: Some(meta), last_seq: known.last_seq }, true);
    Ok(())
}
