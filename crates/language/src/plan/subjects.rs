//! What questions are about, such as funds, and where a question names them.
//!
//! Owns the index of known subjects and the reading of their codes and names. Refuses to take an ordinary
//! word for a subject, and a code that is not in the index for one that is. Whatever a text holds, a subject
//! that comes out of it is one of the index or, where none are listed, letters and digits of the shape.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::LANGUAGE;
use super::ontology::Typos;
use crate::analyse::{QUESTION_WORDS_MAX, Spelled, Words};
use crate::portuguese::chat::is_chat;
use crate::portuguese::plan::is_time_unit;

/// A name of one word that is shorter is an abbreviation of too many things.
const NAME_CHARS_MIN: usize = 4;

/// A code is written in at most so many pieces.
const CODE_PIECES_MAX: usize = 4;

/// The subjects that are known, by their codes, by the letters of their codes, and by another name.
#[derive(Debug, Clone, Default)]
pub struct Subjects {
    known: Vec<String>,
    /// The place in `known`, by the folded code.
    codes: FxHashMap<String, usize>,
    /// The same by the letters that a code begins with; where several share them, the first one.
    letters: FxHashMap<String, usize>,
    names: Names,
}

/// Names in words.
#[derive(Debug, Clone, Default)]
struct Names {
    /// The words of each, as numbers, and the subject that it names.
    all: Vec<(Vec<u32>, usize)>,
    numbers: FxHashMap<String, u32>,
    spellings: Vec<String>,
    typos: Typos,
    /// Where each word stands: in which name, and as which of its words.
    places: Vec<Vec<(usize, usize)>>,
}

/// A subject and the words that name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// None of a code that is not in the index.
    pub subject: Option<String>,
    pub words: Range<usize>,
}

/// How codes look: `A` is a letter, `9` a digit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shape(Vec<bool>);

impl Subjects {
    /// Each with another name that it goes by.
    pub fn new(known: Vec<(String, Option<String>)>) -> Self {
        let mut subjects = Self::default();
        for (code, name) in known {
            let at = subjects.known.len();
            let folded = folded_words(&code).concat();
            let letters: String = folded.chars().take_while(|c| !c.is_ascii_digit()).collect();
            // One letter stands for too much.
            if letters.len() > 1 && letters.len() < folded.len() {
                subjects.letters.entry(letters).or_insert(at);
            }
            subjects.names.add(&folded_words(&name.unwrap_or_default()), at);
            subjects.codes.entry(folded).or_insert(at);
            subjects.known.push(code);
        }
        subjects
    }

    /// Whether it is one of them; all are, where none are listed.
    pub fn has(&self, subject: &str) -> bool {
        self.is_empty() || self.codes.contains_key(&folded_words(subject).concat())
    }

    /// The known code that is one slip away from one that is not known.
    pub fn near(&self, code: &str) -> Option<&str> {
        let code = folded_words(code).concat();
        let mut near = self.codes.iter().filter(|(known, _)| Typos::is_one_slip(known, &code));
        let (_, first) = near.next()?;
        // Of several, none is meant more than the others.
        if near.next().is_some() { None } else { self.known.get(*first).map(String::as_str) }
    }

    pub fn len(&self) -> usize {
        self.known.len()
    }

    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    fn at(&self, place: Option<&usize>) -> Option<String> {
        self.known.get(*place?).cloned()
    }
}

impl Names {
    fn add(&mut self, words: &[String], of: usize) {
        if words.is_empty() {
            return;
        }
        let name = self.all.len();
        let mut numbers = Vec::with_capacity(words.len());
        for (nth, word) in words.iter().enumerate() {
            let next = u32::try_from(self.spellings.len()).unwrap_or(u32::MAX);
            let number = *self.numbers.entry(word.clone()).or_insert(next);
            if number == next {
                self.spellings.push(word.clone());
                self.places.push(Vec::new());
                self.typos.learn_spelling(word, number);
            }
            self.places.get_mut(number as usize).into_iter().for_each(|places| places.push((name, nth)));
            numbers.push(number);
        }
        self.all.push((numbers, of));
    }

    /// The number of a word, and whether it is a guess.
    fn number(&self, folded: &str) -> Option<(u32, bool)> {
        let exact = self.numbers.get(folded).map(|number| (*number, false));
        exact.or_else(|| self.typos.near(folded).map(|number| (number, true)))
    }

    fn spelling(&self, number: u32) -> &str {
        self.spellings.get(number as usize).map_or("", String::as_str)
    }
}

/// One text that is searched for subjects.
pub struct Search<'s> {
    pub text: &'s str,
    pub words: &'s [Spelled<'s>],
    pub shape: &'s Shape,
    pub known: &'s Subjects,
    /// Words that mean something else.
    pub is_ordinary: &'s dyn Fn(&str) -> bool,
}

/// Words in a row that stand in a name.
struct Run {
    of: usize,
    words: usize,
    is_whole: bool,
    has_typo: bool,
    /// Whether a word of it is no ordinary one.
    tells: bool,
}

impl Search<'_> {
    /// Every subject that the text names, and every code that it may mean one by, in order.
    pub fn run(&self) -> Vec<Named> {
        let mut found: Vec<Named> = Vec::new();
        let mut at = 0;
        while at < self.words.len() {
            let known = self.code(at).or_else(|| self.name(at)).or_else(|| self.stranger(at));
            let named = known.or_else(|| self.bare(at));
            at = named.as_ref().map_or(at + 1, |it| it.words.end.max(at + 1));
            found.extend(named);
        }
        found
    }

    /// `HGLG11`, `HGLG-11`, `HGLG 11`: a code that is known, in one piece or in several.
    fn code(&self, at: usize) -> Option<Named> {
        self.words.get(at).filter(|word| !self.is_part(word))?;
        (1..=CODE_PIECES_MAX).rev().find_map(|count| {
            let joined = self.joined(at, count)?;
            let subject = self.known.at(self.known.codes.get(&joined))?;
            Some(Named { subject: Some(subject), words: at..at + count })
        })
    }

    /// So many words as one, where nothing but a sign or a blank is between them.
    fn joined(&self, at: usize, count: usize) -> Option<String> {
        let words = self.words.get(at..at + count)?;
        let between = |pair: &[Spelled<'_>]| match pair {
            [a, b] => self.text.get(a.range.end..b.range.start),
            _ => None,
        };
        let first = words.first()?;
        let is_led = first.folded.len() > 1 && !LANGUAGE.is_stop(first.folded);
        let is_close = |pair: &[Spelled<'_>]| match between(pair) {
            Some("-" | "‑" | "–" | "/" | ".") => true,
            Some(" ") => is_led,
            _ => false,
        };
        let is_one = words.windows(2).all(is_close);
        is_one.then(|| words.iter().map(|word| word.folded).collect())
    }

    /// A code that is not known: letters and digits behind them, or what fits the shape. It names something,
    /// and nothing that there is.
    fn stranger(&self, at: usize) -> Option<Named> {
        let word = self.words.get(at).filter(|word| !self.is_part(word))?;
        if let Some(named) = self.cut_code(at, word) {
            return Some(named);
        }
        let letters = word.folded.trim_end_matches(|c: char| c.is_ascii_digit());
        let digits = word.folded.len() - letters.len();
        let is_code = digits > 0 && letters.len() > 1 && letters.bytes().all(|byte| byte.is_ascii_alphabetic());
        let is_word = (self.is_ordinary)(letters) || (self.is_ordinary)(word.folded);
        if is_word || !(is_code || self.shape.fits(word.folded)) {
            return None;
        }
        let is_subject = self.known.is_empty() && self.shape.fits(word.folded);
        let subject = is_subject.then(|| word.folded.to_ascii_uppercase());
        Some(Named { subject, words: at..at + 1 })
    }

    /// `HGLG-12`, of which there is only another; `HGLG 12 meses` names the fund and a stretch of time.
    fn cut_code(&self, at: usize, word: &Spelled<'_>) -> Option<Named> {
        let next = self.words.get(at + 1)?;
        let is_number = !next.folded.is_empty() && next.folded.bytes().all(|byte| byte.is_ascii_digit());
        let between = self.text.get(word.range.end..next.range.start)?;
        let fits = self.shape.fits(&format!("{}{}", word.folded, next.folded));
        let then = self.words.get(at + 2).map_or("", |then| then.folded);
        let is_joined = match between {
            "-" | "‑" | "–" => true,
            " " => self.known.letters.contains_key(word.folded) && !is_time_unit(then),
            _ => false,
        };
        let is_code = is_number && fits && is_joined && !(self.is_ordinary)(word.folded);
        is_code.then_some(Named { subject: None, words: at..at + 2 })
    }

    /// Another name, whole or some of its words, where no other name has them; not where they are ordinary.
    fn name(&self, at: usize) -> Option<Named> {
        let word = self.words.get(at)?;
        let (number, _) = self.known.names.number(word.folded)?;
        let places = self.known.names.places.get(number as usize)?;
        let runs: Vec<Run> = places.iter().filter_map(|place| self.run_of(at, *place)).collect();
        let longest = runs.iter().map(|run| (run.words, run.is_whole)).max()?;
        let mut best = runs.iter().filter(|run| (run.words, run.is_whole) == longest);
        let first = best.next()?;
        if best.any(|run| run.of != first.of) {
            return None;
        }
        self.known.at(Some(&first.of)).map(|subject| Named { subject: Some(subject), words: at..at + first.words })
    }

    /// The words from here on that go along with a name from one of its words on.
    fn run_of(&self, at: usize, (name, nth): (usize, usize)) -> Option<Run> {
        let (numbers, of) = self.known.names.all.get(name)?;
        let mut run = Run { of: *of, words: 0, is_whole: false, has_typo: false, tells: false };
        let mut last_stop = 0;
        for (number, word) in numbers.get(nth..)?.iter().zip(self.words.get(at..)?) {
            let Some((said, is_typo)) = self.known.names.number(word.folded).filter(|(said, _)| said == number) else {
                break;
            };
            let spelling = self.known.names.spelling(said);
            run.words += 1;
            run.has_typo |= is_typo;
            last_stop = if LANGUAGE.is_stop(spelling) { last_stop + 1 } else { 0 };
            let chars_min = if run.words > 1 { NAME_CHARS_MIN - 1 } else { NAME_CHARS_MIN };
            run.tells |= spelling.len() >= chars_min && !LANGUAGE.is_stop(spelling) && !(self.is_ordinary)(spelling);
        }
        run.words -= last_stop;
        run.is_whole = nth == 0 && run.words == numbers.len();
        // One word of several must be spelled as it is, and belong to no other name.
        let is_one = run.words == 1 && !run.has_typo && !self.has_more(at);
        let is_said = run.is_whole || run.words > 1 || is_one;
        (is_said && run.tells).then_some(run)
    }

    /// Whether a word is followed by one that nothing knows, as in the name of something else: `Torre
    /// Eiffel`.
    fn has_more(&self, at: usize) -> bool {
        let (Some(word), Some(next)) = (self.words.get(at), self.words.get(at + 1)) else { return false };
        let is_close = self.text.get(word.range.end..next.range.start) == Some(" ");
        let is_known = LANGUAGE.is_stop(next.folded) || (self.is_ordinary)(next.folded) || is_chat(next.folded);
        is_close && !is_known
    }

    /// `HGLG`; an ordinary word only where it is shouted in a text that is not.
    fn bare(&self, at: usize) -> Option<Named> {
        let word = self.words.get(at).filter(|word| !self.is_part(word))?;
        let place = self.known.letters.get(word.folded)?;
        let is_shouted = |text: &str| !text.contains(char::is_lowercase);
        let stands_out = self.text.get(word.range.clone()).is_some_and(is_shouted) && !is_shouted(self.text);
        let is_stop = LANGUAGE.is_stop(word.folded);
        let is_meant = if stands_out { !is_stop } else { !(self.is_ordinary)(word.folded) };
        let subject = is_meant.then(|| self.known.at(Some(place)))??;
        Some(Named { subject: Some(subject), words: at..at + 1 })
    }

    /// Whether a word is a piece of a longer one, such as `x_hglg11`.
    fn is_part(&self, word: &Spelled<'_>) -> bool {
        let before = self.text.get(..word.range.start).unwrap_or_default();
        let after = self.text.get(word.range.end..).unwrap_or_default();
        before.ends_with('_') || after.starts_with('_')
    }
}

impl Shape {
    pub const CHARS_MAX: usize = 16;

    pub fn parse(text: &str) -> Result<Self, String> {
        let letter = |c: char| match c {
            'A' => Ok(true),
            '9' => Ok(false),
            _ => Err("must be made of A (a letter) and 9 (a digit)".to_owned()),
        };
        let letters = text.chars().map(letter).collect::<Result<Vec<_>, _>>()?;
        match letters.len() {
            _ if !letters.contains(&true) => Err("must have a letter".to_owned()),
            ..=Self::CHARS_MAX => Ok(Self(letters)),
            _ => Err(format!("must have at most {} characters", Self::CHARS_MAX)),
        }
    }

    fn fits(&self, folded: &str) -> bool {
        let fits = |(byte, letter): (u8, &bool)| match letter {
            true => byte.is_ascii_alphabetic(),
            false => byte.is_ascii_digit(),
        };
        folded.len() == self.0.len() && folded.bytes().zip(&self.0).all(fits)
    }
}

fn folded_words(text: &str) -> Vec<String> {
    Words::new(text, QUESTION_WORDS_MAX).iter().map(|word| word.folded.to_owned()).collect()
}
