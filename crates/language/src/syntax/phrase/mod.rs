//! The noun phrases of a text, found without a tagger.
//!
//! A phrase is a run of words that no table knows as anything but matter, with the article before it. Owns
//! where phrases begin and end and how they stand in their sentence; which of them is meant later is
//! `topic`'s.

mod finish;
mod reader;
mod word;

use std::ops::Range;

pub use self::reader::Reader;
use super::lexicon::{Class, Gender, Lexicon};
use super::token::Token;

/// How much a sentence is about a phrase, most first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    Topic,
    Subject,
    Object,
    /// After a preposition.
    Oblique,
}

/// What a pronoun has to agree with.
#[derive(Debug, Clone, Copy)]
pub struct Features {
    /// Spelled with capitals, quoted, or with digits in it.
    pub named: bool,
    /// Unknown for names that end like a plural.
    pub plural: Option<bool>,
    pub gender: Option<Gender>,
    /// A person, a thing, or either.
    pub person: Option<bool>,
    /// A time: today, 1998.
    pub time: bool,
    /// Several phrases joined by "and".
    pub group: bool,
}

#[derive(Debug, Clone)]
pub struct NounPhrase {
    /// Without its article.
    pub words: Range<usize>,
    /// The token of its article or possessive.
    pub determiner: Option<usize>,
    pub preposition: Option<usize>,
    pub role: Role,
    pub features: Features,
    /// What the question is after: which city, how many legs.
    pub wanted: bool,
    /// The noun that the rest describes.
    pub head: usize,
    /// The noun that says what a name is the name of: the album X, X is an album.
    pub kind: Option<usize>,
}

impl NounPhrase {
    fn be_a(&mut self, kind: &Self) {
        self.kind = Some(kind.head);
        self.features.person = self.features.person.or(kind.features.person.filter(|person| *person));
        self.features.gender = self.features.gender.or(kind.features.gender);
    }
}

/// The phrases of a text in the order they begin; a longer one that holds others comes after them.
pub fn phrases(tokens: &[Token<'_>], lexicon: &Lexicon) -> Vec<NounPhrase> {
    let mut phrases = Vec::new();
    let mut from = 0;
    while let Some(first) = tokens.get(from) {
        let rest = tokens.get(from..).unwrap_or_default();
        let len = rest.iter().take_while(|token| token.sentence == first.sentence).count();
        let mut reader = Reader::new(tokens, from..from + len, lexicon);
        reader.read();
        define(tokens, &mut reader.phrases, lexicon);
        let groups = groups(tokens, &reader.phrases);
        phrases.append(&mut reader.phrases);
        phrases.extend(groups);
        from += len;
    }
    phrases
}

/// `X is an album` and `the album, X`: what a name is the name of, and whether of somebody.
fn define(tokens: &[Token<'_>], phrases: &mut [NounPhrase], lexicon: &Lexicon) {
    for at in 1..phrases.len() {
        let Some([first, second]) = phrases.get_mut(at - 1..=at) else { continue };
        let article = second.determiner.unwrap_or(second.words.start);
        let between = tokens.get(first.words.end..article).unwrap_or_default();
        let is = between.iter().all(|it| it.has(Class::BE)) && second.determiner.is_some();
        let comma = between.iter().all(|it| it.text == ",") && second.determiner.is_none();
        match (first.features.named, second.features.named) {
            _ if between.len() != 1 => {}
            (true, false) if is => first.be_a(second),
            (true, false) if between.iter().all(|it| it.text == ",") && is_new(tokens, second, lexicon) => {
                first.be_a(second)
            }
            (_, true) if comma && is_kind(tokens, first) => second.be_a(first),
            _ => {}
        }
    }
}

/// `an older brother`, `first single`: what a name after it may be the name of.
fn is_kind(tokens: &[Token<'_>], phrase: &NounPhrase) -> bool {
    let kind = |it: &Token<'_>| phrase.determiner.is_some() || it.has(Class::TITLED);
    tokens.get(phrase.head).is_some_and(|it| !it.is_capital() && kind(it))
}

/// `a play`: what is said first here.
fn is_new(tokens: &[Token<'_>], phrase: &NounPhrase, lexicon: &Lexicon) -> bool {
    phrase.determiner.and_then(|at| tokens.get(at)).is_some_and(|it| lexicon.has(&it.lower, Class::A))
}

/// Runs of phrases that only commas and "and" stand between.
fn groups(tokens: &[Token<'_>], phrases: &[NounPhrase]) -> Vec<NounPhrase> {
    let mut groups = Vec::new();
    let mut run: Option<(NounPhrase, bool)> = None;
    let flat = phrases.iter().filter(|it| !it.features.time);
    for phrase in flat {
        let between = run.as_ref().and_then(|(open, _)| {
            let from = open.words.end;
            let to = phrase.determiner.unwrap_or(phrase.words.start);
            tokens.get(from..to).filter(|of| !of.is_empty())
        });
        let joined = between.is_some_and(|of| of.iter().all(|it| it.text == "," || it.has(Class::AND)));
        let and = between.is_some_and(|of| of.iter().any(|it| it.has(Class::AND)));
        match &mut run {
            Some((open, closed)) if joined && open.features.named == phrase.features.named => {
                open.words.end = phrase.words.end;
                open.features.group = true;
                open.features.plural = Some(true);
                open.features.gender = None;
                open.features.person = open.features.person.or(phrase.features.person);
                *closed |= and;
            }
            _ => {
                groups.extend(run.take().filter(|(open, closed)| open.features.group && *closed).map(|(open, _)| open));
                run = Some((phrase.clone(), false));
            }
        }
    }
    groups.extend(run.filter(|(open, closed)| open.features.group && *closed).map(|(open, _)| open));
    groups
}

#[cfg(test)]
mod tests {
    use super::super::token;
    use super::*;
    use crate::Language;

    /// The phrases of a text with their roles.
    #[track_caller]
    fn check(language: Language, text: &str, expect: &[(&str, Role)]) {
        let tokens = token::tokens(text, language.lexicon(), 100);
        let phrases = phrases(&tokens, language.lexicon());
        let spelled = |it: &NounPhrase| &text[tokens[it.words.start].range.start..tokens[it.words.end - 1].range.end];
        assert_eq!(phrases.iter().map(|it| (spelled(it), it.role)).collect::<Vec<_>>(), expect, "{text}");
    }

    #[test]
    fn english_phrases_end_at_verbs_and_adjectives() {
        use Role::{Object, Oblique, Subject, Topic};
        let check = |text, expect: &[_]| check(Language::English, text, expect);
        check("What is throat cancer?", &[("throat cancer", Topic)]);
        check("How does binge drinking affect development?", &[("binge drinking", Subject), ("development", Object)]);
        check("Is Red Bull bad for you?", &[("Red Bull", Subject)]);
        check("Tell me about the history of toilets.", &[("history", Oblique), ("toilets", Topic)]);
        check("How many legs do mammals have?", &[("legs", Oblique), ("mammals", Subject)]);
        check("Who directed Candle in the Wind?", &[("Candle in the Wind", Object)]);
        check("Call Ann and Tom.", &[("Ann", Object), ("Tom", Object), ("Ann and Tom", Object)]);
    }

    #[test]
    fn names_with_particles_are_one_phrase() {
        let check = |language, text, name| check(language, text, &[(name, Role::Topic)]);
        check(Language::Portuguese, "Quem foi Machado de Assis?", "Machado de Assis");
        check(Language::Russian, "Кто такой Лев Толстой?", "Лев Толстой");
        check(Language::English, "What is the US Electoral College?", "US Electoral College");
    }
}
