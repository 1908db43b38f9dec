//! Numbers in digits and in words, Portuguese and English.

use crate::window::Tokens;

const SMALL: [(&str, u32); 52] = [
    ("um", 1),
    ("uma", 1),
    ("dois", 2),
    ("duas", 2),
    ("tres", 3),
    ("quatro", 4),
    ("cinco", 5),
    ("seis", 6),
    ("sete", 7),
    ("oito", 8),
    ("nove", 9),
    ("dez", 10),
    ("onze", 11),
    ("doze", 12),
    ("treze", 13),
    ("quatorze", 14),
    ("catorze", 14),
    ("quinze", 15),
    ("dezesseis", 16),
    ("dezessete", 17),
    ("dezoito", 18),
    ("dezenove", 19),
    ("cem", 100),
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
    ("fifteen", 15),
    ("eighteen", 18),
    ("twenty", 20),
    ("thirty", 30),
    ("sixty", 60),
    ("ninety", 90),
    ("vinte", 20),
    ("trinta", 30),
    ("quarenta", 40),
    ("cinquenta", 50),
    ("sessenta", 60),
    ("setenta", 70),
    ("oitenta", 80),
    ("noventa", 90),
    ("forty", 40),
    ("fifty", 50),
    ("hundred", 100),
];

/// A number that begins at a word, and where it ends. `12 (doze)` is one number.
pub fn number(tokens: &Tokens<'_>, at: usize) -> Option<(u32, usize)> {
    if let Some(digits) = tokens.digits(at) {
        let digits = u32::try_from(digits).ok()?;
        let again = spelled(tokens, at + 1).filter(|(number, _)| *number == digits);
        return Some((digits, again.map_or(at + 1, |(_, next)| next)));
    }
    spelled(tokens, at)
}

fn spelled(tokens: &Tokens<'_>, at: usize) -> Option<(u32, usize)> {
    let tens = small(tokens.word(at))?;
    let then = at + 1 + usize::from(tokens.word(at + 1) == "e");
    match small(tokens.word(then)) {
        Some(ones) if (20..100).contains(&tens) && ones < 10 => Some((tens + ones, then + 1)),
        _ => Some((tens, at + 1)),
    }
}

fn small(word: &str) -> Option<u32> {
    SMALL.iter().find(|(name, _)| *name == word).map(|(_, number)| *number)
}

/// The first to the fourth.
pub fn ordinal(word: &str) -> Option<i32> {
    const NAMES: [&[&str]; 4] = [
        &["primeiro", "primeira", "1o", "1a", "first", "1st"],
        &["segundo", "segunda", "2o", "2a", "second", "2nd"],
        &["terceiro", "terceira", "3o", "3a", "third", "3rd"],
        &["quarto", "quarta", "4o", "4a", "fourth", "4th"],
    ];
    NAMES.iter().zip(1..).find(|(names, _)| names.contains(&word)).map(|(_, number)| number)
}
