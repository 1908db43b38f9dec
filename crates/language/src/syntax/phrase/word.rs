//! What a word is in its place: a part of a name, a verb, or neither.

use super::super::lexicon::Class;
use super::super::token::Token;
use super::reader::Reader;

impl Reader<'_, '_> {
    /// A capital within a sentence, or at its beginning before another one or a verb, or in a given name.
    pub(crate) fn is_name(&self, at: usize) -> bool {
        let Some(token) = self.word(at) else { return false };
        let class = self.class(at);
        let given = class.has(Class::MAN.or(Class::WOMAN));
        let common = class.has(Class::FUNCTION.or(Class::VERB))
            || (self.lexicon.grammar.traits.capital_verbs && self.lexicon.is_verb(&token.lower));
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
            let common = common
                || (!beside
                    && (self.lexicon.is_verb(&token.lower)
                        || (self.lexicon.grammar.reading.begins_with_plural)(self, at)));
            let alone = self.sentence.len() < 4 && self.word(at + 1).is_none();
            return !common && (given || (!either && (beside || acts || alone)));
        }
        match (class.has(Class::TIME), common) {
            (true, _) => after || (beside && !self.class(at + 1).has(Class::TIME)),
            (false, true) => beside,
            (false, false) => true,
        }
    }

    /// `of` and its kin between capitals: Museum of Art, Machado de Assis.
    pub(crate) fn joins_names(&self, at: usize) -> bool {
        let named = self.start.is_some() && at.checked_sub(1).is_some_and(|before| self.capital_or_number(before));
        if !named || at >= self.tokens.len() {
            return false;
        }
        let article = self.class(at + 1).has(Class::DEFINITE);
        let after = if article { at + 2 } else { at + 1 };
        let joins = self.word_has(at, Class::OF) || (article && self.word_has(at, Class::WITHIN_NAME));
        let year = self.word(after).is_some_and(|it| it.text.len() == 4 && it.text.bytes().all(|c| c.is_ascii_digit()));
        joins && !year && self.sentence.contains(&after) && self.capital_or_number(after)
    }

    fn capital_or_number(&self, at: usize) -> bool {
        self.word(at).is_some_and(|token| token.is_capital() || token.has_digit())
    }

    pub(crate) fn is_number(&self, at: usize) -> bool {
        self.word(at).is_some_and(|token| token.text.bytes().all(|c| c.is_ascii_digit()))
    }

    /// `The song X`: what it is, and then its name.
    pub(crate) fn is_apposition(&self, at: usize) -> bool {
        let kind = at.checked_sub(1).map_or(Class::default(), |before| self.class(before));
        let fits = (self.lexicon.grammar.reading.is_apposed)(kind);
        fits && self.start.is_some() && !self.is_open_name()
    }

    /// Whether the open phrase names the receiver of what follows.
    pub(crate) fn is_addressed(&self) -> bool {
        let verb = self.start.and_then(|start| start.checked_sub(1)).map_or(Class::default(), |at| self.class(at));
        verb.has(Class::ADDRESSES) && self.is_open_name()
    }

    pub(crate) fn is_open_name(&self) -> bool {
        self.start.is_some_and(|start| self.is_name(start))
    }

    /// `How secure is …`.
    pub(crate) fn is_measured(&self, at: usize) -> bool {
        let how = at.checked_sub(1).is_some_and(|before| self.word_has(before, Class::HOW));
        how && self.class(at + 1).has(Class::BE.or(Class::AUXILIARY))
    }

    /// The `'s` of what belongs to somebody.
    pub(crate) fn owns(&self, at: usize) -> bool {
        let clitic = self.word_has(at, Class::OWNER);
        let next = self.class(at + 1);
        clitic
            && self.start.is_some()
            && self.word(at + 1).is_some_and(|token| {
                !self.lexicon.is_verb(&token.lower) && !(self.lexicon.grammar.reading.is_gerund)(&token.lower)
            })
            && !next.has(Class::FUNCTION)
    }

    pub(crate) fn is_verb(&self, at: usize, class: Class) -> bool {
        let Some(token) = self.word(at) else { return false };
        if class.has(Class::FUNCTION) && !class.has(Class::VERB) {
            return false;
        }
        let known = self.lexicon.is_verb(&token.lower) && !class.has(Class::KIND.or(Class::PERSON));
        (self.lexicon.grammar.reading.is_verb_in_place)(self, at, token, known)
    }
}
