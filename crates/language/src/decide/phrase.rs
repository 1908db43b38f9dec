//! Phrases, found in a message by the stems of their words.
//!
//! Owns which phrases there are and where a message has them. Every word of a message is folded and stemmed
//! once, and phrases are looked up by their first stem, so that their number does not matter. Invariant: any
//! text can be read.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::LANGUAGE;
use crate::analyse::Words;
use crate::plan::text::{Word, stem};

/// Words of a message that are looked at: more than one of QUESTION_BYTES_MAX can have.
const WORDS_MAX: usize = 65_536;

/// How many words before a phrase one that denies it may stand.
const DENIES_WORDS_MAX: usize = 2;

/// What a phrase speaks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List {
    Intensity,
    Amplifier,
    Vulnerability,
    Heavy,
    Trigger,
    Emotion,
    Category,
    Heuristic,
    Greeting,
    Filler,
    Crisis,
    Except,
}

/// One phrase of a list.
#[derive(Debug, Clone)]
pub struct Entry {
    pub list: List,
    /// Which of the list's groups has it.
    pub group: usize,
    /// As the policy has it.
    pub spelled: String,
    stems: Vec<u32>,
    /// It says no by itself, so that a no before it does not deny it.
    denies: bool,
}

impl Entry {
    /// How many words it has, where a message goes on with them.
    fn length_in(&self, rest: &[PhraseToken]) -> Option<usize> {
        let words = rest.get(..self.stems.len())?;
        // What makes a phrase harmless is said in one breath with it: "quero morrer, de rir já basta" is not
        // "morrer de rir".
        let is_whole = self.list != List::Except || words.iter().skip(1).all(|token| !token.parted);
        let is_same = words.iter().zip(&self.stems).all(|(token, stem)| token.stem == Some(*stem));
        (is_whole && is_same).then_some(words.len())
    }
}

/// All phrases.
#[derive(Debug, Clone, Default)]
pub struct PhraseLexicon {
    /// The number of every stem that a phrase has.
    stems: FxHashMap<String, u32>,
    entries: Vec<Entry>,
    /// Entries by the number of their first stem.
    by_first: Vec<Vec<usize>>,
    denials: FxHashSet<String>,
}

/// A phrase in a message.
#[derive(Debug, Clone)]
pub struct FoundEntry {
    pub entry: usize,
    pub words: Range<usize>,
    /// A word before it denies it.
    pub denied: bool,
}

/// A word of a message.
#[derive(Debug, Clone, Default)]
pub struct PhraseToken {
    /// Its stem, where any phrase has it.
    stem: Option<u32>,
    denies: bool,
    /// A mark such as a full stop or a comma stands before it.
    parted: bool,
    amplifies: bool,
    /// Three letters and more, all of them capitals.
    pub shouts: bool,
}

impl PhraseLexicon {
    /// Words that deny what follows them. To be said before any phrase is learnt.
    pub fn deny(&mut self, word: &Word) {
        self.denials.insert(word.folded.clone());
    }

    pub(crate) fn learn(&mut self, list: List, group: usize, spelled: &str, words: &[Word]) {
        let denies = words.iter().any(|word| self.denials.contains(&word.folded));
        let stems: Vec<u32> = words.iter().map(|word| self.number(&word.stem)).collect();
        let Some(first) = stems.first().and_then(|first| self.by_first.get_mut(*first as usize)) else { return };
        let is_same = |at: &usize| {
            let same = |it: &Entry| it.list == list && it.group == group && it.stems == stems;
            self.entries.get(*at).is_some_and(same)
        };
        // Another ending of the same words would count twice.
        if !first.iter().any(is_same) {
            first.push(self.entries.len());
            self.entries.push(Entry { list, group, spelled: spelled.to_owned(), stems, denies });
        }
    }

    fn number(&mut self, stem: &str) -> u32 {
        let next = u32::try_from(self.stems.len()).unwrap_or(u32::MAX);
        let number = *self.stems.entry(stem.to_owned()).or_insert(next);
        if number == next {
            self.by_first.push(Vec::new());
        }
        number
    }

    pub fn entry(&self, at: usize) -> Option<&Entry> {
        self.entries.get(at)
    }

    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The words of a text.
    pub fn tokens(&self, text: &str) -> Vec<PhraseToken> {
        let (mut tokens, mut end) = (Vec::new(), 0);
        for word in Words::new(text, WORDS_MAX).iter() {
            let before = text.get(end..word.range.start).unwrap_or_default();
            tokens.push(PhraseToken {
                stem: self.stems.get(&stem(word.folded, LANGUAGE)).copied(),
                denies: self.denials.contains(word.folded),
                parted: before.contains(parts),
                amplifies: false,
                shouts: text.get(word.range.clone()).is_some_and(shouts),
            });
            end = word.range.end;
        }
        tokens
    }

    /// The phrases among these words, in their order.
    pub fn find(&self, tokens: &mut [PhraseToken]) -> Vec<FoundEntry> {
        let mut found = Vec::new();
        for at in 0..tokens.len() {
            let rest = tokens.get(at..).unwrap_or_default();
            let first = rest.first().and_then(|token| self.by_first.get(token.stem? as usize));
            for entry in first.into_iter().flatten() {
                if let Some(words) = self.entries.get(*entry).and_then(|entry| entry.length_in(rest)) {
                    found.push(FoundEntry { entry: *entry, words: at..at + words, denied: false });
                }
            }
        }
        for it in &found {
            if self.entries.get(it.entry).is_some_and(|entry| entry.list == List::Amplifier) {
                let words = tokens.get_mut(it.words.clone()).unwrap_or_default();
                words.iter_mut().for_each(|token| token.amplifies = true);
            }
        }
        for it in &mut found {
            let says_no = self.entries.get(it.entry).is_some_and(|entry| entry.denies);
            it.denied = !says_no && is_denied(tokens, it.words.start);
        }
        found
    }
}

/// Whether a word before this one denies it: a few words before, of which those that only amplify do not
/// count, and nothing parts them.
fn is_denied(tokens: &[PhraseToken], start: usize) -> bool {
    let mut left = DENIES_WORDS_MAX;
    for pair in tokens.get(..=start).unwrap_or_default().windows(2).rev() {
        let [before, here] = pair else { return false };
        match before {
            _ if here.parted || left == 0 => return false,
            before if before.denies => return true,
            before => left -= usize::from(!before.amplifies),
        }
    }
    false
}

fn parts(c: char) -> bool {
    matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | '…' | '\n' | '(' | ')')
}

fn shouts(word: &str) -> bool {
    let letters = || word.chars().filter(|c| c.is_alphabetic());
    letters().nth(2).is_some() && letters().all(char::is_uppercase)
}
