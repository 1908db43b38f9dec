//! Documents of one collection, read from a view.
//!
//! Owns the walk over a collection's runs: its own documents, and those it shares with what it was forked
//! from. Invariant: an id leads to a seq, a seq to a record of that id; anything else is damage, never a
//! silent gap.

use super::db::{Pair, Space, View};
use crate::Error;
use crate::codec::{CollectionMeta, SeqRun, id_key, pair_key, pair_of};
use crate::record::Record;

/// A document by id.
pub(super) fn find(view: &View<'_>, meta: &CollectionMeta, id: &str) -> Result<Option<(u64, Record)>, Error> {
    for run in meta.runs().rev() {
        let Some(seq) = seq_of(view, run.number, id)? else { continue };
        if (run.first..=run.last).contains(&seq) {
            return record(view, run.number, seq).map(|record| Some((seq, record)));
        }
    }
    Ok(None)
}

fn seq_of(view: &View<'_>, number: u64, id: &str) -> Result<Option<u64>, Error> {
    let Some(bytes) = view.get(Space::Ids, &id_key(number, id))? else { return Ok(None) };
    match <[u8; 8]>::try_from(&*bytes) {
        Ok(bytes) => Ok(Some(u64::from_be_bytes(bytes))),
        Err(_) => Err(Error::damaged(format!("id {id} of collection number {number}"), "it does not lead to a seq")),
    }
}

/// The record that an index entry leads to.
pub(super) fn record(view: &View<'_>, number: u64, seq: u64) -> Result<Record, Error> {
    let key = pair_key(number, seq);
    match view.get(Space::Docs, &key)? {
        Some(bytes) => Record::decode(&key, &bytes),
        None => Err(Error::damaged(format!("document {seq} of collection number {number}"), "it is missing")),
    }
}

/// Whether a seq has a document.
pub(super) fn is_taken(view: &View<'_>, meta: &CollectionMeta, seq: u64) -> Result<bool, Error> {
    match meta.runs().find(|run| (run.first..=run.last).contains(&seq)) {
        Some(run) => Ok(view.get(Space::Docs, &pair_key(run.number, seq))?.is_some()),
        None => Ok(false),
    }
}

/// Documents in the order of seqs, from `first` to `last`.
pub(super) fn ascending<'a>(
    view: &'a View<'_>,
    meta: &CollectionMeta,
    first: u64,
    last: u64,
) -> impl Iterator<Item = Result<(u64, Record), Error>> + 'a {
    let runs: Vec<SeqRun> = clipped(meta, first, last).collect();
    runs.into_iter().flat_map(move |run| {
        view.range(Space::Docs, &pair_key(run.number, run.first), &pair_key(run.number, run.last)).map(decode)
    })
}

/// Stored documents from the newest not above `last`, downwards.
pub(super) fn descending<'a>(
    view: &'a View<'_>,
    meta: &CollectionMeta,
    last: u64,
) -> impl Iterator<Item = Result<(u64, Record), Error>> + 'a {
    let mut runs: Vec<SeqRun> = clipped(meta, 0, last).collect();
    runs.reverse();
    runs.into_iter().flat_map(move |run| {
        view.stored(Space::Docs, &pair_key(run.number, run.first), &pair_key(run.number, run.last)).rev().map(decode)
    })
}

/// The highest seq ever given in a stored collection.
pub(super) fn last_seq(view: &View<'_>, meta: &CollectionMeta) -> Result<u64, Error> {
    let mut own = view.stored(Space::Docs, &pair_key(meta.number, 0), &pair_key(meta.number, u64::MAX));
    let newest = own.next_back().transpose()?.and_then(|(key, _)| pair_of(&key)).map_or(0, |(_, seq)| seq);
    let shared = meta.sources.last().map_or(0, |source| source.last);
    Ok(newest.max(shared).max(meta.floor))
}

fn clipped(meta: &CollectionMeta, first: u64, last: u64) -> impl DoubleEndedIterator<Item = SeqRun> + '_ {
    let clip = move |run: SeqRun| SeqRun { first: run.first.max(first), last: run.last.min(last), ..run };
    meta.runs().map(clip).filter(|run| run.first <= run.last)
}

fn decode(pair: Result<Pair, Error>) -> Result<(u64, Record), Error> {
    let (key, value) = pair?;
    let record = Record::decode(&key, &value)?;
    let (_, seq) = pair_of(&key).ok_or_else(|| Error::damaged("docs", "a key is cut short"))?;
    Ok((seq, record))
}
