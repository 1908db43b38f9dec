//! Pronouns, and what takes their place.

use super::edit::Edit;
use super::topic::Topics;
use super::{ChangeKind, self_contained};
use crate::syntax::{Class, Entity, FollowUp, Form, FoundPronoun, Pronoun, Token};

/// The first mention of each thing is written out; later pronouns keep pointing at it.
pub fn resolve(question: &FollowUp<'_>, topics: &Topics) -> Vec<Edit> {
    let grammar = question.lexicon.grammar;
    let mut edits: Vec<Edit> = Vec::new();
    let mut taken: Vec<&Entity> = Vec::new();
    for (at, token) in question.tokens.iter().enumerate() {
        let Some(found) = find(question, at, token) else { continue };
        let pronoun = found.pronoun;
        if self_contained::is_reported(question, at) {
            break;
        }
        if self_contained::is_quoted(question, at)
            || (grammar.reading.is_expletive)(question, at, &pronoun)
            || self_contained::is_answered(question, at, &pronoun)
        {
            continue;
        }
        let here = |entity: &Entity| question.mentions(entity) || (pronoun.plural && question.says(&entity.head));
        let found_one = topics.antecedent(&pronoun, here);
        if let Some(people) = couple(question, &pronoun, found_one, topics) {
            let both = (grammar.writing.joined)(people, &pronoun, question.is_spaced());
            edits.extend(Edit::replace(question, at..found.end, both, ChangeKind::Pronoun));
            break;
        }
        let Some(entity) = found_one else { continue };
        if taken.iter().any(|other| other.is(entity)) || question.says(&entity.head) {
            continue;
        }
        taken.push(entity);
        let kind = if pronoun.form == Form::Possessive { ChangeKind::Possessive } else { ChangeKind::Pronoun };
        let now = (grammar.writing.in_place_of)(entity, &pronoun, question.is_spaced());
        let now = format!("{}{now}", found.before);
        edits.extend(Edit::replace(question, at..found.end, now, kind));
    }
    edits
}

/// Two people for `they`, where nothing that is many was spoken of.
fn couple<'t>(
    question: &FollowUp<'_>,
    pronoun: &Pronoun,
    found: Option<&Entity>,
    topics: &'t Topics,
) -> Option<[&'t Entity; 2]> {
    let one = found.is_none_or(|it| it.features.plural == Some(false) || it.features.person == Some(true));
    let asks = question.text.trim_end().ends_with('?') && question.lexicon.grammar.traits.joins_people;
    if !pronoun.plural || !one || !asks {
        return None;
    }
    topics.pair(|it| it.features.person == Some(true) && it.features.named && !question.mentions(it))
}

fn find(question: &FollowUp<'_>, at: usize, token: &Token<'_>) -> Option<FoundPronoun> {
    let pronoun = question.lexicon.pronoun(token).map(|it| in_place(it, question, at));
    (question.lexicon.grammar.reading.find_pronoun)(question, at, pronoun)
}

/// A pronoun as its neighbours show it: `her` before a noun is possessive, and the receiver of a verb
/// of telling is a person.
fn in_place(pronoun: Pronoun, question: &FollowUp<'_>, at: usize) -> Pronoun {
    let reading = &question.lexicon.grammar.reading;
    let (owns, told) = (reading.owns_or_is_told)(question, at);
    let next = [at + 1, at + 2];
    let lives = next.iter().any(|at| question.word_has(*at, Class::LIVES));
    let made = next.iter().any(|at| (reading.is_made)(question.lower(*at)));
    let shown = (lives || made).then_some(lives);
    Pronoun {
        form: if owns { Form::Possessive } else { pronoun.form },
        person: pronoun.person.or(shown).or((pronoun.plural && told).then_some(true)),
        ..pronoun
    }
}
