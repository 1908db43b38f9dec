//! The newest turns by time.
//!
//! Owns the walk through the index of times from its end. Only entries of the index are looked at before the
//! turns are chosen. Invariant: what is chosen depends on times and seqs alone, not on the order of writing.

use std::iter::Peekable;

use novelo_engine::path::CollectionPath;

use super::db::{Space, View};
use super::docs;
use super::read::turn;
use super::state::LocalState;
use super::txn::entry;
use crate::Error;
use crate::codec::{SeqRun, collection_key, time_key, triple_of, unordered};
use crate::read::{Newest, ThreadStats, Turns};

/// A time as the index sorts it, a seq, and the number that the document is stored under.
type IndexedTime = (u64, u64, u64);

impl LocalState {
    pub fn newest_turns(&self, of: &CollectionPath, choice: Newest) -> Result<Turns, Error> {
        let cached = self.cache.get(&collection_key(of));
        let count = self.known(&cached)?.count();
        let version = self.version(of)?;
        let stats = ThreadStats { last_seq: version.last_seq, epoch: version.epoch, count };
        let view = self.view()?;
        let Some(meta) = entry(&view, &cached.key)? else { return Ok(Turns::from_list(Vec::new(), stats, false)) };
        let choice = Newest { last_seq: choice.last_seq.min(version.last_seq), ..choice };
        let mut runs: Vec<_> = meta.runs().map(|run| latest_first(&view, run, choice.end).peekable()).collect();
        let (mut turns, mut has_more) = (Vec::new(), false);
        while let Some((time, seq, number)) = latest(&mut runs)? {
            if choice.begin.is_some_and(|begin| unordered(time) <= begin) {
                break;
            }
            if !choice.holds(unordered(time), seq) {
                continue;
            }
            if turns.len() == choice.limit {
                has_more = true;
                break;
            }
            turns.push(turn(docs::record(&view, number, seq).map(|record| (seq, record)))?);
        }
        turns.sort_by_key(|turn| turn.seq);
        Ok(Turns::from_list(turns, stats, has_more))
    }

    pub fn count_within(&self, of: &CollectionPath, begin: Option<f64>, end: Option<f64>) -> Result<u64, Error> {
        let cached = self.cache.get(&collection_key(of));
        let known = self.known(&cached)?;
        if begin.is_none() && end.is_none() {
            return Ok(known.count());
        }
        let view = self.view()?;
        let Some(meta) = entry(&view, &cached.key)? else { return Ok(0) };
        let mut count = 0;
        for run in meta.runs() {
            for place in latest_first(&view, run, end) {
                let (time, seq, _) = place?;
                if begin.is_some_and(|begin| unordered(time) <= begin) {
                    break;
                }
                count += u64::from(seq <= known.last_seq);
            }
        }
        Ok(count)
    }
}

/// The entries of one run that are not later than `end`, from the latest on.
fn latest_first(
    view: &View<'_>,
    run: SeqRun,
    end: Option<f64>,
) -> impl Iterator<Item = Result<IndexedTime, Error>> + use<> {
    let (low, high) = (time_key(run.number, f64::MIN, 0), time_key(run.number, end.unwrap_or(f64::MAX), u64::MAX));
    let places = view.stored(Space::Times, &low, &high).rev().map(|entry| {
        let (number, time, seq) = triple_of(&entry?.0).ok_or_else(|| Error::damaged("times", "a key is cut short"))?;
        Ok((time, seq, number))
    });
    places.filter(move |place| match place {
        Ok((_, seq, _)) => (run.first..=run.last).contains(seq),
        Err(_) => true,
    })
}

/// Takes the latest entry of several runs.
fn latest<I: Iterator<Item = Result<IndexedTime, Error>>>(
    runs: &mut [Peekable<I>],
) -> Result<Option<IndexedTime>, Error> {
    let mut best: Option<(usize, IndexedTime)> = None;
    for (at, run) in runs.iter_mut().enumerate() {
        match run.peek() {
            Some(Ok(place)) if best.is_none_or(|(_, latest)| *place > latest) => best = Some((at, *place)),
            Some(Err(_)) => return run.next().transpose(),
            _ => {}
        }
    }
    match best.and_then(|(at, _)| runs.get_mut(at)) {
        Some(run) => run.next().transpose(),
        None => Ok(None),
    }
}
