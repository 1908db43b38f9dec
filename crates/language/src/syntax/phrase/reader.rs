//! Reads a sentence word by word and opens and closes its phrases.

use std::ops::Range;

use super::super::lexicon::{Class, Lexicon};
use super::super::token::Token;
use super::NounPhrase;

/// A longer quotation is no title.
const QUOTATION_TOKENS_MAX: usize = 12;

#[derive(Debug)]
pub struct Reader<'s, 't> {
    pub(crate) tokens: &'s [Token<'t>],
    pub(crate) sentence: Range<usize>,
    pub(crate) lexicon: &'s Lexicon,
    pub(crate) phrases: Vec<NounPhrase>,
    /// Where the open phrase begins.
    pub(crate) start: Option<usize>,
    pub(crate) determiner: Option<usize>,
    pub(crate) preposition: Option<usize>,
    /// The first word that is no filler.
    pub(crate) first: usize,
    pub(crate) asks_who: bool,
    /// Asks what something is.
    pub(crate) defines: bool,
    pub(crate) verb_seen: bool,
    /// An auxiliary was read whose verb is still to come.
    pub(crate) pending: bool,
    pub(crate) speaker_seen: bool,
    /// The last verb only says what something is.
    pub(crate) copula: bool,
    /// The next phrase is what is asked for: which city, how many legs.
    pub(crate) wanted: bool,
}

impl<'s, 't> Reader<'s, 't> {
    pub fn new(tokens: &'s [Token<'t>], sentence: Range<usize>, lexicon: &'s Lexicon) -> Self {
        let of = tokens.get(sentence.clone()).unwrap_or_default();
        let word = |token: &Token<'_>| token.is_word() && !token.has(Class::FILLER);
        let first = sentence.start + of.iter().position(word).unwrap_or(0);
        Self {
            tokens,
            sentence,
            lexicon,
            phrases: Vec::new(),
            start: None,
            determiner: None,
            preposition: None,
            first,
            asks_who: false,
            defines: false,
            verb_seen: false,
            pending: false,
            speaker_seen: false,
            copula: false,
            wanted: false,
        }
    }

    pub fn read(&mut self) {
        let mut at = self.sentence.start;
        while at < self.sentence.end {
            at = self.step(at);
        }
        self.close(self.sentence.end);
    }

    pub(crate) fn class(&self, at: usize) -> Class {
        self.tokens.get(at).map_or(Class::default(), |token| token.class)
    }

    /// Whether the word of a token is of any of these classes, in capitals or not.
    pub(crate) fn word_has(&self, at: usize, class: Class) -> bool {
        self.tokens.get(at).is_some_and(|token| self.lexicon.has(&token.lower, class))
    }

    pub(crate) fn word(&self, at: usize) -> Option<&'s Token<'t>> {
        self.tokens.get(at).filter(|token| self.sentence.contains(&at) && token.is_word())
    }

    /// Reads one token, or a whole quotation, and gives where to go on.
    fn step(&mut self, at: usize) -> usize {
        let Some(token) = self.tokens.get(at) else { return at + 1 };
        if token.is_quote() {
            self.close(at);
            return self.quotation(at);
        }
        if !token.is_word() {
            let title = token.text == "." && at + 1 < self.sentence.end;
            if !(self.start.is_some() && (token.text == "-" || title)) {
                self.close(at);
                self.preposition = None;
            }
            return at + 1;
        }
        let class = self.class(at);
        if self.is_name(at) {
            if self.is_apposition(at) {
                self.close(at);
            }
            self.start.get_or_insert(at);
        } else if self.joins_names(at) {
            return if self.class(at + 1).has(Class::DEFINITE) { at + 2 } else { at + 1 };
        } else if self.is_verb(at, class) {
            self.pending = false;
            self.close(at);
            self.wanted = false;
            self.verb_seen = true;
            self.preposition = None;
            self.copula = class.has(Class::BE);
        } else if class.has(Class::FUNCTION) {
            self.function(at, class);
        } else if class.has(Class::ADJECTIVE) || self.is_measured(at) {
            self.adjective(at);
        } else if (self.lexicon.grammar.reading.is_adverb)(&token.lower) {
            self.close(at);
        } else {
            let time_follows = class.has(Class::TIME)
                && self.start.is_some_and(|start| !self.class(start).has(Class::TIME) && !self.is_number(start));
            if self.is_addressed() || time_follows {
                self.close(at);
            }
            self.start.get_or_insert(at);
        }
        at + 1
    }

    fn quotation(&mut self, open: usize) -> usize {
        let close = (open + 1..self.sentence.end).find(|at| self.tokens.get(*at).is_some_and(Token::is_quote));
        let Some(close) = close.filter(|close| *close > open + 1 && *close - open < QUOTATION_TOKENS_MAX) else {
            return open + 1;
        };
        self.start = Some(open);
        self.close(close + 1);
        close + 1
    }

    fn function(&mut self, at: usize, class: Class) {
        if self.owns(at) {
            self.close(at);
            self.determiner = None;
            return;
        }
        self.close(at);
        if class.has(Class::ASKING) {
            self.asks_who |= self.word_has(at, Class::WHO);
        }
        if class.has(Class::BE) && !self.verb_seen {
            self.defines = at > self.sentence.start && self.class(at - 1).has(Class::ASKING);
        }
        self.pending |= class.has(Class::AUXILIARY);
        self.wanted = (self.wanted && class.has(Class::INDEFINITE.or(Class::ADVERB))) || class.has(Class::ASKING);
        self.speaker_seen |= class.has(Class::SPEAKER);
        if class.has(Class::PREPOSITION) {
            self.preposition = Some(at);
        } else if class.has(Class::CLAUSE.or(Class::BE).or(Class::AUXILIARY)) {
            self.preposition = None;
        }
        let whose = self.word_has(at, Class::WHOSE);
        self.determiner = (whose || class.has(Class::DETERMINER)).then_some(at);
    }

    /// Where nouns govern those that follow them, the museum of the lighthouse is a museum. Names stand
    /// together.
    fn governor(&self, words: Range<usize>) -> Option<usize> {
        let spelled = |at: usize| self.tokens.get(at).filter(|it| it.is_word());
        let plain = words.clone().all(|at| spelled(at).is_some() && !self.is_name(at));
        let noun = |at: &usize| {
            spelled(*at)
                .is_some_and(|it| !(self.lexicon.grammar.reading.is_adjective)(&it.lower) && !it.has(Class::EMPTY))
        };
        (self.lexicon.grammar.traits.governs_nouns && plain).then(|| words.clone().find(noun)).flatten()
    }

    /// Before a noun an adjective belongs to it, after one it ends the phrase.
    fn adjective(&mut self, at: usize) {
        let next = self.class(at + 1);
        let goes_on = self
            .word(at + 1)
            .is_some_and(|token| !next.has(Class::FUNCTION.or(Class::VERB)) && !self.lexicon.is_verb(&token.lower));
        if self.start.is_none() && goes_on {
            self.start = Some(at);
        } else if !goes_on || !self.lexicon.grammar.traits.governs_nouns {
            self.close(at);
        }
    }

    fn close(&mut self, end: usize) {
        let (determiner, preposition) = (self.determiner.take(), self.preposition);
        let Some(start) = self.start.take() else { return };
        let mut end = end;
        while end > start + 1 && self.tokens.get(end - 1).is_some_and(|token| !token.is_word() && !token.is_quote()) {
            end -= 1;
        }
        if self.ends_with_verb(start, end) {
            end -= 1;
            self.verb_seen = true;
            self.pending = false;
        }
        let Some(head) = self.tokens.get(start..end).and_then(|of| of.iter().rposition(Token::is_word)) else { return };
        let of = |at: &usize| self.word_has(*at, Class::AFTER_HEAD);
        let head = (start + 1..end).find(of).map_or(start + head, |of| of - 1);
        let head = self.governor(start..head + 1).unwrap_or(head);
        let mut phrase = self.phrase(start..end, head);
        phrase.determiner = determiner.filter(|article| article + 1 == start);
        phrase.preposition = preposition.filter(|it| *it < start);
        phrase.role = self.role(&phrase);
        if self.is_somebody(&phrase, end) {
            phrase.features.person = Some(true);
        }
        self.preposition = None;
        self.wanted = false;
        self.extend(phrase);
    }
}
