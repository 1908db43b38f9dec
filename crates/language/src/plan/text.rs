//! A question as the planner reads it: folded words, stems, and where it names subjects.

use std::ops::Range;

use super::subjects::{FoundSubject, Named, Subject};
use crate::Language;
use crate::analyse::{QUESTION_WORDS_MAX, Spelled, Words};
use crate::question_grammar::QuestionGrammar;
use crate::window::{Tokens, Window, holds};

pub use super::subjects::{SubjectKind, Subjects};

#[derive(Debug, Clone)]
pub struct Question {
    pub text: String,
    pub language: Language,
    words: Vec<Word>,
    /// Where the text spells each.
    spans: Vec<Range<usize>>,
    /// What is known of each; nothing for a question that was not read by an ontology.
    pub(super) senses: Vec<Sense>,
    /// Which are words for a kind of subject: `fundo`.
    pub(super) kind_words: Vec<Option<usize>>,
    /// The subjects that it names, in their order, known ones and others.
    named: Vec<Named>,
    /// The words that name them.
    named_words: Vec<Range<usize>>,
    /// The known ones, each once.
    subjects: Vec<Subject>,
    /// The words that name a stretch of time.
    timed: Range<usize>,
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
    pub fn new(text: &str, language: Language) -> Self {
        Self(words(text, language))
    }
}

impl Question {
    /// A question that no ontology read, with subjects of the first kind.
    pub fn new(text: &str, language: Language, subjects: Vec<String>) -> Self {
        let spelled = Words::new(text, QUESTION_WORDS_MAX);
        let spelled: Vec<Spelled<'_>> = spelled.iter().collect();
        let subjects = subjects.into_iter().map(|code| Subject { kind: 0, code }).collect();
        Self { subjects, ..Self::from_words(text, language, &spelled, Vec::new()) }
    }

    /// From words that were read, and the subjects found among them.
    pub(super) fn from_words(text: &str, language: Language, spelled: &[Spelled<'_>], named: Vec<Named>) -> Self {
        let mut subjects: Vec<Subject> = Vec::new();
        for subject in named.iter().filter_map(Named::known) {
            if !subjects.contains(subject) {
                subjects.push(subject.clone());
            }
        }
        let words = spelled.iter().map(|word| Word::new(word.folded, language)).collect();
        let spans = spelled.iter().map(|word| word.range.clone()).collect();
        let tokens = Tokens::new(text, &language.questions().window);
        let timed = Window::among(&tokens).map_or(0..0, |(_, words)| words);
        let named_words = named.iter().map(|named| named.words.clone()).collect();
        Self {
            text: text.to_owned(),
            language,
            words,
            spans,
            senses: Vec::new(),
            kind_words: Vec::new(),
            named,
            named_words,
            subjects,
            timed,
        }
    }

    pub(super) fn grammar(&self) -> &'static QuestionGrammar {
        self.language.questions()
    }

    pub fn words(&self) -> &[Word] {
        &self.words
    }

    /// Which words name subjects, in their order; none for a question that was not read by an ontology.
    pub fn named(&self) -> &[Range<usize>] {
        &self.named_words
    }

    pub(super) fn named_subjects(&self) -> &[Named] {
        &self.named
    }

    /// The subjects of a kind that it names, each once.
    pub fn subjects(&self, kind: usize) -> Vec<String> {
        self.subjects.iter().filter(|subject| subject.kind == kind).map(|subject| subject.code.clone()).collect()
    }

    /// Those of all kinds.
    pub fn all_subjects(&self) -> &[Subject] {
        &self.subjects
    }

    /// The codes of nothing that is known, as they are spelled.
    pub fn strangers(&self) -> Vec<String> {
        let strangers = self.named.iter().filter(|named| matches!(named.found, FoundSubject::Stranger(_)));
        strangers.map(|named| self.spelled(named.words.clone()).to_owned()).collect()
    }

    /// Whether it names a subject, or what may be one.
    pub fn names_any(&self) -> bool {
        !self.subjects.is_empty() || !self.named.is_empty()
    }

    /// The names that several subjects have.
    pub(crate) fn unclear(&self) -> impl Iterator<Item = (&Range<usize>, &[Subject])> {
        self.named.iter().filter_map(|named| match &named.found {
            FoundSubject::OneOf(subjects) => Some((&named.words, subjects.as_slice())),
            _ => None,
        })
    }

    /// Whether a word is one for a kind of subject, or for its code.
    pub(super) fn is_kind(&self, word: usize) -> bool {
        let is_called = self.kind_words.get(word).is_some_and(Option::is_some);
        is_called || self.words.get(word).is_some_and(|it| holds(self.grammar().talk.kinds, &it.folded))
    }

    /// Whether it has a word for this kind of subject.
    pub(super) fn calls_kind(&self, kind: usize) -> bool {
        self.kind_words.contains(&Some(kind))
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

    /// Whether capitals tell names from other words: where some words have none.
    pub(super) fn tells_capitals(&self) -> bool {
        (1..self.words.len()).any(|word| !self.is_capital(word) && !self.begins(word))
    }

    /// The words that stand in quotes, each quotation by its words.
    pub(super) fn quoted(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        const OPEN: [char; 4] = ['"', '“', '«', '„'];
        const CLOSE: [char; 4] = ['"', '”', '»', '“'];
        let gap = |at: usize| {
            let from = at.checked_sub(1).and_then(|before| self.spans.get(before)).map_or(0, |span| span.end);
            let to = self.spans.get(at).map_or(self.text.len(), |span| span.start);
            self.text.get(from..to).unwrap_or_default()
        };
        (0..self.words.len()).filter(move |at| gap(*at).ends_with(OPEN)).filter_map(move |from| {
            let end = (from + 1..=self.words.len()).find(|end| gap(*end).starts_with(CLOSE))?;
            Some(from..end)
        })
    }

    /// Whether a word, by its number, helps to name a stretch of time.
    pub(super) fn is_timed(&self, word: usize) -> bool {
        self.timed.contains(&word)
    }

    /// How many words begin it that only take up the question before: `what about`.
    pub(super) fn opening(&self) -> usize {
        let begins = |phrase: &&str| {
            phrase.split(' ').eq(self.words.iter().take(phrase.split(' ').count()).map(|it| &*it.folded))
        };
        let phrases = self.grammar().opening_phrases;
        phrases.iter().filter(|phrase| begins(phrase)).map(|phrase| phrase.split(' ').count()).max().unwrap_or(0)
    }

    /// Whether it says that one thing of the question before is another now: `só os 3 primeiros`.
    pub fn changes(&self) -> bool {
        self.words.iter().any(|word| holds(self.grammar().pointers.changes, &word.folded))
    }

    /// Whether it points at what was just answered: `nesse ranking`.
    pub fn points_back(&self) -> bool {
        let points = |at: usize| {
            let is_pointer =
                self.words.get(at).is_some_and(|word| holds(self.grammar().pointers.demonstratives, &word.folded));
            let is_answer =
                self.words.get(at + 1).is_some_and(|word| holds(self.grammar().pointers.answers, &word.folded));
            let tells = self.sense(at + 1) == Sense::Telling && !self.is_kind(at + 1) && !self.is_named_at(at + 1);
            is_pointer && (is_answer || tells)
        };
        (0..self.words.len().saturating_sub(1)).any(points)
    }

    /// Whether a subject is named here, so that what stands before tells which: `o de logística da Serra
    /// Clara`.
    pub(super) fn describes_named(&self, word: usize) -> bool {
        let talk = &self.grammar().talk;
        let is_small = |word: &Word| holds(talk.inside, &word.folded) || holds(talk.articles, &word.folded);
        let small = self.words.iter().skip(word).take_while(|word| is_small(word)).count();
        self.is_named_at(word + small)
    }

    fn is_named_at(&self, word: usize) -> bool {
        self.named_words.iter().any(|words| words.contains(&word))
    }

    /// Whether it holds these words, in a row, whatever their endings.
    pub fn mentions(&self, phrase: &Phrase) -> bool {
        let wanted = &phrase.0;
        let alike = |window: &[Word]| window.iter().zip(wanted).all(|(a, b)| a.stem == b.stem);
        !wanted.is_empty() && self.words.windows(wanted.len()).any(alike)
    }
}

impl Word {
    pub(super) fn new(folded: &str, language: Language) -> Self {
        Self { folded: folded.to_owned(), stem: stem(folded, language) }
    }
}

/// What a folded word is compared by: words of one stem are one word of an ontology.
pub fn stem(folded: &str, language: Language) -> String {
    language.stem((language.questions().stemmed_form)(folded))
}

/// The folded words of a text, with their stems.
pub(crate) fn words(text: &str, language: Language) -> Vec<Word> {
    Words::new(text, QUESTION_WORDS_MAX).iter().map(|spelled| Word::new(spelled.folded, language)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PT: Language = Language::Portuguese;

    #[test]
    fn a_phrase_is_mentioned_whatever_its_endings() {
        let question = Question::new("Quais os PREÇOS médios de cada mês?", PT, Vec::new());
        assert!(Question::new("dividendos", PT, Vec::new()).mentions(&Phrase::new("dividendo", PT)));
        for phrase in ["preço médio", "precos", "cada mes", "precos medios de"] {
            assert!(question.mentions(&Phrase::new(phrase, PT)), "{phrase}");
        }
        for phrase in ["medio preco", "precos de", "", "?", "quais os precos medios de cada mes a mes"] {
            assert!(!question.mentions(&Phrase::new(phrase, PT)), "{phrase}");
        }
    }

    #[test]
    fn words_are_capped() {
        for extra in [0, 1] {
            assert_eq!(
                Question::new(&"a ".repeat(QUESTION_WORDS_MAX + extra), PT, Vec::new()).words().len(),
                QUESTION_WORDS_MAX
            );
        }
    }
}
