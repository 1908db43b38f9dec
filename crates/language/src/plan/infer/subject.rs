//! Which subjects a question is about: those that it names, points at, or inherits.

use super::pointer::{self, Pointed};
use super::rules::{Rule, SubjectRule};
use super::said::QuestionWords;
use super::{Given, ParameterRules, Parameters, Taken, compare};
use crate::plan::account::{Unread, UnreadKind};
use crate::plan::text::Question;

impl ParameterRules {
    pub(super) fn subjects(
        &self,
        rule: &Rule,
        question: &Question,
        given: &Given<'_>,
        said: &QuestionWords<'_>,
        found: &mut Parameters,
    ) {
        let Some(rule) = &rule.subject else { return };
        let is_general = rule.unless.iter().any(|words| said.has(words)) || was_general(rule, question, given);
        if let Some(unread) = unanswered(rule, question, given).filter(|_| !is_general) {
            found.unread.push(unread);
            return;
        }
        let (subjects, taken) = match self.pointed(rule, question, given, said, is_general) {
            Some((Pointed::Subjects(subjects), taken)) => (subjects, taken),
            Some((Pointed::Unclear(words), _)) => {
                let words = question.spelled(words).to_owned();
                found.unread.push(Unread { kind: UnreadKind::Pointer, words });
                return;
            }
            None => (Vec::new(), Vec::new()),
        };
        let is_of_list = taken == [Taken::Context] && given.listed.len() > 1 && subjects == given.inherited;
        if is_of_list && !subjects.is_empty() {
            found.unread.push(Unread { kind: UnreadKind::Pointer, words: question.text.trim().to_owned() });
            return;
        }
        // A condition selects among all of them.
        let is_selected = !found.conditions.is_empty() && is_general;
        if subjects.is_empty() {
            found.missing.extend((rule.is_required && !is_selected).then(|| self.subject.clone()));
        } else {
            found.taken.insert(self.subject.clone(), taken);
            found.subjects = subjects;
        }
    }

    /// The subjects that a question names, points at or inherits, and where they come from.
    fn pointed(
        &self,
        rule: &SubjectRule,
        question: &Question,
        given: &Given<'_>,
        said: &QuestionWords<'_>,
        is_general: bool,
    ) -> Option<(Pointed, Vec<Taken>)> {
        let both = vec![Taken::Context, Taken::Text];
        if !question.subjects.is_empty() {
            let changed = rule.inherits.then(|| pointer::with_named(said, question, given)).flatten();
            if let Some(changed) = changed {
                return Some((changed, both));
            }
            let joins = !given.reference.is_empty() && compare::joins(said, &self.compare, &question.subjects);
            let subjects = if rule.inherits && joins {
                return Some((Pointed::Subjects(each_once(given.reference, &question.subjects)), both));
            } else {
                question.subjects.clone()
            };
            return Some((Pointed::Subjects(subjects), vec![Taken::Text]));
        }
        if !rule.inherits {
            return None;
        }
        let pointed = pointer::without_named(said, given);
        let inherited = || {
            let one = if given.listed.len() == 1 { given.listed } else { given.inherited };
            (!one.is_empty() && !is_general).then(|| Pointed::Subjects(one.to_vec()))
        };
        Some((pointed.or_else(inherited)?, vec![Taken::Context]))
    }
}

/// Whether a question takes up one that was about all subjects.
fn was_general(rule: &SubjectRule, question: &Question, given: &Given<'_>) -> bool {
    let Some(earlier) = given.parameters.filter(|_| given.takes_up && question.subjects.is_empty()) else {
        return false;
    };
    earlier.subjects.is_empty() && (!rule.is_required || !earlier.conditions.is_empty()) && given.unanswered.is_empty()
}

/// What was named before and not answered about, where a question would pass over it.
fn unanswered(rule: &SubjectRule, question: &Question, given: &Given<'_>) -> Option<Unread> {
    let names_none = question.subjects.is_empty() && question.strangers().is_empty();
    let passes = names_none && rule.inherits && (rule.is_required || !given.inherited.is_empty());
    let words = given.unanswered.join(", ");
    (passes && !words.is_empty()).then_some(Unread { kind: UnreadKind::Unanswered, words })
}

pub(super) fn each_once(reference: &[String], named: &[String]) -> Vec<String> {
    let mut all: Vec<String> = Vec::with_capacity(reference.len() + named.len());
    for subject in reference.iter().chain(named) {
        if !all.contains(subject) {
            all.push(subject.clone());
        }
    }
    all
}
