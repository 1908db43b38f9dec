//! What a text claims about somebody, and whether a later text replaces an earlier one.
//!
//! Owns the rules, which are the same for every language; their words and patterns are in the folders of the
//! languages. Careful rather than complete: a claim is read only from a clause that begins with whom it is
//! about and says it plainly. Questions, quotes, jokes, wishes and what was long ago claim nothing. What is
//! replaced wrongly would be hidden, what is missed only stands beside the newer text.

mod clause;
mod pattern;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use rustc_hash::FxHashSet;
use serde::Serialize;

use self::clause::{Clause, ClauseWord, clauses};
use self::pattern::{ME, Parts, PatternReader};
use crate::Language;
use crate::analyse::{self, Words};
pub use crate::claim_words::{Attribute, Effect};
use crate::claim_words::{ClaimPattern, ClaimWords, is_in};
use crate::dates::tells_time;

/// A longer text is a document, not a statement.
const TEXT_BYTES_MAX: usize = 4_000;
/// Digits of the shortest number of a telephone.
const PHONE_DIGITS_MIN: usize = 5;
/// The longest word that can be a sign.
const SIGN_BYTES_MAX: usize = 40;

/// One claim of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct StatedClaim {
    /// `user`, a relation or a name.
    pub subject: Box<str>,
    pub attribute: Attribute,
    /// Of what, for favourites, things and dates.
    pub of: Box<str>,
    pub effect: Effect,
    /// The value as the text spells it.
    pub value: Box<str>,
    /// The words of the text that make it a claim.
    pub sign: Box<str>,
    fixed: &'static str,
    stems: Vec<u64>,
    digits: Box<str>,
    is_single: bool,
    /// Whether it can replace what was said before.
    changes: bool,
    adds: bool,
    year: Option<i32>,
}

/// Why a later text replaces an earlier one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Replacement {
    pub subject: String,
    pub attribute: Attribute,
    /// Of what, where the attribute alone does not say it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub of: String,
    pub reason: String,
}

/// By language, the words of which one must be in a text that replaces another.
static SIGNS: LazyLock<FxHashSet<&'static str>> = LazyLock::new(|| {
    let signs = Language::ALL.into_iter().flat_map(|it| it.grammar().claims.signs.split_whitespace());
    signs.collect()
});

/// Whether a text may replace another: a quick look, before its claims are read.
pub fn may_replace(text: &str) -> bool {
    if text.len() > TEXT_BYTES_MAX {
        return false;
    }
    let mut lower = String::with_capacity(SIGN_BYTES_MAX);
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty() && word.len() <= SIGN_BYTES_MAX).any(
        |word| {
            lower.clear();
            lower.extend(word.chars().flat_map(char::to_lowercase));
            SIGNS.contains(lower.as_str())
        },
    )
}

/// The claims of a text.
pub fn read(text: &str) -> Vec<StatedClaim> {
    if text.len() > TEXT_BYTES_MAX {
        return Vec::new();
    }
    let words = Words::new(text, 100);
    let latin = Language::by_script(text).unwrap_or_else(|| Language::detect(&words));
    let others = Language::ALL.into_iter().filter(|it| latin.is_latin() && it.is_latin() && *it != latin);
    let mut found = Vec::new();
    for language in [latin].into_iter().chain(others) {
        found.extend(read_in(text, language));
        // A text too short to tell its language may be of another one.
        if found.iter().any(|claim: &StatedClaim| claim.attribute != Attribute::Activity || claim.effect != Effect::Is)
        {
            break;
        }
    }
    found
}

fn read_in(text: &str, language: Language) -> Vec<StatedClaim> {
    let reader = PatternReader { language, words: language.grammar().claims };
    let mut found = Vec::new();
    for clause in clauses(text, reader.words) {
        let patterns = reader.words.patterns.iter();
        found.extend(patterns.filter_map(|pattern| claim(reader, &clause, pattern)));
        found.extend(activity(reader, &clause));
    }
    found
}

/// The claim of a clause, if a pattern fits it.
fn claim(reader: PatternReader, clause: &Clause, pattern: &ClaimPattern) -> Option<StatedClaim> {
    let parts = reader.read(clause, pattern)?;
    let value: Vec<ClauseWord> = up_to_more(&parts.value, reader.words);
    let digits: String = value.iter().flat_map(|word| word.folded.chars()).filter(char::is_ascii_digit).collect();
    let is_single = match pattern.attribute {
        Attribute::Relationship | Attribute::Diet | Attribute::Name | Attribute::Phone => true,
        Attribute::Email | Attribute::Age | Attribute::Favourite => true,
        Attribute::Own => reader.single(&parts.noun).is_some() && !digits.is_empty(),
        _ => false,
    };
    let stems = claimed_stems(reader, pattern, &parts, &value);
    if !fits(reader, pattern, &parts, &value, &digits) || !ends_something(reader, pattern, &value, &stems) {
        return None;
    }
    let mut of = noun_key(reader, pattern.attribute, &parts);
    let mut fixed = pattern.fixed;
    if pattern.attribute == Attribute::Own && !fixed.is_empty() {
        (of, fixed) = (fixed.to_owned(), "");
    }
    let sign: Vec<String> = clause.now.iter().cloned().chain(parts.sign).collect();
    let is_dated = matches!(pattern.attribute, Attribute::Own | Attribute::Schedule);
    let is_said = |word: &ClauseWord| is_dated || !is_small(reader, word);
    let last = value.iter().rposition(is_said).map_or(0, |last| last + 1);
    Some(StatedClaim {
        subject: parts.subject.unwrap_or_else(|| ME.to_owned()).into(),
        attribute: pattern.attribute,
        of: of.into(),
        effect: pattern.effect,
        value: spelled(value.get(..last).unwrap_or_default()).into(),
        sign: sign.join(" ").into(),
        fixed,
        stems,
        digits: digits.into(),
        is_single,
        changes: pattern.effect != Effect::Is || is_single || clause.now.is_some(),
        adds: clause.also,
        year: clause.year.filter(|_| pattern.attribute != Attribute::Phone),
    })
}

fn claimed_stems(reader: PatternReader, pattern: &ClaimPattern, parts: &Parts, value: &[ClauseWord]) -> Vec<u64> {
    let has_times = matches!(pattern.attribute, Attribute::Own | Attribute::Schedule);
    let mut found = stems(value, reader, has_times);
    found.extend(stems(&parts.partner, reader, false));
    if pattern.attribute == Attribute::Possession {
        found.extend(stems(&parts.noun, reader, false));
    }
    found
}

/// Whether the value is one of the attribute, and the clause says nothing that the pattern does not know.
fn fits(reader: PatternReader, pattern: &ClaimPattern, parts: &Parts, value: &[ClauseWord], digits: &str) -> bool {
    let words = reader.words;
    let is_value = match pattern.attribute {
        Attribute::Home => is_place(value, words),
        Attribute::Phone => value.is_empty() || digits.len() >= PHONE_DIGITS_MIN,
        Attribute::Age => !digits.is_empty() && digits.len() <= 3,
        Attribute::Name => value.first().is_some_and(|word| word.has_capital),
        Attribute::Favourite => value.first().is_some_and(|word| {
            let is_gerund = (reader.language.grammar().reading.is_gerund)(&word.folded);
            is_in(words.articles, &word.folded) || !reader.language.is_stop(&word.folded) && !is_gerund
        }),
        Attribute::Own if pattern.effect == Effect::Becomes => {
            let has_several = parts.noun.iter().any(|word| is_in(words.several, &word.folded));
            !has_several && (reader.single(&parts.noun).is_some() || !value.is_empty())
        }
        Attribute::Possession => value.iter().all(|word| {
            !is_in(words.events, &word.folded) && (words.owner_mark.is_empty() || word.folded != words.owner_mark)
        }),
        _ => true,
    };
    is_value
        && up_to_more(&parts.rest, words)
            .iter()
            .all(|word| is_small(reader, word) || word.folded.parse::<u32>().is_ok())
}

/// Whether a word is one of a time, or a stop word.
fn is_small(reader: PatternReader, word: &ClauseWord) -> bool {
    let is_time = is_in(reader.words.times, &word.folded) || tells_time(&word.folded);
    is_time || reader.language.is_stop(&word.folded)
}

/// Whether what ends is named well enough: a verb that needs an object ends nothing by itself.
fn ends_something(reader: PatternReader, pattern: &ClaimPattern, value: &[ClauseWord], stems: &[u64]) -> bool {
    let is_lone = stems.len() == 1 && value.iter().any(|word| is_in(reader.words.needs_object, &word.folded));
    let needs = matches!(pattern.attribute, Attribute::Activity | Attribute::Possession);
    pattern.effect != Effect::Ends || !needs || !stems.is_empty() && !is_lone
}

/// The whole clause as something that its subject does, is or likes.
fn activity(reader: PatternReader, clause: &Clause) -> Option<StatedClaim> {
    let is_me = |word: &ClauseWord| is_in(reader.words.me, &word.folded);
    let negates = clause.words.iter().any(|word| reader.language.negates(&word.folded));
    let first = clause.words.first().filter(|_| !negates)?;
    let own = clause.words.iter().take(2).position(|word| is_in(reader.words.my, &word.folded));
    let owned = own.and_then(|at| clause.words.get(at..at + 2)).and_then(|person| reader.key(person));
    let (subject, rest) = match owned {
        Some(owner) => (owner, clause.words.get(own.unwrap_or(0) + 2..)?),
        None if is_me(first) || reader.words.drops_subjects && !first.has_capital => {
            (ME.to_owned(), clause.words.as_slice())
        }
        None => match reader.key(std::slice::from_ref(first)).filter(|_| clause.words.len() > 1) {
            Some(name) if !reader.words.drops_subjects => (name, clause.words.get(1..)?),
            _ => (ME.to_owned(), clause.words.as_slice()),
        },
    };
    let stems = stems(rest, reader, false);
    (!stems.is_empty()).then(|| StatedClaim {
        subject: subject.into(),
        attribute: Attribute::Activity,
        of: "".into(),
        effect: Effect::Is,
        value: spelled(rest).into(),
        sign: "".into(),
        fixed: "",
        stems,
        digits: "".into(),
        is_single: false,
        changes: false,
        adds: clause.also,
        year: None,
    })
}

/// The words before a reason, and before an "and".
fn up_to_more(value: &[ClauseWord], words: &ClaimWords) -> Vec<ClauseWord> {
    let goes_on = |word: &&ClauseWord| !is_in(words.causes, &word.folded) && !is_in(words.and, &word.folded);
    value.iter().take_while(goes_on).cloned().collect()
}

fn is_place(value: &[ClauseWord], words: &ClaimWords) -> bool {
    let is_named = value.iter().any(|word| word.has_capital);
    is_named && !value.iter().any(|word| is_in(words.not_places, &word.folded))
}

/// What tells one favourite, thing or date from another.
fn noun_key(reader: PatternReader, attribute: Attribute, parts: &Parts) -> String {
    if !matches!(attribute, Attribute::Favourite | Attribute::Own | Attribute::Schedule) {
        return String::new();
    }
    if let Some(single) = reader.single(&parts.noun) {
        return single.to_owned();
    }
    let content = |word: &&ClauseWord| !reader.language.is_stop(&word.folded);
    let mut stems: Vec<String> =
        parts.noun.iter().filter(content).map(|word| reader.language.stem(&word.folded)).collect();
    stems.sort();
    stems.join(" ")
}

/// The stems of the words that matter, with those of times or without.
fn stems(words: &[ClauseWord], reader: PatternReader, has_times: bool) -> Vec<u64> {
    let language = reader.language;
    let matters = |word: &&ClauseWord| {
        let is_time = !has_times && (is_in(reader.words.times, &word.folded) || tells_time(&word.folded));
        !language.is_stop(&word.folded) && !is_time && word.folded != "="
    };
    let stem = |word: &ClauseWord| {
        let same = reader.words.same.iter().find(|list| is_in(list, &word.folded));
        let word = same.and_then(|list| list.split(' ').next()).unwrap_or(&word.folded);
        analyse::fingerprint(&language.stem(word))
    };
    let mut stems: Vec<u64> = words.iter().filter(matters).map(stem).collect();
    stems.sort_unstable();
    stems.dedup();
    stems
}

fn spelled(words: &[ClauseWord]) -> String {
    words.iter().map(|word| word.spelled.as_str()).collect::<Vec<_>>().join(" ")
}

impl StatedClaim {
    /// Where claims that can meet are found: the same for both.
    pub fn key(&self) -> u64 {
        analyse::fingerprint(&format!("{}\n{:?}\n{}", self.subject, self.attribute, self.of))
    }

    /// Whether it can replace what was said before.
    pub fn can_replace(&self) -> bool {
        self.changes && !self.adds
    }

    /// Why it replaces an older claim, if it does. What happened in another year than it was said in is a
    /// story.
    pub fn replaces(&self, older: &Self, said_in: Option<i32>) -> Option<Replacement> {
        let is_story = self.year.is_some_and(|year| said_in.is_none_or(|said| said != year));
        let meets = self.subject == older.subject && self.attribute == older.attribute && self.of == older.of;
        if !meets || is_story || !self.can_replace() {
            return None;
        }
        let replaces = match (self.effect, older.effect) {
            (Effect::Ends, Effect::Ends) => false,
            (Effect::Ends, _) => self.ends(older),
            (_, Effect::Ends) => self.overlaps(older),
            _ => !self.says_the_same(older),
        };
        replaces.then(|| self.replacement(older))
    }

    fn ends(&self, older: &Self) -> bool {
        let is_within = |some: &[u64], all: &[u64]| some.iter().all(|stem| all.contains(stem));
        match self.attribute {
            Attribute::Activity | Attribute::Possession => is_within(&self.stems, &older.stems),
            _ if !self.fixed.is_empty() && !older.fixed.is_empty() && self.fixed != older.fixed => false,
            _ => self.stems.is_empty() || older.stems.is_empty() || self.overlaps(older),
        }
    }

    fn overlaps(&self, older: &Self) -> bool {
        self.stems.iter().any(|stem| older.stems.contains(stem))
    }

    /// Whether one value is the other, or a part of it.
    fn says_the_same(&self, older: &Self) -> bool {
        let is_within = |some: &[u64], all: &[u64]| some.iter().all(|stem| all.contains(stem));
        if self.fixed != older.fixed {
            return false;
        }
        if !self.digits.is_empty() && !older.digits.is_empty() && self.digits != older.digits {
            return false;
        }
        let (one, other) = (&self.stems, &older.stems);
        match one.is_empty() || other.is_empty() {
            true => !self.fixed.is_empty() || self.effect == Effect::Is,
            false => is_within(one, other) || is_within(other, one),
        }
    }

    fn replacement(&self, older: &Self) -> Replacement {
        let (before, after) = (older.shown(), self.shown());
        let what = match self.effect {
            Effect::Ends if before.is_empty() => "it ended".to_owned(),
            Effect::Ends => format!("“{before}” ended"),
            _ => format!("“{before}” became “{after}”"),
        };
        let sign = if self.sign.is_empty() { String::new() } else { format!(", as “{}” says", self.sign) };
        let (subject, of) = (self.subject.to_string(), self.of.to_string());
        Replacement { subject, attribute: self.attribute, of, reason: format!("{what}{sign}") }
    }

    fn shown(&self) -> &str {
        if self.fixed.is_empty() { &self.value } else { self.fixed }
    }
}

/// Why a later text replaces an earlier one, if it does.
pub fn replaces(later: &[StatedClaim], earlier: &[StatedClaim], said_in: Option<i32>) -> Option<Replacement> {
    later.iter().find_map(|claim| earlier.iter().find_map(|older| claim.replaces(older, said_in)))
}
