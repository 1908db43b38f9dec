//! Lists: documents by time, threads by id.
//!
//! Owns the walks that page. Invariant: each stops as soon as its page is full, and skips over what it does
//! not list by seeking.

use std::iter::Peekable;

use novelo_engine::path::CollectionPath;

use super::db::{Space, View};
use super::docs;
use super::state::LocalState;
use super::txn::{entry, load};
use crate::Error;
use crate::codec::{SeqRun, collection_key, ordered, time_key, triple_of, unordered};
use crate::read::{Document, Page, ThreadRow, Window};

/// A document's place in the order of time, and the number it is stored under.
type TimedSeq = (u64, u64, u64);

impl LocalState {
    pub fn scan(&self, of: &CollectionPath, window: Window) -> Result<Page<Document>, Error> {
        let cached = self.cache.get(&collection_key(of));
        let last_seq = self.known(&cached)?.last_seq;
        let view = self.view()?;
        let Some(meta) = entry(&view, &cached.key)? else { return Ok(Page { items: Vec::new(), has_more: false }) };
        let mut runs: Vec<_> = meta.runs().map(|run| by_time(&view, run, window).peekable()).collect();
        let mut items = Vec::new();
        while let Some((time, seq, number)) = earliest(&mut runs)? {
            if window.end.is_some_and(|end| unordered(time) > end) {
                break;
            }
            if seq > last_seq {
                continue;
            }
            if items.len() == window.limit {
                return Ok(Page { items, has_more: true });
            }
            items.push(docs::record(&view, number, seq)?.into_document(seq));
        }
        Ok(Page { items, has_more: false })
    }

    pub fn threads(
        &self,
        under: &CollectionPath,
        child: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Page<ThreadRow>, Error> {
        let view = self.view()?;
        let base = [&*collection_key(under), &[0]].concat();
        let high = [&*collection_key(under), &[1]].concat();
        let mut low = match after {
            Some(id) => [&base, id.as_bytes(), &[1]].concat(),
            None => base.clone(),
        };
        let mut items = Vec::new();
        while let Some((key, _)) = view.stored(Space::Collections, &low, &high).next().transpose()? {
            let Some(id) = key.get(base.len()..).and_then(|rest| rest.split(|byte| *byte == 0).next()) else { break };
            let id = String::from_utf8_lossy(id).into_owned();
            low = [&base, id.as_bytes(), &[1]].concat();
            let Some(row) = thread_row(&view, &[&base, id.as_bytes(), &[0], child.as_bytes()].concat(), id)? else {
                continue;
            };
            if items.len() == limit {
                return Ok(Page { items, has_more: true });
            }
            items.push(row);
        }
        Ok(Page { items, has_more: false })
    }
}

fn thread_row(view: &View<'_>, key: &[u8], id: String) -> Result<Option<ThreadRow>, Error> {
    let known = load(view, key)?;
    let Some(meta) = &known.meta else { return Ok(None) };
    let newest = docs::descending(view, meta, known.last_seq).next().transpose()?;
    Ok(newest.map(|(_, record)| ThreadRow { id: id.into(), turns: known.count(), updated_at: record.create_time }))
}

/// The places of one run that come after the window's beginning and its cursor.
fn by_time(view: &View<'_>, run: SeqRun, window: Window) -> impl Iterator<Item = Result<TimedSeq, Error>> {
    let after_begin = window.begin.map(|begin| (ordered(begin), u64::MAX));
    let after_cursor = window.after.map(|cursor| (ordered(cursor.create_time), cursor.seq));
    let after = after_begin.max(after_cursor);
    let low = after.map_or(time_key(run.number, f64::MIN, 0), |(time, seq)| time_key(run.number, unordered(time), seq));
    let places = view.stored(Space::Times, &low, &time_key(run.number, f64::MAX, u64::MAX)).map(move |entry| {
        let (number, time, seq) = triple_of(&entry?.0).ok_or_else(|| Error::damaged("times", "a key is cut short"))?;
        Ok((time, seq, number))
    });
    places.filter(move |place| match place {
        Ok((time, seq, _)) => after.is_none_or(|after| (*time, *seq) > after) && (run.first..=run.last).contains(seq),
        Err(_) => true,
    })
}

/// Takes the earliest place of several runs.
fn earliest<I: Iterator<Item = Result<TimedSeq, Error>>>(runs: &mut [Peekable<I>]) -> Result<Option<TimedSeq>, Error> {
    let mut best: Option<(usize, TimedSeq)> = None;
    for (at, run) in runs.iter_mut().enumerate() {
        match run.peek() {
            Some(Ok(place)) if best.is_none_or(|(_, earliest)| *place < earliest) => best = Some((at, *place)),
            Some(Err(_)) => return run.next().transpose(),
            _ => {}
        }
    }
    match best.and_then(|(at, _)| runs.get_mut(at)) {
        Some(run) => run.next().transpose(),
        None => Ok(None),
    }
}
