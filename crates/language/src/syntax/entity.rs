//! Something that a message mentioned and that a later question may refer to.

use super::grammar::Determined;
use super::lexicon::{Class, Lexicon, Pronoun};
use super::phrase::{Features, NounPhrase, Role};
use super::token::{self, Token};

/// A longer run of words is no phrase but a text that the tables know nothing of.
const WORDS_MAX: usize = 12;
/// What is left of the weight of a property that says not of what, and of a kind that says not which.
const PROPERTY: f32 = 0.35;
const KIND: f32 = 0.7;
/// How well a thing fits a pronoun of the other number, a name one for people, and a noun that says nothing
/// any.
const ONE_AS_MANY: f32 = 0.6;
const MANY_AS_ONE: f32 = 0.4;
const UNKNOWN_NUMBER: f32 = 0.9;
const PERHAPS_A_PERSON: f32 = 0.7;
const NAMED_PERSON: f32 = 1.35;
const EMPTY: f32 = 0.2;
/// Where something is, in a reply, is seldom what is asked about next.
const PLACE: f32 = 0.5;

/// Something that a message mentioned.
#[derive(Debug, Clone)]
pub struct Entity {
    /// As it was spelled, without its article.
    pub name: String,
    /// The article or possessive with which it is taken up again.
    pub article: String,
    pub head: String,
    /// What it is the name of, if that was said: album, city.
    pub kind: String,
    pub features: Features,
    /// The preposition before it, in lower case.
    pub preposition: String,
    /// Said as the place of something.
    pub is_placed: bool,
    pub by_user: bool,
    /// The object of a verb, and so in a case of its own.
    pub after_verb: bool,
    /// One of a kind, which a reply may name.
    pub indefinite: bool,
    pub key: String,
    pub class: Class,
    pub weight: f32,
    pub turn: usize,
    /// Messages of the same question share a turn and not this.
    pub message: usize,
}

impl Entity {
    /// With its article.
    pub fn full(&self) -> String {
        match self.article.is_empty() {
            true => self.name.clone(),
            false => format!("{} {}", self.article, self.name),
        }
    }

    pub fn has(&self, class: Class) -> bool {
        self.class.has(class)
    }

    /// Whether it is somewhere to be.
    pub(crate) fn is_place(&self, lexicon: &Lexicon) -> bool {
        let placed = lexicon.has(&self.preposition, Class::NAMES_PLACE) && self.features.named;
        let place = lexicon.has(&self.kind, Class::PLACE) || lexicon.has(&self.head, Class::PLACE);
        (placed || place)
            && self.features.person != Some(true)
            && !self.features.time
            && (self.features.named || self.has_inner(lexicon, Class::AFTER_HEAD))
    }

    /// Whether a word of a class stands between other words of its name.
    pub(crate) fn has_inner(&self, lexicon: &Lexicon, class: Class) -> bool {
        let words: Vec<&str> = self.name.split(' ').collect();
        words.len() > 2 && words.get(1..words.len() - 1).is_some_and(|it| it.iter().any(|it| lexicon.has(it, class)))
    }

    /// `650 рублей`, `R$ 8`: how much, which a pronoun does not mean.
    pub(crate) fn is_measure(&self) -> bool {
        let number = self.name.split(' ').next().is_some_and(|first| first.bytes().all(|c| c.is_ascii_digit()));
        let currency = self.has(Class::CURRENCY) && self.name.chars().all(char::is_uppercase);
        (number && self.name.contains(' ') && !self.by_user) || currency
    }

    /// Whether it can be what a conversation is about.
    pub fn matters(&self) -> bool {
        !self.features.time && !self.features.group && !self.class.has(Class::EMPTY) && !self.is_measure()
    }

    pub fn is(&self, other: &Self) -> bool {
        self.key == other.key
    }

    /// What a phrase of a text says, unless it needs something else to say it.
    pub(crate) fn from_phrase(
        text: &str,
        tokens: &[Token<'_>],
        phrase: &NounPhrase,
        by_user: bool,
        lexicon: &Lexicon,
    ) -> Option<Self> {
        let words = tokens.get(phrase.words.clone()).filter(|words| words.len() <= WORDS_MAX)?;
        let lower = |at: Option<usize>| at.and_then(|at| tokens.get(at)).map_or("", |token| token.lower.as_str());
        let (determiner, preposition) = (lower(phrase.determiner), lower(phrase.preposition));
        let letters = words.iter().filter(|token| token.text.contains(char::is_alphabetic)).count();
        if letters == 0 || lexicon.class(determiner).has(Class::THIRD) {
            return None;
        }
        let (article, name) = spelled(text, words, phrase, lexicon)?;
        let determiner = if article.is_empty() { determiner } else { article };
        let head = &tokens.get(phrase.head)?.lower;
        let bare = letters == 1 && !phrase.features.named;
        let owned = words.iter().any(|token| lexicon.has(&token.lower, Class::OWNER));
        let class = lexicon.class(head);
        let property = class.has(Class::RELATIONAL) && (bare || owned);
        let kind = class.has(Class::TITLED) && bare;
        let generic = phrase.role == Role::Topic;
        let (reading, writing) = (&lexicon.grammar.reading, &lexicon.grammar.writing);
        let determiner_class = lexicon.class(determiner);
        let determined =
            Determined { determiner, class: determiner_class, by_user, generic, named: phrase.features.named };
        let article = (writing.article)(&determined);
        let Features { gender, named, .. } = phrase.features;
        Some(Self {
            key: token::lower(&name),
            name,
            article: article.to_owned(),
            head: head.clone(),
            kind: lower(phrase.kind).to_owned(),
            features: Features {
                plural: (reading.number)(article).or(phrase.features.plural),
                gender: gender.or_else(|| (reading.gender)(article, head, named)),
                ..phrase.features
            },
            preposition: preposition.to_owned(),
            is_placed: lexicon.has(preposition, Class::IN_PLACE),
            by_user,
            after_verb: phrase.role == Role::Object || phrase.wanted,
            indefinite: kind || (determiner_class.has(Class::INDEFINITE) && !generic),
            // A noun that says nothing by itself may do so with another word.
            class: if bare { class } else { class.without(Class::EMPTY) },
            weight: weight(phrase.role) * if property { PROPERTY } else { 1.0 } * if kind { KIND } else { 1.0 },
            turn: 0,
            message: 0,
        })
    }

    /// How well it fits a pronoun, if it does.
    pub(crate) fn fit(&self, pronoun: &Pronoun) -> Option<f32> {
        if self.features.time {
            return None;
        }
        let placed = self.is_placed;
        if (pronoun.person == Some(true) && self.features.person.is_none() && placed)
            || (self.is_measure() && !pronoun.plural)
        {
            return None;
        }
        let person = match (pronoun.person, self.features.person) {
            (Some(true), Some(false)) | (Some(false), Some(true)) => return None,
            (Some(true), None) => PERHAPS_A_PERSON,
            _ => 1.0,
        };
        if matches!((pronoun.gender, self.features.gender), (Some(a), Some(b)) if a != b) {
            return None;
        }
        let number = match (pronoun.plural, self.features.plural) {
            (true, Some(false)) if self.features.person == Some(true) => return None,
            (true, Some(false)) => ONE_AS_MANY,
            (false, Some(true)) if self.features.person != Some(false) || self.features.group => return None,
            (false, Some(true)) => MANY_AS_ONE,
            (true, None) => UNKNOWN_NUMBER,
            _ => 1.0,
        };
        let matter = if self.class.has(Class::EMPTY) { EMPTY } else { 1.0 };
        let named = if pronoun.person == Some(true) && self.features.named { NAMED_PERSON } else { 1.0 };
        let place = if placed && !self.by_user && !pronoun.plural { PLACE } else { 1.0 };
        Some(person * number * matter * named * place)
    }
}

/// A phrase as it is spelled within a sentence, and the article that its name begins with.
fn spelled<'t>(
    text: &str,
    words: &'t [Token<'_>],
    phrase: &NounPhrase,
    lexicon: &Lexicon,
) -> Option<(&'t str, String)> {
    let [first, rest @ ..] = words else { return None };
    let until = words.last()?.range.end;
    let article = lexicon.has(&first.lower, Class::NAME_ARTICLE) && first.text == token::capitalised(&first.lower);
    if let Some(second) = rest.first().filter(|_| article && phrase.features.named) {
        return Some((&first.lower, text.get(second.range.start..until)?.to_owned()));
    }
    let name = text.get(first.range.start..until)?;
    let common = !phrase.features.named && first.is_capital() && !first.is_acronym();
    Some(("", if common { token::small(name) } else { name.to_owned() }))
}

fn weight(role: Role) -> f32 {
    match role {
        Role::Topic => 1.0,
        Role::Subject => 0.9,
        Role::Object => 0.75,
        Role::Oblique => 0.5,
    }
}
