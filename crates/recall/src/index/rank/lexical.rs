//! BM25 over the passages and over their groups.

use crate::index::{Index, Kind, Reading, Word};

/// How soon a repeated word stops to count, and how much length counts against a passage.
const K1: f32 = 1.2;
const B: f32 = 0.75;
/// What a word in the opening of a passage gives on top, in chats with an assistant: their turns are long,
/// and say first what they are about.
const OPENING: f32 = 1.0;

pub(crate) const NO_GROUP: u32 = u32::MAX;

/// The passages in their order, as their scores are summed up.
#[derive(Debug)]
pub struct Field {
    /// By slot.
    places: Vec<u32>,
    /// By place: the damping by length, and the group.
    damping: Vec<f32>,
    pub groups: Vec<u32>,
    pub kinds: Vec<Kind>,
    /// By group.
    group_damping: Vec<f32>,
}

/// By place, and by group.
#[derive(Debug)]
pub struct Lexical {
    pub exact: Vec<f32>,
    pub fuzzy: Vec<f32>,
    pub groups: Vec<f32>,
}

impl Field {
    pub fn of(index: &Index) -> Self {
        let mut places = vec![u32::MAX; index.slots_len()];
        let (mut lengths, mut groups) = (Vec::with_capacity(index.len()), Vec::with_capacity(index.len()));
        let mut group_lengths = Vec::new();
        let mut kinds = Vec::with_capacity(index.len());
        let kinds_here = index.sides().kinds();
        let mut group_before = 0;
        for (place, at) in (0..).zip(index.order()) {
            let Some(slot) = index.slot(*at) else { continue };
            if let Some(entry) = places.get_mut(*at as usize) {
                *entry = place;
            }
            lengths.push(slot.words);
            kinds.push(kinds_here.of(slot));
            if slot.group == 0 {
                groups.push(NO_GROUP);
                continue;
            }
            if slot.group != group_before {
                group_lengths.push(0);
                group_before = slot.group;
            }
            groups.push(group_lengths.len() as u32 - 1);
            if let Some(length) = group_lengths.last_mut() {
                *length += slot.words;
            }
        }
        Self { places, damping: damping(&lengths), groups, kinds, group_damping: damping(&group_lengths) }
    }

    /// About how much memory it takes.
    pub fn bytes(&self) -> usize {
        (self.places.len() + self.damping.len() + self.groups.len() + self.group_damping.len()) * 4 + self.kinds.len()
    }

    /// Whether every passage stands alone: there are no groups, questions or answers.
    pub fn is_plain(&self) -> bool {
        self.group_damping.is_empty() && self.kinds.iter().all(|kind| *kind == Kind::Said)
    }

    pub fn place(&self, slot: u32) -> Option<usize> {
        self.places.get(slot as usize).map(|place| *place as usize)
    }

    pub fn kind(&self, place: usize) -> Kind {
        self.kinds.get(place).copied().unwrap_or(Kind::Said)
    }

    pub fn group(&self, place: usize) -> Option<usize> {
        self.groups.get(place).filter(|group| **group != NO_GROUP).map(|group| *group as usize)
    }
}

fn damping(lengths: &[u32]) -> Vec<f32> {
    let total: u64 = lengths.iter().map(|length| u64::from(*length)).sum();
    let mean = (total as f32 / lengths.len().max(1) as f32).max(1.0);
    lengths.iter().map(|length| K1 * (1.0 - B + B * *length as f32 / mean)).collect()
}

pub(crate) fn rarity(passages: f32, all: usize) -> f32 {
    let all = all as f32;
    (1.0 + (all - passages.min(all) + 0.5) / (passages.min(all) + 0.5)).ln()
}

fn saturated(times: f32, damping: f32) -> f32 {
    times * (K1 + 1.0) / (times + damping)
}

/// What a word gives that stands so often in a passage, whatever the length of that.
pub(crate) fn saturated_alone(times: f32) -> f32 {
    saturated(times, K1)
}

pub fn score(index: &Index, field: &Field, reading: &Reading) -> Lexical {
    let passages = field.damping.len();
    let mut lexical = Lexical {
        exact: vec![0.0; passages],
        fuzzy: vec![0.0; passages],
        groups: vec![0.0; field.group_damping.len()],
    };
    let mut sums = Sums::new(passages, field.group_damping.len());
    for word in &reading.words {
        exact(index, field, word, &mut sums, &mut lexical);
        fuzzy(index, field, word, &mut sums, &mut lexical.fuzzy);
    }
    lexical
}

/// What one word gives, before it is added to the rest.
struct Sums {
    passages: Touched,
    groups: Touched,
}

struct Touched {
    values: Vec<f32>,
    touched: Vec<u32>,
}

impl Sums {
    fn new(passages: usize, groups: usize) -> Self {
        let touched = |length| Touched { values: vec![0.0; length], touched: Vec::new() };
        Self { passages: touched(passages), groups: touched(groups) }
    }
}

impl Touched {
    fn change(&mut self, at: usize, change: impl Fn(f32) -> f32) {
        let Some(value) = self.values.get_mut(at) else { return };
        if *value == 0.0 {
            self.touched.push(at as u32);
        }
        *value = change(*value);
    }

    /// Hands out all that was touched, and is empty again.
    fn drain(&mut self, mut each: impl FnMut(usize, f32)) {
        for at in self.touched.drain(..) {
            if let Some(value) = self.values.get_mut(at as usize) {
                each(at as usize, std::mem::take(value));
            }
        }
    }
}

fn exact(index: &Index, field: &Field, word: &Word, sums: &mut Sums, lexical: &mut Lexical) {
    let mut openings: Vec<usize> = Vec::new();
    let has_assistant = index.sides().has_assistant();
    for posting in word.exact.iter().flat_map(|term| index.dictionary().postings(*term)) {
        let Some(place) = field.place(posting.index()) else { continue };
        let times = posting.times() as f32;
        sums.passages.change(place, |sum| sum + times);
        if let Some(group) = field.group(place).filter(|_| !word.is_stop) {
            sums.groups.change(group, |sum| sum + times);
        }
        if has_assistant && posting.in_opening() {
            openings.push(place);
        }
    }
    let weight = word.weight() * rarity(sums.passages.touched.len() as f32, field.damping.len());
    sums.passages.drain(|place, times| add(&mut lexical.exact, &field.damping, place, times, weight));
    let weight = rarity(sums.groups.touched.len() as f32, field.group_damping.len());
    sums.groups.drain(|group, times| add(&mut lexical.groups, &field.group_damping, group, times, weight));
    let weight = OPENING * rarity(openings.len() as f32, field.damping.len());
    for place in openings {
        lexical.exact.get_mut(place).into_iter().for_each(|score| *score += weight);
    }
}

fn add(scores: &mut [f32], dampings: &[f32], at: usize, times: f32, weight: f32) {
    if let (Some(score), Some(damping)) = (scores.get_mut(at), dampings.get(at)) {
        *score += weight * saturated(times, *damping);
    }
}

/// Of the terms of a passage that are like the word, the best counts, by the square of its likeness: chance
/// likenesses are many and small.
fn fuzzy(index: &Index, field: &Field, word: &Word, sums: &mut Sums, scores: &mut [f32]) {
    for (term, likeness) in &word.alike {
        let weight = likeness * likeness;
        for posting in index.dictionary().postings(*term) {
            let Some(place) = field.place(posting.index()) else { continue };
            let damping = field.damping.get(place).copied().unwrap_or(K1);
            let score = weight * saturated(posting.times() as f32, damping);
            sums.passages.change(place, |best| best.max(score));
        }
    }
    let weight = gram_rarity(index, field, word);
    sums.passages.drain(|place, best| {
        if let Some(score) = scores.get_mut(place) {
            *score += weight * best;
        }
    });
}

/// The mean rarity of the word's trigrams, which is known also for a word that is nowhere.
fn gram_rarity(index: &Index, field: &Field, word: &Word) -> f32 {
    let rarities = word.grams.iter().map(|gram| index.dictionary().gram_postings(*gram) as f32);
    let sum: f32 = rarities.map(|postings| rarity(postings, field.damping.len())).sum();
    sum / word.grams.len().max(1) as f32
}
