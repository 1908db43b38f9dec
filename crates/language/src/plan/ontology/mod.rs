//! Which words speak for which intent.
//!
//! Owns the ontology as it is read and the scores of a question. Refuses files that say nothing or too much,
//! see `decode`. Invariant: the same question has the same scores, whatever its case and accents.

pub(crate) mod decode;
mod pattern;
mod score;
mod typo;
mod vocabulary;

#[cfg(test)]
mod decode_tests;
#[cfg(test)]
mod ontology_tests;

use std::ops::Range;

use novelo_engine::decode::DecodeError;
use serde::Serialize;
use serde_json::Value;

use self::score::{Scorer, Sum, Threshold, Unknown, is_elliptical, newest};
pub use self::typo::Typos;
use self::vocabulary::{FOLLOW_UP, Unit, Vocabulary};
use super::account;
use super::subjects::{Search, SubjectKind};
use super::text::{Question, Subjects};
use crate::Language;
use crate::analyse::{QUESTION_WORDS_MAX, Spelled, Words};
use crate::window::holds;

/// Intents, scored by words. Read from data, checked when it is read.
#[derive(Debug, Clone)]
pub struct Ontology {
    intents: Vec<Intent>,
    /// What questions are about; the first is the main one.
    kinds: Vec<SubjectKind>,
    /// The sign of amounts, where it is not that of the language.
    currency: Option<String>,
    vocabulary: Vocabulary,
    scorer: Scorer,
    /// Words that begin a question which takes up the one before it.
    openers: Vec<String>,
}

/// Something that can be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    pub name: String,
    /// Where the answer is looked up.
    pub entity: String,
    pub bucket: Option<String>,
}

/// The intent of a turn before, and what it makes of a question.
#[derive(Debug, Clone, Default)]
pub struct Earlier<'a> {
    pub intent: &'a str,
    /// Which words of the question its parameters would take, by their numbers.
    pub read: Vec<usize>,
    /// Whether the question states a condition that it knows.
    pub has_condition: bool,
    /// Whether it is about no subject that the question names, if it names one.
    pub is_without_subject: bool,
}

/// What is known beside a question when it is scored.
#[derive(Clone, Copy)]
pub struct Circumstances<'a> {
    /// The intents of recent turns that may be looked back at, the newest first.
    pub earlier: &'a [Earlier<'a>],
    /// The words of the question that the parameters of an intent would take.
    pub reads: &'a dyn Fn(&str) -> Vec<usize>,
    /// Whether an intent needs a subject that the question does not name and the conversation does not have.
    pub lacks_subject: &'a dyn Fn(&str) -> bool,
}

impl Default for Circumstances<'_> {
    fn default() -> Self {
        Self { earlier: &[], reads: &|_| Vec::new(), lacks_subject: &|_| false }
    }
}

impl Earlier<'_> {
    fn reads(&self, word: usize) -> bool {
        self.read.contains(&word)
    }
}

/// How a question was understood.
#[derive(Debug, Clone)]
pub struct Scores {
    /// Every intent that anything speaks for, the best first.
    pub candidates: Vec<Candidate>,
    pub verdict: Verdict,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The first candidate it is.
    Routed,
    /// Too little speaks for any.
    TooLow,
    /// The second is too near to the first.
    TooClose,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Candidate {
    pub intent: String,
    pub entity: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bucket: Option<String>,
    pub score: f64,
    pub because: Vec<Because>,
}

/// Less than this, beside what speaks for a whole bucket, is no question of its own after an opener: `e sobre
/// o HGLG11?`.
const WEAK: f64 = 0.75;

/// What kind of reason an earlier turn is.
const HISTORY: &str = "history";

/// One reason for a score, or against it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Because {
    /// `token`, `phrase`, `negative`, `bucket` or `history`.
    pub kind: &'static str,
    pub feature: String,
    pub weight: f64,
}

impl Candidate {
    /// Whether the intent comes from the turns before.
    pub fn is_taken_up(&self) -> bool {
        self.because.iter().any(|because| because.kind == HISTORY)
    }
}

impl Scores {
    /// Where no intent won by the whole question, the first of several that are asked for one beside the
    /// other does.
    pub fn take_first_of(&mut self, first: &Candidate) {
        if self.verdict == Verdict::Routed {
            return;
        }
        let at = self.candidates.iter().position(|one| one.intent == first.intent);
        let one = at.map_or_else(|| first.clone(), |at| self.candidates.remove(at));
        self.candidates.insert(0, one);
        self.verdict = Verdict::Routed;
    }

    /// Of intents that are too close to each other, the only one that fits is the one.
    pub fn take_only(&mut self, near: f64, fits: impl Fn(&Candidate) -> Option<bool>) {
        let Some(best) = self.candidates.first().filter(|_| self.verdict == Verdict::TooClose) else { return };
        let least = best.score - near;
        let close = self.candidates.iter().enumerate().filter(|(_, one)| one.score > least);
        let Some(fit) = close.map(|(at, one)| Some((at, fits(one)?))).collect::<Option<Vec<_>>>() else { return };
        let mut fit = fit.into_iter().filter(|(_, fits)| *fits);
        if let (Some((at, _)), None) = (fit.next(), fit.next()) {
            let one = self.candidates.remove(at);
            self.candidates.insert(0, one);
            self.verdict = Verdict::Routed;
        }
    }

    /// The intent that the question is routed to.
    pub fn routed(&self) -> Option<&Candidate> {
        self.candidates.first().filter(|_| self.verdict == Verdict::Routed)
    }
}

impl Ontology {
    /// From what stands under the key `ontology` of its file. Paths of errors begin with that key.
    pub fn decode(value: &Value) -> Result<Self, DecodeError> {
        decode::ontology(value)
    }

    fn new(language: Language, kinds: Vec<SubjectKind>, threshold: Threshold, unknown: Unknown) -> Self {
        Self {
            intents: Vec::new(),
            kinds,
            currency: None,
            vocabulary: Vocabulary::new(language),
            scorer: Scorer::new(threshold, unknown),
            openers: Vec::new(),
        }
    }

    /// The language of questions and answers.
    pub fn language(&self) -> Language {
        self.vocabulary.language()
    }

    /// The sign of amounts, where it is not that of the language.
    pub fn currency(&self) -> Option<&str> {
        self.currency.as_deref()
    }

    /// How far an intent must be above the next.
    pub fn gap(&self) -> f64 {
        self.scorer.threshold.min_gap
    }

    /// Where an intent is looked up.
    pub fn entity_of(&self, intent: &str) -> Option<&str> {
        self.intents.iter().find(|one| one.name == intent).map(|one| one.entity.as_str())
    }

    pub fn intents(&self) -> &[Intent] {
        &self.intents
    }

    /// The kinds of subject; the first is the main one.
    pub fn kinds(&self) -> &[SubjectKind] {
        &self.kinds
    }

    /// Whether a question takes up the one before it: by how it begins, or since its intent comes from there.
    pub fn takes_up(&self, question: &Question, routed: &Candidate) -> bool {
        self.is_opened(question) || routed.is_taken_up()
    }

    fn is_opened(&self, question: &Question) -> bool {
        let usual = self.language().questions().openers;
        let is_opener = |folded: &String| match self.openers.is_empty() {
            true => holds(usual, folded),
            false => self.openers.contains(folded),
        };
        question.opening() > 0 || question.words().first().is_some_and(|word| is_opener(&word.folded))
    }

    /// The intents that a question asks for one beside the other, `preço e dy do HGLG11`, with the words that
    /// ask for each; none where it asks for one.
    pub fn several(&self, question: &Question) -> Vec<(Candidate, Range<usize>)> {
        let units = self.vocabulary.read(question);
        let subjects: Vec<Unit> = units.iter().filter(|unit| unit.is_subject()).copied().collect();
        let mut found: Vec<(Candidate, Range<usize>)> = Vec::new();
        for account::QuestionPart { words, is_joined } in account::parts(question) {
            let own: Vec<Unit> = units.iter().filter(|unit| words.contains(&unit.word)).copied().collect();
            let is_about = own.iter().any(|unit| unit.is_subject());
            // A name alone is one more subject, and asks for nothing else.
            if own.iter().all(|unit| unit.leans()) {
                continue;
            }
            let shared = subjects.iter().filter(|_| !is_about).map(|unit| unit.at(words.end));
            let with_subjects: Vec<Unit> = own.iter().copied().chain(shared).collect();
            // `o preço do MXRF11 e a selic`: what an `e` joins may be about no subject.
            let alone = || self.best(&own).filter(|_| is_joined && !is_about);
            let one = self.best(&with_subjects).or_else(alone);
            let is_new = |one: &Candidate| found.iter().all(|(other, _)| other.intent != one.intent);
            found.extend(one.filter(is_new).map(|one| (one, words)));
        }
        if found.len() > 1 { found } else { Vec::new() }
    }

    /// The intent that wins by these pieces.
    fn best(&self, units: &[Unit]) -> Option<Candidate> {
        let sums = self.scorer.sums(units, &|_| String::new());
        let is_routed = self.scorer.verdict(&sums) == Verdict::Routed;
        sums.into_iter().next().filter(|_| is_routed).and_then(|sum| self.candidate(sum))
    }

    /// A question with the subjects that it names.
    pub fn read(&self, text: &str, known: &Subjects) -> Question {
        let words = Words::new(text, QUESTION_WORDS_MAX);
        let words: Vec<Spelled<'_>> = words.iter().collect();
        let is_ordinary = |folded: &str| self.vocabulary.is_ordinary(folded);
        let language = self.language();
        let search = Search { text, words: &words, language, kinds: &self.kinds, known, is_ordinary: &is_ordinary };
        let mut question = Question::from_words(text, language, &words, search.run());
        let called = |folded: &str| self.kinds.iter().position(|kind| kind.called.iter().any(|one| one == folded));
        question.kind_words = words.iter().map(|word| called(word.folded)).collect();
        question.senses = self.vocabulary.senses(&question);
        question
    }

    /// Scores every intent, with what is known of the conversation and of the parameters.
    pub fn score(&self, question: &Question, known: &Circumstances<'_>) -> Scores {
        let units = self.vocabulary.read(question);
        let spelled = |at: usize| question.words().get(at).map(|word| word.folded.clone()).unwrap_or_default();
        let mut sums = self.scorer.sums(&units, &spelled);
        let mut verdict = self.scorer.verdict(&sums);
        if let Some(best) = sums.first_mut().filter(|_| verdict == Verdict::TooLow) {
            let read = self.intents.get(best.intent).map(|intent| (known.reads)(&intent.name)).unwrap_or_default();
            self.scorer.forgive(best, &units, &read);
            verdict = self.scorer.verdict(&sums);
        }
        let names_subject = units.iter().any(|unit| unit.is_subject());
        if let Some((at, intent, earlier)) = newest(&self.intents, known.earlier, names_subject)
            && self.leans_on(question, &units, (&sums, verdict), (at, earlier), known)
        {
            self.scorer.look_back(&mut sums, at, &intent.name);
            verdict = Verdict::Routed;
        }
        Scores { candidates: sums.into_iter().filter_map(|sum| self.candidate(sum)).collect(), verdict }
    }

    /// Whether a question means the intent of an earlier turn: it says too little by itself, and nothing that
    /// needs more; or it only adds a condition, changes one thing, or names another subject.
    fn leans_on(
        &self,
        question: &Question,
        units: &[Unit],
        (sums, verdict): (&[Sum], Verdict),
        (at, earlier): (usize, &Earlier<'_>),
        known: &Circumstances<'_>,
    ) -> bool {
        let names = account::name_words(question);
        let is_unnamed = question.all_subjects().is_empty();
        let is_open = verdict != Verdict::Routed;
        let is_opened = self.is_opened(question);
        let needs_more = || is_elliptical(units, &|word| earlier.reads(word) || names.contains(&word));
        let is_weak = is_opened && sums.first().is_some_and(|sum| sum.own < WEAK);
        // `e os mais voláteis?` after a ranking asks for no fund that nobody named.
        let best = sums.first().and_then(|sum| self.intents.get(sum.intent));
        let lacks = || !is_open && best.is_some_and(|best| (known.lacks_subject)(&best.name));
        let changes = || is_unnamed && (earlier.has_condition || question.changes() || lacks());
        let only_changes = || changes() && is_elliptical(units, &|word| earlier.reads(word));
        // `compare com XPML11` names a subject and nothing that is asked of it.
        let is_bare = || units.iter().all(|unit| unit.is_subject());
        let follows = || is_opened || units.iter().any(|unit| unit.is(FOLLOW_UP)) || is_bare();
        let only_names = || !is_unnamed && units.iter().all(|unit| unit.leans()) && follows();
        let speaks = || self.scorer.speaks_for(sums, at) && !units.iter().any(|unit| unit.is_strange());
        ((is_open || is_weak) && needs_more()) || only_changes() || only_names() || (is_open && speaks())
    }

    fn candidate(&self, sum: Sum) -> Option<Candidate> {
        let Intent { name, entity, bucket } = self.intents.get(sum.intent)?.clone();
        Some(Candidate { intent: name, entity, bucket, score: sum.score, because: sum.because })
    }
}
