//! Pronouns that take nothing from before: those that mean nothing, and those whose meaning the question
//! itself has.

use crate::Language;
use crate::syntax::{Class, FollowUp, Form, NounPhrase, Pronoun, token};

/// What answers a reply that asks for the words of a message is the message.
pub(crate) fn is_dictated(question: &FollowUp<'_>, reply: &str) -> bool {
    let lower = token::lower(reply);
    // The reply may be in another language than the question.
    let dictates = |word: &str| Language::ALL.into_iter().any(|it| it.lexicon().has(word, Class::DICTATES));
    let mut words = lower.split(|c: char| !c.is_alphanumeric());
    let asks = lower.trim_end().ends_with('?') && words.any(dictates);
    let first = question.tokens.iter().find(|it| it.is_word() && !it.has(Class::FILLER.or(Class::ADVERB)));
    asks && !first.is_some_and(|it| {
        question.lexicon.is_verb(&it.lower)
            || question.lexicon.is_either(&it.lower)
            || it.has(Class::AUXILIARY.or(Class::ASKING))
    })
}

/// Whether the words before a token begin what somebody is to be told.
pub(crate) fn is_reported(question: &FollowUp<'_>, at: usize) -> bool {
    let is_reported = question.lexicon.grammar.reading.is_reported;
    (0..at).any(|at| question.lower(at) == ":" || is_reported(question, at))
}

/// Whether a token is a part of a name or a quotation.
pub(crate) fn is_quoted(question: &FollowUp<'_>, at: usize) -> bool {
    question.phrases.iter().any(|phrase| phrase.words.contains(&at) && phrase.words.len() > 1)
}

/// Whether the question itself says what a pronoun means: in an earlier clause, before a possessive, or in
/// whatever it names where the pronoun is only reported.
pub fn is_answered(question: &FollowUp<'_>, at: usize, pronoun: &Pronoun) -> bool {
    let owns = pronoun.form == Form::Possessive;
    let people = |phrase: &NounPhrase| {
        phrase.features.person == Some(true) || (phrase.features.named && phrase.features.person.is_none())
    };
    let thing = pronoun.person != Some(true);
    if (thing && question.is_long()) || (pronoun.plural && question.names_anybody(at)) || question.follows_saying(at) {
        return true;
    }
    if owns && thing && pronoun.plural && question.phrases.iter().any(|it| it.words.end <= at && people(it)) {
        return true;
    }
    if owns
        && pronoun.person == Some(true)
        && question.phrases.iter().any(|it| it.features.person == Some(true) && it.determiner != Some(at))
    {
        return true;
    }
    let until = if owns || pronoun.person == Some(true) { at } else { question.clause_before(at) };
    question
        .phrases
        .iter()
        .filter(|phrase| phrase.words.end <= until && !phrase.features.time)
        .any(|phrase| agrees(pronoun, phrase))
}

fn agrees(pronoun: &Pronoun, phrase: &NounPhrase) -> bool {
    if pronoun.person == Some(true) && phrase.features.person == Some(true) {
        return true;
    }
    let person = !matches!((pronoun.person, phrase.features.person), (Some(a), Some(b)) if a != b);
    let gender = !matches!((pronoun.gender, phrase.features.gender), (Some(a), Some(b)) if a != b);
    person && gender && phrase.features.plural.is_none_or(|plural| plural == pronoun.plural)
}
