//! Hits, sorted: at first the best, all only when they are asked for.

use std::cmp::Ordering;

use crate::index::{Hit, Index};
use crate::top;

/// So many, or a few more, are sorted ahead of being asked for.
const HEAD: usize = 128;

/// The best hits, sorted. Infinitely low scores are no hits.
pub fn head(index: &Index, scores: &[f32]) -> Vec<Hit> {
    hits(index, scores, top::floor(scores, HEAD))
}

/// All hits, sorted.
pub fn all(index: &Index, scores: &[f32]) -> Vec<Hit> {
    hits(index, scores, f32::MIN)
}

fn hits(index: &Index, scores: &[f32], floor: f32) -> Vec<Hit> {
    let kept = index.order().iter().zip(scores).filter(|(_, score)| **score >= floor);
    let kept = kept.filter_map(|(at, score)| Some(Hit { key: index.slot(*at)?.key, score: *score }));
    let mut hits: Vec<Hit> = kept.collect();
    hits.sort_unstable_by(best_first);
    hits
}

fn best_first(a: &Hit, b: &Hit) -> Ordering {
    b.score.total_cmp(&a.score).then(b.key.cmp(&a.key))
}
