//! Questions that are a question word alone: "Why?", "When?", "What else?", "Por quê?", "Где?", "Что ещё?".
//!
//! The word goes before what was answered by yes or no, or takes the place of the last question's own. Of a question
//! that it does not fit, Portuguese and Russian, which ask and tell in the same order, take the reply instead.

use super::lexicon::{Class, Lexicon};
use super::phrase;
use super::question::Question;
use super::token::{self, Token};
use super::{TOKENS_MAX, portuguese};
use crate::analyse::Language;

/// A longer reply says more than one thing.
const REPLY_WORDS: std::ops::RangeInclusive<usize> = 3..=14;

/// Words that ask by themselves, and how they begin a question.
const ALONE: &[(&[&str], &str)] = &[
    (&["why"], "Why"),
    (&["why", "not"], "Why"),
    (&["when"], "When"),
    (&["where"], "Where"),
    (&["how"], "How"),
    (&["how", "so"], "How"),
    (&["by", "whom"], "By whom"),
    (&["with", "whom"], "With whom"),
    (&["por", "que"], "Por que"),
    (&["por", "quê"], "Por que"),
    (&["porque"], "Por que"),
    (&["porquê"], "Por que"),
    (&["quando"], "Quando"),
    (&["onde"], "Onde"),
    (&["como"], "Como"),
    (&["por", "quem"], "Por quem"),
    (&["почему"], "Почему"),
    (&["зачем"], "Зачем"),
    (&["когда"], "Когда"),
    (&["где"], "Где"),
    (&["как"], "Как"),
];

const WHYS: [&str; 4] = ["Why", "Por que", "Почему", "Зачем"];

/// What a question may begin with so that another such word can take its place.
const SWAPPED: &[&[&str]] = &[
    &["when"],
    &["where"],
    &["why"],
    &["how"],
    &["quando"],
    &["onde"],
    &["como"],
    &["por", "que"],
    &["когда"],
    &["где"],
    &["почему"],
    &["как"],
];

/// Words that ask for more of the same.
const ELSE: &[&[&str]] = &[
    &["what", "else"],
    &["anything", "else"],
    &["who", "else"],
    &["where", "else"],
    &["o", "que", "mais"],
    &["que", "mais"],
    &["quem", "mais"],
    &["mais", "algo"],
    &["что", "еще"],
    &["кто", "еще"],
    &["где", "еще"],
];

/// The question after such a word, without its mark.
pub fn resolve(question: &Question<'_>, asked: &str, replied: &str) -> Option<String> {
    let words: Vec<&str> = question.tokens.iter().filter(|it| it.is_word()).map(|it| it.lower.as_str()).collect();
    let words = match words.split_first() {
        Some((first, rest)) if question.lexicon.is_and(first) => rest,
        _ => &words,
    };
    if ELSE.contains(&words) {
        return more(asked, question.lexicon);
    }
    let (_, opening) = ALONE.iter().find(|(alone, _)| *alone == words)?;
    before(opening, asked, question.lexicon)
        .or_else(|| instead(opening, asked, question.lexicon))
        .or_else(|| told(opening, replied, question.lexicon))
}

/// The words of the last sentence.
fn last_sentence<'t>(tokens: &'t [Token<'t>]) -> Vec<&'t Token<'t>> {
    let last = tokens.iter().filter(|it| it.is_word()).map(|it| it.sentence).max();
    tokens.iter().filter(|it| Some(it.sentence) == last && it.is_word()).collect()
}

/// `Why` before what can be answered by yes or no.
fn before(opening: &str, asked: &str, lexicon: &Lexicon) -> Option<String> {
    let tokens = token::tokens(asked, lexicon, TOKENS_MAX);
    let sentence = last_sentence(&tokens);
    let first = sentence.first()?;
    let class = lexicon.class(&first.lower);
    let open = sentence.iter().any(|it| it.has(Class::ASKING));
    let fits = match lexicon.language {
        Language::English => class.has(Class::BE.or(Class::AUXILIARY)),
        _ => sentence.len() > 1,
    };
    if open || !fits || lexicon.is_and(&first.lower) {
        return None;
    }
    let rest = asked.get(first.range.start..)?.trim_end();
    let common = first.is_capital() && (class.has(Class::FUNCTION) || lexicon.is_verb(&first.lower));
    Some(format!("{opening} {}", if common { token::small(rest) } else { rest.to_owned() }))
}

/// `When` instead of `where`.
fn instead(opening: &str, asked: &str, lexicon: &Lexicon) -> Option<String> {
    let tokens = token::tokens(asked, lexicon, TOKENS_MAX);
    let sentence = last_sentence(&tokens);
    let begins = |with: &&&[&str]| {
        sentence.len() > with.len() + 1 && sentence.iter().zip(with.iter()).all(|(token, word)| token.lower == *word)
    };
    let old = SWAPPED.iter().find(begins)?;
    let next = sentence.get(old.len())?;
    let measures = lexicon.language == Language::English && !next.has(Class::BE.or(Class::AUXILIARY));
    if measures || token::lower(opening) == old.join(" ") {
        return None;
    }
    Some(format!("{opening} {}", asked.get(next.range.start..)?.trim_end()))
}

/// `Why` before what was replied, in languages that do not turn it round.
fn told(opening: &str, replied: &str, lexicon: &Lexicon) -> Option<String> {
    if lexicon.language == Language::English || !WHYS.contains(&opening) {
        return None;
    }
    let tokens = token::tokens(replied, lexicon, TOKENS_MAX);
    let words = tokens.iter().filter(|it| it.is_word()).count();
    let one = tokens.iter().rev().skip(1).all(|it| !it.ends_sentence());
    let first =
        tokens.iter().find(|it| it.is_word() && !it.has(Class::FILLER) && !matches!(it.lower.as_str(), "тогда"))?;
    if !one || !REPLY_WORDS.contains(&words) || replied.trim_end().ends_with('?') {
        return None;
    }
    let rest = replied.get(first.range.start..)?.trim_end().trim_end_matches(['.', '!']);
    let named = first.is_acronym() || lexicon.class(&first.lower).has(Class::MAN.or(Class::WOMAN));
    Some(format!("{opening} {}", if named { rest.to_owned() } else { token::small(rest) }))
}

/// `What else` of what was asked for.
fn more(asked: &str, lexicon: &Lexicon) -> Option<String> {
    let tokens = token::tokens(asked, lexicon, TOKENS_MAX);
    let sentence = last_sentence(&tokens);
    let at = sentence.iter().position(|it| !lexicon.is_and(&it.lower) && !matches!(it.lower.as_str(), "o"))?;
    let (first, next) = (sentence.get(at)?, sentence.get(at + 1)?);
    if !first.has(Class::ASKING) || matches!(next.lower.as_str(), "else" | "other" | "mais" | "еще") {
        return None;
    }
    let phrases = phrase::phrases(&tokens, lexicon);
    let noun =
        phrases.iter().find(|it| it.wanted && tokens.get(it.words.start).is_some_and(|it| it.range == next.range));
    let other = match (lexicon.language, noun.and_then(|it| tokens.get(it.head))) {
        (Language::English, None) => "else",
        (Language::English, Some(_)) => "other",
        (Language::Portuguese, None) => "mais",
        (Language::Portuguese, Some(head)) => portuguese::other(&head.lower),
        (Language::Russian, _) => "ещё",
    };
    let begun = asked.get(sentence.first()?.range.start..first.range.end)?;
    Some(format!("{begun} {other} {}", asked.get(next.range.start..)?.trim_end()))
}
