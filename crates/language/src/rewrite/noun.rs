//! Nouns that are left out or cut short: "the last one", "the largest", "the experiment", "the album".

use super::entity::Entity;
use super::lexicon::{Class, Lexicon};
use super::phrase::is_of;
use super::question::{Edit, Question};
use super::topic::Topics;
use super::{ChangeKind, english};
use crate::analyse::Language;

/// What is remembered more faintly is not meant.
const FAINTEST: f32 = 0.3;
/// How well a name fits a kind when it was not said what it is the name of.
const GUESSED: f32 = 0.5;
/// What a question begins with.
const OPENS: Class = Class::ASKING.or(Class::BE).or(Class::AUXILIARY);
/// An ordinal in fewer words chooses, and what from is not known here.
const CHOICE_WORDS: usize = 4;

/// `the last one`: the last message. `make one`: a reminder. `the one by X`: the thing itself.
pub fn one(question: &Question<'_>, at: usize, topics: &Topics) -> Option<Edit> {
    if question.is_noun(at + 1) || says_of_what(question, at) {
        return None;
    }
    let before = question.before(at);
    let chooses = before.has(Class::ORDINAL) && question.words() < CHOICE_WORDS;
    if is_described(question, at) && !chooses {
        return question.edit(at..at + 1, named_one(question, at, topics)?, ChangeKind::Demonstrative);
    }
    if matches!(question.lower_before(at), "make" | "create" | "set" | "add" | "buy" | "get" | "have") {
        let noun = named_one(question, at, topics)?;
        let article = if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        return question.edit(at..at + 1, format!("{article} {noun}"), ChangeKind::Demonstrative);
    }
    if !matches!(question.lower(at + 1), "by" | "from" | "with") || !before.has(Class::DEFINITE) {
        return None;
    }
    let thing = |it: &Entity| (it.named && it.person.is_none() && !it.time && !question.mentions(it)).then_some(1.0);
    let found = topics.ranked(thing);
    let (entity, _) = found.first()?;
    question.edit(at - 1..at + 1, entity.full(), ChangeKind::Demonstrative)
}

fn is_described(question: &Question<'_>, at: usize) -> bool {
    let pointed = (1..4).filter_map(|back| at.checked_sub(back));
    let pointed =
        pointed.map(|at| question.class(at)).any(|it| it.has(Class::DEFINITE.or(Class::POINTER).or(Class::BE)));
    pointed && question.before(at).has(Class::ADJECTIVE.or(Class::ORDINAL).or(Class::POINTER))
}

/// Whether the question itself has the noun that `one` stands for.
fn says_of_what(question: &Question<'_>, at: usize) -> bool {
    let common = question.phrases.iter().filter(|it| !it.named && !it.time && it.person == Some(false));
    let mut before = common.filter(|it| it.words.end <= at);
    before.any(|it| !question.class(it.head).has(Class::EMPTY.or(Class::ADJECTIVE)))
}

/// The noun that `one` stands for, as one or as several.
fn named_one(question: &Question<'_>, at: usize, topics: &Topics) -> Option<String> {
    let common = |it: &Entity| {
        let thing = it.person == Some(false) && it.head.contains(char::is_alphabetic);
        (thing && !it.time && !it.has(Class::EMPTY) && !it.group).then_some(if it.named { 0.5 } else { 1.0 })
    };
    let found = topics.ranked(common);
    let (entity, _) = found.first().filter(|(_, salience)| *salience >= FAINTEST)?;
    Some(match question.lexicon.is_plural(question.lower(at)) {
        true => english::plural(&entity.head),
        false => english::singular(&entity.head),
    })
}

/// `the experiment`: the one whose name was said in full.
pub fn in_full(question: &Question<'_>, at: usize, topics: &Topics) -> Option<Edit> {
    let phrase = question.phrases.iter().find(|it| it.determiner == Some(at) && it.words.len() == 1)?;
    let (head, end) = (question.lower(phrase.head), phrase.words.end);
    let owned = |name: &str| name.contains(['\'', '’']);
    let goes_on = question.is_noun(end) && !question.lexicon.is_either(question.lower(end));
    let told = is_of(question.lower(end)) || question.lower(end) == "by";
    if question.lexicon.is_plural(head) || owned(question.lower(end)) || goes_on || told {
        return None;
    }
    let whole = |it: &Entity| {
        let told = it.named || it.name.contains(" of ");
        (told && it.head == head && it.name.contains(' ') && !owned(&it.name)).then_some(1.0)
    };
    let found = topics.ranked(whole);
    let (entity, _) = found.first()?;
    question.edit(at..end, entity.full(), ChangeKind::Demonstrative)
}

/// `the album`: which one, by its name.
pub fn of_kind(question: &Question<'_>, at: usize, topics: &Topics) -> Option<Edit> {
    let lexicon = question.lexicon;
    let definite = question.before(at).has(Class::DEFINITE) || lexicon.language == Language::Russian;
    let phrase = question.phrases.iter().find(|it| it.words == (at..at + 1) && !it.named && !it.wanted && !it.group)?;
    let next = question.tokens.get(at + 1);
    let goes_on = next.is_some_and(|it| it.is_quote() || it.is_capital() || is_of(&it.lower) || it.lower == "'s")
        || (question.is_noun(at + 1)
            && lexicon.language == Language::English
            && !lexicon.is_either(question.lower(at + 1)));
    if !definite || goes_on || phrase.plural == Some(true) || phrase.person == Some(true) {
        return None;
    }
    let kind = question.lower(at);
    let guessed = question.class(at).has(Class::TITLED)
        && !question.class(at + 1).has(Class::PREPOSITION)
        && question.text.trim_end().ends_with('?')
        && question.class(0).has(OPENS);
    let found = topics.ranked(|it| match it.named && !it.group {
        true if same_kind(&it.kind, kind, lexicon) => Some(1.0),
        true if guessed && it.by_user && it.kind.is_empty() && it.person.is_none_or(|it| !it) && !it.is_placed() => {
            Some(GUESSED)
        }
        _ => None,
    });
    let (entity, _) = found.first().filter(|(it, salience)| *salience >= FAINTEST && !question.mentions(it))?;
    let name = if entity.head == entity.kind { entity.name.split_once(' ')?.1 } else { &entity.name };
    let now = format!("{} {name}", question.tokens.get(at)?.text);
    question.edit(at..at + 1, now, ChangeKind::Demonstrative)
}

/// Whether two nouns can be of one thing.
fn same_kind(said: &str, now: &str, lexicon: &Lexicon) -> bool {
    let stem = |word: &str| word.chars().take(word.chars().count().saturating_sub(2).max(4)).collect::<String>();
    match lexicon.language {
        _ if said.is_empty() => false,
        Language::Russian => stem(said) == stem(now),
        Language::Portuguese => said == now,
        Language::English => said == now || english::KIN.iter().any(|kin| kin.contains(&said) && kin.contains(&now)),
    }
}

/// `the largest in the world`: the largest of what was talked about.
pub fn most(question: &Question<'_>, at: usize, topics: &Topics) -> Option<Edit> {
    let lower = question.lower(at + 1);
    let last = if lower == "most" { at + 2 } else { at + 1 };
    let token = question.tokens.get(last).filter(|it| it.is_word())?;
    let most = lower == "most" || (lower.ends_with("est") && lower.len() > 4);
    let next = question.lower(last + 1);
    let ends = question.tokens.get(last + 1).is_none_or(|it| !it.is_word())
        || (question.class(last + 1).has(Class::PREPOSITION) && next != "of")
        || next == "ever";
    let has_noun = question.phrases.iter().any(|it| it.words.contains(&last) && it.words.end > last + 1);
    if !most || !ends || has_noun || question.has(Class::THIRD) {
        return None;
    }
    let several = |it: &Entity| it.person == Some(false) && !it.named && it.plural == Some(true);
    let topic = topics.topic(|it| several(it) && !question.mentions(it))?;
    let now = format!("{} {}", token.text, english::singular(&topic.head));
    question.edit(last..last + 1, now, ChangeKind::Implied)
}
