//! What the rules know of words: which class a word is of, and what a pronoun can stand for.
//!
//! Owns the shape of the tables; the tables are in the file of each language. Words that no table holds are matter: nouns,
//! names and numbers.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::token::{self, Token};
use super::{english, names, portuguese, russian};
use crate::analyse::Language;

/// A set of word classes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Class(u64);

impl Class {
    pub const DEFINITE: Self = Self(1);
    /// Articles and quantities that bring something new.
    pub const INDEFINITE: Self = Self(1 << 1);
    pub const MY: Self = Self(1 << 2);
    pub const YOUR: Self = Self(1 << 3);
    /// This and that.
    pub const POINTER: Self = Self(1 << 4);
    pub const PREPOSITION: Self = Self(1 << 5);
    pub const AND: Self = Self(1 << 6);
    pub const OR: Self = Self(1 << 7);
    /// Begins another clause.
    pub const CLAUSE: Self = Self(1 << 8);
    pub const BE: Self = Self(1 << 9);
    /// An auxiliary after which a verb is still to come.
    pub const AUXILIARY: Self = Self(1 << 10);
    pub const VERB: Self = Self(1 << 11);
    /// A noun that is also a verb.
    pub const EITHER: Self = Self(1 << 12);
    pub const ASKING: Self = Self(1 << 13);
    /// I, you, we and their kin.
    pub const SPEAKER: Self = Self(1 << 14);
    /// He, she, it, they and their kin.
    pub const THIRD: Self = Self(1 << 15);
    pub const ADVERB: Self = Self(1 << 16);
    /// Yes, please, wait: what may come before a sentence.
    pub const FILLER: Self = Self(1 << 17);
    /// Adjectives that follow what they describe, or stand before everything.
    pub const ADJECTIVE: Self = Self(1 << 18);
    /// A noun that is of something: symptoms, history, price.
    pub const RELATIONAL: Self = Self(1 << 19);
    pub const TIME: Self = Self(1 << 20);
    pub const MAN: Self = Self(1 << 21);
    pub const WOMAN: Self = Self(1 << 22);
    pub const PERSON: Self = Self(1 << 23);
    /// What something with a name is: song, city, company.
    pub const KIND: Self = Self(1 << 24);
    /// Speaks of the weather, where "it" is nothing.
    pub const WEATHER: Self = Self(1 << 25);
    /// Nouns for what is done with a name, which pronouns seldom mean: way, time, thing.
    pub const EMPTY: Self = Self(1 << 26);
    pub const PLURAL: Self = Self(1 << 27);
    pub const ABOUT: Self = Self(1 << 28);
    /// Verbs whose object is a person.
    pub const ADDRESSES: Self = Self(1 << 29);
    pub const ORDINAL: Self = Self(1 << 30);
    /// Kinds of things that bear a name: song, city.
    pub const TITLED: Self = Self(1 << 31);
    /// Stands for a noun: one.
    pub const ONE: Self = Self(1 << 32);
    pub const THERE: Self = Self(1 << 33);
    pub const PREVIOUS: Self = Self(1 << 34);
    /// A pointer that is a whole phrase: isso, это.
    pub const NEUTER: Self = Self(1 << 35);
    pub const COMPARES: Self = Self(1 << 36);
    /// The forms of verbs, and of nouns that are also verbs.
    const VERB_FORM: Self = Self(1 << 39);
    const EITHER_FORM: Self = Self(1 << 40);
    /// No verb, although it ends like one.
    pub const NOUN: Self = Self(1 << 38);
    /// One that is many: team, family.
    pub const COLLECTIVE: Self = Self(1 << 37);

    /// What is no matter by itself.
    pub const FUNCTION: Self = Self::DEFINITE
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
    pub const DETERMINER: Self = Self::DEFINITE.or(Self::INDEFINITE).or(Self::MY).or(Self::YOUR).or(Self::POINTER);

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
    pub language: Language,
    classes: FxHashMap<String, Class>,
    pronouns: FxHashMap<&'static str, Pronoun>,
}

static LEXICONS: LazyLock<[Lexicon; 3]> = LazyLock::new(|| {
    [
        Lexicon::new(Language::English, english::CLASSES, english::PRONOUNS),
        Lexicon::new(Language::Portuguese, portuguese::CLASSES, portuguese::PRONOUNS),
        Lexicon::new(Language::Russian, russian::CLASSES, russian::PRONOUNS),
    ]
});

impl Lexicon {
    pub fn of(language: Language) -> &'static Self {
        let [english, portuguese, russian] = &*LEXICONS;
        match language {
            Language::English => english,
            Language::Portuguese => portuguese,
            Language::Russian => russian,
        }
    }

    fn new(language: Language, classes: &[(Class, &'static str)], pronouns: &[(&'static str, Pronoun)]) -> Self {
        let mut known: FxHashMap<String, Class> = FxHashMap::default();
        let mut learn = |word: String, class: Class| {
            let of_word = known.entry(word).or_default();
            *of_word = of_word.or(class);
        };
        let third = pronouns.iter().map(|(words, _)| (Class::THIRD, *words));
        for (class, words) in classes.iter().copied().chain(names::CLASSES.iter().copied()).chain(third) {
            for word in words.split_whitespace() {
                learn(word.to_owned(), class);
                let form = match class {
                    Class::VERB => Class::VERB_FORM,
                    Class::EITHER => Class::EITHER_FORM,
                    _ => continue,
                };
                if language == Language::English {
                    english::forms(word).for_each(|word| learn(word, form));
                }
            }
        }
        let pronouns = pronouns.iter().flat_map(|(words, it)| words.split_whitespace().map(move |word| (word, *it)));
        Self { language, classes: known, pronouns: pronouns.collect() }
    }

    pub fn class(&self, word: &str) -> Class {
        self.classes.get(word).copied().unwrap_or_default()
    }

    pub fn pronoun(&self, token: &Token<'_>) -> Option<Pronoun> {
        self.pronouns.get(token.lower.as_str()).copied()
    }

    /// Whether a word only goes on from what was said.
    pub fn is_and(&self, word: &str) -> bool {
        self.class(word).has(Class::AND) || matches!(word, "mas" | "а")
    }

    /// Whether a word asks for somebody.
    pub fn is_who(&self, word: &str) -> bool {
        matches!(word, "who" | "quem" | "кто")
    }

    /// Whether a word is a pronoun for people alone, or for things alone.
    pub fn is_personal(&self, word: &str) -> Option<bool> {
        self.pronouns.get(token::lower(word).as_str()).and_then(|it| it.person)
    }

    /// Whether a word can only be a verb.
    pub fn is_verb(&self, word: &str) -> bool {
        let class = self.class(word);
        class.has(Class::VERB.or(Class::VERB_FORM))
            || match self.language {
                Language::English => false,
                Language::Portuguese => !class.has(Class::KIND.or(Class::NOUN)) && portuguese::ends_as_verb(word),
                Language::Russian => !class.has(Class::NOUN) && russian::ends_as_verb(word),
            }
    }

    /// Whether a word is a verb in some places and a noun in others.
    pub fn is_either(&self, word: &str) -> bool {
        self.class(word).has(Class::EITHER.or(Class::EITHER_FORM))
    }

    /// Which of so many an ordinal counts to.
    pub fn ordinal(&self, word: &str, of: usize) -> Option<usize> {
        let ordinals = match self.language {
            Language::English => english::ORDINALS,
            Language::Portuguese => portuguese::ORDINALS,
            Language::Russian => russian::ORDINALS,
        };
        let (_, number) = ordinals.iter().find(|(words, _)| words.split_whitespace().any(|it| it == word))?;
        let number = if *number == LAST { of.checked_sub(1)? } else { *number };
        (number < of).then_some(number)
    }

    pub fn is_plural(&self, word: &str) -> bool {
        self.class(word).has(Class::PLURAL)
            || match self.language {
                Language::English => english::is_plural(word),
                Language::Portuguese => portuguese::is_plural(word),
                Language::Russian => russian::is_plural(word),
            }
    }
}
