//! What a language brings to the names of tables and columns: words that say what a column holds, and what a
//! catalogue that is made from them is written with. Lists of words are separated by blanks.

use crate::Language;
use crate::window::holds;

/// One language of names.
#[derive(Debug)]
pub struct SchemaWords {
    /// Words of columns that hold names, codes, times, years, percentages, and of keys.
    pub names: &'static str,
    pub codes: &'static str,
    pub times: &'static str,
    pub years: &'static str,
    pub percents: &'static str,
    pub keys: &'static str,
    /// Words that say nothing about what a column holds.
    pub empty: &'static str,
    /// Whether a word, in lower case, and the same without accents, are of this language alone.
    pub is_own: fn(&str, &str) -> bool,
    /// Endings of several, what one has instead, and how many letters stand before them at least.
    pub plurals: &'static [(&'static str, &'static str, usize)],
    /// Letters in another script, and how they are written in Latin ones.
    pub latin: &'static [(char, &'static str)],
    /// Labels: of a mean, and of how many rows there are.
    pub average: &'static str,
    pub rows: &'static str,
    /// Words that ask for all, whatever was spoken of before.
    pub all: [&'static str; 2],
    /// What asks for a list, before what is listed.
    pub list: &'static str,
}

impl Language {
    /// Its words of tables and columns.
    pub fn schema_words(self) -> &'static SchemaWords {
        &self.questions().schema
    }
}

/// Whether a list of any language has a word.
pub fn any_has(list: impl Fn(&SchemaWords) -> &'static str, word: &str) -> bool {
    Language::ALL.iter().any(|language| holds(list(language.schema_words()), word))
}

/// One of what a word says that there are several of. Endings of other kinds stay.
pub fn singular(word: &str) -> String {
    let is_long = |front: &str, letters: usize| front.chars().count() >= letters;
    let plurals = Language::ALL.iter().flat_map(|language| language.schema_words().plurals);
    let by_ending = plurals.filter_map(|(many, one, letters)| {
        let front = word.strip_suffix(many).filter(|front| is_long(front, *letters))?;
        Some(format!("{front}{one}"))
    });
    let is_one = ["ss", "us", "is"].iter().any(|end| word.ends_with(end));
    let without_s = || word.strip_suffix('s').filter(|front| !is_one && is_long(front, 3)).unwrap_or(word);
    by_ending.into_iter().next().unwrap_or_else(|| without_s().to_owned())
}

/// A letter as it is written in Latin ones.
pub fn latin(letter: char) -> Option<&'static str> {
    let letters = Language::ALL.iter().flat_map(|language| language.schema_words().latin);
    letters.into_iter().find(|(known, _)| *known == letter).map(|(_, latin)| *latin)
}
