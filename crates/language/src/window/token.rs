//! The words of a text and the characters between them.

use std::ops::Range;

use super::words::{WindowWords, holds};
use crate::analyse::{QUESTION_WORDS_MAX, Spelled, Words};

/// Words in their order. The characters between its numbers tell a date from a fraction.
#[derive(Debug)]
pub(crate) struct Tokens<'t> {
    text: &'t str,
    tokens: Vec<FoldedWord>,
    /// How their language names stretches of time.
    pub words: &'static WindowWords,
}

#[derive(Debug)]
struct FoldedWord {
    folded: String,
    range: Range<usize>,
}

impl<'t> Tokens<'t> {
    pub(crate) fn new(text: &'t str, words: &'static WindowWords) -> Self {
        let spelled = Words::new(text, QUESTION_WORDS_MAX);
        let token = |word: Spelled<'_>| FoldedWord { folded: word.folded.to_owned(), range: word.range };
        Self { text, tokens: spelled.iter().map(token).collect(), words }
    }

    pub(crate) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// A word, folded; empty past the last.
    pub(crate) fn word(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| &token.folded)
    }

    /// The word before; empty before the first.
    pub(crate) fn before(&self, at: usize) -> &str {
        at.checked_sub(1).map_or("", |at| self.word(at))
    }

    /// What stands between a word and the one before it.
    pub(crate) fn gap(&self, at: usize) -> &'t str {
        let from = at.checked_sub(1).and_then(|before| self.tokens.get(before)).map_or(0, |token| token.range.end);
        let to = self.tokens.get(at).map_or(self.text.len(), |token| token.range.start);
        self.text.get(from..to).unwrap_or_default()
    }

    /// Whether a word is one of a list that is separated by blanks.
    pub(crate) fn is_in(&self, at: usize, list: &str) -> bool {
        holds(list, self.word(at))
    }

    /// Whether these words stand here; where they end.
    pub(crate) fn phrase(&self, at: usize, phrase: &str) -> Option<usize> {
        let mut next = at;
        for word in phrase.split(' ') {
            if self.word(next) != word {
                return None;
            }
            next += 1;
        }
        Some(next)
    }

    /// A number in digits, of at most four.
    pub(crate) fn digits(&self, at: usize) -> Option<i32> {
        let word = self.word(at);
        let fits = (1..=4).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_digit());
        if fits { word.parse().ok() } else { None }
    }

    /// The one character that joins a word to the one before it, without blanks; a dash of any length is a
    /// hyphen.
    pub(crate) fn joint(&self, at: usize) -> Option<char> {
        if at == 0 || at >= self.len() { None } else { joint(self.gap(at)) }
    }

    /// The same, blanks or none.
    pub(crate) fn joint_of(&self, at: usize) -> Option<char> {
        if at == 0 || at >= self.len() { None } else { joint(self.gap(at).trim()) }
    }

    /// The bytes from one word up to, and without, another.
    #[cfg(test)]
    pub(crate) fn range(&self, words: Range<usize>) -> Range<usize> {
        let start = self.tokens.get(words.start).map_or(self.text.len(), |token| token.range.start);
        let last = words.end.checked_sub(1).and_then(|last| self.tokens.get(last));
        start..last.map_or(start, |token| token.range.end.max(start))
    }
}

fn joint(gap: &str) -> Option<char> {
    match gap {
        "/" => Some('/'),
        "." => Some('.'),
        "-" | "‐" | "‑" | "–" | "—" | "−" => Some('-'),
        _ => None,
    }
}
