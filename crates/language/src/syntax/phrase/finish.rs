//! What a phrase is after it has been read: a person or a thing, its role, and the phrase it belongs to.

use std::ops::Range;

use super::super::lexicon::{Class, Gender};
use super::super::token::Token;
use super::reader::Reader;
use super::{Features, NounPhrase, Role};

impl Reader<'_, '_> {
    pub(super) fn phrase(&self, words: Range<usize>, head: usize) -> NounPhrase {
        let of = self.tokens.get(words.clone()).unwrap_or_default();
        let class = |at: usize| self.class(at);
        let named = of.iter().any(Token::is_quote)
            || self.is_name(words.start)
            || (self.is_name(head) && head > words.start)
            || (self.is_number(head) && head > words.start + 1 && self.is_name(head - 1));
        let all = words.clone().map(class).fold(Class::default(), Class::or);
        let words_all_time = words.clone().all(|at| class(at).has(Class::TIME) || self.is_number(at));
        let person_class = Class::MAN.or(Class::WOMAN).or(Class::PERSON);
        let given = named && class(words.start).has(Class::MAN.or(Class::WOMAN));
        let person = (given && !class(head).has(Class::KIND))
            || class(head).has(person_class)
            || (self.asks_who && self.defines && named && self.phrases.is_empty());
        let who = if given { class(words.start) } else { class(head) };
        let gender = match (who.has(Class::MAN), who.has(Class::WOMAN)) {
            (true, false) => Some(Gender::Man),
            (false, true) => Some(Gender::Woman),
            _ => None,
        };
        let lower = self.tokens.get(head).map_or("", |token| token.lower.as_str());
        let plural = self.lexicon.is_plural(lower) && !given;
        let year = of.len() == 1
            && of.iter().all(|token| token.text.len() == 4 && token.text.bytes().all(|c| c.is_ascii_digit()));
        NounPhrase {
            words,
            determiner: None,
            preposition: None,
            role: Role::Object,
            features: Features {
                named,
                plural: if (plural && named) || class(head).has(Class::COLLECTIVE) { None } else { Some(plural) },
                gender,
                person: if person {
                    Some(true)
                } else if named {
                    None
                } else {
                    Some(false)
                },
                time: year || if named { words_all_time } else { all.has(Class::TIME) },
                group: false,
            },
            wanted: self.wanted,
            head,
            kind: None,
        }
    }

    pub(super) fn role(&self, phrase: &NounPhrase) -> Role {
        let from = phrase.determiner.unwrap_or(phrase.words.start);
        let listed = |at: usize| {
            self.class(at).has(Class::AND.or(Class::OR)) || self.tokens.get(at).is_some_and(|it| it.text == ",")
        };
        if let Some(before) = self.phrases.last().filter(|it| it.words.end < from && (it.words.end..from).all(listed)) {
            return before.role;
        }
        match phrase.preposition {
            Some(at) if self.class(at).has(Class::ABOUT) => Role::Topic,
            Some(_) => Role::Oblique,
            None if self.wanted => Role::Oblique,
            None if self.defines && self.phrases.is_empty() => Role::Topic,
            None if self.verb_seen && !self.copula => Role::Object,
            None if self.verb_seen || self.phrases.iter().any(|it| !it.wanted) => Role::Oblique,
            None => Role::Subject,
        }
    }

    /// A name that is called, told or heard from belongs to a person.
    pub(super) fn is_somebody(&self, phrase: &NounPhrase, end: usize) -> bool {
        if !phrase.features.named || phrase.features.person.is_some() {
            return false;
        }
        let addressed = phrase
            .words
            .start
            .checked_sub(1)
            .is_some_and(|at| self.class(at).has(Class::ADDRESSES) && phrase.determiner.is_none());
        let inverted =
            self.defines || phrase.words.start.checked_sub(1).is_some_and(|at| self.class(at).has(Class::BE));
        let next = if self.class(end).has(Class::BE) { end + 1 } else { end };
        let heard =
            phrase.preposition.and_then(|at| at.checked_sub(1)).is_some_and(|at| self.word_has(at, Class::LETTER));
        addressed || (self.word_has(next, Class::WRITES) && !inverted) || heard
    }

    /// An unknown last word after a noun, where a verb was still to come.
    pub(super) fn ends_with_verb(&self, start: usize, end: usize) -> bool {
        let lower = self.word(end.saturating_sub(1)).is_some_and(|token| !token.is_capital() && !token.has_digit());
        self.lexicon.grammar.traits.ends_with_verb
            && self.pending
            && !self.verb_seen
            && !self.speaker_seen
            && self.preposition.is_none()
            && end - start > 1
            && lower
            && self.word(end - 1).is_some_and(|token| !self.lexicon.is_plural(&token.lower))
    }

    /// Ties a phrase to the one before it that it completes or that owns it.
    pub(super) fn extend(&mut self, phrase: NounPhrase) {
        let follows = |before: &NounPhrase, tie: usize| before.words.end == tie;
        let of = phrase.preposition.filter(|at| self.word_has(*at, Class::OF));
        let owner = phrase.words.start.checked_sub(1).filter(|at| self.word_has(*at, Class::OWNER));
        match self.phrases.pop() {
            Some(before) if of.is_some_and(|at| follows(&before, at)) => self.complete(before, phrase),
            Some(before) if owner.is_some_and(|at| follows(&before, at)) => self.own(before, phrase),
            Some(before) if phrase.features.named && before.words.end == phrase.words.start => {
                self.appose(before, phrase)
            }
            before => self.phrases.extend(before.into_iter().chain([phrase])),
        }
    }

    fn is_relational(&self, phrase: &NounPhrase) -> bool {
        self.class(phrase.head).has(Class::RELATIONAL)
    }

    /// `The history of X` is about X; `the city of X` is one thing.
    fn complete(&mut self, mut before: NounPhrase, mut phrase: NounPhrase) {
        if self.is_relational(&before) || (phrase.features.named && self.lexicon.grammar.traits.names_follow_nouns) {
            phrase.role = before.role.min(Role::Subject);
            before.role = Role::Oblique;
            self.phrases.extend([before, phrase]);
            return;
        }
        let mut whole = before.clone();
        whole.words.end = phrase.words.end;
        phrase.role = Role::Oblique;
        before.role = Role::Oblique;
        self.phrases.extend([before, phrase, whole]);
    }

    /// `The singer X` is X; where names follow nouns, `the album X` is one phrase.
    fn appose(&mut self, mut before: NounPhrase, mut phrase: NounPhrase) {
        if before.features.named {
            return self.complete(before, phrase);
        }
        phrase.be_a(&before);
        phrase.role = before.role;
        if phrase.features.person == Some(true) {
            phrase.preposition = before.preposition;
            before.role = Role::Oblique;
            self.phrases.extend([before, phrase]);
            return;
        }
        let mut whole = NounPhrase { words: before.words.start..phrase.words.end, kind: phrase.kind, ..before.clone() };
        whole.features.named = self.lexicon.grammar.traits.names_follow_nouns;
        before.role = Role::Oblique;
        phrase.role = Role::Oblique;
        self.phrases.extend([before, phrase, whole]);
    }

    /// `X's history` is about X; `X's mother` is somebody else.
    fn own(&mut self, mut owner: NounPhrase, phrase: NounPhrase) {
        let mut whole = phrase;
        whole.words.start = owner.words.start;
        whole.determiner = owner.determiner;
        whole.preposition = owner.preposition;
        whole.role = owner.role;
        whole.features.named = owner.features.named;
        if whole.features.person == Some(true) {
            owner.role = Role::Oblique;
        } else if self.is_relational(&whole) || owner.features.person != Some(true) {
            whole.role = Role::Oblique;
        }
        self.phrases.extend([owner, whole]);
    }
}
