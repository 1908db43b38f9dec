//! What stands around an English pronoun tells what it is.

use crate::syntax::{Class, FollowUp, Token};

/// `Her` before a noun is possessive, and the receiver of a verb of telling or giving is a person.
pub(crate) fn owns_or_is_told(question: &FollowUp<'_>, at: usize) -> (bool, bool) {
    let (verb, next) = (question.lower_before(at), question.class(at + 1));
    let addressed = question.before(at).has(Class::ADDRESSES);
    let most = matches!(question.lower(at + 1), "most" | "own" | "first" | "last" | "other" | "early" | "late");
    let noun = (question.is_noun(at + 1) && !next.has(Class::TIME) && !question.lower(at + 1).ends_with("ing"))
        || (most && question.is_noun(at + 2));
    let owns = question.lower(at) == "her" && noun && (!addressed || matches!(verb, "call" | "answer"));
    let given = question.tokens.get(at + 1).is_some_and(Token::is_word)
        && (next.has(Class::DETERMINER) || !next.has(Class::FUNCTION));
    let told = match verb {
        "show" | "send" | "give" | "buy" => given,
        "add" | "put" | "pick" => false,
        _ => addressed,
    };
    (owns, told)
}
