//! What a message asks for before any model is asked: how intense it is, how open the answer may be, whether
//! someone is in danger.
//!
//! Owns the rules that decide it, as they are read from data, and the words of a message as they are read for
//! it. Refuses files that say nothing or too much, see `decode`. Has no clock, no storage and no model: the
//! same rules and the same text decide the same.

mod crisis;
#[cfg(test)]
mod decide_tests;
mod decode;
#[cfg(test)]
mod decode_tests;
mod phrase;
mod route;
#[cfg(test)]
mod route_tests;

use novelo_engine::decode::DecodeError;
use serde_json::Value;

use self::phrase::{Entry, FoundEntry, List, PhraseLexicon};
use crate::Language;
use crate::finish::{Block, INTENSITY_MAX, TAGS_MAX};

pub use crisis::VoicedDanger;
pub use route::{Asked, Delivery, Mode, Route, mode, route};

/// The rules are written in this language.
const LANGUAGE: Language = Language::Portuguese;

/// The intensity from which an answer opens up; and from which it opens up wholly, to the vulnerable, and is
/// remembered.
pub(crate) const OPEN_INTENSITY: f32 = 5.0;
pub const FULL_INTENSITY: f32 = 7.0;
/// A message is simple up to either of these.
pub(crate) const SIMPLE_CHARS_MAX: usize = 140;
pub(crate) const SIMPLE_WORDS_MAX: usize = 22;
/// The length of the summary in the technical block.
pub(crate) const SUMMARY_CHARS_MAX: usize = 140;

/// The files, each the part under its root key.
#[derive(Debug, Clone, Copy)]
pub struct Files<'v> {
    pub signals: &'v Value,
    pub heuristics: &'v Value,
    pub greetings: &'v Value,
    pub safety: &'v Value,
}

/// All that decides. Read from data, checked when it is read.
#[derive(Debug, Clone)]
pub struct Rules {
    lexicon: PhraseLexicon,
    /// What makes a message intense.
    groups: Vec<Group>,
    amplifiers: Amplifiers,
    emphasis: Emphasis,
    emotions: Vec<String>,
    categories: Vec<String>,
    heuristics: Vec<String>,
    examples: Vec<Example>,
    greeting_words_max: usize,
    named: Vec<String>,
    unnamed: Vec<String>,
    locales: Vec<(String, String)>,
    /// Calm turns after which danger that was voiced is over.
    calm_turns: usize,
}

#[derive(Debug, Clone)]
struct Group {
    name: String,
    weight: f32,
}

/// What each word that amplifies adds, and all of them at most.
#[derive(Debug, Clone, Copy, Default)]
struct Amplifiers {
    weight: f64,
    at_most: f64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Emphasis {
    exclamations: f64,
    capitals: f64,
}

/// A sentence that a heuristic recognises when messages are compared by meaning.
#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    pub heuristic: String,
    pub text: String,
    /// How near a message must come to it.
    pub similarity: f32,
}

/// A message, read once. Means something only to the rules that read it.
#[derive(Debug, Clone, Default)]
pub struct Read {
    found: Vec<FoundEntry>,
    /// The words that were looked at.
    looked_words: usize,
    /// Of the whole message.
    chars: usize,
    words: usize,
    exclaims: bool,
    shouts: bool,
    summary: Option<String>,
}

/// Something that spoke up, and by which words.
#[derive(Debug, Clone, PartialEq)]
pub struct Fired {
    pub name: String,
    /// The phrase, as the policy has it.
    pub words: String,
    /// What it adds to the intensity; 0 for a heuristic.
    pub weight: f32,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// From 0 to 10, to one decimal.
    pub intensity: f32,
    pub fired: Vec<Fired>,
    /// The phrase that tells it.
    pub vulnerable: Option<String>,
    /// From 1 to 3.
    pub openness: u8,
    pub steps: &'static [Step],
    /// Whether it is worth remembering.
    pub saves: bool,
}

/// One step of a guided answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    V,
    I,
    A,
    Pause,
}

impl Step {
    pub fn name(self) -> &'static str {
        match self {
            Self::V => "V",
            Self::I => "I",
            Self::A => "A",
            Self::Pause => "Pausa",
        }
    }

    fn of(openness: u8) -> &'static [Self] {
        match openness {
            3.. => &[Self::V, Self::I, Self::V, Self::A, Self::Pause],
            2 => &[Self::V, Self::I, Self::A],
            _ => &[Self::V, Self::A],
        }
    }
}

impl Rules {
    /// The path of a problem begins with the root key of its file.
    pub fn decode(files: &Files<'_>) -> Result<Self, DecodeError> {
        decode::rules(files)
    }

    pub fn read(&self, text: &str) -> Read {
        let text = text.trim();
        let mut tokens = self.lexicon.tokens(text);
        Read {
            found: self.lexicon.find(&mut tokens),
            looked_words: tokens.len(),
            chars: text.chars().count(),
            words: text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count(),
            exclaims: text.contains("!!"),
            shouts: tokens.iter().filter(|token| token.shouts).nth(1).is_some(),
            summary: self.first_sentence(text),
        }
    }

    /// What a text says first, in one line. A greeting says nothing yet.
    fn first_sentence(&self, text: &str) -> Option<String> {
        let (first, rest) = first_sentence(text)?;
        let mut tokens = self.lexicon.tokens(&first);
        let (found, looked_words) = (self.lexicon.find(&mut tokens), tokens.len());
        let greets = || self.is_greeting(&Read { found, looked_words, ..Read::default() });
        let second = if rest.trim().is_empty() || !greets() { None } else { first_sentence(rest) };
        Some(second.map_or(first, |(second, _)| second))
    }

    pub fn decide(&self, read: &Read) -> Decision {
        let fired: Vec<Fired> = self.fired(read, List::Intensity).collect();
        let intensity = self.intensity(read, &fired);
        let vulnerable = self.first(read, List::Vulnerability).map(str::to_owned);
        let openness = match intensity {
            FULL_INTENSITY.. if vulnerable.is_some() => 3,
            OPEN_INTENSITY.. => 2,
            _ => 1,
        };
        let steps = Step::of(openness);
        Decision { intensity, fired, vulnerable, openness, steps, saves: intensity >= FULL_INTENSITY }
    }

    fn intensity(&self, read: &Read, fired: &[Fired]) -> f32 {
        if fired.is_empty() {
            return 0.0;
        }
        let groups: f64 = fired.iter().map(|fired| f64::from(fired.weight)).sum();
        let amplifiers = self.said(read, List::Amplifier).count() as f64 * self.amplifiers.weight;
        let exclaims = if read.exclaims { self.emphasis.exclamations } else { 0.0 };
        let shouts = if read.shouts { self.emphasis.capitals } else { 0.0 };
        let sum = groups + amplifiers.min(self.amplifiers.at_most) + exclaims + shouts;
        ((sum.clamp(0.0, INTENSITY_MAX.into()) * 10.0).round() / 10.0) as f32
    }

    /// Short, or nothing heavy in it.
    pub fn is_simple(&self, read: &Read) -> bool {
        let is_short = read.chars <= SIMPLE_CHARS_MAX || read.words <= SIMPLE_WORDS_MAX;
        is_short || self.first(read, List::Heavy).is_none()
    }

    /// The phrase that makes an answer guided, whatever else.
    pub fn trigger(&self, read: &Read) -> Option<&str> {
        self.first(read, List::Trigger)
    }

    /// The heuristics that words speak for, in the order of the policy.
    pub fn heuristics(&self, read: &Read) -> Vec<Fired> {
        self.fired(read, List::Heuristic).collect()
    }

    pub fn heuristic_names(&self) -> impl Iterator<Item = &str> {
        self.heuristics.iter().map(String::as_str)
    }

    /// The examples of all heuristics.
    pub fn examples(&self) -> &[Example] {
        &self.examples
    }

    /// Whether it is a greeting and nothing more.
    pub fn is_greeting(&self, read: &Read) -> bool {
        if read.looked_words > self.greeting_words_max {
            return false;
        }
        let of = |list| self.all(read, list).map(|(it, _)| it.words.clone());
        let known = || of(List::Greeting).chain(of(List::Filler));
        let is_known = |word: usize| known().any(|words| words.contains(&word));
        of(List::Greeting).any(|words| words.start == 0) && (0..read.looked_words).all(is_known)
    }

    /// The phrase that tells of acute danger. A denial makes none harmless; what is excepted shares words
    /// with it.
    pub fn crisis(&self, read: &Read) -> Option<&str> {
        let excepted = |of: &FoundEntry| {
            let mut except = self.all(read, List::Except);
            except.any(|(it, _)| it.words.start < of.words.end && of.words.start < it.words.end)
        };
        self.all(read, List::Crisis).find(|(it, _)| !excepted(it)).map(|(_, entry)| entry.spelled.as_str())
    }

    /// What can be told of a message where no model told it.
    pub fn block(&self, read: &Read) -> Block {
        let emotions = self.ranked(read, List::Emotion);
        let categories = self.ranked(read, List::Category);
        let tags = emotions.iter().chain(&categories).take(TAGS_MAX).map(|name| (*name).to_owned());
        Block {
            intensity: Some(self.decide(read).intensity),
            summary: read.summary.clone(),
            tags: tags.collect(),
            category: categories.first().map(|name| (*name).to_owned()),
            emotion: emotions.first().map(|name| (*name).to_owned()),
        }
    }

    /// What a greeting is answered with; one of these.
    pub fn greeting(&self, has_name: bool) -> &[String] {
        if has_name { &self.named } else { &self.unnamed }
    }

    /// What a greeting begins with, as the policy has it.
    pub fn greeting_phrases(&self) -> impl Iterator<Item = &str> {
        let phrases = self.lexicon.entries().iter().filter(|entry| entry.list == List::Greeting);
        phrases.map(|entry| entry.spelled.as_str())
    }

    pub fn locales(&self) -> impl Iterator<Item = &str> {
        self.locales.iter().map(|(locale, _)| locale.as_str())
    }

    /// What is said to someone in danger.
    pub fn help(&self, locale: &str) -> Option<&str> {
        self.locales.iter().find(|(own, _)| own == locale).map(|(_, text)| text.as_str())
    }

    /// The phrases of one list that a message has, denied or not, in its order.
    fn all<'r, 't>(&'r self, read: &'t Read, list: List) -> impl Iterator<Item = (&'t FoundEntry, &'r Entry)> {
        let entries = read.found.iter().filter_map(|it| Some((it, self.lexicon.entry(it.entry)?)));
        entries.filter(move |(_, entry)| entry.list == list)
    }

    /// Those that nothing denies.
    fn said<'r>(&'r self, read: &Read, list: List) -> impl Iterator<Item = &'r Entry> {
        self.all(read, list).filter(|(it, _)| !it.denied).map(|(_, entry)| entry)
    }

    fn first(&self, read: &Read, list: List) -> Option<&str> {
        self.said(read, list).next().map(|entry| entry.spelled.as_str())
    }

    /// The groups of a list that a message has, each once, by the phrase that it has first.
    fn fired<'r>(&'r self, read: &'r Read, list: List) -> impl Iterator<Item = Fired> + 'r {
        let names: Vec<(&str, f32)> = match list {
            List::Intensity => self.groups.iter().map(|group| (group.name.as_str(), group.weight)).collect(),
            _ => self.heuristics.iter().map(|name| (name.as_str(), 0.0)).collect(),
        };
        names.into_iter().enumerate().filter_map(move |(n, (name, weight))| {
            let entry = self.said(read, list).find(|entry| entry.group == n)?;
            Some(Fired { name: name.to_owned(), words: entry.spelled.clone(), weight })
        })
    }

    /// The names of the groups that a message has: those of which it has more phrases first.
    fn ranked(&self, read: &Read, list: List) -> Vec<&str> {
        let (names, is_denied_too) = match list {
            List::Emotion => (&self.emotions, false),
            // "I would rather not talk about work" is about work.
            _ => (&self.categories, true),
        };
        let mut counted: Vec<(usize, &str)> = names.iter().map(|name| (0, name.as_str())).collect();
        let mut seen = Vec::new();
        for (it, entry) in self.all(read, list).filter(|(it, _)| is_denied_too || !it.denied) {
            if !seen.contains(&it.entry) {
                seen.push(it.entry);
                counted.get_mut(entry.group).into_iter().for_each(|(count, _)| *count += 1);
            }
        }
        counted.retain(|(count, _)| *count > 0);
        counted.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
        counted.into_iter().map(|(_, name)| name).collect()
    }
}

impl Read {
    /// Characters of the whole message.
    pub fn chars(&self) -> usize {
        self.chars
    }
}

/// The first sentence of a text, in one line, and what follows it.
fn first_sentence(text: &str) -> Option<(String, &str)> {
    let mut summary = String::new();
    let mut chars = text.char_indices().filter(|(_, c)| !c.is_control() || c.is_whitespace()).peekable();
    let (mut count, mut end) = (0, 0);
    while let Some((at, c)) = chars.next() {
        let ends = matches!(c, '.' | '!' | '?' | '…') && chars.peek().is_none_or(|(_, next)| next.is_whitespace());
        if count == SUMMARY_CHARS_MAX {
            return Some((cut_at_word(summary), ""));
        }
        end = at + c.len_utf8();
        match c.is_whitespace() {
            true if c == '\n' && !summary.is_empty() => break,
            true if summary.is_empty() || summary.ends_with(' ') => continue,
            true => summary.push(' '),
            false => summary.push(c),
        }
        count += 1;
        if ends {
            break;
        }
    }
    let summary = summary.trim_end();
    (!summary.is_empty()).then(|| (summary.to_owned(), text.get(end..).unwrap_or_default()))
}

/// A text that goes on, ended after its last whole word.
fn cut_at_word(mut text: String) -> String {
    let end = text.rfind(' ').filter(|at| *at > 0);
    let last = text.char_indices().next_back().map_or(0, |(at, _)| at);
    text.truncate(end.unwrap_or(last));
    text.push('…');
    text
}
