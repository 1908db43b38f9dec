//! Clauses held against the patterns of a language.

use super::clause::{Clause, ClauseWord};
use crate::Language;
use crate::claim_words::{ClaimPattern, ClaimWords, first_of, is_in};

/// Words of somebody, of a noun and of what happens.
const PERSON_WORDS_MAX: usize = 4;
const NOUN_WORDS_MAX: usize = 3;
const EVENT_WORDS_MAX: usize = 7;

/// The key of the speaker.
pub(super) const ME: &str = "user";

/// What the parts of a pattern stand for in a clause.
#[derive(Debug, Clone, Default)]
pub(super) struct Parts {
    /// Whom it is about.
    pub subject: Option<String>,
    /// The other one of two people.
    pub partner: Vec<ClauseWord>,
    /// Of which thing of theirs.
    pub noun: Vec<ClauseWord>,
    pub value: Vec<ClauseWord>,
    /// The words of the pattern itself.
    pub sign: Vec<String>,
    /// What follows the pattern.
    pub rest: Vec<ClauseWord>,
}

/// Reads clauses of one language.
#[derive(Debug, Clone, Copy)]
pub(super) struct PatternReader {
    pub language: Language,
    pub words: &'static ClaimWords,
}

impl PatternReader {
    pub fn read(self, clause: &Clause, pattern: &ClaimPattern) -> Option<Parts> {
        let form: Vec<&str> = pattern.form.split(' ').collect();
        self.parts(&form, &clause.words, Parts::default())
    }

    fn parts(self, form: &[&str], words: &[ClauseWord], parts: Parts) -> Option<Parts> {
        let Some((first, form)) = form.split_first() else {
            return Some(Parts { rest: words.to_vec(), ..parts });
        };
        match *first {
            "S" => self.person(form, words, &parts, false),
            "E" => self.person(form, words, &parts, true),
            "O" => self.owner(form, words, &parts),
            "?O" => self
                .owner(form, words, &parts)
                .or_else(|| self.parts(form, words, Parts { subject: Some(ME.to_owned()), ..parts.clone() })),
            "X" => (1..=PERSON_WORDS_MAX).find_map(|count| {
                let (value, rest) = words.split_at_checked(count)?;
                self.key(value)?;
                self.parts(form, rest, Parts { value: value.to_vec(), subject: Some(ME.to_owned()), ..parts.clone() })
            }),
            "N" => self.noun(form, words, &parts, |noun| !noun.is_empty()),
            "F" => self.noun(form, words, &parts, |noun| self.single(noun).is_some()),
            "H" => self.event(form, words, &parts),
            "K" => {
                let (word, rest) = words.split_first()?;
                let is_known = is_in(self.words.occupations, &word.folded);
                is_known.then(|| self.parts(form, rest, Parts { value: vec![word.clone()], ..parts }))?
            }
            "V" => self.value(form, words, &parts),
            literal => self.literal(literal, form, words, parts),
        }
    }

    fn literal(self, literal: &str, form: &[&str], words: &[ClauseWord], parts: Parts) -> Option<Parts> {
        let (is_optional, literal) = literal.strip_prefix('?').map_or((false, literal), |it| (true, it));
        let taken = words.split_first().filter(|(word, _)| literal.split('|').any(|it| it == word.folded));
        let with = taken.and_then(|(word, rest)| {
            let mut parts = parts.clone();
            parts.sign.push(word.spelled.clone());
            self.parts(form, rest, parts)
        });
        with.or_else(|| if is_optional { self.parts(form, words, parts) } else { None })
    }

    /// Somebody: the speaker, the speaker and another, or somebody with a name or a relation.
    fn person(self, form: &[&str], words: &[ClauseWord], parts: &Parts, only_me: bool) -> Option<Parts> {
        for count in (1..=PERSON_WORDS_MAX).rev() {
            let Some((person, rest)) = words.split_at_checked(count) else { continue };
            let me = self.me(person);
            let key = match (&me, only_me) {
                (Some(_), _) => Some(ME.to_owned()),
                (None, true) => None,
                (None, false) => self.key(person),
            };
            let Some(subject) = key else { continue };
            let partner = me.unwrap_or_default();
            let with = Parts { subject: Some(subject), partner, ..parts.clone() };
            if let Some(read) = self.parts(form, rest, with) {
                return Some(read);
            }
        }
        let dropped = only_me && self.words.drops_subjects;
        dropped.then(|| self.parts(form, words, Parts { subject: Some(ME.to_owned()), ..parts.clone() }))?
    }

    /// Whether words mean the speaker; with whom.
    fn me(self, person: &[ClauseWord]) -> Option<Vec<ClauseWord>> {
        let is_me = |word: &ClauseWord| is_in(self.words.me, &word.folded);
        let is_small = |word: &ClauseWord| {
            is_me(word) || is_in(self.words.and, &word.folded) || is_in(self.words.articles, &word.folded)
        };
        let others: Vec<ClauseWord> = person.iter().filter(|word| !is_small(word)).cloned().collect();
        let named = others.iter().all(|word| word.has_capital) && others.len() <= 1;
        let first_or_last = person.first().is_some_and(is_me) || person.last().is_some_and(is_me);
        let joined = others.is_empty() || person.iter().any(|word| is_in(self.words.and, &word.folded));
        (first_or_last && named && joined).then_some(others)
    }

    /// The key of somebody else: a name, or what they are to the speaker.
    pub fn key(self, person: &[ClauseWord]) -> Option<String> {
        let is_my = person.iter().any(|word| is_in(self.words.my, &word.folded));
        let small =
            |word: &&ClauseWord| !is_in(self.words.articles, &word.folded) && !is_in(self.words.my, &word.folded);
        let names: Vec<&ClauseWord> = person.iter().filter(small).collect();
        let is_plain = |word: &&ClauseWord| {
            let is_other = is_in(self.words.others, &word.folded) || is_in(self.words.me, &word.folded);
            !is_other && !self.language.is_stop(&word.folded) && word.folded != "="
        };
        if names.is_empty() || names.len() > 2 || !names.iter().all(is_plain) {
            return None;
        }
        let kin = names.iter().find_map(|word| first_of(self.words.kin, &word.folded)).filter(|_| names.len() == 1);
        match kin {
            Some(kin) if is_my => Some(kin.to_owned()),
            _ if is_my || names.iter().all(|word| word.has_capital) => {
                let stems = names.iter().map(|word| self.language.stem(&word.folded));
                Some(stems.collect::<Vec<_>>().join(" "))
            }
            _ => None,
        }
    }

    /// Whose: `my`, or somebody with the mark of an owner.
    fn owner(self, form: &[&str], words: &[ClauseWord], parts: &Parts) -> Option<Parts> {
        let with = |subject: String, rest: &[ClauseWord]| {
            self.parts(form, rest, Parts { subject: Some(subject), ..parts.clone() })
        };
        let articles = words.iter().take_while(|word| is_in(self.words.articles, &word.folded)).count().min(1);
        let (my, rest) = words.get(articles..)?.split_first()?;
        let named = (1..=PERSON_WORDS_MAX).rev().filter(|_| !self.words.owner_mark.is_empty());
        let owned = named.into_iter().find_map(|count| {
            let (person, rest) = words.split_at_checked(count)?;
            let (mark, rest) = rest.split_first()?;
            (mark.folded == self.words.owner_mark).then(|| with(self.key(person)?, rest))?
        });
        owned.or_else(|| is_in(self.words.my, &my.folded).then(|| with(ME.to_owned(), rest))?)
    }

    fn noun(
        self,
        form: &[&str],
        words: &[ClauseWord],
        parts: &Parts,
        fits: impl Fn(&[ClauseWord]) -> bool,
    ) -> Option<Parts> {
        (1..=NOUN_WORDS_MAX).find_map(|count| {
            let (noun, rest) = words.split_at_checked(count)?;
            let is_noun = |word: &ClauseWord| !self.language.is_stop(&word.folded) && word.folded != "=";
            let fits = noun.iter().all(is_noun) && fits(noun);
            fits.then(|| self.parts(form, rest, Parts { noun: noun.to_vec(), ..parts.clone() }))?
        })
    }

    /// The name of something of which there is one.
    pub fn single(self, noun: &[ClauseWord]) -> Option<&'static str> {
        match noun {
            [word] => first_of(self.words.single, &word.folded),
            _ => None,
        }
    }

    /// Something that happens at a time, with what is said about it.
    fn event(self, form: &[&str], words: &[ClauseWord], parts: &Parts) -> Option<Parts> {
        (1..=EVENT_WORDS_MAX).rev().find_map(|count| {
            let (event, rest) = words.split_at_checked(count)?;
            let is_event = event.iter().any(|word| is_in(self.words.events, &word.folded));
            let with = Parts { noun: event.to_vec(), subject: Some(ME.to_owned()), ..parts.clone() };
            is_event.then(|| self.parts(form, rest, with))?
        })
    }

    /// What is said, up to the next words of the pattern.
    fn value(self, form: &[&str], words: &[ClauseWord], parts: &Parts) -> Option<Parts> {
        let with = |count: usize| {
            let (value, rest) = words.split_at_checked(count)?;
            let value = parts.value.iter().chain(value).cloned().collect();
            self.parts(form, rest, Parts { value, ..parts.clone() })
        };
        match form.is_empty() {
            true => {
                if words.is_empty() {
                    None
                } else {
                    with(words.len())
                }
            }
            false => (1..=words.len()).find_map(with),
        }
    }
}
