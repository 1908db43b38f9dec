//! Stretches of time in a text: a date before a count, a count before `este mês`, and that before `hoje`.
//!
//! Owns the rules, which are the same in every language; the words are in `WindowWords`. Refuses what only
//! looks like a window: `DY de 12 meses` names a metric, `vencimento em 6-9 meses` a band, 31/02/2025 no day.

mod counted;
mod date;
mod dated;
mod named;
mod number;

use std::ops::Range;

#[cfg(test)]
use super::words::WindowWords;
use super::{Tokens, Window};

pub(crate) use self::counted::{is_calendar_unit, is_time_unit, is_unit};
pub(crate) use self::date::is_month_name;
pub(crate) use self::number::number;

/// Reads a window that begins at a word; where it ends.
type WindowReader = fn(&Tokens<'_>, usize) -> Option<(Window, usize)>;

/// The most telling first: `a cotação de 2024-12-27 no histórico D-1` asks for that day.
const KINDS: [WindowReader; 4] = [dated::read, counted::read, named::period, named::day];

impl Window {
    /// The window that a text names, with the bytes that name it.
    #[cfg(test)]
    pub(crate) fn locate(text: &str, words: &'static WindowWords) -> Option<(Self, Range<usize>)> {
        let tokens = Tokens::new(text, words);
        Self::among(&tokens).map(|(window, words)| (window, tokens.range(words)))
    }

    /// The window that a count alone names, with the numbers of its words.
    pub(crate) fn counted_alone(tokens: &Tokens<'_>) -> Option<(Self, Range<usize>)> {
        (0..tokens.len()).find_map(|at| counted::bare(tokens, at).map(|(window, next)| (window, at..next)))
    }

    /// The window that these words name, with the numbers of the words that name it.
    pub(crate) fn among(tokens: &Tokens<'_>) -> Option<(Self, Range<usize>)> {
        let first = |read: &WindowReader| {
            let found = |at: usize| read(tokens, at).map(|(window, next)| (window, lead(tokens, at)..next));
            (0..tokens.len()).find_map(found)
        };
        KINDS.iter().find_map(first)
    }
}

/// The words that lead up to it belong to it.
fn lead(tokens: &Tokens<'_>, at: usize) -> usize {
    let is_lead = |at: &usize| tokens.is_in(*at, tokens.words.leads);
    (0..at).rev().take_while(is_lead).last().unwrap_or(at)
}
