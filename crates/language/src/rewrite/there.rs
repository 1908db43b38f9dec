//! There: in the place that was said.

use super::ChangeKind;
use super::edit::Edit;
use super::topic::Topics;
use crate::syntax::{Class, Entity, FollowUp};

/// How well something fits that was said where places are said.
const PLACED: f32 = 1.5;

pub fn resolve(question: &FollowUp<'_>, at: usize, topics: &Topics) -> Option<Edit> {
    if is_empty(question, at) {
        return None;
    }
    let place = |it: &Entity| {
        let fits = (it.features.named || it.is_place(question.lexicon))
            && it.features.person != Some(true)
            && !it.features.time
            && !question.mentions(it);
        let placed = it.is_place(question.lexicon) || question.lexicon.has(&it.preposition, Class::BEFORE_PLACE);
        fits.then_some(if placed { PLACED } else { 1.0 })
    };
    let found = topics.ranked(place);
    let (entity, _) = found.first()?;
    let now = (question.lexicon.grammar.writing.there)(question, at, entity);
    Edit::replace(question, at..at + 1, now, ChangeKind::Pronoun)
}

/// `there is`, `will be there`, `call her there`.
fn is_empty(question: &FollowUp<'_>, at: usize) -> bool {
    let exists = (question.lexicon.grammar.reading.is_existential)(question, at);
    let asked = question.before(at).has(Class::BE) || (question.before(at).has(Class::AUXILIARY) && at < 2);
    let person = question.before(at).has(Class::THIRD) && !question.has(Class::WEATHER);
    exists || asked || person
}
