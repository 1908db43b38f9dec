//! What questions are about, such as funds, and where a question names them.
//!
//! Owns the index of known subjects and the reading of their codes and names. Refuses to take an ordinary
//! word for a subject. Whatever a text holds, a subject that comes out of it is one of the index or letters
//! and digits of the shape.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::LANGUAGE;
use crate::analyse::{QUESTION_WORDS_MAX, Spelled, Words};

/// A name of one word that is shorter is an abbreviation of too many things.
const NAME_CHARS_MIN: usize = 4;

/// The subjects that are known, by their codes, by the letters of their codes, and by another name.
#[derive(Debug, Clone, Default)]
pub struct Subjects {
    known: Vec<String>,
    /// The place in `known`, by the folded code.
    codes: FxHashMap<String, usize>,
    /// The same by the letters that a code begins with; where several share them, the first one.
    letters: FxHashMap<String, usize>,
    /// Names in words and whose they are, by their first word, the longest first.
    names: FxHashMap<String, Vec<(Vec<String>, usize)>>,
}

/// A subject and the words that name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    pub subject: String,
    pub words: Range<usize>,
}

/// How codes look: `A` is a letter, `9` a digit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape(Vec<bool>);

impl Subjects {
    /// Each with another name that it goes by.
    pub fn new(known: Vec<(String, Option<String>)>) -> Self {
        let mut subjects = Self::default();
        for (code, name) in known {
            let at = subjects.known.len();
            let folded = folded_words(&code).concat();
            let letters: String = folded.chars().take_while(|c| !c.is_ascii_digit()).collect();
            if !letters.is_empty() && letters.len() < folded.len() {
                subjects.letters.entry(letters).or_insert(at);
            }
            let name = folded_words(&name.unwrap_or_default());
            if let Some(first) = name.first() {
                subjects.names.entry(first.clone()).or_default().push((name, at));
            }
            subjects.codes.entry(folded).or_insert(at);
            subjects.known.push(code);
        }
        for names in subjects.names.values_mut() {
            names.sort_by_key(|(words, _)| std::cmp::Reverse(words.len()));
        }
        subjects
    }

    /// Whether it is one of them; all are, where none are listed.
    pub fn has(&self, subject: &str) -> bool {
        self.is_empty() || self.codes.contains_key(&folded_words(subject).concat())
    }

    pub fn len(&self) -> usize {
        self.known.len()
    }

    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    fn at(&self, place: Option<&usize>) -> Option<String> {
        self.known.get(*place?).cloned()
    }
}

/// One text that is searched for subjects.
pub struct Search<'s> {
    pub text: &'s str,
    pub words: &'s [Spelled<'s>],
    pub shape: &'s Shape,
    pub known: &'s Subjects,
    /// Words that mean something else.
    pub is_ordinary: &'s dyn Fn(&str) -> bool,
}

impl Search<'_> {
    /// Every subject that the text names, in order.
    pub fn run(&self) -> Vec<Named> {
        let mut found: Vec<Named> = Vec::new();
        let mut at = 0;
        while at < self.words.len() {
            let named = self.code(at).or_else(|| self.name(at)).or_else(|| self.bare(at));
            at = named.as_ref().map_or(at + 1, |it| it.words.end.max(at + 1));
            found.extend(named);
        }
        found
    }

    /// `HGLG11`, known or not; `HGLG-11` and `HGLG 11` only where it is known, since `maio-25` looks the
    /// same.
    fn code(&self, at: usize) -> Option<Named> {
        let word = self.words.get(at).filter(|word| !self.is_part(word))?;
        if let Some(subject) = self.known.at(self.known.codes.get(word.folded)) {
            return Some(Named { subject, words: at..at + 1 });
        }
        if self.shape.fits(word.folded) {
            let letters = word.folded.trim_end_matches(|c: char| c.is_ascii_digit());
            let is_word = (self.is_ordinary)(letters);
            return (!is_word).then(|| Named { subject: word.folded.to_ascii_uppercase(), words: at..at + 1 });
        }
        let next = self.words.get(at + 1)?;
        let between = self.text.get(word.range.end..next.range.start)?;
        if !matches!(between, "-" | " " | "‑" | "–") || !self.known.letters.contains_key(word.folded) {
            return None;
        }
        let joined = format!("{}{}", word.folded, next.folded);
        self.known.at(self.known.codes.get(&joined)).map(|subject| Named { subject, words: at..at + 2 })
    }

    /// Another name, whole; not where all its words are ordinary.
    fn name(&self, at: usize) -> Option<Named> {
        let names = self.known.names.get(self.words.get(at)?.folded)?;
        let stands = |name: &&(Vec<String>, usize)| {
            let here = self.words.get(at..at + name.0.len()).unwrap_or_default();
            here.len() == name.0.len() && here.iter().zip(&name.0).all(|(word, part)| word.folded == part)
        };
        let tells = |name: &&(Vec<String>, usize)| {
            name.0.iter().any(|part| part.len() >= NAME_CHARS_MIN && !(self.is_ordinary)(part))
        };
        let (words, place) = names.iter().find(|name| tells(name) && stands(name))?;
        self.known.at(Some(place)).map(|subject| Named { subject, words: at..at + words.len() })
    }

    /// `HGLG`; an ordinary word only where it is shouted in a text that is not.
    fn bare(&self, at: usize) -> Option<Named> {
        let word = self.words.get(at).filter(|word| !self.is_part(word))?;
        let place = self.known.letters.get(word.folded)?;
        let is_shouted = |text: &str| !text.contains(char::is_lowercase);
        let stands_out = self.text.get(word.range.clone()).is_some_and(is_shouted) && !is_shouted(self.text);
        let is_stop = LANGUAGE.is_stop(word.folded);
        let is_meant = if stands_out { !is_stop } else { !(self.is_ordinary)(word.folded) };
        let subject = is_meant.then(|| self.known.at(Some(place)))??;
        Some(Named { subject, words: at..at + 1 })
    }

    /// Whether a word is a piece of a longer one, such as `x_hglg11`.
    fn is_part(&self, word: &Spelled<'_>) -> bool {
        let before = self.text.get(..word.range.start).unwrap_or_default();
        let after = self.text.get(word.range.end..).unwrap_or_default();
        before.ends_with('_') || after.starts_with('_')
    }
}

impl Shape {
    pub const CHARS_MAX: usize = 16;

    pub fn parse(text: &str) -> Result<Self, String> {
        let letter = |c: char| match c {
            'A' => Ok(true),
            '9' => Ok(false),
            _ => Err("must be made of A (a letter) and 9 (a digit)".to_owned()),
        };
        let letters = text.chars().map(letter).collect::<Result<Vec<_>, _>>()?;
        match letters.len() {
            _ if !letters.contains(&true) => Err("must have a letter".to_owned()),
            ..=Self::CHARS_MAX => Ok(Self(letters)),
            _ => Err(format!("must have at most {} characters", Self::CHARS_MAX)),
        }
    }

    fn fits(&self, folded: &str) -> bool {
        let fits = |(byte, letter): (u8, &bool)| match letter {
            true => byte.is_ascii_alphabetic(),
            false => byte.is_ascii_digit(),
        };
        folded.len() == self.0.len() && folded.bytes().zip(&self.0).all(fits)
    }
}

fn folded_words(text: &str) -> Vec<String> {
    Words::new(text, QUESTION_WORDS_MAX).iter().map(|word| word.folded.to_owned()).collect()
}
