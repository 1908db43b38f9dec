//! The words that an ontology knows, as numbers.
//!
//! Owns stems, synonyms, typos and what else is known of a word: that it tells a time, fills a sentence,
//! follows up, or is ordinary. Invariant: words that are spelled alike but for case, accents and endings have
//! one number.

use rustc_hash::FxHashMap;

use super::super::text::{Question, Sense, Word};
use super::typo::Typos;
use crate::Language;
use crate::plan::subjects::FoundSubject;
use crate::window::holds;

/// A known word. The first few are no words: nothing known, a stretch of time, and a subject of each kind.
pub type Id = u32;
pub const UNKNOWN: Id = 0;
pub const WINDOW: Id = 1;
const SUBJECT: Id = 2;
/// Kinds of subject that an ontology may have.
pub(crate) const KINDS_MAX: usize = 8;
const NO_WORDS: Id = SUBJECT + KINDS_MAX as Id;

/// What stands for a subject of a kind.
pub(crate) fn subject_id(kind: usize) -> Id {
    SUBJECT + Id::try_from(kind.min(KINDS_MAX - 1)).unwrap_or_default()
}

/// What is known of a word, as bits.
pub const TIME: u8 = 1;
pub const FILLER: u8 = 2;
pub(crate) const FOLLOW_UP: u8 = 4;
const ORDINARY: u8 = 8;

#[derive(Debug, Clone)]
pub struct Vocabulary {
    language: Language,
    /// By their stems.
    ids: FxHashMap<String, Id>,
    /// By their spelling, words that are not stemmed: ordinary ones, and stop words (`como` and `com` have
    /// one stem).
    whole: FxHashMap<String, Id>,
    known: Vec<Known>,
    typos: Typos,
    /// Synonyms of several words and what they stand for, by their first word, the longest first.
    phrases: FxHashMap<Id, Vec<(Vec<Id>, Id)>>,
}

#[derive(Debug, Clone, Copy)]
struct Known {
    /// Itself, or what it is a synonym of.
    means: Id,
    kind: u8,
}

/// A piece of a question: a word, a synonym of several words, or a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unit {
    pub id: Id,
    /// Its first word in the question.
    pub word: usize,
    pub is_typo: bool,
    kind: u8,
}

impl Vocabulary {
    pub fn new(language: Language) -> Self {
        Self {
            language,
            ids: FxHashMap::default(),
            whole: FxHashMap::default(),
            known: (0..NO_WORDS).map(|means| Known { means, kind: 0 }).collect(),
            typos: Typos::default(),
            phrases: FxHashMap::default(),
        }
    }

    pub fn language(&self) -> Language {
        self.language
    }

    /// The number of a word, which is given one where it has none. The caller has a use for the word.
    pub(crate) fn learn(&mut self, word: &Word) -> Id {
        let is_stop = self.language.is_stop(&word.folded);
        let is_whole = is_stop || self.whole.contains_key(&word.folded);
        let id = if is_whole { self.add_whole(&word.folded) } else { self.add_stem(&word.stem) };
        if let Some(known) = self.known.get_mut(id as usize) {
            known.kind &= !ORDINARY;
        }
        if !is_stop {
            self.typos.learn(word, id);
        }
        id
    }

    /// A word that is only itself and that no rule uses yet.
    pub(crate) fn learn_ordinary(&mut self, word: &Word) {
        let id = self.add_whole(&word.folded);
        self.known.get_mut(id as usize).into_iter().for_each(|known| known.kind |= ORDINARY);
    }

    fn add_whole(&mut self, folded: &str) -> Id {
        let next = self.next();
        let id = *self.whole.entry(folded.to_owned()).or_insert(next);
        self.note(id)
    }

    fn add_stem(&mut self, stem: &str) -> Id {
        let next = self.next();
        let id = *self.ids.entry(stem.to_owned()).or_insert(next);
        self.note(id)
    }

    fn next(&self) -> Id {
        Id::try_from(self.known.len()).unwrap_or(UNKNOWN)
    }

    fn note(&mut self, id: Id) -> Id {
        if id == self.next() {
            self.known.push(Known { means: id, kind: 0 });
        }
        id
    }

    pub(crate) fn learn_kind(&mut self, word: &Word, kind: u8) {
        let id = self.learn(word) as usize;
        if let Some(known) = self.known.get_mut(id) {
            known.kind |= kind;
        }
    }

    /// One word for one or several others. Says whether they already stand for another.
    pub(crate) fn learn_synonym(&mut self, words: &[Word], means: Id) -> Result<(), ()> {
        let ids: Vec<Id> = words.iter().map(|word| self.learn(word)).collect();
        match ids.as_slice() {
            [id] => match self.known.get_mut(*id as usize) {
                Some(known) if known.means == *id || known.means == means => known.means = means,
                _ => return Err(()),
            },
            _ => {
                let Some(first) = ids.first() else { return Ok(()) };
                let phrases = self.phrases.entry(*first).or_default();
                if phrases.iter().any(|(other, stands_for)| *other == ids && *stands_for != means) {
                    return Err(());
                }
                phrases.push((ids, means));
                phrases.sort_by_key(|(ids, _)| std::cmp::Reverse(ids.len()));
            }
        }
        Ok(())
    }

    /// Whether a word stands for itself.
    pub(crate) fn is_itself(&self, id: Id) -> bool {
        self.known.get(id as usize).is_none_or(|known| known.means == id)
    }

    /// The words of the ontology itself, with synonyms folded.
    pub fn fold(&mut self, words: &[Word]) -> Vec<Id> {
        let ids: Vec<Id> = words.iter().map(|word| self.learn(word)).collect();
        let mut folded = Vec::with_capacity(ids.len());
        let mut rest = ids.as_slice();
        while let Some((first, after)) = rest.split_first() {
            let phrase = self.phrase(rest.iter().copied());
            folded.push(phrase.map_or_else(|| self.means(*first), |(means, _)| means));
            rest = phrase.map_or(after, |(_, length)| rest.get(length..).unwrap_or_default());
        }
        folded
    }

    /// The pieces of a question.
    pub fn read(&self, question: &Question) -> Vec<Unit> {
        let words = question.words();
        let found: Vec<(Id, bool)> = words.iter().map(|word| self.find(word)).collect();
        let mut named = question.named_subjects().iter().peekable();
        let talk = &self.language.questions().talk;
        let mut units = Vec::with_capacity(words.len());
        let mut at = 0;
        while let (Some(word), Some((id, is_typo))) = (words.get(at), found.get(at).copied()) {
            if let Some(subject) = named.next_if(|named| named.words.start <= at) {
                let kind = match &subject.found {
                    FoundSubject::Known(subject) => subject.kind,
                    FoundSubject::Stranger(kind) => *kind,
                    FoundSubject::OneOf(subjects) => subjects.first().map_or(0, |subject| subject.kind),
                };
                units.push(Unit { id: subject_id(kind), word: at, is_typo: false, kind: 0 });
                at = subject.words.end.max(at + 1);
                continue;
            }
            if at < question.opening() {
                units.push(Unit { id: UNKNOWN, word: at, is_typo: false, kind: FILLER });
                at += 1;
                continue;
            }
            let is_of_people = words.get(at + 1).is_some_and(|next| talk.is_of_people(&word.folded, &next.folded));
            if is_of_people || (holds(talk.cries, &word.folded) && question.begins(at + 1)) {
                units.push(Unit { id: UNKNOWN, word: at, is_typo: false, kind: FILLER });
                at += 1;
                continue;
            }
            let rest = found.get(at..).unwrap_or_default();
            if let Some((id, length)) = self.phrase(rest.iter().map(|(id, _)| *id)) {
                let is_typo = rest.iter().take(length).any(|(_, is_typo)| *is_typo);
                units.push(Unit { id, word: at, is_typo, kind: self.kind(id) });
                at += length;
                continue;
            }
            let id = self.means(id);
            let timed = if question.is_timed(at) { TIME } else { 0 };
            let is_talk = (id == UNKNOWN || self.kind(id) & ORDINARY != 0) && talk.is_chat(&word.folded);
            let talk_kind = if is_talk { FILLER } else { 0 };
            let kind = if is_talk { 0 } else { self.kind(id) };
            let usual = self.usual_kind(&word.folded, id, question.is_kind(at));
            units.push(Unit { id, word: at, is_typo, kind: kind | usual | timed | talk_kind });
            at += 1;
        }
        units
    }

    /// What is known of each word.
    pub(crate) fn senses(&self, question: &Question) -> Vec<Sense> {
        let units = self.read(question);
        let ends = units.iter().skip(1).map(|unit| unit.word).chain([question.words().len()]);
        let mut senses = Vec::with_capacity(question.words().len());
        for (unit, end) in units.iter().zip(ends) {
            let sense = match unit {
                unit if unit.is_strange() => Sense::Unknown,
                unit if unit.is(TIME) => Sense::Time,
                unit if unit.is(FILLER) => Sense::Filler,
                _ => Sense::Telling,
            };
            senses.extend((unit.word..end).map(|_| sense));
        }
        senses
    }

    /// Whether a folded word is one that an ontology uses, or that everybody does.
    pub(crate) fn is_ordinary(&self, folded: &str) -> bool {
        let is_whole = self.whole.contains_key(folded) || self.language.is_stop(folded);
        is_whole || self.ids.contains_key(&self.language.stem(folded))
    }

    /// A word's number, and whether that is a guess.
    fn find(&self, word: &Word) -> (Id, bool) {
        if let Some(id) = self.whole.get(&word.folded) {
            return (*id, false);
        }
        match self.ids.get(&word.stem) {
            _ if self.language.is_stop(&word.folded) => (UNKNOWN, false),
            Some(id) => (*id, false),
            None if self.language.questions().uses(&word.folded) => (UNKNOWN, false),
            None => self.typos.find(word).map_or((UNKNOWN, false), |id| (id, true)),
        }
    }

    /// The synonym of several words that begins here, as what it stands for and its length.
    fn phrase(&self, ids: impl Iterator<Item = Id> + Clone) -> Option<(Id, usize)> {
        let phrases = self.phrases.get(&ids.clone().next()?)?;
        let stands = |phrase: &[Id]| ids.clone().take(phrase.len()).eq(phrase.iter().copied());
        phrases.iter().find(|(phrase, _)| stands(phrase)).map(|(phrase, means)| (*means, phrase.len()))
    }

    /// What any word shows by itself: numbers tell a time, stop words fill. What the language knows of a word
    /// counts where the ontology knows nothing.
    fn usual_kind(&self, folded: &str, id: Id, is_called: bool) -> u8 {
        let words = self.language.questions();
        let is_number = folded.starts_with(|c: char| c.is_ascii_digit());
        let is_unknown = id == UNKNOWN;
        // `Bom dia` tells no time.
        let is_time = is_unknown && words.is_time(folded) && !words.talk.is_chat(folded);
        let time = if is_number || is_time { TIME } else { 0 };
        let is_pointer = words.pointers.points(folded);
        let is_said = is_called || is_pointer || holds(words.fillers, folded) || words.is_amount(folded);
        let is_filler = self.language.is_stop(folded) || (is_unknown && is_said);
        let filler = if is_filler { FILLER } else { 0 };
        let follow_up = if is_unknown && holds(words.follow_ups, folded) { FOLLOW_UP } else { 0 };
        time | filler | follow_up
    }

    fn means(&self, id: Id) -> Id {
        self.known.get(id as usize).map_or(UNKNOWN, |known| known.means)
    }

    fn kind(&self, id: Id) -> u8 {
        self.known.get(id as usize).map_or(0, |known| known.kind)
    }
}

pub(crate) fn is_subject(id: Id) -> bool {
    (SUBJECT..NO_WORDS).contains(&id)
}

impl Unit {
    /// The same at another word.
    pub fn at(self, word: usize) -> Self {
        Self { word, ..self }
    }

    pub(crate) fn is_subject(self) -> bool {
        is_subject(self.id)
    }

    pub fn fits(self, id: Id) -> bool {
        if id == WINDOW { self.is(TIME) } else { id == self.id }
    }

    pub fn is(self, kind: u8) -> bool {
        self.kind & kind != 0
    }

    /// Whether it says nothing of what is asked: a subject, a time, a small word.
    pub(crate) fn leans(self) -> bool {
        self.is_subject() || self.is(TIME | FOLLOW_UP | FILLER)
    }

    /// Whether it says something that the ontology knows nothing of.
    pub(crate) fn is_strange(self) -> bool {
        (self.id == UNKNOWN && self.kind == 0) || self.is(ORDINARY)
    }
}
