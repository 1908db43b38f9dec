//! That year: the last one that was said.

use super::ChangeKind;
use super::edit::Edit;
use super::topic::Topics;
use crate::syntax::{FollowUp, Token};

/// Whether a token is a year of the last thousand or so.
pub(crate) fn is_year(token: &Token<'_>) -> bool {
    let digits = token.text.len() == 4 && token.text.bytes().all(|c| c.is_ascii_digit());
    digits && token.text.starts_with(['1', '2'])
}

/// `that year`, `naquele ano`, `в том году`.
pub(crate) fn that(question: &FollowUp<'_>, at: usize, topics: &Topics) -> Option<Edit> {
    let grammar = question.lexicon.grammar;
    let noun = (grammar.reading.that_year)(question, at)?;
    let now = (grammar.writing.in_year)(question, at, topics.year.as_deref()?);
    Edit::replace(question, at..noun + 1, now, ChangeKind::Demonstrative)
}
