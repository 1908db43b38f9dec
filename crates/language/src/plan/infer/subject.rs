//! Which subjects a question is about: those that it names, points at, or inherits.

use super::pointer::{self, Pointed};
use super::rules::{Rule, SubjectRule};
use super::said::QuestionWords;
use super::{Given, GivenSubjects, ParameterRules, Parameters, Taken, compare};
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
        if found.unread.iter().any(|unread| unread.kind == UnreadKind::Ambiguous) {
            return;
        }
        let inference = SubjectInference { rules: self, rule, question, given, said };
        let is_named = |kind: usize| !rule.named(kind, question).is_empty();
        let names_any = rule.subjects.iter().any(|(kind, _)| is_named(*kind));
        let newest = rule.subjects.iter().filter_map(|(kind, _)| given.of(*kind).turn).max();
        // Of several kinds, `the first` is one of that which has a first.
        let points = |kind: usize| {
            let pointed = pointer::without_named(said, &given.of(kind));
            matches!(pointed, Some((Pointed::Subjects(_), _)))
        };
        let pointed = rule.subjects.iter().find(|(kind, of)| !names_any && of.inherits && points(*kind));
        let pointed = pointed.map(|(kind, _)| *kind).filter(|_| rule.subjects.len() > 1);
        for (kind, of) in &rule.subjects {
            let mut own = given.of(*kind);
            // Of several kinds, what is named takes the place of all that was; and what was spoken of last,
            // that of what was before it.
            let is_old = own.turn < newest && !of.is_required;
            let has_other = (names_any && !is_named(*kind)) || pointed.is_some_and(|pointed| pointed != *kind);
            if has_other || (rule.subjects.len() > 1 && is_old && !is_named(*kind) && pointed != Some(*kind)) {
                own = GivenSubjects { unanswered: own.unanswered, ..GivenSubjects::default() };
            }
            inference.infer(*kind, of, &own, has_other, found);
        }
    }
}

/// What the subjects of a question are inferred from.
struct SubjectInference<'i> {
    rules: &'i ParameterRules,
    rule: &'i Rule,
    question: &'i Question,
    given: &'i Given<'i>,
    said: &'i QuestionWords<'i>,
}

impl SubjectInference<'_> {
    /// Those of a kind. `has_other`: the question names one of another kind.
    fn infer(&self, kind: usize, rule: &SubjectRule, own: &GivenSubjects<'_>, has_other: bool, found: &mut Parameters) {
        let question = self.question;
        let is_general = rule.unless.iter().any(|words| self.said.has(words)) || self.was_general(kind, rule, own);
        let may_pass = kind > 0 && !rule.is_required && !self.given.takes_up;
        if let Some(unread) = unanswered(rule, question, own).filter(|_| !is_general && !may_pass) {
            if !found.unread.contains(&unread) {
                found.unread.push(unread);
            }
            return;
        }
        let (subjects, taken) = match self.pointed(kind, rule, own, is_general, has_other) {
            Some((Pointed::Subjects(subjects), taken)) => (subjects, taken),
            Some((Pointed::Unclear(words), _)) => {
                found.unread.push(Unread::new(UnreadKind::Pointer, question.spelled(words)));
                return;
            }
            None => (Vec::new(), Vec::new()),
        };
        let is_of_list = taken == [Taken::Context] && own.listed.len() > 1 && subjects == own.inherited;
        // `How old is the author?` after a question about a book means its author, whom nobody named.
        let is_of_other = taken == [Taken::Context] && own.is_older && question.calls_kind(kind);
        if (is_of_list || is_of_other) && !subjects.is_empty() {
            found.unread.push(Unread::new(UnreadKind::Pointer, question.text.trim()));
            return;
        }
        // A condition selects among all of them.
        let is_selected = !found.conditions.is_empty() && is_general;
        let name = self.rules.kind_name(kind);
        if subjects.is_empty() {
            found.missing.extend((rule.is_required && !is_selected && !has_other).then(|| name.to_owned()));
        } else {
            found.taken.insert(name.to_owned(), taken);
            found.set_subjects(kind, name, subjects);
        }
    }

    /// The subjects that a question names, points at or inherits, and where they come from.
    fn pointed(
        &self,
        kind: usize,
        rule: &SubjectRule,
        own: &GivenSubjects<'_>,
        is_general: bool,
        has_other: bool,
    ) -> Option<(Pointed, Vec<Taken>)> {
        let both = vec![Taken::Context, Taken::Text];
        let named = self.rule.named(kind, self.question);
        if !named.is_empty() {
            let changes = || pointer::with_named(self.said, self.question, &named, own, self.given.takes_up);
            if let Some(changed) = rule.inherits.then(changes).flatten() {
                return Some((changed, both));
            }
            let joins = || compare::joins(self.said, self.question, &self.rules.compare, &named);
            if rule.inherits && !own.reference.is_empty() && joins() {
                return Some((Pointed::Subjects(each_once(own.reference, &named)), both));
            }
            return Some((Pointed::Subjects(named), vec![Taken::Text]));
        }
        if !rule.inherits || has_other {
            return None;
        }
        let pointed = pointer::without_named(self.said, own).map(|(pointed, _)| pointed);
        let inherited = || {
            // What rows say beside what they are about is not what was spoken of.
            let is_listed = own.listed.len() == 1 && (kind == 0 || rule.is_required);
            let one = if is_listed { own.listed } else { own.inherited };
            (!one.is_empty() && !is_general).then(|| Pointed::Subjects(one.to_vec()))
        };
        Some((pointed.or_else(inherited)?, vec![Taken::Context]))
    }

    /// Whether a question takes up one that was about all subjects.
    fn was_general(&self, kind: usize, rule: &SubjectRule, own: &GivenSubjects<'_>) -> bool {
        let is_unnamed = self.question.all_subjects().is_empty();
        let earlier = self.given.parameters.filter(|_| self.given.takes_up && is_unnamed);
        let Some(earlier) = earlier else { return false };
        let was_without = earlier.subjects_of(kind, self.rules.kind_name(kind)).is_empty();
        was_without && (!rule.is_required || !earlier.conditions.is_empty()) && own.unanswered.is_empty()
    }
}

impl Rule {
    /// The subjects of a kind that a question names; of a name that several have, the one that the intent can
    /// be about.
    pub(super) fn named(&self, kind: usize, question: &Question) -> Vec<String> {
        let mut named = question.subjects(kind);
        for (_, candidates) in question.unclear() {
            let mut own = candidates.iter().filter(|one| self.subjects.iter().any(|(kind, _)| *kind == one.kind));
            if let (Some(one), None) = (own.next(), own.next())
                && one.kind == kind
                && !named.contains(&one.code)
            {
                named.push(one.code.clone());
            }
        }
        named
    }
}

/// What was named before and not answered about, where a question would pass over it.
fn unanswered(rule: &SubjectRule, question: &Question, own: &GivenSubjects<'_>) -> Option<Unread> {
    let passes = !question.names_any() && rule.inherits && (rule.is_required || !own.inherited.is_empty());
    let words = own.unanswered.join(", ");
    (passes && !words.is_empty()).then(|| Unread::new(UnreadKind::Unanswered, words))
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
