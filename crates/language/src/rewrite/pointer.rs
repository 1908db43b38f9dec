//! This and that, and "the previous one".

use super::edit::Edit;
use super::topic::Topics;
use super::{ChangeKind, noun, self_contained, there, year};
use crate::syntax::{Class, Entity, FollowUp, Form, Pronoun, Token};

const THING: Pronoun = Pronoun { form: Form::Plain, plural: false, gender: None, person: Some(false) };
/// What is remembered more faintly is not pointed at.
const FAINTEST: f32 = 0.3;
pub fn resolve(question: &FollowUp<'_>, topics: &Topics) -> Vec<Edit> {
    let recalls = question.lexicon.grammar.traits.recalls_by_noun;
    let edit = |at: usize| match question.class(at) {
        it if it.has(Class::POINTER) => {
            let told = year::that(question, at, topics).or_else(|| kind(question, at, topics));
            told.or_else(|| alone(question, at, topics))
        }
        it if it.has(Class::COMPARES) => compared(question, at, topics),
        it if it.has(Class::ONE) => noun::one(question, at, topics),
        it if it.has(Class::THERE) => there::resolve(question, at, topics),
        it if it.has(Class::PREVIOUS) => previous(question, at, topics),
        it if it.has(Class::DEFINITE) && recalls => {
            noun::in_full(question, at, topics).or_else(|| noun::most(question, at, topics))
        }
        _ => noun::of_kind(question, at, topics),
    };
    (0..question.tokens.len()).filter_map(edit).collect()
}

/// `this song`: the name of the song.
fn kind(question: &FollowUp<'_>, at: usize, topics: &Topics) -> Option<Edit> {
    let noun = question.tokens.get(at + 1)?;
    let class = question.class(at + 1);
    let named = question.tokens.get(at + 2).is_some_and(|it| it.is_word() && it.is_capital());
    let described = named || (question.is_noun(at + 2) && !question.class(at + 2).has(Class::ADJECTIVE));
    if !class.has(Class::TITLED) || question.lexicon.is_plural(&noun.lower) || described {
        return None;
    }
    let other = !class.has(Class::PERSON);
    let names_only = question.lexicon.grammar.traits.points_at_names;
    let fits = |it: &Entity| {
        let named = it.features.named || (!names_only && it.by_user);
        (named && !it.features.time && !it.features.group && it.features.person != Some(other) && !it.has(Class::KIND))
            .then_some(1.0)
    };
    let found = topics.ranked(fits);
    let (entity, _) = found.first().filter(|(_, salience)| *salience >= FAINTEST)?;
    Edit::replace(question, at..at + 2, taken_up(entity, question, at), ChangeKind::Demonstrative)
}

/// The phrase in the place of the pointer at a token.
fn taken_up(entity: &Entity, question: &FollowUp<'_>, at: usize) -> String {
    (question.lexicon.grammar.writing.after_pointer)(entity, question.lower(at))
}

/// `that` as a whole phrase.
fn alone(question: &FollowUp<'_>, at: usize, topics: &Topics) -> Option<Edit> {
    let fits = match question.class(at).has(Class::NEUTER) {
        true => has_verb(question, at),
        false => is_object(question, at),
    };
    if !fits || question.has(Class::WEATHER) || self_contained::is_answered(question, at, &THING) {
        return None;
    }
    let entity = topics.antecedent(&THING, |entity| question.mentions(entity))?;
    if question.says(&entity.head) {
        return None;
    }
    Edit::replace(question, at..at + 1, taken_up(entity, question, at), ChangeKind::Demonstrative)
}

/// In some languages a pointer may begin a clause or come before a noun; as an object it does neither.
fn is_object(question: &FollowUp<'_>, at: usize) -> bool {
    let before = question.lower_before(at);
    let next = question.class(at + 1);
    let ends = question.tokens.get(at + 1).is_none_or(|token| !token.is_word());
    let asked = at < 2 || question.class(at - 2).has(Class::ASKING);
    let inverted = question.before(at).has(Class::BE.or(Class::AUXILIARY)) && asked;
    let subject = inverted && question.lexicon.is_verb(question.lower(at + 1));
    let verb = question.lexicon.is_verb(before) || question.lexicon.is_either(before);
    let object = verb && !question.lexicon.has(before, Class::THINKS);
    let goes_on = next.has(Class::PREPOSITION.or(Class::AND).or(Class::OR)) && !next.has(Class::POINTER);
    question.word_has(at, Class::THIS) && (subject || (object && (ends || goes_on)))
}

/// Whether something besides a pointer that does not begin it makes the question a clause.
fn has_verb(question: &FollowUp<'_>, at: usize) -> bool {
    let verb = |token: &Token<'_>| question.lexicon.is_verb(&token.lower);
    at > 0 && question.tokens.iter().any(verb)
}

/// `Compare with X`, `how does X compare`: what the conversation is about is compared.
fn compared(question: &FollowUp<'_>, at: usize, topics: &Topics) -> Option<Edit> {
    let next = question.lower(at + 1);
    let with = question.word_has(at + 1, Class::WITH.or(Class::TO));
    let ends = next.is_empty() || next == "?";
    let grammar = question.lexicon.grammar;
    let begins = question.first_word() == Some(at);
    if question.has(Class::THIRD.or(Class::PREVIOUS).or(Class::POINTER))
        || !((with && begins) || (ends && grammar.traits.ends_with_comparison && !begins))
    {
        return None;
    }
    let topic = topics.topic(|it| it.by_user && !question.mentions(it) && !question.says(&it.head))?;
    let verb = question.tokens.get(at)?.text;
    let topic = (grammar.writing.as_object)(topic);
    let to = if with { "" } else { grammar.words.compared_to };
    Edit::replace(question, at..at + 1, format!("{verb} {to}{topic}"), ChangeKind::Implied)
}

/// `the previous one`: what the conversation was about before it came to what it is about now.
fn previous(question: &FollowUp<'_>, at: usize, topics: &Topics) -> Option<Edit> {
    let next = question.class(at + 1);
    if question.tokens.get(at + 1).is_some_and(Token::is_word) && !next.has(Class::FUNCTION) {
        return None;
    }
    let (now, before) = topics.now_and_before()?;
    let article = question.before(at).has(Class::DEFINITE) && !question.before(at).has(Class::PREPOSITION);
    let from = if article { at - 1 } else { at };
    let end = at + 1 + usize::from(next.has(Class::ONE));
    let before = (question.lexicon.grammar.writing.after_previous)(before, question.lower(at));
    let with = question.lower_before(from);
    let compared = question.lexicon.has(with, Class::WITH)
        && from.checked_sub(2).is_some_and(|verb| question.class(verb).has(Class::COMPARES));
    match compared {
        true => Edit::replace(question, from - 1..end, format!("{} {with} {before}", now.full()), ChangeKind::Previous),
        false => Edit::replace(question, from..end, before, ChangeKind::Previous),
    }
}
