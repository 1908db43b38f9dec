//! A sentence as the rules see it: tokens with their word classes, phrases, and what the phrases speak of.
//!
//! Owns the shapes that every language fills (`grammar`, `lexicon`) and the reading that all languages share.
//! Holds no words of any language: those are in the folder of each language.

mod entity;
mod grammar;
mod lexicon;
pub(crate) mod phrase;
mod question;
pub(crate) mod token;

pub(crate) use self::entity::Entity;
pub(crate) use self::grammar::{
    Analysis, Calendar, Determined, FigureWords, FoundPronoun, GeneratedWords, Grammar, LoneVerb, ReadingRules, Script,
    Traits, WordLists, WritingRules, plain_pronoun,
};
pub(crate) use self::lexicon::{Case, Class, Form, Gender, LAST, Lexicon, Pronoun};
pub(crate) use self::phrase::{NounPhrase, Reader, Role};
pub(crate) use self::question::FollowUp;
pub(crate) use self::token::Token;
