//! What a language brings: its words, how its sentences are read, and how phrases are written into them.
//!
//! A new language is a folder with one `Grammar` and one line in `language.rs`. What it leaves out has a
//! plain default: no article, no case, no rule of its own.

use super::entity::Entity;
use super::lexicon::{Class, Gender, Pronoun};
use super::phrase::{NounPhrase, Reader};
use super::question::FollowUp;
use super::token::Token;
use crate::claim_words::ClaimWords;
use crate::question_grammar::QuestionGrammar;

/// One language.
#[derive(Debug)]
pub struct Grammar {
    pub analysis: Analysis,
    pub words: WordLists,
    pub traits: Traits,
    pub reading: ReadingRules,
    pub writing: WritingRules,
    pub questions: &'static QuestionGrammar,
    pub claims: &'static ClaimWords,
}

/// What search needs to know of a language. Words are folded: lower case, without accents.
#[derive(Debug)]
pub struct Analysis {
    pub script: Script,
    /// Whether accents on Latin letters speak for this language.
    pub has_accents: bool,
    pub stop_words: &'static str,
    /// Stop words that turn a sentence into its opposite.
    pub negations: &'static str,
    /// Words of greetings, thanks and cheers, which say nothing about anything.
    pub small_talk: &'static str,
    pub stem: fn(&str) -> String,
    pub calendar: Calendar,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Script {
    Latin,
    Cyrillic,
}

/// Folded words for days and months.
#[derive(Debug)]
pub struct Calendar {
    /// The names of each month, separated by blanks.
    pub months: [&'static str; 12],
    /// Months that are also common words: they count only with a capital, and not as the first word.
    pub ambiguous_months: &'static str,
    /// What may follow the number of a day: `3rd`.
    pub day_endings: &'static [&'static str],
    /// Words between the parts of a date: `3rd of June`.
    pub joins: &'static str,
    /// Words that place a story in time.
    pub time_words: &'static str,
    /// Words that ask for a time by themselves.
    pub asks_when: &'static str,
    /// Words that ask for a time before one of `asked_times`: `what year`.
    pub asks_which: &'static str,
    pub asked_times: &'static str,
}

/// The word lists of the rewriter, in lower case with accents.
#[derive(Debug)]
pub struct WordLists {
    pub classes: &'static [(Class, &'static str)],
    pub pronouns: &'static [(&'static str, Pronoun)],
    pub ordinals: &'static [(&'static str, usize)],
    /// Given names of men and of women. All languages know those of all languages.
    pub given_names: &'static [(Class, &'static str)],
    /// Words that are a whole question, and how they begin a longer one.
    pub lone_questions: &'static [(&'static [&'static str], &'static str)],
    /// Those of them that ask for a reason.
    pub reasons: &'static [&'static str],
    /// What a question may begin with so that another such word can take its place.
    pub replaceable: &'static [&'static [&'static str]],
    /// Words that ask for more of the same.
    pub more_questions: &'static [&'static [&'static str]],
    /// Two words that open a fragment, such as "what about"; each may be one of several.
    pub fragment_openings: &'static [(&'static str, &'static str)],
    /// Prepositions that say the same, contracted or not.
    pub related_prepositions: &'static [&'static str],
    /// Ends of a question that the two compared things take the place of: " of them".
    pub partitives: &'static [&'static str],
    pub and: &'static str,
    pub or: &'static str,
    /// What a model may call itself before its answer, in lower case.
    pub assistant: &'static [&'static str],
    pub generated: GeneratedWords,
    pub figures: FigureWords,
    /// Words of decisions, plans and lasting facts, folded.
    pub facts: &'static str,
    /// Words and phrases of goals, rules and limits, folded and separated by commas.
    pub binding: &'static str,
    /// Words that deny, beside the negations among the stop words; folded.
    pub denials: &'static str,
    /// The answer where nothing was found.
    pub nothing_found: &'static str,
    /// Written before the other side of a comparison that names only one.
    pub compared_to: &'static str,
}

/// Words around the texts that models generate. All but the requests are folded.
#[derive(Debug)]
pub struct GeneratedWords {
    /// What a model may call the text that it was asked for.
    pub labels: &'static str,
    /// What else may stand in such a label.
    pub label_fillers: &'static str,
    /// How a model begins when it will not, or asks back.
    pub refusals: &'static [&'static str],
    /// Verbs that begin a request, in lower case.
    pub requests: &'static str,
    /// What the speakers of a conversation are called.
    pub roles: &'static str,
    /// Words that end with a full stop inside a sentence.
    pub abbreviations: &'static str,
}

/// How a language writes figures, and the words around them. All words are folded; `queda*` is every word
/// that begins so.
#[derive(Debug)]
pub struct FigureWords {
    /// The mark before decimals.
    pub decimal: char,
    /// Whether blanks may group digits.
    pub has_blank_groups: bool,
    /// Whether `10/31` may be a day of October.
    pub has_month_first: bool,
    /// The words for numbers below a thousand.
    pub numerals: &'static [(u32, &'static str)],
    /// What follows or multiplies a number: thousands, millions.
    pub scales: &'static [(f64, &'static str)],
    /// Words between the words of a number.
    pub and: &'static str,
    /// Words between a number and its unit.
    pub of: &'static str,
    pub percent: &'static [&'static str],
    /// Currencies by their codes.
    pub currencies: &'static [(&'static str, &'static str)],
    /// Hundredths of any currency.
    pub cents: &'static str,
    /// Units of time: how many months or days each has.
    pub months: &'static [(u32, &'static str)],
    pub days: &'static [(u32, &'static str)],
    pub ordinal_endings: &'static str,
    /// A word that is a sign before a number, and words after which it is none.
    pub minus: &'static str,
    pub before_no_minus: &'static str,
    /// Words of falling and rising.
    pub falls: &'static str,
    pub rises: &'static str,
    /// Words between one of these and the amount of the change.
    pub by: &'static str,
    /// Words for a multiple of another value.
    pub multiples: &'static str,
}

/// How a language builds its sentences, where that decides which rule applies.
#[derive(Debug)]
pub struct Traits {
    /// A question begins with its verb: `Is it safe?`.
    pub inverts_questions: bool,
    /// Nouns have articles, so that a bare one is not a known one.
    pub has_articles: bool,
    /// A noun before a noun describes it: `stone wall`.
    pub compounds_nouns: bool,
    /// A noun governs the nouns that follow it, and adjectives belong to the noun that they precede.
    pub governs_nouns: bool,
    /// A name follows the noun that says what it is, and both are one phrase.
    pub names_follow_nouns: bool,
    /// `The experiment` recalls what was named in full, `the largest` what there are many of.
    pub recalls_by_noun: bool,
    /// `This song` needs a song with a name.
    pub points_at_names: bool,
    /// `They` may be two people who were named apart.
    pub joins_people: bool,
    /// A question may end with the verb that compares: `How does it compare?`.
    pub ends_with_comparison: bool,
    /// A time takes over the preposition of the time whose place it takes.
    pub lone_times: bool,
    /// A clause may follow a noun without a word between them: `the car he drives`.
    pub bare_relatives: bool,
    /// The last word of a question may be an unknown verb: `How do birds migrate?`.
    pub ends_with_verb: bool,
    /// A preposition right after a property does not say of what it is.
    pub strands_prepositions: bool,
    /// A verb with a capital is still a verb.
    pub capital_verbs: bool,
    /// Something with an article is a part of what was named.
    pub definite_parts: bool,
    /// An unknown word after a question word is a verb.
    pub unknown_verbs: bool,
}

impl Traits {
    pub const NONE: Self = Self {
        inverts_questions: false,
        has_articles: true,
        compounds_nouns: false,
        governs_nouns: false,
        names_follow_nouns: false,
        recalls_by_noun: false,
        points_at_names: false,
        joins_people: false,
        ends_with_comparison: false,
        lone_times: false,
        bare_relatives: false,
        ends_with_verb: false,
        strands_prepositions: false,
        capital_verbs: false,
        definite_parts: false,
        unknown_verbs: false,
    };
}

/// A pronoun, the token where its place ends, and what is written there before the phrase.
#[derive(Debug)]
pub struct FoundPronoun {
    pub pronoun: Pronoun,
    pub end: usize,
    pub before: String,
}

/// A question word and a verb that ends the question.
#[derive(Debug)]
pub struct LoneVerb<'q> {
    pub asking: &'q str,
    pub verb: &'q str,
    /// Whether nothing stands between the two.
    pub adjacent: bool,
    /// Whether the tables, or its place in the question, show that it is a verb.
    pub is_verb: bool,
}

/// How sentences are read.
#[derive(Debug)]
pub struct ReadingRules {
    /// The forms of a verb of the tables.
    pub verb_forms: fn(&str) -> Vec<String>,
    /// Whether a word that no table calls a verb is one by its ending.
    pub ends_as_verb: fn(&str, Class) -> bool,
    /// Whether a word is a verb in its place; the last parameter says whether the tables call it one.
    pub is_verb_in_place: fn(&Reader<'_, '_>, usize, &Token<'_>, bool) -> bool,
    pub is_adjective: fn(&str) -> bool,
    pub is_adverb: fn(&str) -> bool,
    /// A verb that stands as a noun: calling.
    pub is_gerund: fn(&str) -> bool,
    pub is_plural: fn(&str) -> bool,
    pub is_superlative: fn(&str) -> bool,
    pub is_comparative: fn(&FollowUp<'_>, usize) -> bool,
    /// Whether a word with a capital that begins a sentence is a plural, and so no name.
    pub begins_with_plural: fn(&Reader<'_, '_>, usize) -> bool,
    /// Whether a name may follow a noun of this class as its name.
    pub is_apposed: fn(Class) -> bool,
    /// One or many, by the article.
    pub number: fn(&str) -> Option<bool>,
    /// By the article, the noun, and whether it is a name.
    pub gender: fn(&str, &str, bool) -> Option<Gender>,
    /// Whether two nouns can be of one thing.
    pub is_same_kind: fn(&str, &str) -> bool,
    /// The pronoun at a token, with what its neighbours make of it. The tables' own pronoun is given.
    pub find_pronoun: fn(&FollowUp<'_>, usize, Option<Pronoun>) -> Option<FoundPronoun>,
    /// Whether a pronoun says whose the next word is, and whether it is the receiver of a verb of
    /// telling or giving.
    pub owns_or_is_told: fn(&FollowUp<'_>, usize) -> (bool, bool),
    /// Whether a verb is of things alone.
    pub is_made: fn(&str) -> bool,
    /// Whether a pronoun means nothing: the weather, the time, and what is said only later in the sentence.
    pub is_expletive: fn(&FollowUp<'_>, usize, &Pronoun) -> bool,
    /// Whether a word for "there" only says that something exists.
    pub is_existential: fn(&FollowUp<'_>, usize) -> bool,
    /// Whether the words of a message begin at a token.
    pub is_reported: fn(&FollowUp<'_>, usize) -> bool,
    /// Whether a question asks for things in a place that it does not name.
    pub lacks_place: fn(&FollowUp<'_>) -> bool,
    /// Whether the verb at a token has left out its subject.
    pub lacks_subject: fn(&FollowUp<'_>, usize) -> bool,
    /// Whether a verb leaves out its subject or object.
    pub lacks_object: fn(&LoneVerb<'_>) -> bool,
    /// The tokens of a word for "both" that begins at a token.
    pub both: fn(&FollowUp<'_>, usize) -> Option<(usize, usize)>,
    /// The token of "year" in "that year", where the pointer is given.
    pub that_year: fn(&FollowUp<'_>, usize) -> Option<usize>,
    /// The tokens of the last question that another property takes the place of. Without it, of the subject.
    pub replaced_property: Option<ReplacedProperty>,
    /// Whether a phrase with this preposition may be added to the last question.
    pub is_appended: fn(&str) -> bool,
}

pub type ReplacedProperty = fn(&NounPhrase, &[&NounPhrase]) -> Option<(usize, usize)>;

impl ReadingRules {
    pub const PLAIN: Self = Self {
        verb_forms: |_| Vec::new(),
        ends_as_verb: |_, _| false,
        is_verb_in_place: |_, _, _, is_known| is_known,
        is_adjective: |_| false,
        is_adverb: |_| false,
        is_gerund: |_| false,
        is_plural: |_| false,
        is_superlative: |_| false,
        is_comparative: |_, _| false,
        begins_with_plural: |_, _| false,
        is_apposed: |_| false,
        number: |_| None,
        gender: |_, _, _| None,
        is_same_kind: |said, now| said == now,
        find_pronoun: plain_pronoun,
        owns_or_is_told: |question, at| (false, question.before(at).has(Class::ADDRESSES)),
        is_made: |_| false,
        is_expletive: |_, _, _| false,
        is_existential: |_, _| false,
        is_reported: |_, _| false,
        lacks_place: |_| false,
        lacks_subject: |_, _| false,
        lacks_object: |_| false,
        both: |_, _| None,
        that_year: |_, _| None,
        replaced_property: None,
        is_appended: |_| true,
    };
}

/// The pronoun itself, whose place ends with it.
pub(crate) fn plain_pronoun(_: &FollowUp<'_>, at: usize, pronoun: Option<Pronoun>) -> Option<FoundPronoun> {
    Some(FoundPronoun { pronoun: pronoun?, end: at + 1, before: String::new() })
}

/// What stood before a phrase when it was first said.
#[derive(Debug)]
pub struct Determined<'d> {
    pub determiner: &'d str,
    pub class: Class,
    pub by_user: bool,
    /// First asked about as one of its kind.
    pub generic: bool,
    pub named: bool,
}

/// How phrases are written into a sentence.
#[derive(Debug)]
pub struct WritingRules {
    /// The article with which a phrase is taken up again.
    pub article: for<'d> fn(&Determined<'d>) -> &'d str,
    /// In the place of a pronoun. The last parameter says that marks stand apart in this text.
    pub in_place_of: fn(&Entity, &Pronoun, bool) -> String,
    /// Two people in the place of a pronoun.
    pub joined: fn([&Entity; 2], &Pronoun, bool) -> String,
    /// As the subject of a sentence.
    pub as_subject: fn(&Entity) -> String,
    pub as_object: fn(&Entity) -> String,
    /// In the place of a pointer, which is given.
    pub after_pointer: fn(&Entity, &str) -> String,
    /// In the place of a word for "the previous one", which is given.
    pub after_previous: fn(&Entity, &str) -> String,
    /// After a verb that left it out; the last parameter says that the question asks who.
    pub after_verb: fn(&Entity, &str, bool) -> String,
    /// With the preposition for what something is of.
    pub of: fn(&Entity) -> String,
    /// With the preposition for being inside.
    pub inside: fn(&Entity) -> String,
    /// In the place of a word for "there".
    pub there: fn(&FollowUp<'_>, usize, &Entity) -> String,
    /// The word for "other" or "else"; the noun that it describes is given if there is one.
    pub other: fn(Option<&str>) -> &'static str,
    /// In the place of "that year".
    pub in_year: fn(&FollowUp<'_>, usize, &str) -> String,
    /// With an article that brings something new.
    pub indefinite: fn(&str) -> String,
    pub singular: fn(&str) -> String,
    pub plural: fn(&str) -> String,
    /// A phrase without the mark of an owner.
    pub owner: fn(&str) -> &str,
}

impl WritingRules {
    pub const PLAIN: Self = Self {
        article: |_| "",
        in_place_of: |entity, _, _| entity.full(),
        joined: |[one, _], _, _| one.full(),
        as_subject: Entity::full,
        as_object: Entity::full,
        after_pointer: |entity, _| entity.full(),
        after_previous: |entity, _| entity.full(),
        after_verb: |entity, _, _| entity.full(),
        of: Entity::full,
        inside: Entity::full,
        there: |question, _, entity| (question.lexicon.grammar.writing.inside)(entity),
        other: |_| "",
        in_year: |_, _, year| year.to_owned(),
        indefinite: str::to_owned,
        singular: str::to_owned,
        plural: str::to_owned,
        owner: |phrase| phrase,
    };
}
