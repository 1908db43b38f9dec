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
    /// Where the text spells each.
    spans: Vec<Range<usize>>,
    /// What is known of each; nothing for a question that was not read by an ontology.
    pub(super) senses: Vec<Sense>,
    /// The words that name subjects, in their order, known ones and others.
    named: Vec<Range<usize>>,
    /// Those of them that are codes of nothing that is known.
    strangers: Vec<Range<usize>>,
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

/// What an ontology knows of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sense {
    /// Speaks for something.
    Telling,
    Time,
    /// Says nothing.
    Filler,
    Unknown,
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
        let spelled = Words::new(text, QUESTION_WORDS_MAX);
        let spelled: Vec<Spelled<'_>> = spelled.iter().collect();
        Self { subjects, ..Self::from_words(text, &spelled, Vec::new()) }
    }

    /// From words that were read, and the subjects found among them.
    pub(super) fn from_words(text: &str, spelled: &[Spelled<'_>], found: Vec<Named>) -> Self {
        let mut subjects: Vec<String> = Vec::new();
        let mut named = Vec::with_capacity(found.len());
        let mut strangers = Vec::new();
        for Named { subject, words } in found {
            named.push(words.clone());
            match subject {
                Some(subject) if !subjects.contains(&subject) => subjects.push(subject),
                Some(_) => {}
                None => strangers.push(words),
            }
        }
        let words = spelled.iter().map(|word| Word::new(word.folded)).collect();
        let spans = spelled.iter().map(|word| word.range.clone()).collect();
        let timed = Window::words(text);
        Self { text: text.to_owned(), words, spans, senses: Vec::new(), named, strangers, timed, subjects }
    }

    pub fn words(&self) -> &[Word] {
        &self.words
    }

    /// Which words name subjects, in their order; none for a question that was not read by an ontology.
    pub fn named(&self) -> &[Range<usize>] {
        &self.named
    }

    /// The codes of nothing that is known, as they are spelled.
    pub fn strangers(&self) -> Vec<String> {
        self.strangers.iter().map(|words| self.spelled(words.clone()).to_owned()).collect()
    }

    pub(super) fn sense(&self, word: usize) -> Sense {
        self.senses.get(word).copied().unwrap_or(Sense::Filler)
    }

    /// How the text spells these words.
    pub fn spelled(&self, words: Range<usize>) -> &str {
        let first = self.spans.get(words.start).map_or(0, |span| span.start);
        let last = words.end.checked_sub(1).and_then(|last| self.spans.get(last)).map_or(0, |span| span.end);
        self.text.get(first..last).unwrap_or_default()
    }

    /// Whether a word is the first after a sign that ends a thought, or the first of all.
    pub(super) fn begins(&self, word: usize) -> bool {
        let Some(before) = word.checked_sub(1).and_then(|before| self.spans.get(before)) else { return true };
        let here = self.spans.get(word).map_or(self.text.len(), |span| span.start);
        let between = self.text.get(before.end..here).unwrap_or_default();
        let is_joined = !between.contains(char::is_whitespace);
        !is_joined && between.contains(['.', ',', ';', ':', '!', '?', '\n', '(', ')', '–', '—'])
    }

    /// Whether a word is written with a capital.
    pub(super) fn is_capital(&self, word: usize) -> bool {
        let text = self.spans.get(word).and_then(|span| self.text.get(span.clone()));
        text.is_some_and(|text| text.starts_with(char::is_uppercase))
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
