//! Numbers in digits and in words.

use crate::window::Tokens;
use crate::window::words::holds;

/// A number that begins at a word, and where it ends. `12 (doze)` is one number.
pub(crate) fn number(tokens: &Tokens<'_>, at: usize) -> Option<(u32, usize)> {
    if let Some(digits) = tokens.digits(at) {
        let digits = u32::try_from(digits).ok()?;
        let again = spelled(tokens, at + 1).filter(|(number, _)| *number == digits);
        return Some((digits, again.map_or(at + 1, |(_, next)| next)));
    }
    spelled(tokens, at)
}

fn spelled(tokens: &Tokens<'_>, at: usize) -> Option<(u32, usize)> {
    let small = |at: usize| {
        let word = tokens.word(at);
        tokens.words.numbers.iter().find(|(name, _)| *name == word).map(|(_, number)| *number)
    };
    let tens = small(at)?;
    let then = at + 1 + usize::from(tokens.is_in(at + 1, tokens.words.number_joint));
    match small(then) {
        Some(ones) if (20..100).contains(&tens) && ones < 10 => Some((tens + ones, then + 1)),
        _ => Some((tens, at + 1)),
    }
}

/// The first to the fourth.
pub(crate) fn ordinal(tokens: &Tokens<'_>, at: usize) -> Option<i32> {
    let word = tokens.word(at);
    tokens.words.ordinals.iter().zip(1..).find(|(names, _)| holds(names, word)).map(|(_, number)| number)
}
