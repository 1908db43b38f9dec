//! What a question is about and leaves out altogether: "Quanto custa?", "Кто построил?", "Who won?", and in which place
//! "Are there any museums?" asks for them.

use super::entity::Entity;
use super::lexicon::Class;
use super::question::{Edit, Question};
use super::token::{self, Token};
use super::topic::Topics;
use super::{ChangeKind, english, portuguese, russian};
use crate::analyse::Language;

/// More words say what they are about.
const VERB_WORDS_MAX: usize = 5;
const PLACE_WORDS_MAX: usize = 8;
/// What is remembered more faintly is not left out.
const FAINTEST: f32 = 0.35;
/// How well what has no name is left out.
const UNNAMED: f32 = 0.75;

/// A Portuguese word after a question word, if not one of these, is a verb.
const NO_VERB: Class = Class::FUNCTION.or(Class::EMPTY).or(Class::TIME).or(Class::RELATIONAL).or(Class::ADJECTIVE);

pub fn resolve(question: &Question<'_>, topics: &Topics) -> Option<Edit> {
    let other = Class::THIRD.or(Class::MY).or(Class::YOUR).or(Class::POINTER);
    if question.has(other) || question.phrases.iter().any(|it| it.named) {
        return None;
    }
    match question.lexicon.language {
        Language::English => lone_verb(question, topics).or_else(|| place(question, topics)),
        Language::Portuguese => lone_verb(question, topics).or_else(|| subject(question, topics)),
        Language::Russian => lone_verb(question, topics),
    }
}

/// A question word and a verb: what the verb needs is added after it.
fn lone_verb(question: &Question<'_>, topics: &Topics) -> Option<Edit> {
    let first = question.first_word()?;
    let last = question.tokens.iter().rposition(Token::is_word)?;
    let matter = question.phrases.iter().any(|it| !it.time && !question.class(it.head).has(Class::EMPTY));
    let asks = question.class(first).has(Class::ASKING);
    let (who, verb) = (question.lexicon.is_who(question.lower(first)), question.lower(last));
    let acts = question.lexicon.language == Language::Portuguese
        && last == first + 1
        && !question.class(last).has(NO_VERB)
        && question.tokens.get(last).is_some_and(|it| !it.is_capital());
    if !asks || (matter && !acts) || last <= first || last - first >= VERB_WORDS_MAX || question.has(Class::SPEAKER) {
        return None;
    }
    let fits = match question.lexicon.language {
        Language::English => who && last == first + 1 && english::TRANSITIVE.contains(&verb),
        Language::Portuguese => {
            portuguese::needs_more(question.lower(first), verb) && (acts || question.lexicon.is_verb(verb))
        }
        Language::Russian => russian::needs_more(question.lower(first), verb) && question.lexicon.is_verb(verb),
    };
    if !fits {
        return None;
    }
    let lives = portuguese::LIVES.contains(&verb) || russian::LIVES.contains(&verb);
    let topic = topic(topics, |it| if lives { it.person != Some(false) } else { it.person != Some(true) })?;
    let added = match question.lexicon.language {
        Language::Russian => russian::after_verb(topic, verb, who),
        _ => topic.full(),
    };
    let now = format!("{} {added}", question.tokens.get(last)?.text);
    question.edit(last..last + 1, now, ChangeKind::Implied)
}

fn topic(topics: &Topics, fits: impl Fn(&Entity) -> bool) -> Option<&Entity> {
    let test = |it: &Entity| {
        let matters = it.matters() && (it.named || !it.has(Class::RELATIONAL)) && !it.is_placed();
        (matters && fits(it) && (it.named || it.by_user)).then_some(if it.named { 1.0 } else { UNNAMED })
    };
    topics.ranked(test).first().filter(|(_, salience)| *salience >= FAINTEST).map(|(entity, _)| *entity)
}

/// `Tem garantia?`: Portuguese leaves its subject out.
fn subject(question: &Question<'_>, topics: &Topics) -> Option<Edit> {
    let first = question.first_word()?;
    let token = question.tokens.get(first)?;
    let possible = question.class(first + 1).has(Class::VERB) || question.lexicon.is_verb(question.lower(first + 1));
    let impersonal = matches!(
        question.lower(first + 1),
        "como" | "que" | "possível" | "preciso" | "necessário" | "verdade" | "permitido"
    );
    let fits = portuguese::HAS_SUBJECT.contains(&token.lower.as_str()) && first == 0;
    if !fits || possible || impersonal || question.words() > VERB_WORDS_MAX || question.has(Class::SPEAKER) {
        return None;
    }
    let topic = topic(topics, |it| it.person != Some(true) && !question.says(&it.head))?;
    let now = format!("{} {}", topic.full(), token::small(token.text));
    question.edit(first..first + 1, now, ChangeKind::Implied)
}

/// `Are there any museums?`, `What is the weather like?`: in the place that is talked about.
fn place(question: &Question<'_>, topics: &Topics) -> Option<Edit> {
    let lower = |at: usize| question.lower(at);
    let there = (question.class(0).has(Class::BE) && lower(1) == "there")
        || (question.class(1).has(Class::BE) && lower(2) == "there");
    let weather = lower(0) == "what" && question.says("weather");
    let popular = lower(0) == "what" && question.class(1).has(Class::BE) && matches!(lower(2), "popular" | "some");
    let last = question.tokens.iter().rposition(Token::is_word)?;
    let placed = question.tokens.iter().any(|it| {
        matches!(it.lower.as_str(), "in" | "at" | "near" | "of" | "here" | "for" | "about" | "between" | "on" | "that")
    });
    if !(there || weather || popular) || placed || question.words() > PLACE_WORDS_MAX {
        return None;
    }
    let found = topics.ranked(|it| (it.by_user && it.is_place()).then_some(1.0));
    let (place, _) = found.first().filter(|(_, salience)| *salience >= FAINTEST)?;
    let now = format!("{} in {}", question.tokens.get(last)?.text, place.full());
    question.edit(last..last + 1, now, ChangeKind::Implied)
}
