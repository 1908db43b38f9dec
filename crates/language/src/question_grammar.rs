//! What a language brings to questions about data: its words for subjects, times, amounts and talk, and how
//! values are written in it. The folder of each language fills one table; `plan` reads it. Lists of words are
//! separated by blanks, and all words are folded.

use crate::locale::Locale;
use crate::stated::{ConditionWords, UnreadKind};
use crate::window::{Span, Window, WindowWords, begins_as, holds, is_calendar_unit, is_month_name};

/// One language of questions.
#[derive(Debug)]
pub(crate) struct QuestionGrammar {
    pub window: WindowWords,
    pub talk: TalkWords,
    pub pointers: PointerWords,
    pub counts: RowWords,
    pub times: TimeWords,
    pub sentences: Sentences,
    pub locale: Locale,
    pub conditions: ConditionWords,
    pub schema: SchemaWords,
    /// A word as it is stemmed, where the stemmer takes it for another.
    pub stemmed_form: fn(&str) -> &str,
    /// Whether a word that is nearly a person's name is a form of that name, or the name of another person
    /// (`Petrov`, `Petrova`). None where neither can be told.
    pub name_form: fn(&str, &str) -> Option<bool>,
    /// The names that a word may be a form of.
    pub named_by: fn(&str) -> Vec<String>,
    /// Words before something that is selected by: `de shopping`, `in poetry`.
    pub qualifiers: &'static str,
    /// What an ontology knows without saying so: words that depend on the question before, words that begin
    /// such a question, and words that ask but do not tell for what.
    pub follow_ups: &'static str,
    pub openers: &'static str,
    /// The same of several words: `what about`.
    pub opening_phrases: &'static [&'static str],
    pub fillers: &'static str,
}

/// Talk, and the small words that show where a name stands.
#[derive(Debug)]
pub(crate) struct TalkWords {
    /// Greetings, thanks, slang, and verbs of saying and thinking.
    pub chat: &'static str,
    /// People who are spoken of, and whose they are.
    pub people: &'static str,
    pub possessives: &'static str,
    /// No possessives, where a sign follows.
    pub cries: &'static str,
    pub is_laughter: fn(&str) -> bool,
    /// Words for something that has a code, which may stand before it.
    pub kinds: &'static str,
    pub articles: &'static str,
    pub prepositions: &'static str,
    /// Prepositions before a stretch of time.
    pub since: &'static str,
    /// What joins a name to one before it.
    pub joints: &'static str,
    pub and: &'static str,
    /// What may stand inside a name.
    pub inside: &'static str,
    /// Spelled so it is a verb, and not the preposition that it is folded to.
    pub spelled_verbs: &'static str,
    /// Whether a word, behind another, is a form of a verb.
    pub is_verb: fn(&str, &str) -> bool,
    /// What begins a supposition, unless one of the courtesies follows: `se puder`.
    pub supposes: &'static str,
    pub courtesies: &'static str,
    /// What begins the question itself.
    pub asks: &'static str,
    /// Phrases that only correct or go on, whatever their words mean elsewhere: `i mean`.
    pub asides: &'static [&'static str],
    /// Words of everyday things. One of them alone, in small letters, is part of a name only where a name
    /// stands.
    pub everyday: &'static str,
    /// Words before a name, and not before a place or a time: `of`, `sobre`.
    pub name_leads: &'static str,
}

/// Words that point at subjects of the last few answers, or change them.
#[derive(Debug)]
pub(crate) struct PointerWords {
    pub remove: &'static str,
    pub add: &'static str,
    pub swap: &'static str,
    pub other: &'static [&'static str],
    pub these: &'static str,
    /// So many by themselves, `both`; and so many behind one of the leads, `os dois`.
    pub counts_alone: &'static [(&'static str, usize)],
    pub counts: &'static [(&'static str, usize)],
    pub count_leads: &'static str,
    /// Which one, none for the last; behind one of the leads, where the language has any.
    pub ordinals: &'static [(&'static str, Option<usize>)],
    pub ordinal_leads: &'static str,
    /// Nouns that may follow: `o segundo lugar`.
    pub ordinal_nouns: &'static str,
    /// What may follow a pointer. Before other words it is no pointer but belongs to them.
    pub follows: &'static str,
    /// Words between what is compared.
    pub links: &'static str,
    /// Words before the second side of a comparison: `contra o ifix`.
    pub against: &'static str,
    /// Words that stand for what was spoken of: `isso`, `it`.
    pub pronouns: &'static str,
    /// Before a word that tells something, they point at the last answer: `nesse ranking`.
    pub demonstratives: &'static str,
    /// Nouns for an answer, behind them: `nessa lista`.
    pub answers: &'static str,
    /// Pronouns that say whose something is, and need somebody or something to be that.
    pub owners: &'static str,
    /// They keep the question before and change one thing of it: `só os 3 primeiros`, `by length instead`.
    pub changes: &'static str,
}

/// How many rows are asked for.
#[derive(Debug)]
pub(crate) struct RowWords {
    pub ranks: &'static str,
    /// May be written together with the number that it counts to.
    pub top: &'static str,
    pub last_one: &'static str,
    pub is_many: fn(&str) -> bool,
}

/// Words around a time that no window is read from.
#[derive(Debug)]
pub(crate) struct TimeWords {
    pub day: &'static str,
    pub other: &'static str,
    /// Before a unit of time, they say how often.
    pub how_often: &'static str,
    pub goes_with: &'static str,
    /// How words begin that belong to a time although they go with one.
    pub tells_begin: &'static str,
    /// Before a stretch of time they take a part of it, and behind it they move it.
    pub parts: &'static str,
    pub moves: &'static str,
    /// Phrases for the stretch of time of the answer before.
    pub same: &'static [&'static str],
}

/// Words in the names of tables and columns.
#[derive(Debug)]
pub struct SchemaWords {
    /// Words of columns that hold names, codes, times, years, percentages, and of keys.
    pub names: &'static str,
    pub codes: &'static str,
    pub times: &'static str,
    pub years: &'static str,
    pub percents: &'static str,
    pub keys: &'static str,
    /// Words that say nothing about what a column holds.
    pub empty: &'static str,
    /// Whether a word, in lower case, and the same without accents, are of this language alone.
    pub is_own: fn(&str, &str) -> bool,
    /// Endings of several, what one has instead, and how many letters stand before them at least.
    pub plurals: &'static [(&'static str, &'static str, usize)],
    /// Letters in another script, and how they are written in Latin ones.
    pub latin: &'static [(char, &'static str)],
    /// Labels: of a mean, and of how many rows there are.
    pub average: &'static str,
    pub rows: &'static str,
    /// Words that ask for all, whatever was spoken of before.
    pub all: [&'static str; 2],
    /// What asks for a list, before what is listed.
    pub list: &'static str,
}

/// What is said about a question.
#[derive(Debug)]
pub(crate) struct Sentences {
    pub unread: fn(UnreadKind) -> &'static str,
    pub did_you_mean: fn(&str) -> String,
    /// What conditions were applied: each with what it is on, its operator and its value.
    pub told: fn(&[(&str, &str, String)]) -> String,
    pub not_answered: fn(&str) -> String,
    pub window: fn(&Span, Window) -> String,
    pub more_rows: fn(usize) -> String,
    pub no_rows: &'static str,
}

impl TalkWords {
    /// Whether a word only keeps a talk going.
    pub(crate) fn is_chat(&self, folded: &str) -> bool {
        holds(self.chat, folded) || holds(self.people, folded) || (self.is_laughter)(folded)
    }

    /// `minha sobrinha` says whose the aunt is, and not whose the fund.
    pub(crate) fn is_of_people(&self, folded: &str, next: &str) -> bool {
        holds(self.possessives, folded) && holds(self.people, next)
    }
}

impl PointerWords {
    /// Whether a word stands for what was spoken of, or before it.
    pub(crate) fn points(&self, word: &str) -> bool {
        [self.pronouns, self.demonstratives, self.owners, self.these].iter().any(|words| holds(words, word))
    }

    /// Whether a word changes which subjects are meant.
    pub(crate) fn is_change(&self, word: &str) -> bool {
        holds(self.remove, word) || holds(self.add, word) || holds(self.swap, word)
    }
}

impl QuestionGrammar {
    /// Whether a word is a unit of the calendar, a month or another word of time.
    pub(crate) fn is_time(&'static self, word: &str) -> bool {
        is_calendar_unit(word, &self.window) || is_month_name(word, &self.window) || holds(self.times.other, word)
    }

    /// Whether a word is a unit of amounts: `pounds`, `por cento`, `mil`.
    pub(crate) fn is_amount(&self, folded: &str) -> bool {
        let of = &self.conditions;
        let is_scale = of.scales.iter().any(|(names, _)| holds(names, folded));
        is_scale || holds(of.money, folded) || of.percent.iter().any(|phrase| holds(phrase, folded))
    }

    /// Whether the language itself has a use for a word, so that it is no slip of another.
    pub(crate) fn uses(&self, folded: &str) -> bool {
        let bounds = self.conditions.bounds;
        let is_bound = bounds.iter().any(|(phrase, _)| phrase.split(' ').any(|word| word == folded));
        is_bound || self.talk.is_chat(folded) || holds(self.follow_ups, folded) || holds(self.fillers, folded)
    }

    /// Whether a word goes with a time and says nothing of it.
    pub(crate) fn only_goes_with_time(&self, word: &str) -> bool {
        holds(self.times.goes_with, word) && !begins_as(self.times.tells_begin, word)
    }
}
