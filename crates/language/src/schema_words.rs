//! What a language brings to the names of tables and columns: words that say what a column holds, and what a
//! catalogue that is made from them is written with. Lists of words are separated by blanks.

use crate::Language;
pub use crate::question_grammar::SchemaWords;
use crate::window::holds;

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
