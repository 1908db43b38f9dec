//! Questions that are a question word alone: "Why?", "When?", "What else?", "Por quê?", "Где?", "Что ещё?".
//!
//! The word goes before what was answered by yes or no, or takes the place of the last question's own. If it
//! fits neither, languages that ask and tell in the same order take the reply instead.

use super::TOKENS_MAX;
use crate::syntax::{Class, FollowUp, Lexicon, Token, phrase, token};

/// A longer reply says more than one thing.
const REPLY_WORDS: std::ops::RangeInclusive<usize> = 3..=14;

/// The question after such a word, without its mark.
pub fn resolve(question: &FollowUp<'_>, asked: &str, replied: &str) -> Option<String> {
    let words: Vec<&str> = question.tokens.iter().filter(|it| it.is_word()).map(|it| it.lower.as_str()).collect();
    let words = match words.split_first() {
        Some((first, rest)) if question.lexicon.is_and(first) => rest,
        _ => &words,
    };
    let lists = &question.lexicon.grammar.words;
    if lists.more_questions.contains(&words) {
        return more(asked, question.lexicon);
    }
    let (_, opening) = lists.lone_questions.iter().find(|(alone, _)| *alone == words)?;
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
    let fits = match lexicon.grammar.traits.inverts_questions {
        true => class.has(Class::BE.or(Class::AUXILIARY)),
        false => sentence.len() > 1,
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
    let old = lexicon.grammar.words.replaceable.iter().find(begins)?;
    let next = sentence.get(old.len())?;
    let measures = lexicon.grammar.traits.inverts_questions && !next.has(Class::BE.or(Class::AUXILIARY));
    if measures || token::lower(opening) == old.join(" ") {
        return None;
    }
    Some(format!("{opening} {}", asked.get(next.range.start..)?.trim_end()))
}

/// `Why` before what was replied, in languages that do not turn it round.
fn told(opening: &str, replied: &str, lexicon: &Lexicon) -> Option<String> {
    if lexicon.grammar.traits.inverts_questions || !lexicon.grammar.words.reasons.contains(&opening) {
        return None;
    }
    let tokens = token::tokens(replied, lexicon, TOKENS_MAX);
    let words = tokens.iter().filter(|it| it.is_word()).count();
    let one = tokens.iter().rev().skip(1).all(|it| !it.ends_sentence());
    let opens = |it: &&Token<'_>| it.is_word() && !it.has(Class::FILLER) && !lexicon.has(&it.lower, Class::THEN);
    let first = tokens.iter().find(opens)?;
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
    let at =
        sentence.iter().position(|it| !lexicon.is_and(&it.lower) && !lexicon.has(&it.lower, Class::BEFORE_ASKING))?;
    let (first, next) = (sentence.get(at)?, sentence.get(at + 1)?);
    if !first.has(Class::ASKING) || lexicon.has(&next.lower, Class::ELSE) {
        return None;
    }
    let phrases = phrase::phrases(&tokens, lexicon);
    let noun =
        phrases.iter().find(|it| it.wanted && tokens.get(it.words.start).is_some_and(|it| it.range == next.range));
    let noun = noun.and_then(|it| tokens.get(it.head)).map(|head| head.lower.as_str());
    let other = (lexicon.grammar.writing.other)(noun);
    let begun = asked.get(sentence.first()?.range.start..first.range.end)?;
    Some(format!("{begun} {other} {}", asked.get(next.range.start..)?.trim_end()))
}
