//! Pronouns that take nothing from before: those that mean nothing, and those whose meaning the question itself has.

use super::lexicon::{Class, Form, Pronoun};
use super::phrase::Phrase;
use super::question::Question;
use super::token::{self, Token};
use crate::analyse::Language;

/// What answers a reply that asks for the words of a message is the message.
pub fn is_dictated(question: &Question<'_>, reply: &str) -> bool {
    let lower = token::lower(reply);
    let mut words = lower.split(|c: char| !c.is_alphanumeric());
    let asks = lower.trim_end().ends_with('?') && words.any(|it| matches!(it, "say" | "message" | "tell"));
    let first = question.tokens.iter().find(|it| it.is_word() && !it.has(Class::FILLER.or(Class::ADVERB)));
    asks && !first.is_some_and(|it| {
        question.lexicon.is_verb(&it.lower)
            || question.lexicon.is_either(&it.lower)
            || it.has(Class::AUXILIARY.or(Class::ASKING))
    })
}

/// Whether the words before a token begin what somebody is to be told.
pub fn is_reported(question: &Question<'_>, at: usize) -> bool {
    (0..at).any(|at| match question.lower(at) {
        ":" | "saying" => true,
        "message" | "text" => question.lower(at + 1) == "that",
        _ => false,
    })
}

/// Whether a token is a part of a name or a quotation.
pub fn is_quoted(question: &Question<'_>, at: usize) -> bool {
    question.phrases.iter().any(|phrase| phrase.words.contains(&at) && phrase.words.len() > 1)
}

/// `it` that means nothing: the weather, the time, and what is said only later in the sentence.
pub fn is_empty(question: &Question<'_>, at: usize, pronoun: &Pronoun) -> bool {
    if question.lexicon.language != Language::English || pronoun.person != Some(false) || question.lower(at) == "its" {
        return false;
    }
    let (before, next) = (question.lower_before(at), question.lower(at + 1));
    let makes = matches!(before, "make" | "making" | "made" | "makes" | "'s" | "covers" | "at");
    let seems = matches!(next, "mean" | "take" | "takes" | "seem" | "seems" | "look" | "looks" | "turns");
    let costs = next == "cost" && question.lower(at + 2) == "to";
    let guesses = question.class(at + 1).has(Class::AUXILIARY) && question.lower(at + 2) == "be";
    let how_far = question.lower(0) == "how" && matches!(question.lower(1), "long" | "far");
    let begins = at == 0 || question.tokens.get(at - 1).is_some_and(Token::ends_sentence);
    let verb_before = question.before(at).has(Class::BE);
    let states = begins && question.class(at + 1).has(Class::BE);
    let idiom = makes && !(at > 1 && question.before(at - 1).has(Class::ASKING));
    let verb = (seems && question.lower(at + 2) != "place") || costs || guesses || states || (how_far && verb_before);
    let weather = question.has(Class::WEATHER) && question.lower(0) != "why";
    idiom || verb || weather || is_extraposed(question, at)
}

/// `Is it true that`, `it is safe to`, `is it Ann`, `what time is it`.
fn is_extraposed(question: &Question<'_>, at: usize) -> bool {
    let rest = question.tokens.get(at + 1..).unwrap_or_default();
    let asks = question.before(at).has(Class::BE);
    let after = rest.first().is_some_and(|token| token.has(Class::BE));
    if !asks && !after {
        return false;
    }
    let rest = if asks { rest } else { rest.get(1..).unwrap_or_default() };
    let described = rest.iter().position(|token| token.has(Class::ADJECTIVE));
    let clause = described.and_then(|at| rest.get(at + 1..)).is_some_and(|rest| match rest {
        [first, ..] if matches!(first.lower.as_str(), "that" | "if") => true,
        [first, rest @ ..] if first.lower == "for" => rest.iter().any(|token| token.lower == "to"),
        [first, verb, ..] if first.lower == "to" => {
            question.lexicon.is_verb(&verb.lower) || question.lexicon.is_either(&verb.lower)
        }
        _ => false,
    });
    let who = asks && rest.first().is_some_and(Token::is_capital);
    let time = matches!(at.checked_sub(2).map_or("", |at| question.lower(at)), "time" | "day" | "date");
    clause || who || time
}

/// Whether the question itself says what a pronoun means: in an earlier clause, before a possessive, or in whatever it
/// names where the pronoun is only reported.
pub fn is_answered(question: &Question<'_>, at: usize, pronoun: &Pronoun) -> bool {
    let owns = pronoun.form == Form::Possessive;
    let people = |phrase: &Phrase| phrase.person == Some(true) || (phrase.named && phrase.person.is_none());
    let thing = pronoun.person != Some(true);
    if (thing && question.is_long()) || (pronoun.plural && question.names_anybody(at)) || question.follows_saying(at) {
        return true;
    }
    if owns && thing && pronoun.plural && question.phrases.iter().any(|it| it.words.end <= at && people(it)) {
        return true;
    }
    if owns
        && pronoun.person == Some(true)
        && question.phrases.iter().any(|it| it.person == Some(true) && it.determiner != Some(at))
    {
        return true;
    }
    let until = if owns || pronoun.person == Some(true) { at } else { question.clause_before(at) };
    question
        .phrases
        .iter()
        .filter(|phrase| phrase.words.end <= until && !phrase.time)
        .any(|phrase| agrees(pronoun, phrase))
}

fn agrees(pronoun: &Pronoun, phrase: &Phrase) -> bool {
    if pronoun.person == Some(true) && phrase.person == Some(true) {
        return true;
    }
    let person = !matches!((pronoun.person, phrase.person), (Some(a), Some(b)) if a != b);
    let gender = !matches!((pronoun.gender, phrase.gender), (Some(a), Some(b)) if a != b);
    person && gender && phrase.plural.is_none_or(|plural| plural == pronoun.plural)
}
