//! Nouns that are left out or cut short: "the last one", "the largest", "the experiment", "the album".

use super::ChangeKind;
use super::edit::Edit;
use super::topic::Topics;
use crate::syntax::{Class, Entity, FollowUp};

/// What is remembered more faintly is not meant.
const FAINTEST: f32 = 0.3;
/// How well a name fits a kind when it was not said what it is the name of.
const GUESSED: f32 = 0.5;
/// What a question begins with.
const OPENS: Class = Class::ASKING.or(Class::BE).or(Class::AUXILIARY);
/// An ordinal in fewer words chooses, and what from is not known here.
const CHOICE_WORDS: usize = 4;

/// `the last one`: the last message. `make one`: a reminder. `the one by X`: the thing itself.
pub fn one(question: &FollowUp<'_>, at: usize, topics: &Topics) -> Option<Edit> {
    if question.is_noun(at + 1) || says_of_what(question, at) {
        return None;
    }
    let before = question.before(at);
    let chooses = before.has(Class::ORDINAL) && question.words() < CHOICE_WORDS;
    if is_described(question, at) && !chooses {
        return Edit::replace(question, at..at + 1, named_one(question, at, topics)?, ChangeKind::Demonstrative);
    }
    if question.lexicon.has(question.lower_before(at), Class::CREATES) {
        let noun = named_one(question, at, topics)?;
        let noun = (question.lexicon.grammar.writing.indefinite)(&noun);
        return Edit::replace(question, at..at + 1, noun, ChangeKind::Demonstrative);
    }
    if !question.word_has(at + 1, Class::FROM_MAKER) || !before.has(Class::DEFINITE) {
        return None;
    }
    let thing = |it: &Entity| {
        (it.features.named && it.features.person.is_none() && !it.features.time && !question.mentions(it))
            .then_some(1.0)
    };
    let found = topics.ranked(thing);
    let (entity, _) = found.first()?;
    Edit::replace(question, at - 1..at + 1, entity.full(), ChangeKind::Demonstrative)
}

fn is_described(question: &FollowUp<'_>, at: usize) -> bool {
    let pointed = (1..4).filter_map(|back| at.checked_sub(back));
    let pointed =
        pointed.map(|at| question.class(at)).any(|it| it.has(Class::DEFINITE.or(Class::POINTER).or(Class::BE)));
    pointed && question.before(at).has(Class::ADJECTIVE.or(Class::ORDINAL).or(Class::POINTER))
}

/// Whether the question itself has the noun that `one` stands for.
fn says_of_what(question: &FollowUp<'_>, at: usize) -> bool {
    let common = question
        .phrases
        .iter()
        .filter(|it| !it.features.named && !it.features.time && it.features.person == Some(false));
    let mut before = common.filter(|it| it.words.end <= at);
    before.any(|it| !question.class(it.head).has(Class::EMPTY.or(Class::ADJECTIVE)))
}

/// The noun that `one` stands for, as one or as several.
fn named_one(question: &FollowUp<'_>, at: usize, topics: &Topics) -> Option<String> {
    let common =
        |it: &Entity| {
            let thing = it.features.person == Some(false) && it.head.contains(char::is_alphabetic);
            (thing && !it.features.time && !it.has(Class::EMPTY) && !it.features.group)
                .then_some(if it.features.named { 0.5 } else { 1.0 })
        };
    let found = topics.ranked(common);
    let (entity, _) = found.first().filter(|(_, salience)| *salience >= FAINTEST)?;
    let writing = &question.lexicon.grammar.writing;
    let many = question.lexicon.is_plural(question.lower(at));
    Some(if many { (writing.plural)(&entity.head) } else { (writing.singular)(&entity.head) })
}

/// `the experiment`: the one whose name was said in full.
pub(crate) fn in_full(question: &FollowUp<'_>, at: usize, topics: &Topics) -> Option<Edit> {
    let phrase = question.phrases.iter().find(|it| it.determiner == Some(at) && it.words.len() == 1)?;
    let (head, end) = (question.lower(phrase.head), phrase.words.end);
    let owned = |name: &str| name.contains(['\'', '’']);
    let goes_on = question.is_noun(end) && !question.lexicon.is_either(question.lower(end));
    let told = question.word_has(end, Class::OF.or(Class::BY));
    if question.lexicon.is_plural(head) || owned(question.lower(end)) || goes_on || told {
        return None;
    }
    let whole = |it: &Entity| {
        let told = it.features.named || it.has_inner(question.lexicon, Class::AFTER_HEAD);
        (told && it.head == head && it.name.contains(' ') && !owned(&it.name)).then_some(1.0)
    };
    let found = topics.ranked(whole);
    let (entity, _) = found.first()?;
    Edit::replace(question, at..end, entity.full(), ChangeKind::Demonstrative)
}

/// `the album`: which one, by its name.
pub fn of_kind(question: &FollowUp<'_>, at: usize, topics: &Topics) -> Option<Edit> {
    let lexicon = question.lexicon;
    let definite = question.before(at).has(Class::DEFINITE) || !lexicon.grammar.traits.has_articles;
    let phrase = question
        .phrases
        .iter()
        .find(|it| it.words == (at..at + 1) && !it.features.named && !it.wanted && !it.features.group)?;
    let next = question.tokens.get(at + 1);
    let goes_on = next
        .is_some_and(|it| it.is_quote() || it.is_capital() || lexicon.has(&it.lower, Class::OF.or(Class::OWNER)))
        || (question.is_noun(at + 1)
            && lexicon.grammar.traits.compounds_nouns
            && !lexicon.is_either(question.lower(at + 1)));
    if !definite || goes_on || phrase.features.plural == Some(true) || phrase.features.person == Some(true) {
        return None;
    }
    let kind = question.lower(at);
    let guessed = question.class(at).has(Class::TITLED)
        && !question.class(at + 1).has(Class::PREPOSITION)
        && question.text.trim_end().ends_with('?')
        && question.class(0).has(OPENS);
    let found = topics.ranked(|it| match it.features.named && !it.features.group {
        true if !it.kind.is_empty() && (lexicon.grammar.reading.is_same_kind)(&it.kind, kind) => Some(1.0),
        true if guessed
            && it.by_user
            && it.kind.is_empty()
            && it.features.person.is_none_or(|it| !it)
            && !it.is_placed =>
        {
            Some(GUESSED)
        }
        _ => None,
    });
    let (entity, _) = found.first().filter(|(it, salience)| *salience >= FAINTEST && !question.mentions(it))?;
    let name = if entity.head == entity.kind { entity.name.split_once(' ')?.1 } else { &entity.name };
    let now = format!("{} {name}", question.tokens.get(at)?.text);
    Edit::replace(question, at..at + 1, now, ChangeKind::Demonstrative)
}

/// `the largest in the world`: the largest of what was talked about.
pub fn most(question: &FollowUp<'_>, at: usize, topics: &Topics) -> Option<Edit> {
    let lower = question.lower(at + 1);
    let is_most = question.lexicon.has(lower, Class::MOST);
    let last = if is_most { at + 2 } else { at + 1 };
    let token = question.tokens.get(last).filter(|it| it.is_word())?;
    let most = is_most || (question.lexicon.grammar.reading.is_superlative)(lower);
    let ends = question.tokens.get(last + 1).is_none_or(|it| !it.is_word())
        || (question.class(last + 1).has(Class::PREPOSITION) && !question.word_has(last + 1, Class::OF))
        || question.word_has(last + 1, Class::EVER);
    let has_noun = question.phrases.iter().any(|it| it.words.contains(&last) && it.words.end > last + 1);
    if !most || !ends || has_noun || question.has(Class::THIRD) {
        return None;
    }
    let several =
        |it: &Entity| it.features.person == Some(false) && !it.features.named && it.features.plural == Some(true);
    let topic = topics.topic(|it| several(it) && !question.mentions(it))?;
    let now = format!("{} {}", token.text, (question.lexicon.grammar.writing.singular)(&topic.head));
    Edit::replace(question, last..last + 1, now, ChangeKind::Implied)
}
