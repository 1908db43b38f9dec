//! Whole collections, ready to be shown.
//!
//! Owns their way from the store to a prompt: read once, kept for as long as the collection's version is the
//! same. A stretch of time is then a range of what is kept.

use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use novelo_engine::limits::{CONTEXT_TURNS_MAX, PAGE_MAX};
use novelo_engine::loaded::CollectionItem;
use novelo_engine::path::CollectionPath;
use novelo_engine::recipe::Shape;
use novelo_engine::time_scope::TimeRange;
use novelo_store::{Cursor, Document, Store, Turns, Version, Window};
use rustc_hash::FxHasher;

use super::turns::{newest_turns, older};
use crate::cache::Cache;
use crate::error::Result;

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

/// The documents of a collection that lie in a stretch, or more, and how many of the stretch are too old to
/// be looked at; `None` when it has no document at all. A very long collection gives the newest of the
/// stretch, as many as one context looks at.
pub async fn read(
    store: &Store,
    kept: &Collections,
    of: &CollectionPath,
    shape: Shape,
    stretch: TimeRange,
) -> Result<Option<(Arc<Collected>, u64)>> {
    let version = store.version(of).await?;
    if version.last_seq == 0 {
        return Ok(None);
    }
    if version.last_seq > CONTEXT_TURNS_MAX as u64 {
        let newest = newest_turns(store, of, stretch, (0, u64::MAX), CONTEXT_TURNS_MAX).await?;
        let before = older(store, of, stretch, &newest).await?;
        return Ok((newest.count > 0).then(|| (Arc::new(in_time(&newest, shape)), before)));
    }
    let key = (of.clone(), shape);
    let known = kept.get(&key).filter(|(of, _)| *of == version);
    let collected = match known {
        Some((_, collected)) => collected,
        None => {
            let documents = scan(store, of).await?.into_iter().map(|d| (d.id, d.create_time, d.value));
            let collected = Arc::new(Collected::new(documents, shape));
            kept.insert(key, (version, collected.clone()), collected.bytes());
            collected
        }
    };
    Ok((!collected.items.is_empty()).then_some((collected, 0)))
}

/// Documents that were read as turns, in the order of their times.
fn in_time(turns: &Turns, shape: Shape) -> Collected {
    let mut turns: Vec<_> = turns.iter().collect();
    turns.sort_by(|a, b| a.create_time.total_cmp(&b.create_time));
    Collected::new(turns.into_iter().map(|t| (t.id.clone(), t.create_time, t.message.raw().clone())), shape)
}

/// All documents, oldest first.
async fn scan(store: &Store, of: &CollectionPath) -> Result<Vec<Document>> {
    let mut documents: Vec<Document> = Vec::new();
    loop {
        let after = documents.last().map(|d| Cursor { create_time: d.create_time, seq: d.seq });
        let page = store.scan(of, Window { after, limit: PAGE_MAX, ..Window::default() }).await?;
        documents.extend(page.items);
        if !page.has_more {
            return Ok(documents);
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
