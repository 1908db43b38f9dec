//! What is said, word by word, and which words already said something.

use std::ops::Range;

use crate::Language;
use crate::plan::text::{Question, Word};
use crate::question_grammar::QuestionGrammar;
use crate::window::{Tokens, Window};

/// Words that a star in a phrase may stand for.
const GAP_WORDS_MAX: usize = 4;

/// A phrase of the rules. A star stands for a few words.
#[derive(Debug, Clone, PartialEq)]
pub struct Spelling {
    parts: Vec<Vec<Word>>,
}

/// A phrase and the value that it speaks for.
pub type Spoken = (Spelling, String);

#[derive(Debug)]
pub struct QuestionWords<'q> {
    pub tokens: Tokens<'q>,
    question: &'q Question,
    words: &'q [Word],
    free: Free,
}

/// Which words have not spoken yet.
#[derive(Debug, Clone)]
struct Free(Vec<bool>);

impl Free {
    fn take(&mut self, words: Range<usize>) {
        self.0.iter_mut().take(words.end).skip(words.start).for_each(|is_free| *is_free = false);
    }

    fn has(&self, at: usize) -> bool {
        self.0.get(at).copied().unwrap_or_default()
    }
}

#[derive(Debug, Clone, Copy)]
enum Alike {
    /// Whatever their endings.
    Stem,
    /// As they stand: `último dividendo` is one, `últimos dividendos` are many.
    Letters,
}

impl Spelling {
    /// None of a text without words.
    pub fn new(text: &str, language: Language) -> Option<Self> {
        let parts = text.split('*').map(|part| crate::plan::text::words(part, language));
        let parts: Vec<_> = parts.filter(|part| !part.is_empty()).collect();
        (!parts.is_empty()).then_some(Self { parts })
    }

    /// More words say more.
    pub fn words(&self) -> usize {
        self.parts.iter().map(Vec::len).sum()
    }
}

impl<'q> QuestionWords<'q> {
    pub fn new(question: &'q Question) -> Self {
        let tokens = Tokens::new(&question.text, &question.grammar().window);
        let mut free = Free(vec![true; tokens.len()]);
        question.named().iter().for_each(|named| free.take(named.clone()));
        for at in 0..tokens.len() {
            let asides = question.grammar().talk.asides.iter();
            asides.filter_map(|phrase| tokens.phrase(at, phrase)).for_each(|end| free.take(at..end));
        }
        Self { tokens, question, words: question.words(), free }
    }

    pub(crate) fn grammar(&self) -> &'static QuestionGrammar {
        self.question.grammar()
    }

    /// Whether a word is one for a kind of subject.
    pub(crate) fn is_kind(&self, at: usize) -> bool {
        self.question.is_kind(at)
    }

    /// The window that is named. Its words say nothing else, but those for what is to come, which may ask for
    /// the next.
    pub(crate) fn take_window(&mut self) -> Option<Window> {
        let (window, words) = Window::among(&self.tokens)?;
        if window != Window::Upcoming {
            self.take(words);
        }
        Some(window)
    }

    /// Numbers that stand as those of a date, or after the word for a day. A window would have taken them.
    pub(crate) fn stray_date(&self) -> Option<Range<usize>> {
        let number = |at: usize| self.tokens.digits(at).is_some() && self.is_free(at);
        let joined = |at: usize| number(at) && matches!(self.tokens.joint(at), Some('/' | '-' | '.'));
        let is_date = |at: usize| number(at) && joined(at + 1) && joined(at + 2);
        let is_day = |at: usize| self.tokens.is_in(at, self.grammar().times.day) && number(at + 1);
        let date = |at: usize| is_date(at).then_some(at..at + 3).or_else(|| is_day(at).then_some(at..at + 2));
        (0..self.tokens.len()).find_map(date)
    }

    pub fn is_number(&self, at: usize) -> bool {
        self.tokens.digits(at).is_some() && self.is_free(at)
    }

    pub(crate) fn are_free(&self, words: &Range<usize>) -> bool {
        words.clone().all(|at| self.is_free(at))
    }

    pub fn take(&mut self, words: Range<usize>) {
        self.free.take(words);
    }

    pub fn is_free(&self, at: usize) -> bool {
        self.free.has(at)
    }

    pub fn has(&self, spelling: &Spelling) -> bool {
        self.place(spelling, Alike::Letters, &self.free).is_some()
    }

    /// Where a phrase stands first.
    pub fn find(&self, spelling: &Spelling) -> Option<Range<usize>> {
        let places = self.place(spelling, Alike::Letters, &self.free)?;
        Some(places.first()?.start..places.last()?.end)
    }

    /// Every place of a phrase, whatever the endings of its words.
    pub fn places(&self, spelling: &Spelling) -> Vec<Range<usize>> {
        let place = |at: usize| self.place_at(spelling, Alike::Stem, &self.free, at);
        let ends = |places: Vec<Range<usize>>| Some(places.first()?.start..places.last()?.end);
        (0..self.words.len()).filter_map(|at| place(at).and_then(ends)).collect()
    }

    /// The same of many phrases.
    pub(crate) fn places_of<'s>(&self, spellings: impl Iterator<Item = &'s Spelling>) -> Vec<Range<usize>> {
        spellings.flat_map(|spelling| self.places(spelling)).collect()
    }

    /// Where a phrase ends that begins here, whatever the endings of its words.
    pub fn begins(&self, spelling: &Spelling, at: usize) -> Option<usize> {
        self.place_at(spelling, Alike::Stem, &self.free, at)?.last().map(|last| last.end)
    }

    /// The values that phrases speak for, in the order of the text, each once.
    pub fn chosen(&self, phrases: &[Spoken]) -> Vec<String> {
        self.values(phrases, Alike::Stem)
    }

    /// The same, where endings matter.
    pub fn spoken(&self, phrases: &[Spoken]) -> Vec<String> {
        self.values(phrases, Alike::Letters)
    }

    /// Phrases come the longest first, and a word speaks once: of `dividend yield`, nothing is left for
    /// `yield`.
    fn values(&self, phrases: &[Spoken], alike: Alike) -> Vec<String> {
        let mut free = self.free.clone();
        let mut found: Vec<(usize, &String)> = Vec::new();
        for (spelling, value) in phrases {
            while let Some(places) = self.place(spelling, alike, &free) {
                found.extend(places.first().map(|first| (first.start, value)));
                places.into_iter().for_each(|words| free.take(words));
            }
        }
        found.sort_by_key(|(at, _)| *at);
        let mut values: Vec<String> = Vec::new();
        for (_, value) in found {
            if !values.contains(value) {
                values.push(value.clone());
            }
        }
        values
    }

    fn place(&self, spelling: &Spelling, alike: Alike, free: &Free) -> Option<Vec<Range<usize>>> {
        (0..self.words.len()).find_map(|at| self.place_at(spelling, alike, free, at))
    }

    /// The places of the parts of a phrase that begins here.
    fn place_at(&self, spelling: &Spelling, alike: Alike, free: &Free, at: usize) -> Option<Vec<Range<usize>>> {
        let mut places: Vec<Range<usize>> = Vec::with_capacity(spelling.parts.len());
        for part in &spelling.parts {
            let from = places.last().map_or(at, |last| last.end);
            let to = if places.is_empty() { at } else { from + GAP_WORDS_MAX };
            let words = |at: usize| at..at + part.len();
            let is_here = |at: &usize| self.is_here(part, alike, *at) && words(*at).all(|at| free.has(at));
            places.push(words((from..=to).find(is_here)?));
        }
        Some(places)
    }

    fn is_here(&self, part: &[Word], alike: Alike, at: usize) -> bool {
        let Some(words) = self.words.get(at..at + part.len()) else { return false };
        words.iter().zip(part).all(|(said, wanted)| match alike {
            Alike::Stem => said.stem == wanted.stem,
            Alike::Letters => said.folded == wanted.folded,
        })
    }
}
