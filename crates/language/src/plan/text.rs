//! A question as the planner reads it: folded words, stems, and where it names subjects.

use std::ops::Range;

use super::LANGUAGE;
use super::subjects::Named;
use crate::analyse::{QUESTION_WORDS_MAX, Spelled, Words};
use crate::portuguese::plan::stemmed_form;
use crate::window::Window;

pub use super::subjects::Subjects;

#[derive(Debug, Clone)]
pub struct Question {
    pub text: String,
    words: Vec<Word>,
    /// The words that name subjects, in their order.
    named: Vec<Range<usize>>,
    /// The words that name a stretch of time.
    timed: Range<usize>,
    /// Those it names, in their order, each once.
    pub subjects: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    pub folded: String,
    pub stem: String,
}

/// A few words in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phrase(Vec<Word>);

impl Phrase {
    pub fn new(text: &str) -> Self {
        Self(words(text))
    }
}

impl Question {
    pub fn new(text: &str, subjects: Vec<String>) -> Self {
        Self { text: text.to_owned(), words: words(text), named: Vec::new(), timed: Window::words(text), subjects }
    }

    /// From words that were read, and the subjects found among them.
    pub(super) fn from_words(text: &str, spelled: &[Spelled<'_>], found: Vec<Named>) -> Self {
        let mut subjects: Vec<String> = Vec::new();
        let mut named = Vec::with_capacity(found.len());
        for Named { subject, words } in found {
            named.push(words);
            if !subjects.contains(&subject) {
                subjects.push(subject);
            }
        }
        let words = spelled.iter().map(|word| Word::new(word.folded)).collect();
        Self { text: text.to_owned(), words, named, timed: Window::words(text), subjects }
    }

    pub fn words(&self) -> &[Word] {
        &self.words
    }

    /// Which words name subjects, in their order; none for a question that was not read by an ontology.
    pub fn named(&self) -> &[Range<usize>] {
        &self.named
    }

    /// Whether a word, by its number, helps to name a stretch of time.
    pub(super) fn is_timed(&self, word: usize) -> bool {
        self.timed.contains(&word)
    }

    /// Whether it holds these words, in a row, whatever their endings.
    pub fn mentions(&self, phrase: &Phrase) -> bool {
        let wanted = &phrase.0;
        let alike = |window: &[Word]| window.iter().zip(wanted).all(|(a, b)| a.stem == b.stem);
        !wanted.is_empty() && self.words.windows(wanted.len()).any(alike)
    }
}

impl Word {
    pub(super) fn new(folded: &str) -> Self {
        Self { folded: folded.to_owned(), stem: stem(folded) }
    }
}

/// The stem of a folded word.
pub(crate) fn stem(folded: &str) -> String {
    LANGUAGE.stem(stemmed_form(folded))
}

/// The folded words of a text, with their stems.
pub(crate) fn words(text: &str) -> Vec<Word> {
    Words::new(text, QUESTION_WORDS_MAX).iter().map(|spelled| Word::new(spelled.folded)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phrase_is_mentioned_whatever_its_endings() {
        let question = Question::new("Quais os PREÇOS médios de cada mês?", Vec::new());
        assert!(Question::new("dividendos", Vec::new()).mentions(&Phrase::new("dividendo")));
        for phrase in ["preço médio", "precos", "cada mes", "precos medios de"] {
            assert!(question.mentions(&Phrase::new(phrase)), "{phrase}");
        }
        for phrase in ["medio preco", "precos de", "", "?", "quais os precos medios de cada mes a mes"] {
            assert!(!question.mentions(&Phrase::new(phrase)), "{phrase}");
        }
    }

    #[test]
    fn words_are_capped() {
        for extra in [0, 1] {
            assert_eq!(
                Question::new(&"a ".repeat(QUESTION_WORDS_MAX + extra), Vec::new()).words().len(),
                QUESTION_WORDS_MAX
            );
        }
    }
}
