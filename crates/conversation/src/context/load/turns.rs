//! The turns of a thread that a prompt looks at: all of them, or the newest of a very long thread.
//!
//! Owns which turns these are. A native context takes the newest by seq, a context by time the newest by
//! `create_time`, whatever the order in which they were written. Most threads are in the order of time: then
//! the newest by seq, which the store has in memory, are the newest by time as well, and one fact proves it,
//! the latest time among all turns before them. It stays true while turns are only appended, so it is cached.
//! Only where it proves nothing are turns looked up in the index of times.

use novelo_engine::limits::CONTEXT_TURNS_MAX;
use novelo_engine::path::CollectionPath;
use novelo_engine::time_scope::TimeRange;
use novelo_store::{Newest, Range, Store, Turns};

use super::{ContextInputs, Loader};
use crate::error::Result;

/// Turns at the front of a thread that may be instructions.
pub(super) const LEAD_TURNS_MAX: usize = 8;

/// The step by which the first turn moves where a window must keep its front.
const STEP: u64 = (CONTEXT_TURNS_MAX / 2) as u64;

/// What is known of the older turns of a thread. True as long as no stored turn is replaced or removed.
#[derive(Debug, Clone, Copy)]
pub(super) struct OlderTurns {
    epoch: u64,
    upto_seq: u64,
    /// The latest time of the turns up to that seq.
    latest: f64,
}

impl Loader<'_> {
    /// The turns that are looked at. Says whether there is any turn at all.
    pub(super) async fn turns_of(&mut self, of: &CollectionPath) -> Result<bool> {
        let turns_max = if self.inputs.in_time { CONTEXT_TURNS_MAX } else { self.turns_max };
        self.inputs.turns = self.store.turns(of, Range::Last(turns_max)).await?;
        if !self.inputs.turns.has_more {
            return Ok(!self.inputs.turns.is_empty());
        }
        match self.inputs.in_time {
            true => self.newest_by_time(of).await?,
            false => self.newest_by_seq(of).await?,
        }
        Ok(true)
    }

    /// The newest turns by seq, and the instructions that lead the thread. Where a window must keep its
    /// front, the first turn moves in large steps only.
    async fn newest_by_seq(&mut self, of: &CollectionPath) -> Result<()> {
        let inputs = &mut self.inputs;
        inputs.lead = self.store.turns(of, Range::After { seq: 0, limit: LEAD_TURNS_MAX }).await?;
        if self.keeps_front {
            let (first, last) = (inputs.first_seq().next_multiple_of(STEP) + 1, inputs.turns.last_seq);
            inputs.turns = self.store.turns(of, Range::Between { first, last }).await?;
        }
        let looked_at = inputs.turns.len() + inputs.lead().count();
        inputs.turns_before = inputs.turns.count.saturating_sub(looked_at as u64);
        Ok(())
    }

    /// The newest turns of the stretch by time, exactly as many as one context looks at.
    async fn newest_by_time(&mut self, of: &CollectionPath) -> Result<()> {
        let (stretch, turns) = (self.inputs.stretch, &self.inputs.turns);
        let latest = self.latest_before(of, turns).await?;
        if stretch.begin.is_some_and(|begin| latest <= begin) {
            return Ok(());
        }
        let is_newer = |time: f64| latest <= time && stretch.holds(time);
        let are_newest = turns.iter().all(|turn| is_newer(turn.create_time));
        if are_newest && stretch.begin.is_none() {
            self.inputs.turns_before = turns.count.saturating_sub(turns.len() as u64);
            return Ok(());
        }
        if !are_newest {
            let seqs = (0, turns.last_seq);
            self.inputs.turns = newest_turns(self.store, of, stretch, seqs, CONTEXT_TURNS_MAX).await?;
            self.inputs.by_time = true;
        }
        self.inputs.turns_before = older(self.store, of, stretch, &self.inputs.turns).await?;
        Ok(())
    }

    /// The latest time among the turns of a thread that come before these.
    async fn latest_before(&self, of: &CollectionPath, turns: &Turns) -> Result<f64> {
        let upto_seq = turns.iter().next().map_or(0, |turn| turn.seq.saturating_sub(1));
        let is_near = |known: &OlderTurns| (known.upto_seq..=known.upto_seq + STEP).contains(&upto_seq);
        let known = self.caches.older.get(of).filter(|known| known.epoch == turns.epoch && is_near(known));
        let more = match known {
            Some(known) if known.upto_seq == upto_seq => return Ok(known.latest),
            Some(known) => self.store.turns(of, Range::Between { first: known.upto_seq + 1, last: upto_seq }).await?,
            None => newest_turns(self.store, of, TimeRange::default(), (0, upto_seq), 1).await?,
        };
        let before = known.map_or(f64::NEG_INFINITY, |known| known.latest);
        let latest = more.iter().map(|turn| turn.create_time).fold(before, f64::max);
        if more.epoch == turns.epoch {
            let bytes = 128 + of.segments().iter().map(|segment| segment.len()).sum::<usize>();
            self.caches.older.insert(of.clone(), OlderTurns { epoch: turns.epoch, upto_seq, latest }, bytes);
        }
        Ok(latest)
    }
}

impl ContextInputs {
    /// Reads the turns of an old prompt that were chosen by time again. Of the turns between the first and
    /// the last of them, the same ones are the newest of the stretch.
    pub(super) async fn choose_again(
        &mut self,
        store: &Store,
        of: &CollectionPath,
        seqs: (u64, u64),
        turns: u64,
    ) -> Result<()> {
        self.turns = newest_turns(store, of, self.stretch, seqs, turns as usize).await?;
        self.by_time = true;
        Ok(())
    }
}

/// The newest turns of a stretch by time, of those with these seqs.
pub(super) async fn newest_turns(
    store: &Store,
    of: &CollectionPath,
    stretch: TimeRange,
    (first_seq, last_seq): (u64, u64),
    limit: usize,
) -> Result<Turns> {
    let choice = Newest { begin: stretch.begin, end: stretch.end, first_seq, last_seq, limit };
    Ok(store.newest_turns(of, choice).await?)
}

/// How many documents of a stretch are older than its newest ones, which were read.
pub(super) async fn older(store: &Store, of: &CollectionPath, stretch: TimeRange, newest: &Turns) -> Result<u64> {
    if !newest.has_more {
        return Ok(0);
    }
    let count = match stretch {
        TimeRange { begin: None, end: None } => newest.count,
        TimeRange { begin, end } => {
            let later = TimeRange { begin: end.filter(|_| begin.is_none()), end: None };
            match later.begin.is_some() && newest_turns(store, of, later, (0, u64::MAX), 1).await?.is_empty() {
                true => newest.count,
                false => store.count_within(of, begin, end).await?,
            }
        }
    };
    Ok(count.saturating_sub(newest.len() as u64))
}
