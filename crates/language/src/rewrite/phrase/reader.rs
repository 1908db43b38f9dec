//! Reads a sentence word by word and opens and closes its phrases.

use std::ops::Range;

use super::super::lexicon::{Class, Lexicon};
use super::super::russian;
use super::super::token::Token;
use super::Phrase;
use crate::analyse::Language;

/// A longer quotation is no title.
const QUOTATION_TOKENS_MAX: usize = 12;

pub struct Reader<'s, 't> {
    pub(super) tokens: &'s [Token<'t>],
    pub(super) sentence: Range<usize>,
    pub(super) lexicon: &'s Lexicon,
    pub(super) phrases: Vec<Phrase>,
    /// Where the open phrase begins.
    pub(super) start: Option<usize>,
    pub(super) determiner: Option<usize>,
    pub(super) preposition: Option<usize>,
    /// The first word that is no filler.
    pub(super) first: usize,
    pub(super) asks_who: bool,
    /// Asks what something is.
    pub(super) defines: bool,
    pub(super) verb_seen: bool,
    /// An auxiliary was read whose verb is still to come.
    pub(super) pending: bool,
    pub(super) speaker_seen: bool,
    /// The last verb only says what something is.
    pub(super) copula: bool,
    /// The next phrase is what is asked for: which city, how many legs.
    pub(super) wanted: bool,
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

    pub(super) fn class(&self, at: usize) -> Class {
        self.tokens.get(at).map_or(Class::default(), |token| token.class)
    }

    pub(super) fn word(&self, at: usize) -> Option<&'s Token<'t>> {
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
        } else if self.lexicon.language == Language::English && token.lower.ends_with("ly") && token.lower.len() > 4 {
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
            self.asks_who |=
                self.tokens.get(at).is_some_and(|token| matches!(token.lower.as_str(), "who" | "quem" | "кто"));
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
        let whose = self.tokens.get(at).is_some_and(|it| matches!(it.lower.as_str(), "his" | "her" | "its" | "their"));
        self.determiner = (whose || class.has(Class::DETERMINER)).then_some(at);
    }

    /// Before a noun it belongs to it, after one it ends it.
    /// A Russian noun governs those that follow it: the museum of the lighthouse is a museum. Names stand together.
    fn governor(&self, words: Range<usize>) -> Option<usize> {
        let spelled = |at: usize| self.tokens.get(at).filter(|it| it.is_word());
        let plain = words.clone().all(|at| spelled(at).is_some() && !self.is_name(at));
        let noun =
            |at: &usize| spelled(*at).is_some_and(|it| !russian::is_adjective(&it.lower) && !it.has(Class::EMPTY));
        (self.lexicon.language == Language::Russian && plain).then(|| words.clone().find(noun)).flatten()
    }

    fn adjective(&mut self, at: usize) {
        let next = self.class(at + 1);
        let goes_on = self
            .word(at + 1)
            .is_some_and(|token| !next.has(Class::FUNCTION.or(Class::VERB)) && !self.lexicon.is_verb(&token.lower));
        if self.start.is_none() && goes_on {
            self.start = Some(at);
        } else if !goes_on || self.lexicon.language != Language::Russian {
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
        let of = |at: &usize| self.tokens.get(*at).is_some_and(|token| token.lower == "of");
        let head = (start + 1..end).find(of).map_or(start + head, |of| of - 1);
        let head = self.governor(start..head + 1).unwrap_or(head);
        let mut phrase = self.phrase(start..end, head);
        phrase.determiner = determiner.filter(|article| article + 1 == start);
        phrase.preposition = preposition.filter(|it| *it < start);
        phrase.role = self.role(&phrase);
        if self.is_somebody(&phrase, end) {
            phrase.person = Some(true);
        }
        self.preposition = None;
        self.wanted = false;
        self.extend(phrase);
    }
}
