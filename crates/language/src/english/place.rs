//! Words for places in English questions.

use crate::syntax::{Class, Entity, FollowUp};

/// Verbs after which a question asks where to.
const MOVES: [&str; 9] = ["go", "get", "travel", "move", "fly", "drive", "going", "came", "went"];

/// In the place of `there`.
pub fn there(question: &FollowUp<'_>, at: usize, place: &Entity) -> String {
    let preposition = match () {
        () if MOVES.contains(&question.lower_before(at)) => "to",
        () if place.preposition == "at" => "at",
        () => "in",
    };
    format!("{preposition} {}", place.full())
}

/// `there is`, `from there`, `will be there`.
pub(crate) fn is_existential(question: &FollowUp<'_>, at: usize) -> bool {
    matches!(question.lower(at + 1), "is" | "are" | "was" | "were" | "'s" | "any" | "a" | "been" | "be")
        || matches!(question.lower_before(at), "from" | "be")
}

/// `Are there any museums?`, `What is the weather like?`.
pub(crate) fn lacks_place(question: &FollowUp<'_>) -> bool {
    let lower = |at: usize| question.lower(at);
    let there = (question.class(0).has(Class::BE) && lower(1) == "there")
        || (question.class(1).has(Class::BE) && lower(2) == "there");
    let weather = lower(0) == "what" && question.says("weather");
    let popular = lower(0) == "what" && question.class(1).has(Class::BE) && matches!(lower(2), "popular" | "some");
    let placed = question.tokens.iter().any(|it| {
        matches!(it.lower.as_str(), "in" | "at" | "near" | "of" | "here" | "for" | "about" | "between" | "on" | "that")
    });
    (there || weather || popular) && !placed
}
