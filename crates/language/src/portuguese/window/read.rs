//! Which window a text names: a date before a count, a count before `este mês`, and that before `hoje`.

use std::ops::Range;

use super::{counted, dated, named};
use crate::window::Tokens;
use crate::window::Window;

/// Reads a window that begins at a word; where it ends.
type WindowReader = fn(&Tokens<'_>, usize) -> Option<(Window, usize)>;

/// The most telling first: `a cotação de 2024-12-27 no histórico D-1` asks for that day.
const KINDS: [WindowReader; 4] = [dated::read, counted::read, named::period, named::day];

/// The window, and the words that name it.
pub fn window(tokens: &Tokens<'_>) -> Option<(Window, Range<usize>)> {
    let first = |read: &WindowReader| {
        let found = |at: usize| read(tokens, at).map(|(window, next)| (window, lead(tokens, at)..next));
        (0..tokens.len()).find_map(found)
    };
    KINDS.iter().find_map(first)
}

/// The words that lead up to it belong to it.
fn lead(tokens: &Tokens<'_>, at: usize) -> usize {
    const LEADS: [&str; 28] = [
        "em", "no", "na", "nos", "nas", "de", "do", "da", "dos", "das", "o", "a", "os", "as", "entre", "between",
        "durante", "longo", "ao", "dia", "mes", "ano", "in", "on", "the", "from", "of", "over",
    ];
    let is_lead = |at: &usize| tokens.is_one_of(*at, &LEADS);
    (0..at).rev().take_while(is_lead).last().unwrap_or(at)
}
