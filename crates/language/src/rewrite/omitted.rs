//! What a question is about and leaves out altogether: "Quanto custa?", "Кто построил?", "Who won?", and in
//! which place "Are there any museums?" asks for them.

use super::ChangeKind;
use super::edit::Edit;
use super::topic::Topics;
use crate::syntax::{Class, Entity, FollowUp, LoneVerb, Token, token};

/// More words say what they are about.
const VERB_WORDS_MAX: usize = 5;
const PLACE_WORDS_MAX: usize = 8;
/// What is remembered more faintly is not left out.
const FAINTEST: f32 = 0.35;
/// How well what has no name is left out.
const UNNAMED: f32 = 0.75;

/// An unknown word after a question word may be a verb if it is none of these.
const NO_VERB: Class = Class::FUNCTION.or(Class::EMPTY).or(Class::TIME).or(Class::RELATIONAL).or(Class::ADJECTIVE);

pub fn resolve(question: &FollowUp<'_>, topics: &Topics) -> Option<Edit> {
    let other = Class::THIRD.or(Class::MY).or(Class::YOUR).or(Class::POINTER);
    if question.has(other) || question.phrases.iter().any(|it| it.features.named) {
        return None;
    }
    lone_verb(question, topics).or_else(|| place(question, topics)).or_else(|| subject(question, topics))
}

/// A question word and a verb: what the verb needs is added after it.
fn lone_verb(question: &FollowUp<'_>, topics: &Topics) -> Option<Edit> {
    let first = question.first_word()?;
    let last = question.tokens.iter().rposition(Token::is_word)?;
    let matter = question.phrases.iter().any(|it| !it.features.time && !question.class(it.head).has(Class::EMPTY));
    let asks = question.class(first).has(Class::ASKING);
    let (who, verb) = (question.lexicon.is_who(question.lower(first)), question.lower(last));
    let acts = question.lexicon.grammar.traits.unknown_verbs
        && last == first + 1
        && !question.class(last).has(NO_VERB)
        && question.tokens.get(last).is_some_and(|it| !it.is_capital());
    if !asks || (matter && !acts) || last <= first || last - first >= VERB_WORDS_MAX || question.has(Class::SPEAKER) {
        return None;
    }
    let is_verb = acts || question.lexicon.is_verb(verb);
    let lone = LoneVerb { asking: question.lower(first), verb, adjacent: last == first + 1, is_verb };
    if !(question.lexicon.grammar.reading.lacks_object)(&lone) {
        return None;
    }
    let lives = question.lexicon.has(verb, Class::LIVES);
    let topic =
        topic(topics, |it| if lives { it.features.person != Some(false) } else { it.features.person != Some(true) })?;
    let added = (question.lexicon.grammar.writing.after_verb)(topic, verb, who);
    let now = format!("{} {added}", question.tokens.get(last)?.text);
    Edit::replace(question, last..last + 1, now, ChangeKind::Implied)
}

fn topic(topics: &Topics, fits: impl Fn(&Entity) -> bool) -> Option<&Entity> {
    let test = |it: &Entity| {
        let matters = it.matters() && (it.features.named || !it.has(Class::RELATIONAL)) && !it.is_placed;
        (matters && fits(it) && (it.features.named || it.by_user)).then_some(if it.features.named {
            1.0
        } else {
            UNNAMED
        })
    };
    topics.ranked(test).first().filter(|(_, salience)| *salience >= FAINTEST).map(|(entity, _)| *entity)
}

/// `Tem garantia?`: some languages leave the subject out.
fn subject(question: &FollowUp<'_>, topics: &Topics) -> Option<Edit> {
    let first = question.first_word()?;
    let token = question.tokens.get(first)?;
    let possible = question.class(first + 1).has(Class::VERB) || question.lexicon.is_verb(question.lower(first + 1));
    let fits = first == 0 && (question.lexicon.grammar.reading.lacks_subject)(question, first);
    if !fits || possible || question.words() > VERB_WORDS_MAX || question.has(Class::SPEAKER) {
        return None;
    }
    let topic = topic(topics, |it| it.features.person != Some(true) && !question.says(&it.head))?;
    let now = format!("{} {}", topic.full(), token::small(token.text));
    Edit::replace(question, first..first + 1, now, ChangeKind::Implied)
}

/// `Are there any museums?`, `What is the weather like?`: in the place that is talked about.
fn place(question: &FollowUp<'_>, topics: &Topics) -> Option<Edit> {
    let last = question.tokens.iter().rposition(Token::is_word)?;
    if !(question.lexicon.grammar.reading.lacks_place)(question) || question.words() > PLACE_WORDS_MAX {
        return None;
    }
    let found = topics.ranked(|it| (it.by_user && it.is_place(question.lexicon)).then_some(1.0));
    let (place, _) = found.first().filter(|(_, salience)| *salience >= FAINTEST)?;
    let now = format!("{} {}", question.tokens.get(last)?.text, (question.lexicon.grammar.writing.inside)(place));
    Edit::replace(question, last..last + 1, now, ChangeKind::Implied)
}
