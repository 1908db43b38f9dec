//! Two that were talked about: "Which is cheaper?", "Can it treat both?", "Qual dos dois é melhor?", "Что
//! выгоднее?".

use super::edit::Edit;
use super::topic::Topics;
use super::{Change, ChangeKind};
use crate::syntax::{Class, Entity, FollowUp, Form, Pronoun};

/// A longer question says between what it asks to choose.
const WORDS_MAX: usize = 8;
/// What was spoken of together this lately is meant together.
const GROUPED: f32 = 0.3;
const PLAIN: Pronoun = Pronoun { form: Form::Plain, plural: false, gender: None, person: None };

const MANY: Pronoun = Pronoun { plural: true, ..PLAIN };

pub fn resolve(question: &FollowUp<'_>, topics: &Topics) -> Option<Edit> {
    which(question, topics).or_else(|| both(question, topics))
}

/// `Which is cheaper` and nothing to compare: the two are added.
fn which(question: &FollowUp<'_>, topics: &Topics) -> Option<Edit> {
    let first = question.first_word()?;
    let says = question.phrases.iter().any(|it| !question.class(it.head).has(Class::ADJECTIVE.or(Class::ONE)));
    let is_comparative = question.lexicon.grammar.reading.is_comparative;
    let compares = (first..question.tokens.len()).any(|at| is_comparative(question, at));
    let chooses = question.word_has(first, Class::CHOOSES);
    if !chooses || !compares || says || question.words() > WORDS_MAX || question.has(Class::SPEAKER.or(Class::MY)) {
        return None;
    }
    let many = topics.antecedent(&MANY, |it| question.mentions(it));
    if question.has(Class::THIRD) && many.is_some_and(|it| it.features.plural == Some(true) && !it.features.group) {
        return None;
    }
    let person = question.lexicon.is_who(question.lower(first));
    let [one, other] = topics.pair(|it| (it.features.person == Some(true)) == person && !question.mentions(it))?;
    let or = question.lexicon.grammar.words.or;
    let body = question.text.trim_end();
    let open = body.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '?' | '.'));
    let open = without_partitive(open, question);
    let (one, other) = (said(one, question), said(other, question));
    let now = format!("{open}, {one} {or} {other}{}", body.get(body.trim_end_matches(['?', '.', ' ']).len()..)?);
    let change = Change { kind: ChangeKind::Choice, was: question.text.to_owned(), now };
    Some(Edit { range: 0..question.text.len(), change })
}

/// Without `of them`, which the two take the place of.
fn without_partitive(text: &str, question: &FollowUp<'_>) -> String {
    let partitives = question.lexicon.grammar.words.partitives.iter();
    partitives.fold(text.to_owned(), |text, of| text.replacen(of, "", 1))
}

/// `both` and `the two`, where no noun follows.
fn both(question: &FollowUp<'_>, topics: &Topics) -> Option<Edit> {
    let (from, to) = (0..question.tokens.len()).find_map(|at| (question.lexicon.grammar.reading.both)(question, at))?;
    let asks = question.text.trim_end().ends_with('?') && question.words() <= WORDS_MAX && !question.has(Class::THIRD);
    let noun = question.is_noun(to) && !question.class(to).has(Class::ADJECTIVE);
    if !asks || noun || question.class(to).has(Class::DEFINITE.or(Class::MY)) {
        return None;
    }
    let group = topics.ranked(|it| (it.features.group && !question.mentions(it)).then_some(1.0));
    if let Some((group, _)) = group.first().filter(|(_, salience)| *salience >= GROUPED) {
        return Edit::replace(question, from..to, group.full(), ChangeKind::Pronoun);
    }
    let [one, other] = topics.pair(|it| !question.mentions(it))?;
    let grammar = question.lexicon.grammar;
    let as_subject = grammar.writing.as_subject;
    let now = format!("{} {} {}", as_subject(one), grammar.words.and, as_subject(other));
    Edit::replace(question, from..to, now, ChangeKind::Pronoun)
}

fn said(entity: &Entity, question: &FollowUp<'_>) -> String {
    (question.lexicon.grammar.writing.in_place_of)(entity, &PLAIN, false)
}
