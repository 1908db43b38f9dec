//! Whether a rewritten question finds what answers it.
//!
//! The corpus of a set is every different passage of its lines. Where no line has one, every different
//! question as the human wrote it stands in for the passage that answers it: the human's own questions then
//! find themselves.

use std::collections::BTreeMap;

use serde::Serialize;

use super::MeasuredCase;
use novelo_recall::{Index, Passage, Query};

const DEPTHS: [usize; 3] = [1, 5, 10];
const DEPTH_MAX: usize = 10;

/// Over the questions that need a rewrite and whose passage is known, each asked of the corpus of its set.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Retrieval {
    pub questions: usize,
    pub passages: usize,
    /// Whether the humans' questions stood in for passages, in any of the sets.
    pub stand_in: bool,
    pub raw: FoundShares,
    pub rewritten: FoundShares,
    pub human: FoundShares,
}

/// Percent found among the first 1, 5 and 10 hits, and the mean reciprocal rank within the first 10.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct FoundShares {
    #[serde(rename = "1")]
    pub at_1: f64,
    #[serde(rename = "5")]
    pub at_5: f64,
    #[serde(rename = "10")]
    pub at_10: f64,
    pub mrr: f64,
}

#[derive(Debug, Default)]
pub(super) struct RetrievalCounts {
    questions: usize,
    passages: usize,
    stand_in: bool,
    raw: RankCounts,
    rewritten: RankCounts,
    human: RankCounts,
}

#[derive(Debug, Default)]
struct RankCounts {
    within: [usize; DEPTHS.len()],
    reciprocal: f64,
}

pub(super) fn search(asked: &[MeasuredCase<'_>]) -> RetrievalCounts {
    let stand_in = asked.iter().all(|it| it.case.passage.is_none());
    let mut corpus = PassageCorpus::default();
    let keys: Vec<Option<u64>> = asked
        .iter()
        .map(|it| if stand_in { Some(it.case.human.as_str()) } else { it.case.passage.as_deref() })
        .map(|passage| passage.map(|passage| corpus.add(passage)))
        .collect();
    let mut counts = RetrievalCounts { passages: corpus.keys.len(), stand_in, ..RetrievalCounts::default() };
    for (it, key) in asked.iter().zip(keys).filter(|(it, _)| it.needs) {
        let Some(key) = key else { continue };
        counts.questions += 1;
        counts.raw.note(corpus.place(key, &it.case.question));
        counts.rewritten.note(corpus.place(key, &it.rewritten));
        counts.human.note(corpus.place(key, &it.case.human));
    }
    counts
}

#[derive(Debug, Default)]
struct PassageCorpus<'c> {
    keys: BTreeMap<&'c str, u64>,
    index: Index,
}

impl<'c> PassageCorpus<'c> {
    fn add(&mut self, text: &'c str) -> u64 {
        let next = self.keys.len() as u64;
        let key = *self.keys.entry(text).or_insert(next);
        if key == next {
            self.index.add(key, &Passage { text, ..Passage::default() });
        }
        key
    }

    fn place(&self, key: u64, question: &str) -> Option<usize> {
        let hits = self.index.rank(&Query { text: question, vector: None }).top(DEPTH_MAX, |_| true);
        hits.iter().position(|hit| hit.key == key)
    }
}

impl RankCounts {
    fn note(&mut self, place: Option<usize>) {
        let Some(place) = place else { return };
        self.reciprocal += 1.0 / (place + 1) as f64;
        for (depth, within) in DEPTHS.into_iter().zip(&mut self.within) {
            *within += usize::from(place < depth);
        }
    }

    fn add(&mut self, other: &Self) {
        self.reciprocal += other.reciprocal;
        self.within.iter_mut().zip(other.within).for_each(|(sum, more)| *sum += more);
    }

    fn found(&self, questions: usize) -> FoundShares {
        let of = 100.0 / questions.max(1) as f64;
        let [at_1, at_5, at_10] = self.within.map(|count| count as f64 * of);
        FoundShares { at_1, at_5, at_10, mrr: self.reciprocal * of }
    }
}

impl RetrievalCounts {
    pub(crate) fn add(&mut self, other: &Self) {
        self.questions += other.questions;
        self.passages += other.passages;
        self.stand_in |= other.stand_in;
        self.raw.add(&other.raw);
        self.rewritten.add(&other.rewritten);
        self.human.add(&other.human);
    }

    pub fn retrieval(&self) -> Retrieval {
        let Self { questions, passages, stand_in, .. } = *self;
        let [raw, rewritten, human] = [&self.raw, &self.rewritten, &self.human].map(|places| places.found(questions));
        Retrieval { questions, passages, stand_in, raw, rewritten, human }
    }
}
