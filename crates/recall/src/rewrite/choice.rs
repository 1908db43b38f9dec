//! One of several that were offered: "the second one", or the last name alone.

use super::lexicon::{Class, Lexicon};
use super::phrase;
use super::question::{Edit, Question};
use super::token::{self, Token};
use super::{ChangeKind, TOKENS_MAX};

/// More words are no mere choice.
const NAME_WORDS_MAX: usize = 2;

/// What stands on both sides of "or" in a reply, or what it lists.
pub fn options(reply: &str, lexicon: &Lexicon) -> Vec<String> {
    let tokens = token::tokens(reply, TOKENS_MAX);
    let phrases = phrase::phrases(&tokens, lexicon);
    let parts: Vec<_> = phrases.iter().filter(|it| !it.group && !it.time).collect();
    let mut options: Vec<String> = Vec::new();
    let mut end = None;
    let mut or = false;
    for part in parts {
        let from = part.determiner.unwrap_or(part.words.start);
        let joined = end.and_then(|end: usize| tokens.get(end..from)).is_some_and(|between| {
            between.iter().any(|it| it.text != "?" && joins(it, lexicon))
                && between.iter().all(|it| joins(it, lexicon) || lexicon.is(it, Class::PREPOSITION))
        });
        if !joined {
            if or && options.len() > 1 {
                break;
            }
            options.clear();
        }
        or |= joined
            && end
                .and_then(|end| tokens.get(end..from))
                .is_some_and(|of| of.iter().any(|it| lexicon.is(it, Class::OR)));
        end = Some(part.words.end);
        let spelled =
            tokens.get(part.words.clone()).and_then(|of| reply.get(of.first()?.range.start..of.last()?.range.end));
        options.extend(spelled.map(str::to_owned));
    }
    if or && options.len() > 1 { options } else { Vec::new() }
}

fn joins(token: &Token<'_>, lexicon: &Lexicon) -> bool {
    matches!(token.text, "," | "?") || lexicon.is(token, Class::OR) || lexicon.is(token, Class::AND)
}

/// Writes out what was chosen.
pub fn resolve(question: &Question<'_>, reply: &str) -> Option<Edit> {
    let options = options(reply, question.lexicon);
    if options.is_empty() {
        return None;
    }
    numbered(question, &options).or_else(|| by_part(question, &options))
}

/// `the second one`.
fn numbered(question: &Question<'_>, options: &[String]) -> Option<Edit> {
    let at = (0..question.tokens.len()).find(|at| question.class(*at).has(Class::ORDINAL))?;
    let number = question.lexicon.ordinal(question.lower(at), options.len())?;
    let one = question.class(at + 1).has(Class::ONE);
    let ends = question.tokens.get(at + 1).is_none_or(|token| !token.is_word());
    if !one && !ends {
        return None;
    }
    let article = at > 0 && question.before(at).has(Class::DEFINITE);
    let from = if article { at - 1 } else { at };
    question.edit(from..at + 1 + usize::from(one), options.get(number)?.clone(), ChangeKind::Choice)
}

/// A part of one option's name and of no other's.
fn by_part(question: &Question<'_>, options: &[String]) -> Option<Edit> {
    let words: Vec<usize> = (0..question.tokens.len())
        .filter(|at| question.tokens.get(*at).is_some_and(Token::is_word) && !question.class(*at).has(Class::FILLER))
        .collect();
    let (first, last) = (*words.first()?, *words.last()?);
    if words.len() > NAME_WORDS_MAX || last - first + 1 != words.len() {
        return None;
    }
    let said = words.iter().map(|at| question.lower(*at)).collect::<Vec<_>>().join(" ");
    let ends = |option: &&String| token::lower(option).strip_suffix(&said).is_some_and(|rest| rest.ends_with(' '));
    let mut fitting = options.iter().filter(ends);
    let option = fitting.next().filter(|_| fitting.next().is_none())?;
    question.edit(first..last + 1, option.clone(), ChangeKind::Choice)
}
