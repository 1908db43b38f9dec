//! Byte-pair encoding, for counting only.
//!
//! Owns the vocabularies of the exact tokenizers and the way in which text falls into tokens: it is split
//! into words, and in each word the neighbours whose union ranks lowest are merged, until none do. Agrees
//! with the reference implementations to the token; `tests/tokenizers.rs` compares. Linear up to a logarithm,
//! also on hostile text.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use regex_automata::meta::Regex;
use regex_automata::{Anchored, Input};
use rustc_hash::FxHashMap;

/// One vocabulary, loaded.
#[derive(Debug)]
pub(super) struct Vocabulary {
    ranks: FxHashMap<&'static [u8], u32>,
    words: Regex,
}

/// The data that makes a vocabulary: its tokens as the build script wrote them, and how it splits words. The
/// trailing rule of both, that space before a word belongs to the word, is [`space_end`].
pub(super) struct VocabularySource {
    pub tokens: &'static [u8],
    pub words: &'static [&'static str],
}

pub(super) const O200K: VocabularySource = VocabularySource {
    tokens: include_bytes!(concat!(env!("OUT_DIR"), "/o200k_base")),
    words: &[
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
    ],
};

pub(super) const CL100K: VocabularySource = VocabularySource {
    tokens: include_bytes!(concat!(env!("OUT_DIR"), "/cl100k_base")),
    words: &[
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)",
        r"[^\r\n\p{L}\p{N}]?\p{L}+",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n]*",
        r"\s*[\r\n]+",
    ],
};

impl Vocabulary {
    pub(super) fn load(source: &VocabularySource) -> Self {
        let mut ranks = FxHashMap::default();
        let mut rest = source.tokens;
        while let Some((token, after)) = split_token(rest) {
            ranks.insert(token, ranks.len() as u32);
            rest = after;
        }
        let words = Regex::new(&source.words.join("|")).expect("the patterns are constant and a test loads them");
        Self { ranks, words }
    }

    /// Tokens of a text.
    pub(super) fn count(&self, text: &str) -> u32 {
        let mut rest = text;
        let mut tokens = 0;
        while !rest.is_empty() {
            let (word, after) = rest.split_at(self.word_end(rest));
            tokens += self.count_word(word.as_bytes());
            rest = after;
        }
        tokens
    }

    /// Where the first word ends; past the start in any case.
    fn word_end(&self, text: &str) -> usize {
        let end = match self.words.find(Input::new(text).anchored(Anchored::Yes)) {
            Some(word) => word.end(),
            None => space_end(text),
        };
        end.max(text.chars().next().map_or(0, char::len_utf8))
    }

    fn count_word(&self, word: &[u8]) -> u32 {
        if self.ranks.contains_key(word) {
            return 1;
        }
        Merge::new(self, word).count()
    }

    fn rank(&self, bytes: Option<&[u8]>) -> Option<u32> {
        self.ranks.get(bytes?).copied()
    }
}

/// A run of space that no other rule takes: all of it at the end of the text, else all but its last
/// character, which belongs to what follows.
fn space_end(text: &str) -> usize {
    let run = text.find(|c: char| !c.is_whitespace()).unwrap_or(text.len());
    match text.get(..run).and_then(|space| space.char_indices().next_back()) {
        Some((last, _)) if run < text.len() && last > 0 => last,
        _ => run,
    }
}

fn split_token(rest: &'static [u8]) -> Option<(&'static [u8], &'static [u8])> {
    let (length, rest) = rest.split_first()?;
    rest.split_at_checked(usize::from(*length))
}

/// A word on its way to tokens. Parts are known by where they start; a part that was merged away ends at 0.
struct Merge<'m> {
    vocabulary: &'m Vocabulary,
    word: &'m [u8],
    /// Where the part that starts here ends.
    ends: Vec<u32>,
    /// Where the part that ends before here starts.
    starts: Vec<u32>,
    /// Unions by rank, then place. One whose parts have changed since is skipped.
    unions: BinaryHeap<Reverse<(u32, u32, u32)>>,
}

impl<'m> Merge<'m> {
    fn new(vocabulary: &'m Vocabulary, word: &'m [u8]) -> Self {
        let length = word.len() as u32;
        let mut merge = Self {
            vocabulary,
            word,
            ends: (1..=length).collect(),
            starts: (0..=length).map(|at| at.saturating_sub(1)).collect(),
            unions: BinaryHeap::with_capacity(word.len()),
        };
        (0..length).for_each(|at| merge.propose(at));
        merge
    }

    fn count(mut self) -> u32 {
        let mut parts = self.ends.len() as u32;
        while let Some(Reverse((_, start, end))) = self.unions.pop() {
            let middle = self.end(start);
            if middle == 0 || self.end(middle) != end {
                continue;
            }
            set(&mut self.ends, start, end);
            set(&mut self.ends, middle, 0);
            set(&mut self.starts, end, start);
            parts -= 1;
            self.propose(start);
            if start > 0 {
                self.propose(self.starts.get(start as usize).copied().unwrap_or(0));
            }
        }
        parts
    }

    /// Puts the union of the part at `start` and its right neighbour up, where the vocabulary has it.
    fn propose(&mut self, start: u32) {
        let middle = self.end(start);
        let end = self.end(middle);
        if end > middle && middle > start {
            let bytes = self.word.get(start as usize..end as usize);
            self.unions.extend(self.vocabulary.rank(bytes).map(|rank| Reverse((rank, start, end))));
        }
    }

    fn end(&self, start: u32) -> u32 {
        self.ends.get(start as usize).copied().unwrap_or(0)
    }
}

fn set(slots: &mut [u32], at: u32, value: u32) {
    if let Some(slot) = slots.get_mut(at as usize) {
        *slot = value;
    }
}
