//! Whole collections, ready to be shown.
//!
//! Owns their way from the store to a prompt: read once, kept for as long as the collection's version is the
//! same. A stretch of time is then a range of what is kept.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use novelo_engine::limits::{CONTEXT_TURNS_MAX, PAGE_MAX};
use novelo_engine::loaded::CollectionItem;
use novelo_engine::path::CollectionPath;
use novelo_engine::recipe::Shape;
use novelo_engine::time_scope::TimeRange;
use novelo_store::{Cursor, Document, Store, Version, Window};
use rustc_hash::FxHasher;

use crate::cache::Cache;
use crate::error::{Error, Result};

/// Collections by path and shape, each true for one version.
pub type Collections = Cache<(CollectionPath, Shape), (Version, Arc<Collected>)>;

/// The documents of a collection in the order of their times: as stored, and as a prompt shows them.
#[derive(Debug, Default)]
pub struct Collected {
    times: Vec<f64>,
    pub values: Vec<Bytes>,
    pub items: Vec<CollectionItem>,
    /// Tells these documents from others.
    pub fingerprint: u64,
}

impl Collected {
    pub fn new(documents: impl IntoIterator<Item = (Box<str>, f64, Bytes)>, shape: Shape) -> Self {
        let mut collected = Self::default();
        let mut hasher = FxHasher::default();
        for (id, time, value) in documents {
            (&id, &value).hash(&mut hasher);
            collected.items.push(CollectionItem::from_document(&id, value.clone(), shape));
            collected.times.push(time);
            collected.values.push(value);
        }
        collected.fingerprint = hasher.finish();
        collected
    }

    /// The documents of a stretch.
    pub fn within(&self, stretch: TimeRange) -> Range<usize> {
        let after = |bound: Option<f64>, none| bound.map_or(none, |b| self.times.partition_point(|time| *time <= b));
        let end = after(stretch.end, self.times.len());
        after(stretch.begin, 0).min(end)..end
    }

    fn bytes(&self) -> usize {
        256 + self
            .items
            .iter()
            .zip(&self.values)
            .map(|(item, value)| 64 + item.message.weight() + value.len())
            .sum::<usize>()
    }
}

/// The documents of a collection that lie in a stretch, or more; `None` when it has no document at all.
pub async fn read(
    store: &Store,
    kept: &Collections,
    of: &CollectionPath,
    shape: Shape,
    stretch: TimeRange,
) -> Result<Option<Arc<Collected>>> {
    let version = store.version(of).await?;
    if version.last_seq == 0 {
        return Ok(None);
    }
    let key = (of.clone(), shape);
    if let Some((_, collected)) = kept.get(&key).filter(|(of, _)| *of == version) {
        return Ok(Some(collected).filter(|c| !c.items.is_empty()));
    }
    let whole = version.last_seq <= CONTEXT_TURNS_MAX as u64;
    let documents = scan(store, of, if whole { TimeRange::default() } else { stretch }).await?;
    let documents = documents.into_iter().map(|d| (d.id, d.create_time, d.value));
    let collected = Arc::new(Collected::new(documents, shape));
    if !whole {
        let is_absent = collected.items.is_empty()
            && store.scan(of, Window { limit: 1, ..Window::default() }).await?.items.is_empty();
        return Ok(Some(collected).filter(|_| !is_absent));
    }
    kept.insert(key, (version, collected.clone()), collected.bytes());
    Ok(Some(collected).filter(|c| !c.items.is_empty()))
}

/// The seqs of the newest documents of a stretch, as many as a context looks at, and how many are older.
pub async fn newest(store: &Store, of: &CollectionPath, stretch: TimeRange) -> Result<(VecDeque<u64>, u64)> {
    let (mut seqs, mut before, mut after) = (VecDeque::new(), 0, None);
    loop {
        let window = Window { begin: stretch.begin, end: stretch.end, after, limit: PAGE_MAX };
        let page = store.scan(of, window).await?;
        after = page.items.last().map(|d| Cursor { create_time: d.create_time, seq: d.seq });
        seqs.extend(page.items.iter().map(|document| document.seq));
        let over = seqs.len().saturating_sub(CONTEXT_TURNS_MAX);
        before += seqs.drain(..over).count() as u64;
        if !page.has_more {
            return Ok((seqs, before));
        }
    }
}

/// The documents of a stretch, oldest first.
async fn scan(store: &Store, of: &CollectionPath, stretch: TimeRange) -> Result<Vec<Document>> {
    let mut documents: Vec<Document> = Vec::new();
    loop {
        let after = documents.last().map(|d| Cursor { create_time: d.create_time, seq: d.seq });
        let window = Window { begin: stretch.begin, end: stretch.end, after, limit: PAGE_MAX };
        let page = store.scan(of, window).await?;
        documents.extend(page.items);
        if !page.has_more {
            return Ok(documents);
        }
        if documents.len() >= CONTEXT_TURNS_MAX {
            let name = of.segments().last().map_or("", |name| name);
            let problem = format!("has more documents than CONTEXT_TURNS_MAX, {CONTEXT_TURNS_MAX}");
            return Err(Error::invalid(format!("collection {name}"), problem));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretch_is_open_at_its_beginning_and_closed_at_its_end() {
        let document = |time: f64| (format!("{time}").into(), time, Bytes::from_static(b"{}"));
        let collected = Collected::new([1.0, 2.0, 2.0, 3.0].map(document), Shape::Data);
        let within = |begin, end| collected.within(TimeRange { begin, end });
        assert_eq!(within(None, None), 0..4);
        assert_eq!(within(Some(1.0), Some(2.0)), 1..3);
        assert_eq!(within(Some(0.0), Some(1.9)), 0..1);
        assert_eq!(within(Some(3.0), Some(1.0)), 1..1);
    }
}
