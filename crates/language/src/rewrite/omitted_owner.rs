//! Properties of something that is left new_messages: "What are the symptoms?" of what was talked about.

use super::ChangeKind;
use super::edit::Edit;
use super::topic::Topics;
use crate::syntax::{Class, Entity, FollowUp, NounPhrase, Token};

/// Longer questions say of what they ask.
const WORDS_MAX: usize = 9;

/// How well what has no name has properties.
const UNNAMED: f32 = 0.75;

pub fn resolve(question: &FollowUp<'_>, topics: &Topics) -> Option<Edit> {
    let words = question.tokens.iter().filter(|it| it.is_word()).count();
    let there = question.word_has(1, Class::EXISTS);
    let asks = there || question.tokens.iter().any(|it| it.has(Class::ASKING));
    if words > WORDS_MAX || !asks || question.has(Class::THIRD.or(Class::MY).or(Class::YOUR).or(Class::SPEAKER)) {
        return None;
    }
    if question.phrases.iter().any(|it| it.features.named || it.features.time) {
        return None;
    }
    let phrase = question.phrases.iter().find(|it| is_open(question, it))?;
    let topic = owner(topics, |topic| topic.by_user && fits(topic, question))?;
    let end = end(question, phrase);
    let last = question.tokens.get(end.checked_sub(1)?)?;
    let now = format!("{} {}", last.text, of(topic, question));
    Edit::replace(question, end - 1..end, now, ChangeKind::Implied)
}

/// What a property is of: rather something with a name.
fn owner(topics: &Topics, fits: impl Fn(&Entity) -> bool) -> Option<&Entity> {
    let share = |it: &Entity| if it.features.named { 1.0 } else { UNNAMED };
    topics.ranked(|it| (it.matters() && fits(it)).then(|| share(it))).first().map(|(entity, _)| *entity)
}

/// A fragment with what it is a property of.
pub fn appended(question: &FollowUp<'_>, said: &NounPhrase, topics: &Topics) -> Option<String> {
    let topic = topics.topic(|topic| fits(topic, question))?;
    let definite = said.determiner.is_some_and(|at| question.class(at).has(Class::DEFINITE)) && !said.features.named;
    let alone = !question.tokens.get(said.words.end).is_some_and(Token::is_word);
    let part = definite && alone && topic.features.named && question.lexicon.grammar.traits.definite_parts;
    if !part && !is_open(question, said) {
        return None;
    }
    let body = question.text.trim_end();
    let open = body.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '?' | '.'));
    Some(format!("{open} {}{}", of(topic, question), body.get(open.len()..)?))
}

fn of(topic: &Entity, question: &FollowUp<'_>) -> String {
    (question.lexicon.grammar.writing.of)(topic)
}

/// A property that nothing follows to say of what.
fn is_open(question: &FollowUp<'_>, phrase: &NounPhrase) -> bool {
    let end = end(question, phrase);
    let tied = question.word_has(end, Class::OF.or(Class::COMPLETES));
    let new = phrase.determiner.is_some_and(|at| question.class(at).has(Class::INDEFINITE));
    let tied = tied || (new && question.word_has(end, Class::COMPLETES_NEW));
    let next_too = usize::from(question.lexicon.grammar.traits.strands_prepositions);
    let rest = question.tokens.get(end + next_too..).unwrap_or_default();
    let completed = rest.iter().any(|it| it.has(Class::PREPOSITION));
    let pointed = phrase.determiner.is_some_and(|at| question.class(at).has(Class::POINTER.or(Class::THIRD)));
    let is_adjective = question.lexicon.grammar.reading.is_adjective;
    let property =
        |at: usize| question.class(at).has(Class::ADJECTIVE.or(Class::RELATIONAL)) || is_adjective(question.lower(at));
    let definite = phrase.determiner.is_some_and(|at| question.class(at).has(Class::DEFINITE));
    let plain = phrase.words.clone().all(property)
        || (definite && phrase.features.plural == Some(true) && phrase.words.len() == 2);
    let some_of = phrase
        .preposition
        .is_none_or(|at| question.word_has(at, Class::OF) && question.before(at).has(Class::INDEFINITE));
    let property = question.class(phrase.head).has(Class::RELATIONAL) && plain;
    property && !tied && !completed && !pointed && !phrase.features.time && some_of
}

/// Where a property ends: `taxa de administração` is one.
fn end(question: &FollowUp<'_>, phrase: &NounPhrase) -> usize {
    let of = phrase.words.end;
    let sort = question.phrases.iter().find(|it| {
        question.word_has(of, Class::SORT_OF)
            && it.words == (of + 1..of + 2)
            && !it.features.named
            && it.determiner.is_none()
    });
    sort.map_or(of, |it| it.words.end)
}

fn fits(topic: &Entity, question: &FollowUp<'_>) -> bool {
    !question.mentions(topic) && topic.features.person != Some(true) && !topic.has(Class::RELATIONAL)
}
