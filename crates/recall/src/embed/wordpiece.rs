//! WordPiece: a text as numbers of pieces of words.
//!
//! Owns the vocabulary and the longest-match-first search in it. Stops reading a text when it has enough
//! pieces, so that the length of a text does not matter. Always gives at least the first and the last token
//! of every text, and only numbers that the vocabulary has.

use rustc_hash::FxHashMap;

use super::normal::{Normal, is_punctuation};

/// So much of a text is read for each token that it may have. Only words without a piece and long runs of
/// spaces have more, and a text of those has nothing to say.
const TOKEN_BYTES_MAX: usize = 512;

#[derive(Debug)]
pub struct WordPiece {
    /// Pieces at the beginning of a word.
    pub starts: FxHashMap<Box<str>, u32>,
    /// Pieces inside a word, without the prefix that marks them.
    pub insides: FxHashMap<Box<str>, u32>,
    /// No piece has more.
    pub piece_bytes_max: usize,
    /// A longer word is unknown.
    pub word_chars_max: usize,
    pub unknown: u32,
    pub first: u32,
    pub last: u32,
    /// Tokens that a text may name as they are: `[MASK]`.
    pub named: Vec<(String, u32)>,
    pub normal: Normal,
    /// With the first and the last one.
    pub tokens_max: usize,
}

impl WordPiece {
    pub fn ids(&self, text: &str) -> Vec<u32> {
        let mut ids = self.read(text);
        ids.truncate(self.tokens_max - 1);
        ids.push(self.last);
        ids
    }

    /// How many tokens a text has. None where these are more than the model reads.
    pub fn count(&self, text: &str) -> Option<usize> {
        let tokens = self.read(text).len() + 1;
        let is_read = tokens <= self.tokens_max && text.len() <= self.bytes_max();
        is_read.then_some(tokens)
    }

    /// The tokens without the last one; of a text that is too long at least one too many.
    fn read(&self, text: &str) -> Vec<u32> {
        let mut rest = cut(text, self.bytes_max());
        let mut ids = vec![self.first];
        while !rest.is_empty() && !self.is_over(&ids) {
            let (before, named, after) = self.next_named(rest);
            self.words(before, &mut ids);
            ids.extend(named);
            rest = after;
        }
        ids
    }

    fn bytes_max(&self) -> usize {
        self.tokens_max.saturating_mul(TOKEN_BYTES_MAX)
    }

    fn is_over(&self, ids: &[u32]) -> bool {
        ids.len() >= self.tokens_max
    }

    /// The text before the next token that it names, that token, and the text after it.
    fn next_named<'t>(&self, text: &'t str) -> (&'t str, Option<u32>, &'t str) {
        for (at, _) in text.char_indices() {
            let (before, from) = text.split_at(at);
            let here = self.named.iter().filter_map(|(name, id)| Some((from.strip_prefix(name.as_str())?, *id)));
            if let Some((after, id)) = here.min_by_key(|(after, _)| after.len()) {
                return (before, Some(id), after);
            }
        }
        (text, None, "")
    }

    fn words(&self, text: &str, ids: &mut Vec<u32>) {
        let mut word = String::new();
        for c in self.normal.chars(text) {
            let alone = is_punctuation(c);
            if alone || c.is_whitespace() {
                self.word(&mut word, ids);
                if self.is_over(ids) {
                    return;
                }
            }
            if alone {
                word.push(c);
                self.word(&mut word, ids);
            } else if !c.is_whitespace() {
                word.push(c);
            }
        }
        self.word(&mut word, ids);
    }

    /// Adds the pieces of a word, and empties it.
    fn word(&self, word: &mut String, ids: &mut Vec<u32>) {
        if word.is_empty() {
            return;
        }
        let before = ids.len();
        if word.chars().nth(self.word_chars_max).is_some() || !self.pieces(word, ids) {
            ids.truncate(before);
            ids.push(self.unknown);
        }
        word.clear();
    }

    /// Whether a word is made of pieces; adds them as it finds them.
    fn pieces(&self, word: &str, ids: &mut Vec<u32>) -> bool {
        let mut vocabulary = &self.starts;
        let mut rest = word;
        while !rest.is_empty() {
            let found = (1..=rest.len().min(self.piece_bytes_max)).rev().find_map(|end| {
                let (piece, after) = rest.split_at_checked(end)?;
                Some((*vocabulary.get(piece)?, after))
            });
            let Some((id, after)) = found else { return false };
            ids.push(id);
            rest = after;
            vocabulary = &self.insides;
        }
        true
    }
}

/// The beginning of a text, at most this many bytes.
fn cut(text: &str, bytes_max: usize) -> &str {
    let ends = bytes_max.saturating_sub(3)..=bytes_max;
    ends.rev().find_map(|end| text.get(..end)).unwrap_or(text)
}
