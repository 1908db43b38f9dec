//! The index over one user's passages of one kind.
//!
//! Owns the passages' terms, vectors and order, and every count that a score needs; all follow `add` and
//! `remove`, so that what was removed ranks nothing. Refuses to keep text: a passage is found by its key. How
//! a score is made is the matter of `rank`.

mod kinds;
mod postings;
mod query;
mod rank;
pub mod sparse;
mod speakers;
mod vectors;

#[cfg(test)]
mod index_tests;

use std::hash::Hasher;
use std::sync::OnceLock;

use novelo_engine::Role;
use rustc_hash::{FxHashMap, FxHasher};
use serde::{Deserialize, Serialize};

pub(crate) use self::kinds::Kind;
pub(crate) use self::postings::{Dictionary, Posting};
pub(crate) use self::query::{Reading, Word};
use self::rank::Field;
pub use self::rank::Ranked;

use self::kinds::Sides;
use self::postings::{Counted, INDEX_MAX};
use self::speakers::Speakers;
use self::vectors::Vectors;
use novelo_language::analyse::{self, Words};
use novelo_language::calendar::{self, Day};
use novelo_language::{Language, dates};

/// Of a longer passage the beginning is indexed. Documents come split.
const PASSAGE_WORDS_MAX: usize = 32_768;

/// The first words of a passage, stop words apart, are its opening: there people say what a long message is
/// about.
const OPENING_WORDS: u32 = 20;

/// Something that can be found, as it is put into an index.
#[derive(Debug, Clone, Copy, Default)]
pub struct Passage<'a> {
    pub text: &'a str,
    /// Who said it, where that has a name.
    pub speaker: Option<&'a str>,
    pub role: Option<Role>,
    /// Passages of one stretch of conversation, or of one document, share a group; in a group they are
    /// neighbours in the order of their keys. 0 has no neighbours.
    pub group: u64,
    /// When it was said, in seconds.
    pub time: Option<f64>,
}

/// What is looked for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Query<'a> {
    pub text: &'a str,
    /// The embedding of `Index::to_embed(text)`, of the same model as the vectors of the passages.
    pub vector: Option<&'a [f32]>,
}

/// What an index that lies elsewhere found for a query, by key, in place of the vectors here.
#[derive(Debug, Clone, Copy, Default)]
pub struct ExternalHits<'a> {
    /// Cosines, and of how many passages these are the highest, where there were more.
    pub dense: &'a [(u64, f32)],
    pub dense_of: Option<usize>,
    /// Scores for shared terms (`sparse`).
    pub sparse: &'a [(u64, f32)],
}

/// A passage that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    pub key: u64,
    pub score: f32,
}

/// Why a passage stands where it stands.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Why {
    /// Its own words, by exact stems and by likeness.
    pub lexical: Option<Score>,
    /// The cosine of its vector with the query's.
    pub dense: Option<Score>,
    /// What an index elsewhere gives it for shared words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sparse: Option<Score>,
    /// Words of the query that it holds, as the query spells them.
    pub matched: Vec<String>,
    /// Words of the query that it holds something like: inflected or misspelt.
    pub alike: Vec<String>,
    /// How much of the lexical score comes from words that are only alike.
    pub fuzzy: f32,
    /// What the passages around it add, and what its whole group adds.
    pub neighbours: f32,
    pub group: f32,
    /// Whether the query names the one who said it.
    pub speaker: bool,
    /// How near its time is to a date in the query: 1 is in it.
    pub date: f32,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Score {
    pub score: f32,
    /// 1 is the best.
    pub rank: usize,
}

/// Passages by key.
#[derive(Debug, Default)]
pub struct Index {
    by_key: FxHashMap<u64, u32>,
    slots: Vec<Slot>,
    held: Vec<Box<[Posting]>>,
    free: Vec<u32>,
    /// The slots in use, by group and then by key: neighbours stand side by side.
    order: Vec<u32>,
    dictionary: Dictionary,
    vectors: Vectors,
    speakers: Speakers,
    /// Of how many passages the Latin words are of which language.
    languages: [u32; Language::ALL.len()],
    /// How many passages have a time.
    timed: u32,
    sides: Sides,
    /// What every ranking needs, until the next change.
    field: OnceLock<Box<Field>>,
}

/// What a score needs of a passage.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slot {
    pub key: u64,
    pub group: u64,
    pub words: u32,
    pub speaker: Option<u16>,
    /// By role alone: see `Kinds`.
    role: Kind,
    language: Language,
    pub day: Option<Day>,
    /// Whether it ends by asking, and whether it has words that place a story in time.
    pub asks: bool,
    pub tells_time: bool,
    pub is_small_talk: bool,
    /// Of the words that matter, in their order; and of those with a digit, in any order.
    pub matter: u64,
    pub numbers: u64,
}

impl Slot {
    pub(crate) fn shares_group(&self, other: &Self) -> bool {
        self.group == other.group && self.group != 0
    }
}

impl Index {
    /// Puts a passage in, in place of the one with this key.
    pub fn add(&mut self, key: u64, passage: &Passage<'_>) {
        self.remove(key);
        self.field.take();
        let Some(at) = self.free.pop().or_else(|| u32::try_from(self.slots.len()).ok()) else { return };
        if at as usize >= INDEX_MAX {
            return;
        }
        let words = Words::new(passage.text, PASSAGE_WORDS_MAX);
        let language = Language::detect(&words);
        let (terms, count) = count(&words, language);
        let speaker = passage.speaker.and_then(|name| self.speakers.add(name));
        let slot = Slot {
            key,
            group: passage.group,
            words: count,
            speaker,
            role: Kind::by_role(passage),
            language,
            day: passage.time.and_then(calendar::day),
            asks: analyse::asks(passage.text),
            tells_time: words.iter().any(|word| dates::tells_time(word.folded)),
            is_small_talk: language.is_small_talk(passage.text, &words),
            matter: matter(&words, language),
            numbers: numbers(&words),
        };
        self.timed += u32::from(slot.day.is_some());
        self.sides.add(&slot);
        let held = self.dictionary.add(at, &terms);
        match (self.slots.get_mut(at as usize), self.held.get_mut(at as usize)) {
            (Some(place), Some(place_held)) => (*place, *place_held) = (slot, held),
            _ => {
                self.slots.push(slot);
                self.held.push(held);
            }
        }
        let place = self.place(passage.group, key);
        self.order.insert(place, at);
        self.by_key.insert(key, at);
        self.note_language(language, 1);
    }

    /// Whether there was one.
    pub fn remove(&mut self, key: u64) -> bool {
        let Some(at) = self.by_key.remove(&key) else { return false };
        let Some(slot) = self.slots.get(at as usize).copied() else { return false };
        self.field.take();
        let place = self.place(slot.group, key);
        self.order.remove(place);
        if let Some(held) = self.held.get_mut(at as usize).map(std::mem::take) {
            self.dictionary.remove(at, &held);
        }
        if let Some(speaker) = slot.speaker {
            self.speakers.remove(speaker);
        }
        self.timed -= u32::from(slot.day.is_some());
        self.sides.remove(&slot);
        self.vectors.remove(at);
        self.free.push(at);
        self.note_language(slot.language, -1);
        true
    }

    /// Gives a passage its quantised embedding. All vectors of an index have the same length: one of another
    /// length than the first is ignored, and its passage competes by its words.
    pub fn set_vector(&mut self, key: u64, vector: &[i8]) {
        if let Some(at) = self.by_key.get(&key) {
            self.vectors.set(*at, vector);
        }
    }

    pub fn has_vector(&self, key: u64) -> bool {
        self.by_key.get(&key).is_some_and(|at| self.vectors.has(*at))
    }

    /// How long the vectors are, where there are any.
    pub fn dimensions(&self) -> Option<usize> {
        self.vectors.dimensions()
    }

    pub fn len(&self) -> usize {
        self.order.len()
    }

    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// About how much memory it takes.
    pub fn bytes(&self) -> usize {
        let held: usize = self.held.iter().map(|held| (held.len() * 4 + 8).next_multiple_of(16)).sum();
        let per_slot = size_of::<Slot>() + size_of::<Box<[Posting]>>();
        let order = self.order.capacity() * 4 + self.by_key.capacity() * 17;
        let field = self.field.get().map_or(0, |field| field.bytes());
        field + held + order + self.slots.capacity() * per_slot + self.dictionary.bytes() + self.vectors.bytes()
    }

    /// The part of a query that should be embedded: without the names of those who speak here, which are
    /// matched against the speaker instead, and without dates, which are matched against the time.
    pub fn to_embed(&self, query: &str) -> String {
        query::to_embed(query, self)
    }

    pub fn rank(&self, query: &Query<'_>) -> Ranked<'_> {
        Ranked::new(self, query, None)
    }

    /// The same with what another index found, instead of vectors of this one.
    pub fn rank_with(&self, query: &Query<'_>, near: &ExternalHits<'_>) -> Ranked<'_> {
        Ranked::new(self, query, Some(near))
    }

    /// The terms of a query that passages here hold, for an index elsewhere.
    pub fn to_sparse(&self, query: &str) -> Vec<(u32, f32)> {
        sparse::of_query(query, self)
    }

    /// Where a passage stands in the order, or would.
    fn place(&self, group: u64, key: u64) -> usize {
        let before = |at: &u32| self.slot(*at).is_some_and(|slot| (slot.group, slot.key) < (group, key));
        self.order.partition_point(before)
    }

    pub(crate) fn sides(&self) -> &Sides {
        &self.sides
    }

    fn note_language(&mut self, language: Language, by: i32) {
        if let Some(passages) = self.languages.get_mut(language as usize) {
            *passages = passages.saturating_add_signed(by);
        }
    }

    pub(crate) fn slot(&self, at: u32) -> Option<&Slot> {
        self.slots.get(at as usize)
    }

    pub(crate) fn held(&self, at: u32) -> &[Posting] {
        self.held.get(at as usize).map_or(&[], |held| held)
    }

    pub(crate) fn at(&self, key: u64) -> Option<u32> {
        self.by_key.get(&key).copied()
    }

    /// The places of slots: by group and then by key.
    pub(crate) fn order(&self) -> &[u32] {
        &self.order
    }

    pub(crate) fn in_order(&self) -> impl Iterator<Item = &Slot> {
        self.order.iter().filter_map(|at| self.slot(*at))
    }

    pub(crate) fn field(&self) -> &Field {
        self.field.get_or_init(|| Box::new(Field::of(self)))
    }

    pub(crate) fn slots_len(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn dictionary(&self) -> &Dictionary {
        &self.dictionary
    }

    pub(crate) fn vectors(&self) -> &Vectors {
        &self.vectors
    }
}

/// A fingerprint of the words that matter, in their order. Equal ones say the same, in spite of other case,
/// punctuation, articles and endings.
fn matter(words: &Words, language: Language) -> u64 {
    let mut hasher = FxHasher::default();
    for word in words.iter() {
        let language = language.for_word(word.folded);
        match language.is_stop(word.folded) {
            true if language.negates(word.folded) => hasher.write_u64(analyse::stop_fingerprint(word.folded)),
            true => {}
            false => hasher.write_u64(analyse::fingerprint(&language.stem(word.folded))),
        }
    }
    hasher.finish()
}

fn numbers(words: &Words) -> u64 {
    let numbers = words.iter().filter(|word| word.folded.contains(char::is_numeric));
    numbers.fold(0, |sum, word| sum.wrapping_add(analyse::fingerprint(word.folded)))
}

/// The terms of a passage with how often it holds them, and how many words that makes.
fn count(words: &Words, language: Language) -> (Vec<Counted>, u32) {
    let mut counts: FxHashMap<u64, usize> = FxHashMap::default();
    let mut terms: Vec<Counted> = Vec::new();
    let mut total = 0;
    for word in words.iter() {
        let language = language.for_word(word.folded);
        let (text, print) = match language.is_stop(word.folded) {
            true => (String::new(), analyse::stop_fingerprint(word.folded)),
            false => {
                total += 1;
                let stem = language.stem(word.folded);
                let print = analyse::fingerprint(&stem);
                (stem, print)
            }
        };
        let at = *counts.entry(print).or_insert(terms.len());
        match terms.get_mut(at) {
            Some(counted) => counted.times += 1,
            None => terms.push(Counted { opening: !text.is_empty() && total <= OPENING_WORDS, text, print, times: 1 }),
        }
    }
    (terms, total)
}
