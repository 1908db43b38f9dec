//! Which words of a question were not understood, and what they seem to name.
//!
//! Owns the places where a name stands: behind a preposition, after `e o`, beside another name. Refuses to
//! call talk a name: what stands before the question, and words that only keep it going.

use std::ops::Range;

use serde::Serialize;

use super::subjects::Subject;
use super::text::{Question, Sense};
use crate::question_grammar::TalkWords;
pub use crate::stated::UnreadKind;
use crate::window::holds;

/// Something that a question says and nothing reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unread {
    pub kind: UnreadKind,
    /// As they are spelled.
    pub words: String,
    /// What they may mean, where several have that name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<String>,
    /// The same with their kinds.
    #[serde(skip)]
    pub(crate) subjects: Vec<Subject>,
}

impl Unread {
    pub fn new(kind: UnreadKind, words: impl Into<String>) -> Self {
        Self { kind, words: words.into(), candidates: Vec::new(), subjects: Vec::new() }
    }
}

/// Words in a row that nothing knows, and where they stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownPhrase {
    pub words: Range<usize>,
    /// Whether a name may stand there.
    pub place: NamePlace,
    /// Whether something that tells stands before them in the same thought.
    pub is_behind: bool,
    /// Whether they belong to a word that tells, directly before their preposition.
    pub is_attached: bool,
    pub is_capital: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamePlace {
    /// Behind a preposition or an opener: `do bradesco`, `e o bradesco`.
    Name,
    /// Beside a name: `HGLG11 e bradesco`.
    Beside,
    /// Behind `desde` or `durante`.
    Time,
    /// Behind a word that tells, at the end: `preço bradesco`.
    Last,
    Loose,
}

/// The words that may name something that nothing knows, by their numbers.
pub(crate) fn name_words(question: &Question) -> Vec<usize> {
    let named = phrases(question, &|_| false).into_iter().filter(|phrase| phrase.place != NamePlace::Loose);
    named.flat_map(|phrase| phrase.words).collect()
}

/// The phrases that nothing knows and that nothing has taken.
pub fn phrases(question: &Question, is_taken: &dyn Fn(usize) -> bool) -> Vec<UnknownPhrase> {
    let reader = PhraseReader { question, is_taken };
    let mut found = Vec::new();
    let mut at = 0;
    while at < question.words().len() {
        match reader.end(at) {
            Some(end) => {
                found.push(reader.phrase(at..end));
                at = end;
            }
            None => at += 1,
        }
    }
    found
}

/// A part of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionPart {
    pub words: Range<usize>,
    /// Whether an `e` stands before or behind it, and not only a comma.
    pub is_joined: bool,
}

/// The parts of a question that are joined by `e` or a comma.
pub fn parts(question: &Question) -> Vec<QuestionPart> {
    let count = question.words().len();
    let is_and =
        |at: usize| question.words().get(at).is_some_and(|word| holds(question.grammar().talk.and, &word.folded));
    let mut parts: Vec<QuestionPart> = Vec::new();
    let mut from = 0;
    for at in 0..=count {
        if at == count || is_and(at) || (at > from && question.begins(at)) {
            let follows = from.checked_sub(1).is_some_and(is_and) && !parts.is_empty();
            let is_joined = follows || (is_and(at) && at > from);
            parts.extend((at > from).then_some(QuestionPart { words: from..at, is_joined }));
            from = if at < count && is_and(at) { at + 1 } else { at };
        }
    }
    parts
}

struct PhraseReader<'q> {
    question: &'q Question,
    is_taken: &'q dyn Fn(usize) -> bool,
}

impl PhraseReader<'_> {
    fn talk(&self) -> &'static TalkWords {
        &self.question.grammar().talk
    }

    fn word(&self, at: usize) -> &str {
        self.question.words().get(at).map_or("", |word| &word.folded)
    }

    fn before(&self, at: usize) -> &str {
        at.checked_sub(1).map_or("", |before| self.word(before))
    }

    fn is_named(&self, at: usize) -> bool {
        self.question.named().iter().any(|named| named.contains(&at))
    }

    /// Whether nothing knows a word, and it is no talk.
    fn is_open(&self, at: usize) -> bool {
        let word = self.word(at);
        let is_unknown = self.question.sense(at) == Sense::Unknown && !self.talk().is_chat(word);
        let is_free = !self.is_named(at) && !self.question.is_timed(at) && !(self.is_taken)(at);
        is_unknown && is_free && !word.is_empty()
    }

    /// Where a phrase ends that begins here.
    fn end(&self, at: usize) -> Option<usize> {
        if !self.is_open(at) {
            return None;
        }
        let mut end = at + 1;
        loop {
            let is_next = |next: usize| self.is_open(next) && !self.question.begins(next);
            if is_next(end) {
                end += 1;
            } else if holds(self.talk().inside, self.word(end)) && !self.question.begins(end) && is_next(end + 1) {
                end += 2;
            } else {
                return Some(end);
            }
        }
    }

    /// Where the thought begins that a word is in.
    fn thought(&self, at: usize) -> usize {
        (0..=at).rev().find(|at| self.question.begins(*at)).unwrap_or(0)
    }

    fn phrase(&self, words: Range<usize>) -> UnknownPhrase {
        let at = words.start;
        let from = self.thought(at);
        let talk = self.talk();
        let is_preposition = |word: &str| holds(talk.prepositions, word);
        let is_since = |word: &str| holds(talk.since, word);
        // Articles and `fundo` may stand before a name.
        let skipped = (from..at)
            .rev()
            .take_while(|at| holds(talk.articles, self.word(*at)) || self.question.is_kind(*at))
            .count();
        let lead = at - skipped;
        let has_lead = lead > from;
        let (led_by, further) = match lead.checked_sub(1).filter(|_| has_lead) {
            // A verb, and not the `e` that it is folded to.
            Some(by) if holds(talk.spelled_verbs, self.question.spelled(by..by + 1)) => ("", by),
            Some(by) => (self.word(by), by),
            None => ("", from),
        };
        let tells = |at: usize| self.question.sense(at) == Sense::Telling || self.is_named(at);
        let is_verb =
            (talk.is_verb)(self.before(at), self.word(at)) && words.len() == 1 && !self.question.is_capital(at);
        let is_beside = holds(talk.joints, led_by) && further > 0 && self.is_named(further - 1);
        let is_attached = is_preposition(led_by) && further > from && tells(further - 1);
        let is_end = words.end >= self.question.words().len() || self.question.begins(words.end);
        let place = match () {
            () if is_verb => NamePlace::Loose,
            () if is_since(led_by) || (is_since(self.two_before(lead, from)) && is_preposition(led_by)) => {
                NamePlace::Time
            }
            () if is_beside => NamePlace::Beside,
            () if is_preposition(led_by) => NamePlace::Name,
            () if !has_lead && skipped > 0 => NamePlace::Name,
            () if is_end && at > from && (self.is_named(at - 1) || tells(at - 1)) => NamePlace::Last,
            () => NamePlace::Loose,
        };
        let is_behind = (from..at).any(tells);
        let is_capital = self.question.is_capital(at) && at > from;
        UnknownPhrase { words, place, is_behind, is_attached, is_capital }
    }

    fn two_before(&self, lead: usize, from: usize) -> &str {
        lead.checked_sub(2).filter(|at| *at >= from).map_or("", |at| self.word(at))
    }
}
