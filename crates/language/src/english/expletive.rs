//! `It` that means nothing.

use crate::syntax::{Class, FollowUp, Pronoun, Token};

/// `it` that means nothing: the weather, the time, and what is said only later in the sentence.
pub(crate) fn is_expletive(question: &FollowUp<'_>, at: usize, pronoun: &Pronoun) -> bool {
    if pronoun.person != Some(false) || question.lower(at) == "its" {
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
fn is_extraposed(question: &FollowUp<'_>, at: usize) -> bool {
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
