//! Portuguese words of questions about data, and the English ones that are mixed with them. All words are
//! folded.

pub(crate) use super::window::{is_unit, number};

/// Words that a number stands beside when it counts rows.
pub(crate) const RANKS: [&str; 20] = [
    "top",
    "ultimos",
    "ultimas",
    "primeiros",
    "primeiras",
    "maiores",
    "menores",
    "melhores",
    "piores",
    "principais",
    "recentes",
    "proximos",
    "proximas",
    "first",
    "last",
    "best",
    "worst",
    "largest",
    "smallest",
    "latest",
];
/// May be written together with the number that it counts to.
pub(crate) const TOP: &str = "top";
/// Ask for the last row alone.
pub(crate) const LAST_ONE: [&str; 2] = ["ultimo", "ultima"];
/// Words between what is compared.
pub(crate) const LINKS: [&str; 10] = ["com", "a", "ao", "aos", "contra", "vs", "versus", "with", "to", "against"];
/// The word before the number of a day.
pub(crate) const DAY: &str = "dia";

/// A word as it is stemmed. The stemmer takes `dividendo` for a form of a verb and its plural for none; here
/// they are one noun.
pub(crate) fn stemmed_form(folded: &str) -> &str {
    folded.strip_suffix('s').filter(|noun| noun.ends_with("ndo")).unwrap_or(folded)
}
