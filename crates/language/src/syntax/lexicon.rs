//! What the rules know of words: which class a word is of, and what a pronoun can stand for.
//!
//! Owns the shape of the tables; the tables are in the folder of each language. Words that no table holds are
//! matter: nouns, names and numbers.

use rustc_hash::FxHashMap;

use super::grammar::Grammar;
use super::token;
use super::token::Token;

/// A set of word classes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Class(u128);

impl Class {
    pub(crate) const DEFINITE: Self = Self(1);
    /// Articles and quantities that bring something new.
    pub(crate) const INDEFINITE: Self = Self(1 << 1);
    pub(crate) const MY: Self = Self(1 << 2);
    pub(crate) const YOUR: Self = Self(1 << 3);
    /// This and that.
    pub(crate) const POINTER: Self = Self(1 << 4);
    pub(crate) const PREPOSITION: Self = Self(1 << 5);
    pub(crate) const AND: Self = Self(1 << 6);
    pub(crate) const OR: Self = Self(1 << 7);
    /// Begins another clause.
    pub(crate) const CLAUSE: Self = Self(1 << 8);
    pub(crate) const BE: Self = Self(1 << 9);
    /// An auxiliary after which a verb is still to come.
    pub(crate) const AUXILIARY: Self = Self(1 << 10);
    pub(crate) const VERB: Self = Self(1 << 11);
    /// A noun that is also a verb.
    pub(crate) const EITHER: Self = Self(1 << 12);
    pub(crate) const ASKING: Self = Self(1 << 13);
    /// I, you, we and their kin.
    pub const SPEAKER: Self = Self(1 << 14);
    /// He, she, it, they and their kin.
    pub(crate) const THIRD: Self = Self(1 << 15);
    pub(crate) const ADVERB: Self = Self(1 << 16);
    /// Yes, please, wait: what may come before a sentence.
    pub const FILLER: Self = Self(1 << 17);
    /// Adjectives that follow what they describe, or stand before everything.
    pub(crate) const ADJECTIVE: Self = Self(1 << 18);
    /// A noun that is of something: symptoms, history, price.
    pub(crate) const RELATIONAL: Self = Self(1 << 19);
    pub const TIME: Self = Self(1 << 20);
    pub(crate) const MAN: Self = Self(1 << 21);
    pub(crate) const WOMAN: Self = Self(1 << 22);
    pub(crate) const PERSON: Self = Self(1 << 23);
    /// What something with a name is: song, city, company.
    pub(crate) const KIND: Self = Self(1 << 24);
    /// Speaks of the weather, where "it" is nothing.
    pub(crate) const WEATHER: Self = Self(1 << 25);
    /// Nouns for what is done with a name, which pronouns seldom mean: way, time, thing.
    pub const EMPTY: Self = Self(1 << 26);
    pub(crate) const PLURAL: Self = Self(1 << 27);
    pub(crate) const ABOUT: Self = Self(1 << 28);
    /// Verbs whose object is a person.
    pub const ADDRESSES: Self = Self(1 << 29);
    pub(crate) const ORDINAL: Self = Self(1 << 30);
    /// Kinds of things that bear a name: song, city.
    pub(crate) const TITLED: Self = Self(1 << 31);
    /// Stands for a noun: one.
    pub(crate) const ONE: Self = Self(1 << 32);
    pub(crate) const THERE: Self = Self(1 << 33);
    pub(crate) const PREVIOUS: Self = Self(1 << 34);
    /// A pointer that is a whole phrase: isso, это.
    pub(crate) const NEUTER: Self = Self(1 << 35);
    pub(crate) const COMPARES: Self = Self(1 << 36);
    /// The forms of verbs, and of nouns that are also verbs.
    const VERB_FORM: Self = Self(1 << 39);
    const EITHER_FORM: Self = Self(1 << 40);
    /// No verb, although it ends like one.
    pub(crate) const NOUN: Self = Self(1 << 38);
    /// One that is many: team, family.
    pub(crate) const COLLECTIVE: Self = Self(1 << 37);
    /// Goes on from what was said, as "and" does: mas, а.
    pub const CONTINUES: Self = Self(1 << 41);
    pub(crate) const WHO: Self = Self(1 << 42);
    pub(crate) const HOW: Self = Self(1 << 43);
    /// Asks for one of the things that a possessor has: what, which.
    pub(crate) const WHAT: Self = Self(1 << 44);
    /// Asks what something is and not for the name of one: que.
    pub(crate) const DEFINES: Self = Self(1 << 45);
    /// Stands before a question word as a part of it: o que.
    pub(crate) const BEFORE_ASKING: Self = Self(1 << 46);
    /// Asks to choose between two.
    pub(crate) const CHOOSES: Self = Self(1 << 47);
    /// Asks for more of the same: else, other.
    pub(crate) const ELSE: Self = Self(1 << 48);
    /// Begins a fragment about something else: agora.
    pub(crate) const NOW: Self = Self(1 << 49);
    /// Begins a reply: тогда.
    pub(crate) const THEN: Self = Self(1 << 50);
    pub(crate) const ANYBODY: Self = Self(1 << 51);
    /// Verbs before a reported sentence.
    pub(crate) const SAYS: Self = Self(1 << 52);
    /// Verbs after the name of somebody who calls or writes.
    pub(crate) const WRITES: Self = Self(1 << 53);
    /// Nouns for what comes from somebody: call, message.
    pub(crate) const LETTER: Self = Self(1 << 54);
    /// Verbs and nouns with which a reply asks for the words of a message.
    pub(crate) const DICTATES: Self = Self(1 << 55);
    /// Verbs after which a pointer is a whole thought: think, say.
    pub(crate) const THINKS: Self = Self(1 << 56);
    /// Verbs of which people are the subject.
    pub(crate) const LIVES: Self = Self(1 << 57);
    /// Verbs that bring something about: make one.
    pub(crate) const CREATES: Self = Self(1 << 58);
    /// What ties the owner to what is owned.
    pub(crate) const OF: Self = Self(1 << 59);
    /// Follows the noun that the rest of a phrase describes.
    pub(crate) const AFTER_HEAD: Self = Self(1 << 60);
    /// The mark of an owner: 's.
    pub(crate) const OWNER: Self = Self(1 << 61);
    /// Between a property and the sort of it: taxa de administração.
    pub(crate) const SORT_OF: Self = Self(1 << 62);
    /// Says of what a property is, or that the sentence goes on.
    pub(crate) const COMPLETES: Self = Self(1 << 63);
    /// Completes a property that is new.
    pub(crate) const COMPLETES_NEW: Self = Self(1 << 64);
    /// Says that something exists: there.
    pub(crate) const EXISTS: Self = Self(1 << 65);
    /// Prepositions for where something is.
    pub(crate) const IN_PLACE: Self = Self(1 << 66);
    /// Prepositions that a place often follows.
    pub(crate) const BEFORE_PLACE: Self = Self(1 << 67);
    /// Prepositions after which a name is a place.
    pub(crate) const NAMES_PLACE: Self = Self(1 << 68);
    /// Nouns for places: city, island.
    pub(crate) const PLACE: Self = Self(1 << 69);
    /// Prepositions within a name, before an article: on the.
    pub(crate) const WITHIN_NAME: Self = Self(1 << 70);
    /// Prepositions before what something is compared with.
    pub(crate) const WITH: Self = Self(1 << 71);
    /// The same, where they do not follow the verb of a comparison.
    pub(crate) const TO: Self = Self(1 << 72);
    /// Prepositions after "the one": the one by X.
    pub(crate) const FROM_MAKER: Self = Self(1 << 73);
    /// The preposition before who made something.
    pub const BY: Self = Self(1 << 74);
    /// Possessives that stand before a noun as an article does.
    pub(crate) const WHOSE: Self = Self(1 << 75);
    /// Articles that bring something new.
    pub const A: Self = Self(1 << 76);
    /// The article of what is known.
    pub(crate) const THE: Self = Self(1 << 77);
    /// Articles that a name may begin with.
    pub(crate) const NAME_ARTICLE: Self = Self(1 << 78);
    /// This and that, of one thing.
    pub(crate) const THIS: Self = Self(1 << 79);
    pub(crate) const MOST: Self = Self(1 << 81);
    /// Ends a superlative: the largest ever.
    pub(crate) const EVER: Self = Self(1 << 82);
    /// A dot after it ends no sentence: Dr.
    pub(crate) const TITLE: Self = Self(1 << 83);
    /// The letter of a currency whose sign follows it.
    pub(crate) const CURRENCY: Self = Self(1 << 84);

    /// What is no matter by itself.
    pub(crate) const FUNCTION: Self = Self::DEFINITE
        .or(Self::INDEFINITE)
        .or(Self::MY)
        .or(Self::YOUR)
        .or(Self::POINTER)
        .or(Self::PREPOSITION)
        .or(Self::AND)
        .or(Self::OR)
        .or(Self::CLAUSE)
        .or(Self::BE)
        .or(Self::AUXILIARY)
        .or(Self::ASKING)
        .or(Self::SPEAKER)
        .or(Self::THIRD)
        .or(Self::ADVERB)
        .or(Self::FILLER);
    pub(crate) const DETERMINER: Self =
        Self::DEFINITE.or(Self::INDEFINITE).or(Self::MY).or(Self::YOUR).or(Self::POINTER);

    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether it has any of these.
    pub const fn has(self, any: Self) -> bool {
        self.0 & any.0 != 0
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gender {
    Man,
    Woman,
}

/// How a pronoun stands in its sentence, and so what takes its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As the phrase itself.
    Plain,
    /// Before what belongs to it: its, his.
    Possessive,
    /// `dele`.
    Of,
    /// `nele`.
    In,
    /// A Russian case.
    Case(Case),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    Genitive,
    Dative,
    Accusative,
    Instrumental,
    Locative,
}

/// What a pronoun can stand for. Nothing said means anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pronoun {
    pub form: Form,
    pub plural: bool,
    pub gender: Option<Gender>,
    /// A person, a thing, or either.
    pub person: Option<bool>,
}

/// An ordinal that counts from the end.
pub const LAST: usize = usize::MAX;

/// The words of one language.
#[derive(Debug)]
pub struct Lexicon {
    pub grammar: &'static Grammar,
    classes: FxHashMap<String, Class>,
    pronouns: FxHashMap<&'static str, Pronoun>,
}

impl Lexicon {
    /// The words of a language, and the given names of all.
    pub fn new(grammar: &'static Grammar, given_names: impl Iterator<Item = (Class, &'static str)>) -> Self {
        let words = &grammar.words;
        let mut known: FxHashMap<String, Class> = FxHashMap::default();
        let mut learn = |word: String, class: Class| {
            let of_word = known.entry(word).or_default();
            *of_word = of_word.or(class);
        };
        let third = words.pronouns.iter().map(|(words, _)| (Class::THIRD, *words));
        for (class, words) in words.classes.iter().copied().chain(given_names).chain(third) {
            for word in words.split_whitespace() {
                learn(word.to_owned(), class);
                let form = match class {
                    Class::VERB => Class::VERB_FORM,
                    Class::EITHER => Class::EITHER_FORM,
                    _ => continue,
                };
                (grammar.reading.verb_forms)(word).into_iter().for_each(|word| learn(word, form));
            }
        }
        let pronouns = words.pronouns.iter();
        let pronouns = pronouns.flat_map(|(words, it)| words.split_whitespace().map(move |word| (word, *it)));
        Self { grammar, classes: known, pronouns: pronouns.collect() }
    }

    pub(crate) fn class(&self, word: &str) -> Class {
        self.classes.get(word).copied().unwrap_or_default()
    }

    /// Whether a word is of any of these classes, in capitals or not.
    pub fn has(&self, word: &str, class: Class) -> bool {
        self.class(word).has(class)
    }

    pub(crate) fn pronoun(&self, token: &Token<'_>) -> Option<Pronoun> {
        self.pronouns.get(token.lower.as_str()).copied()
    }

    /// Whether a word only goes on from what was said.
    pub(crate) fn is_and(&self, word: &str) -> bool {
        self.has(word, Class::AND.or(Class::CONTINUES))
    }

    /// Whether a word asks for somebody.
    pub(crate) fn is_who(&self, word: &str) -> bool {
        self.has(word, Class::WHO)
    }

    /// Whether a word is a pronoun for people alone, or for things alone.
    pub(crate) fn is_personal(&self, word: &str) -> Option<bool> {
        self.pronouns.get(token::lower(word).as_str()).and_then(|it| it.person)
    }

    /// Whether a word can only be a verb.
    pub(crate) fn is_verb(&self, word: &str) -> bool {
        let class = self.class(word);
        class.has(Class::VERB.or(Class::VERB_FORM)) || (self.grammar.reading.ends_as_verb)(word, class)
    }

    /// Whether a word is a verb in some places and a noun in others.
    pub(crate) fn is_either(&self, word: &str) -> bool {
        self.class(word).has(Class::EITHER.or(Class::EITHER_FORM))
    }

    /// The index that an ordinal names in a list of this length.
    pub(crate) fn ordinal(&self, word: &str, of: usize) -> Option<usize> {
        let ordinals = self.grammar.words.ordinals;
        let (_, number) = ordinals.iter().find(|(words, _)| words.split_whitespace().any(|it| it == word))?;
        let number = if *number == LAST { of.checked_sub(1)? } else { *number };
        (number < of).then_some(number)
    }

    pub(crate) fn is_plural(&self, word: &str) -> bool {
        self.has(word, Class::PLURAL) || (self.grammar.reading.is_plural)(word)
    }
}
