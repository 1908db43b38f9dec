//! How each parameter is found: in the text, in the conversation, or in the rules.

use std::ops::Range;

use super::limit;
use super::rules::Rule;
use super::said::QuestionWords;
use super::{CONDITION, Given, LIMIT, LIST, NUMBER, OF_ALL, Parameters, Taken, WINDOW};
use crate::plan::account::{Unread, UnreadKind};
use crate::plan::condition::{self, Condition};
use crate::plan::text::Question;
use crate::window::{Window, holds};

/// A value, and where it came from.
type Found<T> = Option<(T, Taken)>;

impl Parameters {
    pub(super) fn put_window(&mut self, rule: &Rule, said: Option<Window>, given: &Given<'_>) {
        let Some(rule) = &rule.window else { return };
        let earlier = given.parameters.filter(|_| rule.inherits).and_then(|earlier| earlier.window);
        let fits = |window: &Window| rule.takes_rows || window.rows().is_none();
        self.window = self.note(WINDOW, first(said.filter(fits), earlier.filter(fits), rule.default));
    }

    /// Those of the question, and those before it that are about other columns. Says which words they are.
    pub(super) fn put_conditions(
        &mut self,
        rule: &Rule,
        question: &Question,
        said: &mut QuestionWords<'_>,
        given: &Given<'_>,
    ) -> Vec<Range<usize>> {
        let takes = !rule.subjects.is_empty() || !given.conditions.is_empty();
        if !takes {
            return Vec::new();
        }
        let found = condition::find(said, given.conditions, &self.choices);
        let chosen = said.places_of(rule.choices.values().flat_map(|rule| rule.words.iter().map(|(words, _)| words)));
        let is_read = |words: &Range<usize>| {
            found.read.iter().chain(&chosen).any(|read| read.start < words.end && words.start < read.end)
        };
        let elsewhere = condition::values_named(said, given.elsewhere).into_iter().filter(|words| !is_read(words));
        let is_qualified = |words: &Range<usize>| holds(said.grammar().qualifiers, said.tokens.before(words.start));
        let (described, elsewhere): (Vec<_>, Vec<_>) =
            elsewhere.filter(is_qualified).partition(|words| question.describes_named(words.end));
        self.unread
            .extend(elsewhere.iter().map(|words| Unread::new(UnreadKind::Condition, question.spelled(words.clone()))));
        let unread = found.unread.iter().map(|words| question.spelled(words.clone()).to_owned());
        self.unread.extend(unread.map(|words| Unread::new(UnreadKind::Condition, words)));
        let is_other = |earlier: &&Condition| found.conditions.iter().all(|new| new.column != earlier.column);
        let is_declared = |earlier: &&Condition| given.conditions.iter().any(|rule| rule.column == earlier.column);
        // Of funds that were selected, one that is named is another question.
        let goes_on = |earlier: &&Parameters| question.all_subjects().is_empty() || earlier.has_subjects();
        let earlier = given.parameters.filter(|_| given.takes_up).filter(goes_on);
        let earlier = earlier.into_iter().flat_map(|earlier| &earlier.conditions);
        self.conditions = earlier.filter(is_other).filter(is_declared).cloned().collect();
        self.conditions.extend(found.conditions);
        // The numbers of a condition count no rows and name no stretch.
        found.read.iter().chain(&found.unread).for_each(|words| said.take(words.clone()));
        found.read.into_iter().chain(found.unread).chain(described).collect()
    }

    pub(super) fn put_choices(&mut self, rule: &Rule, said: &QuestionWords<'_>, given: &Given<'_>) {
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

    pub(super) fn put_limit(&mut self, rule: &Rule, said: &mut QuestionWords<'_>, given: &Given<'_>) {
        let Some(rule) = &rule.limit else { return };
        let earlier = given.parameters.filter(|_| rule.inherits).and_then(|earlier| earlier.limit);
        let limit = first(limit::take(said, &rule.of), earlier, rule.default);
        self.limit = self.note(LIMIT, limit).map(|limit| limit.min(rule.max));
    }

    pub(super) fn put_aggregation(&mut self, rule: &Rule, said: &QuestionWords<'_>, given: &Given<'_>) {
        let Some(rule) = &rule.aggregation else { return };
        let spoken = said.spoken(&rule.words);
        let first_allowed = rule.allow.iter().find(|name| spoken.contains(name)).cloned();
        // `e em 2024?` asks for the mean again, `e os últimos 3?` does not.
        let is_kept = |name: &String| OF_ALL.contains(&name.as_str()) && rule.allow.contains(name);
        let is_limited = self.taken.get(LIMIT).is_some_and(|taken| taken.contains(&Taken::Text));
        let earlier = given.parameters.filter(|_| given.takes_up && !is_limited).map(|it| it.aggregation.clone());
        let aggregation = first(first_allowed, earlier.filter(is_kept), Some(rule.default.clone()));
        self.aggregation = self.note("aggregation", aggregation).unwrap_or_default();
    }

    /// What nobody said gives way: the newest row to a maximum, which is of all; the usual number of rows to
    /// a named stretch of time, which is answered whole, and to the rows of the window.
    pub(super) fn settle(&mut self) {
        let is_usual = |of: &Self, name: &str| of.taken.get(name).is_some_and(|taken| taken.contains(&Taken::Default));
        let rows = self.window.and_then(Window::rows);
        if OF_ALL.contains(&self.aggregation.as_str()) && rows.is_some() && is_usual(self, WINDOW) {
            self.window = Some(Window::All);
        }
        let rows = self.window.and_then(Window::rows);
        let is_said = self.taken.contains_key(LIMIT) && !is_usual(self, LIMIT);
        let is_told_whole = self.window.is_some_and(Window::has_start) && !is_usual(self, WINDOW);
        if !is_said && (rows.is_some() || is_told_whole || self.aggregation != LIST) {
            self.limit = rows;
            self.taken.remove(LIMIT);
        }
    }

    /// What was not understood makes the parameter missing that it may have meant.
    pub(super) fn ask_back(&mut self, subject: &str) {
        let mut quoted: Vec<String> = Vec::new();
        self.unread.retain(|unread| {
            let is_new = !quoted.contains(&unread.words);
            quoted.extend(is_new.then(|| unread.words.clone()));
            is_new
        });
        for unread in &self.unread {
            let name = match unread.kind {
                UnreadKind::Period => WINDOW,
                UnreadKind::Condition => CONDITION,
                UnreadKind::Number => NUMBER,
                _ => subject,
            };
            if !self.missing.iter().any(|missing| missing == name) {
                self.missing.push(name.to_owned());
            }
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
