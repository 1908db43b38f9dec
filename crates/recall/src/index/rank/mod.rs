//! Scores, and how they are put together.
//!
//! A passage is worth what its own words say (BM25 over stems, and over terms that look alike), what the
//! passages around it and its whole group say, whether the one who said it and its date are named, and how
//! near its vector is. All sums run in the order of the passages, never of slots or hash maps: the same
//! passages give the same bits.

mod cut;
mod fuse;
mod lexical;
mod relevant;
mod select;

use std::sync::OnceLock;

use self::fuse::{Cosines, Fused};
use self::lexical::Lexical;
pub(crate) use self::lexical::{Field, rarity, saturated_alone};
use crate::index::{ExternalHits, Hit, Index, Query, Reading, Score, Slot, Why};

/// A likeness that is worth telling.
const ALIKE: f32 = 0.5;

/// All passages, scored for one query.
#[derive(Debug)]
pub struct Ranked<'i> {
    index: &'i Index,
    reading: Reading,
    field: &'i Field,
    lexical: Lexical,
    fused: Fused,
    /// The best that match, sorted; all that match, sorted when they are asked for.
    head: Vec<Hit>,
    all: OnceLock<Vec<Hit>>,
}

impl<'i> Ranked<'i> {
    pub(crate) fn new(index: &'i Index, query: &Query<'_>, near: Option<&ExternalHits<'_>>) -> Self {
        let reading = Reading::of(query.text, index);
        let field = index.field();
        let lexical = lexical::score(index, field, &reading);
        let cosines = match near {
            Some(near) => Cosines { values: by_place(index, field, near.dense, f32::NAN), of: near.dense_of },
            None => Cosines { values: cosines(index, field, query), of: None },
        };
        let shared = near.map(|near| by_place(index, field, near.sparse, 0.0)).unwrap_or_default();
        let fused = fuse::fuse(index, field, &reading, &lexical, cosines, shared);
        let head = select::head(index, &fused.scores);
        Self { index, reading, field, lexical, fused, head, all: OnceLock::new() }
    }

    /// The best passages `within`, best first; of equals the newer first. Those that match nothing
    /// are left out.
    pub fn top(&self, k: usize, within: impl Fn(u64) -> bool) -> Vec<Hit> {
        let best = |hits: &[Hit]| hits.iter().filter(|hit| within(hit.key)).take(k).copied().collect::<Vec<_>>();
        let found = best(&self.head);
        if found.len() >= k || self.head.len() == self.fused.matching {
            return found;
        }
        best(self.all.get_or_init(|| select::all(self.index, &self.fused.scores)))
    }

    /// Nothing for a key that is not in the index.
    pub fn why(&self, key: u64) -> Why {
        let why = || {
            let at = self.index.at(key)?;
            let slot = self.index.slot(at)?;
            Some(self.why_at(at, slot, self.field.place(at)?))
        };
        why().unwrap_or_default()
    }

    fn why_at(&self, at: u32, slot: &Slot, place: usize) -> Why {
        let held = |term: u32| self.index.held(at).iter().any(|posting| posting.index() == term);
        let (mut matched, mut alike) = (Vec::new(), Vec::new());
        for word in &self.reading.words {
            if word.exact.iter().any(|term| held(*term)) {
                matched.push(word.spelled.clone());
            } else if word.alike.iter().any(|(term, likeness)| *likeness >= ALIKE && held(*term)) {
                alike.push(word.spelled.clone());
            }
        }
        let value = |values: &[f32]| values.get(place).copied().unwrap_or(0.0);
        let own = value(&self.fused.own);
        Why {
            lexical: (own > 0.0).then(|| score(own, &self.fused.own)),
            dense: self.fused.cosine(place).map(|cosine| score(cosine, &self.fused.cosines)),
            sparse: Some(value(&self.fused.shared)).filter(|s| *s > 0.0).map(|s| score(s, &self.fused.shared)),
            matched,
            alike,
            fuzzy: fuse::fuzzy_part(value(&self.lexical.fuzzy), self.field.kind(place)),
            neighbours: value(&self.fused.neighbours),
            group: fuse::group_part(&self.lexical, self.field, place),
            speaker: self.reading.names(slot),
            date: self.reading.nearness(slot),
        }
    }
}

fn score(score: f32, all: &[f32]) -> Score {
    Score { score, rank: all.iter().filter(|other| **other > score).count() + 1 }
}

/// What another index found, by place, and this where it found nothing; empty when it found nothing at all.
fn by_place(index: &Index, field: &Field, found: &[(u64, f32)], nothing: f32) -> Vec<f32> {
    if found.is_empty() {
        return Vec::new();
    }
    let mut values = vec![nothing; index.len()];
    for (key, value) in found {
        let place = index.at(*key).and_then(|slot| field.place(slot));
        place.and_then(|place| values.get_mut(place)).into_iter().for_each(|place| *place = *value);
    }
    values
}

/// By place; not a number where a passage has no vector, and empty without a query vector.
fn cosines(index: &Index, field: &Field, query: &Query<'_>) -> Vec<f32> {
    let (slots, found) = query.vector.map(|vector| index.vectors().cosines(vector)).unwrap_or_default();
    if found.is_empty() {
        return Vec::new();
    }
    let mut cosines = vec![f32::NAN; index.len()];
    for (slot, cosine) in slots.iter().zip(found) {
        if let Some(place) = field.place(*slot).and_then(|place| cosines.get_mut(place)) {
            *place = cosine;
        }
    }
    cosines
}
