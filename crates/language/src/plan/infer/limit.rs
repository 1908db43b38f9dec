//! How many rows a question asks for: `top 5`, `as três últimas`, `10 maiores`, `3 notícias`.

use super::said::{QuestionWords, Spelling};
use crate::window::{is_unit, number};

/// The number of rows; its words say nothing else. `of` are the things that are counted.
pub(crate) fn take(said: &mut QuestionWords<'_>, of: &[Spelling]) -> Option<u32> {
    let found = (0..said.tokens.len()).find_map(|at| beside_rank(said, at).or_else(|| counted(said, of, at)));
    if let Some((limit, words)) = found {
        said.take(words);
        return Some(limit);
    }
    let is_one = (0..said.tokens.len()).any(|at| is_last_one(said, of, at));
    is_one.then_some(1)
}

fn beside_rank(said: &QuestionWords<'_>, at: usize) -> Option<(u32, std::ops::Range<usize>)> {
    let tokens = &said.tokens;
    let is_rank = |at: usize| said.is_free(at) && tokens.is_in(at, said.grammar().counts.ranks);
    // `the latest one` counts nothing.
    let counts = |count: u32, at: usize| count > 1 || (count == 1 && tokens.digits(at).is_some());
    let count = |at: usize| {
        number(tokens, at).filter(|(count, next)| counts(*count, at) && (at..*next).all(|at| said.is_free(at)))
    };
    if let Some((limit, next)) = count(at) {
        return (is_rank(next) && !is_unit(tokens, next + 1)).then_some((limit, at..next + 1));
    }
    if is_rank(at) {
        return count(at + 1).filter(|(_, next)| !is_unit(tokens, *next)).map(|(limit, next)| (limit, at..next));
    }
    let joined = tokens.word(at).strip_prefix(said.grammar().counts.top).filter(|_| said.is_free(at))?;
    let limit = if joined.len() <= 4 { joined.parse().ok() } else { None };
    limit.filter(|limit| *limit > 0).map(|limit| (limit, at..at + 1))
}

/// `3 notícias`; one of them is only an article.
fn counted(said: &QuestionWords<'_>, of: &[Spelling], at: usize) -> Option<(u32, std::ops::Range<usize>)> {
    let (limit, next) = number(&said.tokens, at).filter(|(count, _)| *count > 1 && said.is_free(at))?;
    let is_counted = of.iter().any(|thing| said.begins(thing, next).is_some());
    is_counted.then_some((limit, at..next))
}

/// `a última notícia`. The words stay free: they may ask for the latest, too.
fn is_last_one(said: &QuestionWords<'_>, of: &[Spelling], at: usize) -> bool {
    let is_one = said.is_free(at) && said.tokens.is_in(at, said.grammar().counts.last_one);
    is_one
        && !(said.grammar().counts.is_many)(said.tokens.word(at + 1))
        && of.iter().any(|thing| said.begins(thing, at + 1).is_some())
}
