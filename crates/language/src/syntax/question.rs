//! A question as the rules see it.

use super::entity::Entity;
use super::lexicon::{Class, Lexicon};
use super::phrase::NounPhrase;
use super::token::Token;

/// A question of more words is long.
const LONG_WORDS: usize = 20;

/// A question as the rules see it.
pub struct FollowUp<'q> {
    pub text: &'q str,
    pub tokens: &'q [Token<'q>],
    pub phrases: &'q [NounPhrase],
    pub lexicon: &'q Lexicon,
}

impl<'q> FollowUp<'q> {
    pub fn lower(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| token.lower.as_str())
    }

    pub(crate) fn class(&self, at: usize) -> Class {
        self.tokens.get(at).map_or(Class::default(), |token| token.class)
    }

    /// Whether the word of a token is of any of these classes, in capitals or not.
    pub(crate) fn word_has(&self, at: usize, class: Class) -> bool {
        self.lexicon.has(self.lower(at), class)
    }

    pub fn before(&self, at: usize) -> Class {
        at.checked_sub(1).map_or(Class::default(), |at| self.class(at))
    }

    pub(crate) fn lower_before(&self, at: usize) -> &str {
        at.checked_sub(1).map_or("", |at| self.lower(at))
    }

    /// The first word that is neither a filler nor goes on from what was said.
    pub fn first_word(&self) -> Option<usize> {
        let begins = |at: &usize| {
            self.tokens.get(*at).is_some_and(Token::is_word)
                && !self.class(*at).has(Class::FILLER)
                && !self.lexicon.is_and(self.lower(*at))
        };
        (0..self.tokens.len()).find(begins)
    }

    pub fn words(&self) -> usize {
        self.tokens.iter().filter(|token| token.is_word()).count()
    }

    /// Whether a token is a word that is neither a verb nor there for the sentence's sake.
    pub(crate) fn is_noun(&self, at: usize) -> bool {
        let token = self.tokens.get(at).filter(|token| token.is_word());
        token.is_some_and(|token| !self.class(at).has(Class::FUNCTION) && !self.lexicon.is_verb(&token.lower))
    }

    pub fn has(&self, class: Class) -> bool {
        self.tokens.iter().any(|token| token.has(class))
    }

    /// Whether the text sets marks apart, as tokenised texts do.
    pub(crate) fn is_spaced(&self) -> bool {
        [" .", " ?", " ,", " '"].iter().any(|mark| self.text.contains(mark))
    }

    /// A long question speaks of its own things.
    pub fn is_long(&self) -> bool {
        self.words() > LONG_WORDS
    }

    /// Where the clause before the one of a token ends. A noun right before a pronoun has a clause of its own
    /// after it.
    pub(crate) fn clause_before(&self, at: usize) -> usize {
        let clause = (0..at).rev().find(|at| self.begins_clause(*at)).unwrap_or(0);
        let relative = self.phrases.iter().any(|it| it.words.end == at && !it.features.group && !it.wanted);
        let subject = self.before(at).has(Class::AUXILIARY.or(Class::BE));
        if relative && !subject && self.lexicon.grammar.traits.bare_relatives { at } else { clause }
    }

    pub(crate) fn names_anybody(&self, until: usize) -> bool {
        (0..until).any(|at| self.word_has(at, Class::ANYBODY))
    }

    /// `Ann said it was`, `Ann thinks they are`.
    pub(crate) fn follows_saying(&self, at: usize) -> bool {
        let named = self.phrases.iter().any(|it| it.words.end <= at && it.features.named);
        named && self.word_has(at.wrapping_sub(1), Class::SAYS)
    }

    /// Whether a clause begins after a token. `And` may also join two nouns.
    pub(crate) fn begins_clause(&self, at: usize) -> bool {
        let (class, next) = (self.class(at), self.class(at + 1));
        let acts = next.has(
            Class::ASKING.or(Class::AUXILIARY).or(Class::BE).or(Class::THIRD).or(Class::SPEAKER).or(Class::FILLER),
        ) || self.lexicon.is_verb(self.lower(at + 1))
            || self.lexicon.is_either(self.lower(at + 1));
        let joins = class.has(Class::AND.or(Class::OR));
        self.tokens.get(at).is_some_and(Token::ends_sentence) || (class.has(Class::CLAUSE) && (!joins || acts))
    }

    pub fn says(&self, word: &str) -> bool {
        self.tokens.iter().any(|token| token.lower == word)
    }

    /// Whether the question itself names something.
    pub fn mentions(&self, entity: &Entity) -> bool {
        self.phrases
            .iter()
            .filter_map(|phrase| self.tokens.get(phrase.words.clone()))
            .any(|words| words.iter().map(|token| token.lower.as_str()).eq(entity.key.split_whitespace()))
    }

    pub fn spelled(&self, phrase: &NounPhrase) -> Option<&'q str> {
        let words = self.tokens.get(phrase.words.clone())?;
        self.text.get(words.first()?.range.start..words.last()?.range.end)
    }
}
