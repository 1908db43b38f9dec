//! One of several that were offered: "the second one", or the last name alone.

use super::edit::Edit;
use super::{ChangeKind, TOKENS_MAX};
use crate::syntax::{Class, FollowUp, Lexicon, NounPhrase, Token, phrase, token};

/// More words are no mere choice.
const NAME_WORDS_MAX: usize = 2;
/// As many fillers may stand around it.
const FILLERS_MAX: usize = 6;

/// What a reply offers: what stands on both sides of "or", or else what it lists first.
struct Offer {
    options: Vec<String>,
    or: bool,
}

impl Offer {
    fn parse(reply: &str, lexicon: &Lexicon) -> Self {
        let tokens = token::tokens(reply, lexicon, TOKENS_MAX);
        let phrases = phrase::phrases(&tokens, lexicon);
        let mut lists = lists(reply, &tokens, &phrases);
        let or = lists.iter().position(|list| list.or);
        let at = or.or_else(|| (!lists.is_empty()).then_some(0));
        at.map_or(Self { options: Vec::new(), or: false }, |at| lists.swap_remove(at))
    }
}

/// The runs of phrases in a text that are joined by "or", "and" and commas.
fn lists(text: &str, tokens: &[Token<'_>], phrases: &[NounPhrase]) -> Vec<Offer> {
    let mut lists: Vec<Offer> = Vec::new();
    let mut end = None;
    for part in phrases.iter().filter(|it| !it.features.group && !it.features.time) {
        let from = part.determiner.unwrap_or(part.words.start);
        let between = end.and_then(|end: usize| tokens.get(end..from)).unwrap_or_default();
        let joined = between.iter().any(|it| it.text != "?" && joins(it))
            && between.iter().all(|it| joins(it) || it.has(Class::PREPOSITION));
        end = Some(part.words.end);
        let words = tokens.get(part.words.clone()).unwrap_or_default();
        let spelled = words.first().zip(words.last()).and_then(|(a, b)| text.get(a.range.start..b.range.end));
        let common = !part.features.named && !words.first().is_some_and(Token::is_acronym);
        let Some(spelled) = spelled.map(|it| if common { token::small(it) } else { it.to_owned() }) else { continue };
        match lists.last_mut().filter(|_| joined) {
            Some(list) => {
                list.or |= between.iter().any(|it| it.has(Class::OR));
                list.options.push(spelled);
            }
            None => lists.push(Offer { options: vec![spelled], or: false }),
        }
    }
    lists.retain(|list| list.options.len() > 1);
    lists
}

fn joins(token: &Token<'_>) -> bool {
    matches!(token.text, "," | "?") || token.has(Class::OR) || token.has(Class::AND)
}

/// Writes out what was chosen.
pub fn resolve(question: &FollowUp<'_>, reply: &str) -> Option<Edit> {
    if !question.has(Class::ORDINAL) && question.words() > NAME_WORDS_MAX + FILLERS_MAX {
        return None;
    }
    let Offer { options, or } = Offer::parse(reply, question.lexicon);
    let part = || or.then(|| by_part(question, &options)).flatten();
    numbered(question, &options, or).or_else(part)
}

/// `the second one`.
fn numbered(question: &FollowUp<'_>, options: &[String], or: bool) -> Option<Edit> {
    let at = (0..question.tokens.len()).find(|at| question.class(*at).has(Class::ORDINAL))?;
    let number = question.lexicon.ordinal(question.lower(at), options.len())?;
    let one = question.class(at + 1).has(Class::ONE);
    let ends = question.tokens.get(at + 1).is_none_or(|token| !token.is_word());
    if !one && !ends {
        return None;
    }
    let article = at > 0 && question.before(at).has(Class::DEFINITE);
    if !or && !article {
        return None;
    }
    let from = if article { at - 1 } else { at };
    Edit::replace(question, from..at + 1 + usize::from(one), options.get(number)?.clone(), ChangeKind::Choice)
}

/// A part of one option's name and of no other's.
fn by_part(question: &FollowUp<'_>, options: &[String]) -> Option<Edit> {
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
    Edit::replace(question, first..last + 1, option.clone(), ChangeKind::Choice)
}
