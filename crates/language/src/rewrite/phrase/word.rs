//! What a word is in its place: a part of a name, a verb, or neither.

use super::super::lexicon::Class;
use super::super::token::Token;
use super::is_of;
use super::reader::Reader;
use crate::analyse::Language;

impl Reader<'_, '_> {
    /// A capital within a sentence, or at its beginning before another one or a verb, or in a given name.
    pub(super) fn is_name(&self, at: usize) -> bool {
        let Some(token) = self.word(at) else { return false };
        let class = self.class(at);
        let given = class.has(Class::MAN.or(Class::WOMAN));
        let english = self.lexicon.language == Language::English;
        let common = class.has(Class::FUNCTION.or(Class::VERB)) || (english && self.lexicon.is_verb(&token.lower));
        let either = class.has(Class::ADJECTIVE.or(Class::TIME)) || self.lexicon.is_either(&token.lower);
        if !token.is_capital() {
            let ticker = token.has_digit() && token.text.contains(char::is_alphabetic) && !class.has(Class::TIME);
            return (given && !common && !either) || ticker;
        }
        if class.has(Class::SPEAKER) {
            return false;
        }
        let capital = |at: Option<usize>| at.and_then(|at| self.word(at)).is_some_and(Token::is_capital);
        let after = self.start.is_some() && capital(at.checked_sub(1));
        let beside = after || (capital(at.checked_add(1)) && !self.class(at + 1).has(Class::SPEAKER));
        if at == self.first {
            let next = self.class(at + 1);
            let listed = next.has(Class::AND) && capital(at.checked_add(2));
            let acts = listed
                || next.has(Class::BE.or(Class::VERB).or(Class::ADVERB))
                || self.tokens.get(at + 1).is_some_and(|it| self.lexicon.is_verb(&it.lower));
            let common = common || (!beside && (self.lexicon.is_verb(&token.lower) || self.speaks_of_many(at)));
            let alone = self.sentence.len() < 4 && self.word(at + 1).is_none();
            return !common && (given || (!either && (beside || acts || alone)));
        }
        match (class.has(Class::TIME), common) {
            (true, _) => after || (beside && !self.class(at + 1).has(Class::TIME)),
            (false, true) => beside,
            (false, false) => true,
        }
    }

    /// `Bacteria are`, `Vaccines train`: at the beginning of a sentence a plural is no name.
    fn speaks_of_many(&self, at: usize) -> bool {
        let next = self.tokens.get(at + 1).map_or("", |token| token.lower.as_str());
        let many = self.word(at).is_some_and(|token| self.lexicon.is_plural(&token.lower));
        self.lexicon.language == Language::English
            && (matches!(next, "are" | "were") || (many && !matches!(next, "is" | "was" | "has")))
    }

    /// `of` and its kin between capitals: Museum of Art, Machado de Assis.
    pub(super) fn joins_names(&self, at: usize) -> bool {
        let named = self.start.is_some() && at.checked_sub(1).is_some_and(|before| self.capital_or_number(before));
        let Some(token) = self.tokens.get(at).filter(|_| named) else { return false };
        let article = self.class(at + 1).has(Class::DEFINITE);
        let after = if article { at + 2 } else { at + 1 };
        let joins = is_of(&token.lower) || (article && matches!(token.lower.as_str(), "in" | "on"));
        let year = self.word(after).is_some_and(|it| it.text.len() == 4 && it.text.bytes().all(|c| c.is_ascii_digit()));
        joins && !year && self.sentence.contains(&after) && self.capital_or_number(after)
    }

    fn capital_or_number(&self, at: usize) -> bool {
        self.word(at).is_some_and(|token| token.is_capital() || token.has_digit())
    }

    pub(super) fn is_number(&self, at: usize) -> bool {
        self.word(at).is_some_and(|token| token.text.bytes().all(|c| c.is_ascii_digit()))
    }

    /// `The song X`: what it is, and then its name.
    pub(super) fn is_apposition(&self, at: usize) -> bool {
        let kind = at.checked_sub(1).map_or(Class::default(), |before| self.class(before));
        let fits = match self.lexicon.language {
            Language::English => kind.has(Class::TITLED.or(Class::PERSON)),
            Language::Portuguese => false,
            Language::Russian => true,
        };
        fits && self.start.is_some() && !self.is_open_name()
    }

    /// Whether the open phrase is the name of somebody who is told or given what follows.
    pub(super) fn is_addressed(&self) -> bool {
        let verb = self.start.and_then(|start| start.checked_sub(1)).map_or(Class::default(), |at| self.class(at));
        verb.has(Class::ADDRESSES) && self.is_open_name()
    }

    fn is_open_name(&self) -> bool {
        self.start.is_some_and(|start| self.is_name(start))
    }

    /// `How secure is …`.
    pub(super) fn is_measured(&self, at: usize) -> bool {
        let how =
            at.checked_sub(1).and_then(|before| self.tokens.get(before)).is_some_and(|token| token.lower == "how");
        how && self.class(at + 1).has(Class::BE.or(Class::AUXILIARY))
    }

    /// The `'s` of what belongs to somebody.
    pub(super) fn owns(&self, at: usize) -> bool {
        let clitic = self.tokens.get(at).is_some_and(|token| token.lower == "'s");
        let next = self.class(at + 1);
        clitic
            && self.start.is_some()
            && self
                .word(at + 1)
                .is_some_and(|token| !self.lexicon.is_verb(&token.lower) && !token.lower.ends_with("ing"))
            && !next.has(Class::FUNCTION)
    }

    pub(super) fn is_verb(&self, at: usize, class: Class) -> bool {
        let Some(token) = self.word(at) else { return false };
        if class.has(Class::FUNCTION) && !class.has(Class::VERB) {
            return false;
        }
        let known = self.lexicon.is_verb(&token.lower) && !class.has(Class::KIND.or(Class::PERSON));
        match self.lexicon.language {
            Language::English => self.is_english_verb(at, token, class, known),
            _ => known,
        }
    }

    fn is_english_verb(&self, at: usize, token: &Token<'_>, class: Class, known: bool) -> bool {
        let before = at.checked_sub(1).map_or(Class::default(), |before| self.class(before));
        let after_article = self.determiner.is_some_and(|article| article + 1 == at);
        let ends = |end: &str| token.lower.len() > end.len() + 1 && token.lower.ends_with(end);
        let next = self.class(at + 1);
        let has_object =
            self.word(at + 1).is_some() && !next.has(Class::PREPOSITION.or(Class::BE).or(Class::VERB).or(Class::AND));
        if after_article {
            return false;
        }
        if ends("ing") {
            let noun = self.start.is_some() && !self.is_open_name() && !has_object;
            return !noun && (before.has(Class::BE) || at == self.first || has_object || self.is_open_name());
        }
        if known {
            return true;
        }
        let infinitive =
            self.tokens.get(at.wrapping_sub(1)).is_some_and(|it| it.lower == "to") && self.follows_wish(at);
        let subject = before.has(Class::SPEAKER.or(Class::THIRD).or(Class::AUXILIARY)) || infinitive;
        let asked = before.has(Class::ASKING) && ends("s") && has_object;
        let awaited = self.pending && (self.start.is_some() || !self.phrases.is_empty());
        let another =
            self.word(at + 1).is_some_and(|it| self.lexicon.is_either(&it.lower) || self.lexicon.is_verb(&it.lower));
        let answers = self.wanted && self.start.is_some() && has_object && !next.has(Class::AUXILIARY);
        if self.lexicon.is_either(&token.lower)
            && (at == self.first || subject || ((awaited || answers) && !another) || asked)
        {
            return true;
        }
        let acts_on = self.word(at + 1).is_some_and(Token::is_capital) && before.has(Class::AND) && ends("ed");
        infinitive
            || acts_on
            || (ends("ed")
                && !class.has(Class::ADJECTIVE)
                && (self.start.is_some() || before.has(Class::BE.or(Class::SPEAKER).or(Class::ASKING))))
    }

    /// Whether the `to` before a word follows what one does to do something.
    fn follows_wish(&self, at: usize) -> bool {
        let Some(wish) = at.checked_sub(2).and_then(|at| self.tokens.get(at)) else { return false };
        let class = self.lexicon.class(&wish.lower);
        class.has(Class::SPEAKER.or(Class::ASKING).or(Class::ADJECTIVE).or(Class::THIRD))
            || matches!(wish.lower.as_str(), "want" | "need" | "like" | "going" | "have" | "wants" | "needs")
    }
}
