//! One collection of the model.
//!
//! Owns its documents by seq and by id. Invariant: `ids` names every document once, and no seq is above
//! `last_seq`.

use std::collections::BTreeMap;

use novelo_engine::{Message, Turn};

use crate::read::{Document, Newest, Range, ThreadStats, Window};
use crate::record::{ForkOrigin, Record};

#[derive(Debug, Clone)]
pub(super) struct MemoryCollection {
    /// Distinguishes this collection from one that had its path before.
    pub number: u64,
    pub last_seq: u64,
    /// Above 0, and above that of every collection that had this path before.
    pub epoch: u64,
    pub documents: BTreeMap<u64, Record>,
    ids: BTreeMap<Box<str>, u64>,
    pub origin: Option<ForkOrigin>,
}

impl MemoryCollection {
    pub fn new(number: u64, epoch: u64) -> Self {
        Self { number, last_seq: 0, epoch, documents: BTreeMap::new(), ids: BTreeMap::new(), origin: None }
    }

    pub fn forked(number: u64, epoch: u64, origin: ForkOrigin, documents: BTreeMap<u64, Record>) -> Self {
        let ids = documents.iter().map(|(seq, record)| (record.id.clone(), *seq)).collect();
        Self { number, last_seq: origin.at_seq, epoch, documents, ids, origin: Some(origin) }
    }

    pub fn find(&self, id: &str) -> Option<(u64, &Record)> {
        let seq = self.ids.get(id)?;
        self.documents.get(seq).map(|record| (*seq, record))
    }

    pub fn insert(&mut self, seq: u64, record: Record) {
        self.last_seq = self.last_seq.max(seq);
        self.ids.insert(record.id.clone(), seq);
        self.documents.insert(seq, record);
    }

    pub fn replace(&mut self, seq: u64, record: Record) {
        self.epoch += 1;
        self.documents.insert(seq, record);
    }

    pub fn remove(&mut self, id: &str) -> bool {
        let Some(seq) = self.ids.remove(id) else { return false };
        self.epoch += 1;
        self.documents.remove(&seq).is_some()
    }

    pub fn keep_last(&mut self, documents: u64) {
        while self.documents.len() as u64 > documents {
            let Some(id) = self.documents.first_key_value().map(|(_, record)| record.id.clone()) else { return };
            self.remove(&id);
        }
    }

    pub fn expired(&self, now: f64) -> Vec<Box<str>> {
        let expired = self.documents.values().filter(|r| r.expires_at.is_some_and(|at| at <= now));
        expired.map(|record| record.id.clone()).collect()
    }

    /// The turns of a range, and whether there are more in its direction.
    pub fn turns(&self, range: Range) -> (Vec<Turn>, bool) {
        match range {
            Range::Last(count) => {
                let mut turns: Vec<_> = self.documents.iter().rev().take(count).map(turn).collect();
                turns.reverse();
                (turns, self.documents.len() > count)
            }
            Range::After { seq, limit } => {
                let mut later = self.documents.iter().skip_while(|(s, _)| **s <= seq);
                let turns = later.by_ref().take(limit).map(turn).collect();
                (turns, later.next().is_some())
            }
            Range::Between { first, last } => {
                let inside = self.documents.iter().filter(|(s, _)| (first..=last).contains(*s));
                (inside.map(turn).collect(), false)
            }
        }
    }

    pub(super) fn stats(&self) -> ThreadStats {
        ThreadStats { last_seq: self.last_seq, epoch: self.epoch, count: self.documents.len() as u64 }
    }

    /// The newest turns by time, in the order of their seqs, and whether the choice has older ones.
    pub fn newest(&self, choice: Newest) -> (Vec<Turn>, bool) {
        let inside = self.documents.iter().filter(|(seq, record)| choice.holds(record.create_time, **seq));
        let mut turns: Vec<Turn> = inside.map(turn).collect();
        turns.sort_by(|a, b| b.create_time.total_cmp(&a.create_time).then(b.seq.cmp(&a.seq)));
        let has_more = turns.len() > choice.limit;
        turns.truncate(choice.limit);
        turns.sort_by_key(|turn| turn.seq);
        (turns, has_more)
    }

    pub fn within(&self, window: Window) -> Vec<Document> {
        let inside = self.documents.iter().filter(|(seq, record)| {
            let time = record.create_time;
            window.begin.is_none_or(|begin| time > begin)
                && window.end.is_none_or(|end| time <= end)
                && window.after.is_none_or(|after| (time, **seq) > (after.create_time, after.seq))
        });
        inside.map(|(seq, record)| record.clone().into_document(*seq)).collect()
    }
}

fn turn((seq, record): (&u64, &Record)) -> Turn {
    Turn {
        seq: *seq,
        id: record.id.clone(),
        create_time: record.create_time,
        message: Message::from_stored(record.value.clone()),
    }
}
