//! Stretches of time as Portuguese names them, and as English words in a Portuguese question do.
//!
//! Refuses what only looks like one: `DY de 12 meses` names a metric, `vencimento em 6-9 meses` a band, and
//! 31/02/2025 no day.

mod counted;
mod date;
mod dated;
mod named;
mod number;
mod read;
#[cfg(test)]
mod tests;
mod words;

use std::ops::Range;

use crate::window::{Tokens, Window};

pub(crate) use self::counted::{is_time_unit, is_unit};
pub(crate) use self::date::is_sure_month;
pub(crate) use self::number::number;

impl Window {
    /// The window that a text names, with the bytes that name it.
    pub fn locate(text: &str) -> Option<(Self, Range<usize>)> {
        let tokens = Tokens::new(text);
        Self::among(&tokens).map(|(window, words)| (window, tokens.range(words)))
    }

    /// The words of a text that name a window, by their numbers.
    pub(crate) fn words(text: &str) -> Range<usize> {
        Self::among(&Tokens::new(text)).map_or(0..0, |(_, words)| words)
    }

    /// The window that a count alone names, with the numbers of its words.
    pub(crate) fn counted_alone(tokens: &Tokens<'_>) -> Option<(Self, Range<usize>)> {
        (0..tokens.len()).find_map(|at| counted::bare(tokens, at).map(|(window, next)| (window, at..next)))
    }

    /// The window that these words name, with the numbers of the words that name it.
    pub(crate) fn among(tokens: &Tokens<'_>) -> Option<(Self, Range<usize>)> {
        read::window(tokens)
    }
}
