//! What questions are about, such as funds, and where a question names them.
//!
//! Owns the index of known subjects, of each kind, and the reading of their codes and names. Refuses to take
//! an ordinary word for a subject, and a code that is not in the index for one that is. Whatever a text
//! holds, a subject that comes out of it is one of the index or, where none are listed, letters and digits of
//! the shape. A name that several have stays open.

mod names;
mod search;
mod shape;
#[cfg(test)]
mod subjects_tests;

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::ontology::Typos;
use crate::Language;
use crate::analyse::{QUESTION_WORDS_MAX, Words};

use self::names::Names;
pub(crate) use self::search::Search;
pub use self::shape::Shape;

/// Subjects that are offered where a name is not clear.
const OFFERED_MAX: usize = 5;

/// A kind of subject, such as funds or books.
#[derive(Debug, Clone, PartialEq)]
pub struct SubjectKind {
    /// What the files and the wire call one, and several.
    pub name: String,
    pub plural: String,
    /// How its codes look; none where it has no codes for people.
    pub shapes: Vec<Shape>,
    /// The query that lists the known ones.
    pub index: Option<String>,
    /// Folded words for one or several of them: `fundo`, `fundos`.
    pub called: Vec<String>,
}

/// One of a kind, by its code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// Its kind, by its place.
    pub kind: usize,
    pub code: String,
}

/// A subject and the words that name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    pub found: FoundSubject,
    pub words: Range<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FoundSubject {
    Known(Subject),
    /// A code that is not in the index, of this kind as far as it looks so.
    Stranger(usize),
    /// Several have this name.
    OneOf(Vec<Subject>),
}

/// The subjects that are known, by their codes, by the letters of their codes, and by other names.
#[derive(Debug, Clone, Default)]
pub struct Subjects {
    known: Vec<Subject>,
    /// How each is shown to people, and its first name.
    shown: Vec<String>,
    titles: Vec<Option<String>>,
    /// The places in `known`, by the folded code.
    codes: FxHashMap<String, Vec<usize>>,
    /// The same by the letters that a code begins with.
    letters: FxHashMap<String, Vec<usize>>,
    names: Names,
    /// Of each kind, how many there are.
    counts: Vec<usize>,
    language: Option<Language>,
}

impl Subjects {
    /// Those of one kind, each with other names that it goes by, are added to the others.
    pub fn add(&mut self, kind: usize, of: &SubjectKind, known: Vec<(String, Vec<String>)>, language: Language) {
        self.language = Some(language);
        self.counts.resize(self.counts.len().max(kind + 1), 0);
        for (code, names) in known {
            let at = self.known.len();
            let words = folded_words(&code);
            let folded = words.concat();
            let letters: String = folded.chars().take_while(|c| !c.is_ascii_digit()).collect();
            // One letter stands for too much.
            if letters.chars().count() > 1 && letters.len() < folded.len() {
                self.letters.entry(letters).or_default().push(at);
            }
            // Where codes have no shape, a code in words is a name.
            if of.shapes.is_empty() && !folded.bytes().any(|byte| byte.is_ascii_digit()) {
                self.names.add(&words, at, language);
            }
            names.iter().for_each(|name| self.names.add(&folded_words(name), at, language));
            self.codes.entry(folded).or_default().push(at);
            let title = names.into_iter().next().filter(|name| !name.trim().is_empty());
            let shown = title.clone().filter(|_| of.shapes.is_empty());
            self.shown.push(shown.unwrap_or_else(|| code.clone()));
            self.titles.push(title);
            self.known.push(Subject { kind, code });
            self.counts.get_mut(kind).into_iter().for_each(|count| *count += 1);
        }
    }

    /// Whether it is one of a kind; all are, where none are listed.
    pub fn has(&self, kind: usize, code: &str) -> bool {
        self.is_without(kind) || self.place(kind, code).is_some()
    }

    /// How a subject is shown to people: by its code, or by its name where its kind has no codes for people.
    pub fn shown<'s>(&'s self, kind: usize, code: &'s str) -> &'s str {
        let shown = self.place(kind, code).and_then(|at| self.shown.get(at));
        shown.map_or(code, String::as_str)
    }

    /// What may have been meant by a code or a name that is not known.
    pub fn near(&self, words: &str) -> Vec<String> {
        let pieces = folded_words(words);
        let code = pieces.concat();
        let mut places: Vec<usize> = Vec::new();
        if code.bytes().any(|byte| byte.is_ascii_digit()) {
            let near = self.codes.iter().filter(|(known, _)| Typos::is_one_slip(known, &code));
            places.extend(near.flat_map(|(_, places)| places));
            // Of several codes, none is meant more than the others.
            places.truncate(if places.len() > 1 { 0 } else { 1 });
        } else if let Some(language) = self.language {
            let near = pieces.iter().filter(|word| word.chars().count() > 3 && !language.is_stop(word));
            let near = near.flat_map(|word| self.names.places(word, language, true));
            places.extend(near.filter_map(|(name, _)| self.names.all.get(name).map(|(_, of)| *of)));
        }
        places.sort_unstable();
        places.dedup();
        let near: Vec<Subject> = places.into_iter().filter_map(|at| self.known.get(at).cloned()).collect();
        self.offered(&near)
    }

    /// Several subjects as they are offered to people.
    pub(crate) fn offered(&self, subjects: &[Subject]) -> Vec<String> {
        let offer = |subject: &Subject| {
            let shown = self.shown(subject.kind, &subject.code);
            let at = self.place(subject.kind, &subject.code);
            let title = at.and_then(|at| self.titles.get(at)?.as_deref()).filter(|title| *title != shown);
            title.map_or_else(|| shown.to_owned(), |title| format!("{title} ({shown})"))
        };
        subjects.iter().take(OFFERED_MAX).map(offer).collect()
    }

    pub fn len(&self) -> usize {
        self.known.len()
    }

    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    fn is_without(&self, kind: usize) -> bool {
        self.counts.get(kind).is_none_or(|count| *count == 0)
    }

    fn place(&self, kind: usize, code: &str) -> Option<usize> {
        let places = self.codes.get(&folded_words(code).concat())?;
        let is_it = |at: &&usize| self.known.get(**at).is_some_and(|one| one.kind == kind);
        // Two codes may differ in nothing but their signs.
        let same = places.iter().find(|at| self.known.get(**at).is_some_and(|it| it.kind == kind && it.code == code));
        same.or_else(|| places.iter().find(is_it)).copied()
    }
}

impl SubjectKind {
    /// Whether a folded code looks like one of it and cannot be a number.
    pub fn fits(&self, folded: &str) -> bool {
        self.shapes.iter().any(|shape| shape.has_letter() && shape.fits(folded))
    }
}

fn folded_words(text: &str) -> Vec<String> {
    Words::new(text, QUESTION_WORDS_MAX).iter().map(|word| word.folded.to_owned()).collect()
}
