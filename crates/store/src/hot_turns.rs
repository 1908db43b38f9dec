//! The newest turns of one thread in memory, in shared blocks.
//!
//! Owns the list of one thread; the caches of the back-ends decide who may change it. Invariant: the list
//! holds every turn of the thread from `first` on, in order. A snapshot shares the blocks; a block that is
//! shared is copied before it grows.

use std::sync::Arc;

use novelo_engine::Turn;

use crate::read::{BLOCK_TURNS, BlockSlice, Range, ThreadStats, Turns};

/// One thread takes at most this part of a cache by growing.
const THREAD_SHARE: usize = 2;

#[derive(Debug)]
pub(crate) struct HotTurns {
    /// Every stored turn with this seq or a later one is here.
    pub first: u64,
    blocks: Vec<Arc<Vec<Turn>>>,
    len: usize,
    pub bytes: usize,
}

impl HotTurns {
    pub fn new(first: u64, turns: Vec<Turn>) -> Self {
        let mut hot = Self { first, blocks: Vec::new(), len: 0, bytes: 0 };
        turns.into_iter().for_each(|turn| hot.push(turn));
        hot
    }

    pub fn push(&mut self, turn: Turn) {
        self.len += 1;
        self.bytes += weight(&turn);
        match self.blocks.last_mut() {
            Some(block) if block.len() < BLOCK_TURNS => Arc::make_mut(block).push(turn),
            _ => {
                let mut block = Vec::with_capacity(BLOCK_TURNS);
                block.push(turn);
                self.blocks.push(Arc::new(block));
            }
        }
    }

    /// Adds the newest turns. If the thread then takes more than its share of the cache, its oldest blocks
    /// go, down to three quarters of that, so that a thread which only grows does not take all memory.
    pub(crate) fn append(&mut self, turns: Vec<Turn>, cache_bytes_max: usize) {
        turns.into_iter().for_each(|turn| self.push(turn));
        let bytes_max = cache_bytes_max / THREAD_SHARE;
        if self.bytes > bytes_max {
            self.trim(bytes_max / 4 * 3);
        }
    }

    /// Lets whole blocks go, oldest first; the newest stays.
    fn trim(&mut self, bytes_max: usize) {
        let mut gone = 0;
        for block in self.blocks.iter().rev().skip(1).rev() {
            if self.bytes <= bytes_max {
                break;
            }
            self.bytes -= block.iter().map(weight).sum::<usize>();
            self.len -= block.len();
            gone += 1;
        }
        self.blocks.drain(..gone);
        if let Some(oldest) = self.blocks.first().and_then(|block| block.first()).filter(|_| gone > 0) {
            self.first = oldest.seq;
        }
    }

    /// Adds older turns, oldest first, from `first` on.
    pub(crate) fn extend_back(&mut self, first: u64, turns: Vec<Turn>) {
        let older = Self::new(first, turns);
        self.first = first;
        self.len += older.len;
        self.bytes += older.bytes;
        self.blocks.splice(0..0, older.blocks);
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// The turns of a range, if all of them are here.
    pub fn serve(&self, range: Range, stats: ThreadStats) -> Option<Turns> {
        match range {
            Range::Last(count) => self.last(count, stats),
            Range::After { seq, .. } if seq.saturating_add(1) < self.first => None,
            Range::After { seq, limit } => Some(self.after(seq, limit, stats)),
            Range::Between { first, .. } if first < self.first => None,
            Range::Between { first, last } => Some(self.between(first, last, stats)),
        }
    }

    fn last(&self, count: usize, stats: ThreadStats) -> Option<Turns> {
        let whole = self.len as u64 >= stats.count;
        if self.len < count && !whole {
            return None;
        }
        let mut parts = Vec::new();
        let mut wanted = count.min(self.len);
        for block in self.blocks.iter().rev() {
            if wanted == 0 {
                break;
            }
            let taken = wanted.min(block.len());
            parts.push(BlockSlice { block: block.clone(), from: block.len() - taken, to: block.len() });
            wanted -= taken;
        }
        parts.reverse();
        Some(Turns::new(parts, stats, stats.count > count as u64))
    }

    fn after(&self, seq: u64, limit: usize, stats: ThreadStats) -> Turns {
        let mut wanted = limit;
        let mut has_more = false;
        let mut parts = Vec::new();
        for block in self.blocks.iter().skip_while(|b| b.last().is_some_and(|turn| turn.seq <= seq)) {
            let from = block.partition_point(|turn| turn.seq <= seq);
            let to = (from + wanted).min(block.len());
            has_more |= to < block.len();
            wanted -= to - from;
            if from < to {
                parts.push(BlockSlice { block: block.clone(), from, to });
            }
            if has_more {
                break;
            }
        }
        Turns::new(parts, stats, has_more)
    }

    fn between(&self, first: u64, last: u64, stats: ThreadStats) -> Turns {
        let part = |block: &Arc<Vec<Turn>>| {
            let from = block.partition_point(|turn| turn.seq < first);
            let to = block.partition_point(|turn| turn.seq <= last);
            (from < to).then(|| BlockSlice { block: block.clone(), from, to })
        };
        Turns::new(self.blocks.iter().filter_map(part).collect(), stats, false)
    }
}

fn weight(turn: &Turn) -> usize {
    size_of::<Turn>() + turn.id.len() + turn.message.weight()
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use novelo_engine::Message;

    use super::*;

    fn turn(seq: u64) -> Turn {
        let message = Message::from_stored(Bytes::from_static(b"{\"role\":\"user\",\"content\":\"hi\"}"));
        Turn { seq, id: seq.to_string().into(), create_time: seq as f64, message }
    }

    #[test]
    fn a_thread_that_only_grows_lets_its_oldest_blocks_go() {
        let mut hot = HotTurns::new(1, Vec::new());
        let bytes_max = 10 * BLOCK_TURNS * weight(&turn(1));
        let count = 100 * BLOCK_TURNS as u64;
        for seq in 1..=count {
            hot.append(vec![turn(seq)], THREAD_SHARE * bytes_max);
            assert!(hot.bytes <= bytes_max && hot.len() >= BLOCK_TURNS.min(seq as usize));
        }
        let held: usize = hot.blocks.iter().flat_map(|block| block.iter()).map(weight).sum();
        assert_eq!((hot.bytes, hot.first), (held, count + 1 - hot.len() as u64));
        let stats = ThreadStats { last_seq: count, epoch: 0, count };
        let last = hot.serve(Range::Last(20), stats).unwrap();
        assert_eq!(seqs(&last), (count - 19..=count).collect::<Vec<_>>());
        assert!(hot.serve(Range::Last(hot.len() + 1), stats).is_none());
        assert!(hot.serve(Range::After { seq: hot.first - 2, limit: 1 }, stats).is_none());
    }

    fn seqs(turns: &Turns) -> Vec<u64> {
        turns.iter().map(|t| t.seq).collect()
    }

    fn check(range: Range, expected: Option<(std::ops::RangeInclusive<u64>, bool)>) {
        let hot = HotTurns::new(101, (101..=200).map(turn).collect());
        let served = hot.serve(range, ThreadStats { last_seq: 200, epoch: 0, count: 200 });
        let served = served.map(|turns| (seqs(&turns), turns.has_more));
        assert_eq!(served, expected.map(|(seqs, more)| (seqs.collect(), more)), "{range:?}");
    }

    #[test]
    fn a_range_is_served_whole_or_not_at_all() {
        check(Range::Last(100), Some((101..=200, true)));
        check(Range::Last(33), Some((168..=200, true)));
        check(Range::Last(101), None);
        check(Range::After { seq: 100, limit: 40 }, Some((101..=140, true)));
        check(Range::After { seq: 190, limit: 10 }, Some((191..=200, false)));
        check(Range::After { seq: 99, limit: 1 }, None);
        check(Range::Between { first: 130, last: 170 }, Some((130..=170, false)));
        check(Range::Between { first: 100, last: 170 }, None);
    }

    #[test]
    fn a_snapshot_does_not_grow() {
        let mut hot = HotTurns::new(1, vec![turn(1)]);
        let stats = ThreadStats { last_seq: 1, epoch: 0, count: 1 };
        let before = hot.serve(Range::Last(9), stats).unwrap();
        hot.push(turn(2));
        assert_eq!(seqs(&before), [1]);
    }

    #[test]
    fn older_turns_are_put_in_front() {
        let mut hot = HotTurns::new(51, (51..=60).map(turn).collect());
        hot.extend_back(11, (11..=50).map(turn).collect());
        let turns = hot.serve(Range::Last(50), ThreadStats { last_seq: 60, epoch: 0, count: 60 }).unwrap();
        assert_eq!(seqs(&turns), (11..=60).collect::<Vec<_>>());
        assert_eq!(hot.len(), 50);
    }
}
