//! Parameters of a question: from its text first, from the conversation after, from the rules last.
//!
//! Owns the rules, which are data (`decode`), and how words speak for a value (`said`). Refuses to guess:
//! what is needed and was not said is missing, and the answer asks for it. Invariant: an intent takes only
//! what its rules name.

mod compare;
mod decode;
#[cfg(test)]
mod infer_tests;
mod limit;
mod pointer;
mod put;
mod rules;
mod said;
mod subject;
mod unread;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde::{Deserialize, Serialize};

pub use self::decode::LIMIT_MAX;
use self::rules::Rule;
pub(super) use self::said::{QuestionWords, Spelling};
use super::account::{Unread, UnreadKind};
use super::condition::{self, Condition, ConditionRule};
use super::subjects::Subject;
use super::text::{Question, Subjects};
use crate::Language;
use crate::window::Window;

/// What every intent can do, whatever its rules.
const LIST: &str = "list";
/// What is reckoned from many rows, and means all where no stretch is named.
const OF_ALL: [&str; 5] = ["sum", "avg", "max", "min", "count"];
/// Names of parameters.
const WINDOW: &str = "window";
const LIMIT: &str = "limit";
const CONDITION: &str = "condition";
const NUMBER: &str = "number";
/// What has no rows of its own to be about something else.
const EXPLAIN: &str = "explain";
/// Where a sentence quotes the question.
const WORDS: &str = "{words}";

/// What each intent takes, and from where.
#[derive(Debug, Clone, Default)]
pub struct ParameterRules {
    /// What the files and the wire call a subject of each kind.
    kinds: Vec<String>,
    language: Option<Language>,
    compare: Vec<Spelling>,
    unread: Remark,
    conditions: Remark,
    intents: BTreeMap<String, Rule>,
}

/// Words that are not understood, and what is said then: of a time that no window is read from, of a
/// condition that no query knows. An answer that passes over them would be a wrong one.
#[derive(Debug, Clone, Default)]
struct Remark {
    words: Vec<Spelling>,
    say: Option<String>,
    name: Option<String>,
    pointer: Option<String>,
    unanswered: Option<String>,
    ambiguous: Option<String>,
    number: Option<String>,
}

/// What the conversation has to offer; nothing, where its policy does not allow it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Given<'a> {
    /// Of each kind of subject, by its place.
    pub subjects: &'a [GivenSubjects<'a>],
    /// The stretch of time of the last answer, whatever its intent.
    pub last_window: Option<Window>,
    /// The parameters of the last answer, where it had the same intent.
    pub parameters: Option<&'a Parameters>,
    /// Whether the intent comes from the conversation.
    pub takes_up: bool,
    /// Whether the question asks for other intents too: its subjects may be for those.
    pub is_one_of_several: bool,
    /// Whether the last answer was about subjects.
    pub was_about_subjects: bool,
    /// What the entity can be selected by.
    pub conditions: &'a [ConditionRule],
    /// What any entity can be selected by: a value that only others know is a condition all the same.
    pub elsewhere: &'a [ConditionRule],
}

/// What the conversation has to offer of one kind of subject.
#[derive(Debug, Clone, Copy, Default)]
pub struct GivenSubjects<'a> {
    /// Subjects that the question inherits, since it names none.
    pub inherited: &'a [String],
    /// The last subjects that were answered about, for a comparison with them.
    pub reference: &'a [String],
    /// Those of the last few answers, the oldest first.
    pub recent: &'a [Vec<String>],
    /// Those that the last answer listed without being asked about them.
    pub listed: &'a [String],
    /// Those of which one may be picked by its place.
    pub several: &'a [String],
    /// What was named since and not answered about.
    pub unanswered: &'a [String],
    /// The turn of the last reference.
    pub turn: Option<u64>,
    /// Whether another kind was answered about since.
    pub is_older: bool,
}

impl<'a> Given<'a> {
    fn of(&self, kind: usize) -> GivenSubjects<'a> {
        self.subjects.get(kind).copied().unwrap_or_default()
    }

    fn inherits_any(&self) -> bool {
        self.subjects.iter().any(|subjects| !subjects.inherited.is_empty())
    }
}

impl GivenSubjects<'_> {
    /// All subjects of the last few answers, each once, the last named last.
    fn mentioned(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for subject in self.recent.iter().flatten() {
            all.retain(|other| other != subject);
            all.push(subject.clone());
        }
        all
    }
}

/// What a query is asked with.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Parameters {
    /// Those of the first kind.
    pub subjects: Vec<String>,
    /// Those of the other kinds, by its name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub other_subjects: BTreeMap<String, Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Window>,
    pub aggregation: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// By the name of the parameter; not in it where nothing was chosen and there is no default.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub choices: BTreeMap<String, Vec<String>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// Where each came from, by its name.
    #[serde(skip)]
    pub taken: BTreeMap<String, Vec<Taken>>,
    /// What is needed and was not found.
    #[serde(skip)]
    pub missing: Vec<String>,
    /// What the question says and nothing reads.
    #[serde(skip)]
    pub unread: Vec<Unread>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Taken {
    Text,
    Context,
    Default,
}

impl Parameters {
    /// The subjects of a kind, by its place and its name.
    pub fn subjects_of(&self, kind: usize, name: &str) -> &[String] {
        match kind {
            0 => &self.subjects,
            _ => self.other_subjects.get(name).map_or(&[], Vec::as_slice),
        }
    }

    /// Whether there are any, of whatever kind.
    pub fn has_subjects(&self) -> bool {
        !self.subjects.is_empty() || self.other_subjects.values().any(|subjects| !subjects.is_empty())
    }

    fn set_subjects(&mut self, kind: usize, name: &str, subjects: Vec<String>) {
        match kind {
            0 => self.subjects = subjects,
            _ => _ = self.other_subjects.insert(name.to_owned(), subjects),
        }
    }
}

impl ParameterRules {
    fn kind_name(&self, kind: usize) -> &str {
        self.kinds.get(kind).map_or("", String::as_str)
    }

    fn language(&self) -> Language {
        self.language.unwrap_or(Language::Portuguese)
    }

    /// What an intent may be asked to reckon.
    pub fn aggregations(&self, intent: &str) -> &[String] {
        let rule = self.intents.get(intent).and_then(|rule| rule.aggregation.as_ref());
        rule.map_or(&[], |rule| &rule.allow)
    }

    /// The names of all choices, whichever intents take them.
    pub fn choices(&self) -> BTreeSet<&str> {
        self.intents.values().flat_map(|rule| rule.choices.keys()).map(String::as_str).collect()
    }

    /// What a question for a missing parameter says, where the rules have a sentence for it.
    pub fn sentence(&self, intent: &str, missing: &str) -> Option<&str> {
        let rule = self.intents.get(intent)?;
        let subject = rule.subjects.iter().find(|(kind, _)| self.kind_name(*kind) == missing);
        let ask = match subject {
            Some((_, rule)) => &rule.ask,
            None => &rule.choices.get(missing)?.ask,
        };
        ask.as_deref()
    }

    /// What is said of words that were not understood.
    pub fn sentence_of(&self, unread: &Unread) -> String {
        let own = match unread.kind {
            UnreadKind::Name => &self.unread.name,
            UnreadKind::Period => &self.unread.say,
            UnreadKind::Condition => &self.conditions.say,
            UnreadKind::Pointer => &self.unread.pointer,
            UnreadKind::Unanswered => &self.unread.unanswered,
            UnreadKind::Ambiguous => &self.unread.ambiguous,
            UnreadKind::Number => &self.unread.number,
        };
        let usual = self.language().questions().sentences.unread;
        let said = own.as_deref().unwrap_or_else(|| usual(unread.kind));
        // A sentence that quotes nothing follows the words that it is about.
        match said.contains(WORDS) {
            true => said.replace(WORDS, &unread.words),
            false => format!("\"{}\": {said}", unread.words),
        }
    }

    /// The kinds of subject that an intent is about, by their places.
    pub fn kinds_of(&self, intent: &str) -> Vec<usize> {
        let rule = self.intents.get(intent);
        rule.map(|rule| rule.subjects.iter().map(|(kind, _)| *kind).collect()).unwrap_or_default()
    }

    /// Those that it cannot do without.
    pub fn needed_kinds(&self, intent: &str) -> Vec<usize> {
        let subjects = self.intents.get(intent).into_iter().flat_map(|rule| &rule.subjects);
        subjects.filter(|(_, rule)| rule.is_required).map(|(kind, _)| *kind).collect()
    }

    /// The known subject, or the few, that a code or a name may have meant.
    pub fn suggestion(&self, unread: &Unread, known: &Subjects) -> Option<String> {
        let near = match unread.kind {
            UnreadKind::Name => known.near(&unread.words),
            UnreadKind::Ambiguous => known.offered(&unread.subjects),
            _ => Vec::new(),
        };
        let language = self.language();
        (!near.is_empty()).then(|| (language.questions().sentences.did_you_mean)(&language.join(&near, false)))
    }

    /// Which words of a question an intent would take as parameters, by their numbers, and whether a
    /// condition is among them.
    pub fn reads(&self, intent: &str, question: &Question, conditions: &[ConditionRule]) -> (Vec<usize>, bool) {
        let Some(rule) = self.intents.get(intent) else { return (Vec::new(), false) };
        let said = QuestionWords::new(question);
        let chosen = rule.choices.iter().map(|(name, rule)| (name.clone(), said.chosen(&rule.words)));
        let found = condition::find(&said, conditions, &chosen.collect());
        let has_condition = !found.conditions.is_empty();
        let mut read: Vec<usize> = found.read.into_iter().flatten().collect();
        read.extend(unread::parameter_words(rule, &said).into_iter().flatten());
        (read, has_condition)
    }

    /// The parameters of a question with this intent.
    pub fn infer(&self, intent: &str, question: &Question, given: &Given<'_>) -> Parameters {
        let mut found = Parameters { aggregation: LIST.to_owned(), ..Parameters::default() };
        let Some(rule) = self.intents.get(intent) else { return found };
        let mut said = QuestionWords::new(question);
        let window = self.window(rule, &mut said, question, given, &mut found);
        found.put_window(rule, window, given);
        found.put_choices(rule, &said, given);
        let read = found.put_conditions(rule, question, &mut said, given);
        found.unread.extend(self.unread_condition(question, &said));
        found.unread.extend(unread::supposed(&said, question));
        found.unread.extend(unclear(rule, question));
        found.unread.extend(self.other_side(rule, question, &said, given));
        self.subjects(rule, question, given, &said, &mut found);
        found.unread.extend(pointer::to_nothing(rule, question, &said, given, &found));
        let words = unread::parameter_words(rule, &said);
        pointer::removal(&said).into_iter().for_each(|words| said.take(words));
        // `10 maiores` counts rows, and asks for no maximum.
        found.put_limit(rule, &mut said, given);
        found.put_aggregation(rule, &said, given);
        found.settle();
        if found.aggregation != EXPLAIN {
            let read: Vec<_> = read.into_iter().chain(words).collect();
            found.unread.extend(unread::names(rule, question, &said, given, &read));
            if found.unread.is_empty() {
                found.unread.extend(unread::stray_number(rule, question, &said, &read));
            }
        }
        let kind = rule.subjects.first().map_or(0, |(kind, _)| *kind);
        found.ask_back(self.kind_name(kind));
        found
    }

    /// A condition by other words, with a number behind them.
    fn unread_condition(&self, question: &Question, said: &QuestionWords<'_>) -> Option<Unread> {
        let place = |words: &Spelling| said.find(words).filter(|place| said.is_number(place.end));
        let words = self.conditions.words.iter().find_map(place)?;
        Some(Unread::new(UnreadKind::Condition, question.spelled(words.start..words.end + 1)))
    }

    /// The stretch of time that is named. One that is named and cannot be read, or that the intent has none
    /// of, is not understood.
    fn window(
        &self,
        rule: &Rule,
        said: &mut QuestionWords<'_>,
        question: &Question,
        given: &Given<'_>,
        found: &mut Parameters,
    ) -> Option<Window> {
        if let Some(words) = unread::same_period(said) {
            let takes = |last: &Window| rule.window.as_ref().is_some_and(|it| it.takes_rows || last.rows().is_none());
            let last = given.last_window.filter(takes);
            found.unread.extend(last.is_none().then(|| unread::period(question, words.clone())));
            said.take(words);
            return last;
        }
        let located = Window::among(&said.tokens);
        let read = unread::parameter_words(rule, said);
        let is_read = |words: &Range<usize>| read.iter().any(|it| it.start < words.end && words.start < it.end);
        let Some(of) = &rule.window else {
            // `on saturday` may be a choice.
            if located.as_ref().is_some_and(|(_, words)| is_read(words)) {
                return None;
            }
            let is_other = |window: &Window| !matches!(window, Window::Today | Window::This(_) | Window::Upcoming);
            let words = located.filter(|(window, _)| is_other(window) && !rule.subjects.is_empty());
            found.unread.extend(words.map(|(_, words)| unread::period(question, words)));
            said.take_window();
            return None;
        };
        let counted = || Window::counted_alone(&said.tokens).filter(|(_, words)| said.are_free(words));
        let located = located.or_else(counted);
        if let Some((window, words)) = located {
            let is_row = !of.takes_rows && window.rows().is_some() && window != Window::Today;
            if window != Window::Upcoming {
                said.take(words.clone());
            }
            let is_moved = unread::moved(said, &words);
            let whole = is_moved.unwrap_or_else(|| words.clone());
            found.unread.extend((is_row || whole != words).then(|| unread::period(question, whole)));
            return Some(window);
        }
        let stray = unread::stray_period(said, question, &self.unread.words, &read);
        found.unread.extend(stray);
        None
    }
}

/// Names that several subjects have which the intent can be about.
fn unclear(rule: &Rule, question: &Question) -> Vec<Unread> {
    let of_rule = |subject: &&Subject| rule.subjects.iter().any(|(kind, _)| *kind == subject.kind);
    let one = |(words, candidates): (&Range<usize>, &[Subject])| {
        let own: Vec<Subject> = candidates.iter().filter(of_rule).cloned().collect();
        let candidates = if own.is_empty() { candidates.to_vec() } else { own };
        let is_open = candidates.len() > 1 && !rule.subjects.is_empty();
        let codes = candidates.iter().map(|subject| subject.code.clone()).collect();
        let unread = Unread::new(UnreadKind::Ambiguous, question.spelled(words.clone()));
        is_open.then_some(Unread { candidates: codes, subjects: candidates, ..unread })
    };
    question.unclear().filter_map(one).collect()
}
