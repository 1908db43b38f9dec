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
mod rules;
mod said;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use self::rules::Rule;
use self::said::{QuestionWords, Spelling};
use super::text::Question;
use crate::window::Window;

/// What every intent can do, whatever its rules.
const LIST: &str = "list";
/// What is reckoned from many rows, and means all where no stretch is named.
const OF_ALL: [&str; 5] = ["sum", "avg", "max", "min", "count"];
/// Names of parameters.
const WINDOW: &str = "window";
const LIMIT: &str = "limit";

/// What each intent takes, and from where.
#[derive(Debug, Clone, Default)]
pub struct ParameterRules {
    /// What the files and the wire call a subject.
    subject: String,
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
}

/// What the conversation has to offer; nothing, where its policy does not allow it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Given<'a> {
    /// Subjects that the question inherits, since it names none.
    pub inherited: &'a [String],
    /// The last subjects that were answered about, for a comparison with them.
    pub reference: &'a [String],
    /// The parameters of the last answer, where it had the same intent.
    pub parameters: Option<&'a Parameters>,
}

/// What a query is asked with.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Parameters {
    pub subjects: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Window>,
    pub aggregation: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// By the name of the parameter; not in it where nothing was chosen and there is no default.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub choices: BTreeMap<String, Vec<String>>,
    /// Where each came from, by its name.
    #[serde(skip)]
    pub taken: BTreeMap<String, Vec<Taken>>,
    /// What is needed and was not found.
    #[serde(skip)]
    pub missing: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Taken {
    Text,
    Context,
    Default,
}

/// A value, and where it came from.
type Found<T> = Option<(T, Taken)>;

impl ParameterRules {
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
        let ask = match missing {
            WINDOW => &self.unread.say,
            missing if missing == self.subject => &rule.subject.as_ref()?.ask,
            missing => &rule.choices.get(missing)?.ask,
        };
        ask.as_deref()
    }

    /// What an answer must say of a condition in the question, such as a number that something must be above:
    /// none is applied.
    pub fn unmet(&self, question: &Question) -> Option<&str> {
        let said = QuestionWords::new(question);
        let is_one = |words: &Spelling| said.find(words).is_some_and(|place| said.is_number(place.end));
        self.conditions.say.as_deref().filter(|_| self.conditions.words.iter().any(is_one))
    }

    /// The parameters of a question with this intent.
    pub fn infer(&self, intent: &str, question: &Question, given: &Given<'_>) -> Parameters {
        let mut found = Parameters { aggregation: LIST.to_owned(), ..Parameters::default() };
        let Some(rule) = self.intents.get(intent) else { return found };
        let mut said = QuestionWords::new(question);
        self.subjects(rule, question, given, &said, &mut found);
        let window = said.take_window();
        if rule.window.is_some() && window.is_none() && (said.has_stray_date() || said.has_one(&self.unread.words)) {
            found.missing.push(WINDOW.to_owned());
        }
        found.put_window(rule, window, given);
        found.put_choices(rule, &said, given);
        // `10 maiores` counts rows, and asks for no maximum.
        found.put_limit(rule, &mut said, given);
        found.put_aggregation(rule, said);
        found.settle();
        found
    }

    fn subjects(
        &self,
        rule: &Rule,
        question: &Question,
        given: &Given<'_>,
        said: &QuestionWords<'_>,
        found: &mut Parameters,
    ) {
        let Some(rule) = &rule.subject else { return };
        let inherits = rule.inherits && !rule.unless.iter().any(|words| said.has(words));
        let joins = || !given.reference.is_empty() && compare::joins(said, &self.compare, &question.subjects);
        let (subjects, taken) = if question.subjects.is_empty() {
            (if inherits { given.inherited.to_vec() } else { Vec::new() }, vec![Taken::Context])
        } else if rule.inherits && joins() {
            (each_once(given.reference, &question.subjects), vec![Taken::Context, Taken::Text])
        } else {
            (question.subjects.clone(), vec![Taken::Text])
        };
        if subjects.is_empty() {
            found.missing.extend(rule.is_required.then(|| self.subject.clone()));
        } else {
            found.taken.insert(self.subject.clone(), taken);
            found.subjects = subjects;
        }
    }
}

fn each_once(reference: &[String], named: &[String]) -> Vec<String> {
    let mut all: Vec<String> = Vec::with_capacity(reference.len() + named.len());
    for subject in reference.iter().chain(named) {
        if !all.contains(subject) {
            all.push(subject.clone());
        }
    }
    all
}

impl Parameters {
    fn put_window(&mut self, rule: &Rule, said: Option<Window>, given: &Given<'_>) {
        let Some(rule) = &rule.window else { return };
        let earlier = given.parameters.filter(|_| rule.inherits).and_then(|earlier| earlier.window);
        let fits = |window: &Window| rule.takes_rows || window.rows().is_none();
        self.window = self.note(WINDOW, first(said.filter(fits), earlier.filter(fits), rule.default));
    }

    fn put_choices(&mut self, rule: &Rule, said: &QuestionWords<'_>, given: &Given<'_>) {
        for (name, rule) in &rule.choices {
            let earlier = given.parameters.filter(|_| rule.inherits).and_then(|earlier| earlier.choices.get(name));
            // The rules may have changed since.
            let earlier = earlier.map(|values| values.iter().filter(|value| rule.values.contains(value)).cloned());
            let some = |values: Vec<String>| Some(values).filter(|values| !values.is_empty());
            let chosen = first(
                some(said.chosen(&rule.words)),
                earlier.and_then(|values| some(values.collect())),
                some(rule.default.clone()),
            );
            match self.note(name, chosen) {
                Some(values) => _ = self.choices.insert(name.clone(), values),
                None => self.missing.extend(rule.is_required.then(|| name.clone())),
            }
        }
    }

    fn put_limit(&mut self, rule: &Rule, said: &mut QuestionWords<'_>, given: &Given<'_>) {
        let Some(rule) = &rule.limit else { return };
        let earlier = given.parameters.filter(|_| rule.inherits).and_then(|earlier| earlier.limit);
        let limit = first(limit::take(said, &rule.of), earlier, rule.default);
        self.limit = self.note(LIMIT, limit).map(|limit| limit.min(rule.max));
    }

    fn put_aggregation(&mut self, rule: &Rule, said: QuestionWords<'_>) {
        let Some(rule) = &rule.aggregation else { return };
        let spoken = said.spoken(&rule.words);
        let first_allowed = rule.allow.iter().find(|name| spoken.contains(name)).cloned();
        let aggregation = first(first_allowed, None, Some(rule.default.clone()));
        self.aggregation = self.note("aggregation", aggregation).unwrap_or_default();
    }

    /// What nobody said gives way: the newest row to a maximum, which is of all; the usual number of rows to
    /// a named stretch of time, which is answered whole, and to the rows of the window.
    fn settle(&mut self) {
        let is_usual = |of: &Self, name: &str| of.taken.get(name).is_some_and(|taken| taken.contains(&Taken::Default));
        let rows = self.window.and_then(Window::rows);
        if OF_ALL.contains(&self.aggregation.as_str()) && rows.is_some() && is_usual(self, WINDOW) {
            self.window = None;
            self.taken.remove(WINDOW);
        }
        let rows = self.window.and_then(Window::rows);
        let is_said = self.taken.contains_key(LIMIT) && !is_usual(self, LIMIT);
        let is_told_whole = self.window.is_some_and(Window::has_start) && !is_usual(self, WINDOW);
        if !is_said && (rows.is_some() || is_told_whole || self.aggregation != LIST) {
            self.limit = rows;
            self.taken.remove(LIMIT);
        }
    }

    fn note<T>(&mut self, name: &str, found: Found<T>) -> Option<T> {
        let (value, taken) = found?;
        self.taken.insert(name.to_owned(), vec![taken]);
        Some(value)
    }
}

fn first<T>(text: Option<T>, context: Option<T>, default: Option<T>) -> Found<T> {
    let of = |value: Option<T>, taken| value.map(|value| (value, taken));
    of(text, Taken::Text).or(of(context, Taken::Context)).or(of(default, Taken::Default))
}
