//! There: in the place that was said.

use super::entity::Entity;
use super::lexicon::Class;
use super::question::{Edit, Question};
use super::topic::Topics;
use super::{ChangeKind, portuguese, russian};
use crate::analyse::Language;

/// What stands after one of these is a place more often than not.
const BEFORE_PLACES: [&str; 10] = ["in", "at", "to", "em", "no", "na", "para", "в", "во", "на"];
const PLACED: f32 = 1.5;
/// Verbs after which English asks where to.
const MOVES: [&str; 9] = ["go", "get", "travel", "move", "fly", "drive", "going", "came", "went"];

pub fn there(question: &Question<'_>, at: usize, topics: &Topics) -> Option<Edit> {
    if is_empty(question, at) {
        return None;
    }
    let place = |it: &Entity| {
        let fits = (it.named || it.is_place()) && it.person != Some(true) && !it.time && !question.mentions(it);
        let placed = it.is_place() || BEFORE_PLACES.contains(&it.preposition.as_str());
        fits.then_some(if placed { PLACED } else { 1.0 })
    };
    let found = topics.ranked(place);
    let (entity, _) = found.first()?;
    let now = match question.lexicon.language {
        Language::English => format!("{} {}", preposition(question, at, entity), entity.full()),
        Language::Portuguese => portuguese::in_place(entity),
        Language::Russian => russian::in_place(entity),
    };
    question.edit(at..at + 1, now, ChangeKind::Pronoun)
}

fn preposition(question: &Question<'_>, at: usize, entity: &Entity) -> &'static str {
    match () {
        () if MOVES.contains(&question.lower_before(at)) => "to",
        () if entity.preposition == "at" => "at",
        () => "in",
    }
}

/// `there is`, `will be there`, `call her there`.
fn is_empty(question: &Question<'_>, at: usize) -> bool {
    let exists = matches!(question.lower(at + 1), "is" | "are" | "was" | "were" | "'s" | "any" | "a" | "been" | "be");
    let asked = question.before(at).has(Class::BE) || (question.before(at).has(Class::AUXILIARY) && at < 2);
    let person = question.before(at).has(Class::THIRD) && !question.has(Class::WEATHER);
    exists || asked || person || matches!(question.lower_before(at), "from" | "be")
}
