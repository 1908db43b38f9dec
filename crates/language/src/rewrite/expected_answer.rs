//! What a question expects as its answer, so that the name in the reply becomes the topic.

use crate::syntax::{Class, Lexicon, NounPhrase, Role, Token};

const THE_ONE: Class = Class::DEFINITE.or(Class::THIRD);

/// What a question is after.
#[derive(Debug, Default, PartialEq, Eq)]
pub enum ExpectedAnswer {
    #[default]
    Nothing,
    Somebody,
    /// Something of a kind that it does not name.
    Thing(String),
}

impl ExpectedAnswer {
    /// What a question is after: `who`, `what is the tallest mountain`, `which city`.
    pub fn by(tokens: &[Token<'_>], phrases: &[NounPhrase], lexicon: &Lexicon) -> Self {
        let first = tokens.iter().find(|it| it.is_word() && !it.has(Class::FILLER.or(Class::AND)));
        let Some(first) = first.filter(|it| it.has(Class::ASKING)) else { return ExpectedAnswer::Nothing };
        if lexicon.is_who(&first.lower) {
            let article =
                |it: &NounPhrase| it.determiner.and_then(|at| tokens.get(at)).is_some_and(|it| it.has(Class::DEFINITE));
            let who = phrases.iter().any(|it| it.features.named && it.role == Role::Topic && !article(it));
            return if who { ExpectedAnswer::Nothing } else { ExpectedAnswer::Somebody };
        }
        // What is defined is no answer to be named; the one of its kind is.
        let only = |it: &NounPhrase| {
            let article = it.determiner.is_some_and(|at| tokens.get(at).is_some_and(|it| it.has(THE_ONE)));
            it.role == Role::Topic && article && !lexicon.has(&first.lower, Class::DEFINES)
        };
        // `What was X's first album`.
        let owned = |it: &NounPhrase| {
            let kind = tokens.get(it.head).is_some_and(|it| it.has(Class::TITLED) && !it.is_capital());
            kind && lexicon.has(&first.lower, Class::WHAT)
                && tokens.iter().any(|it| it.text == "'" || lexicon.has(it.text, Class::OWNER))
        };
        let thing =
            |it: &&NounPhrase| !it.features.time && (owned(it) || (!it.features.named && (it.wanted || only(it))));
        let thing = phrases.iter().find(thing).and_then(|it| tokens.get(it.head));
        thing.map_or(ExpectedAnswer::Nothing, |head| ExpectedAnswer::Thing(head.lower.clone()))
    }
}
