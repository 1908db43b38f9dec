//! That year: the last one that was said.

use super::ChangeKind;
use super::question::{Edit, Question};
use super::token::Token;
use super::topic::Topics;
use crate::analyse::Language;

/// Whether a token is a year of the last thousand or so.
pub fn is_year(token: &Token<'_>) -> bool {
    let digits = token.text.len() == 4 && token.text.bytes().all(|c| c.is_ascii_digit());
    digits && token.text.starts_with(['1', '2'])
}

/// `that year`, `naquele ano`, `в том году`.
pub fn that(question: &Question<'_>, at: usize, topics: &Topics) -> Option<Edit> {
    let same = usize::from(matches!(question.lower(at + 1), "same" | "mesmo" | "же"));
    let noun = at + 1 + same;
    let fits = match question.lower(at) {
        "that" => question.lower(noun) == "year",
        "naquele" | "nesse" | "neste" => question.lower(noun) == "ano",
        "том" => question.lower(noun) == "году",
        _ => false,
    };
    let year = topics.year.as_deref().filter(|_| fits)?;
    let placed = matches!(question.lower_before(at), "in" | "during" | "of" | "after" | "before" | "since");
    let now = match question.lexicon.language {
        Language::English if placed => year.to_owned(),
        Language::English => format!("in {year}"),
        Language::Portuguese => format!("em {year}"),
        Language::Russian => format!("{year} году"),
    };
    question.edit(at..noun + 1, now, ChangeKind::Demonstrative)
}
