//! Sentences, and the words of a text that matter.

use crate::Language;
use crate::analyse::{self, Words};

/// How many words of a text are looked at.
const WORDS_MAX: usize = 400;
/// What may follow the mark at the end of a sentence.
const CLOSERS: [char; 7] = ['"', ')', '”', '»', '’', '*', ']'];

/// The sentences of a text. They end at a line's end, or after a mark that is followed by a blank, unless the
/// mark belongs to an abbreviation, an initial or the number of a list.
pub fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| {
        let (mut from, mut marked, mut last_mark) = (0, false, 0);
        let mut ends: Vec<&str> = Vec::new();
        for (at, c) in line.char_indices() {
            if marked && c.is_whitespace() && !is_abbreviated(line.get(from..last_mark).unwrap_or("")) {
                ends.extend(line.get(from..at));
                from = at;
            }
            let is_mark = matches!(c, '.' | '!' | '?' | '…' | '。' | '！' | '？');
            last_mark = if c == '.' {
                at
            } else if is_mark {
                0
            } else {
                last_mark
            };
            marked = is_mark || (marked && CLOSERS.contains(&c));
        }
        ends.extend(line.get(from..));
        ends.into_iter().map(str::trim).filter(|sentence| !sentence.is_empty())
    })
}

/// Whether a full stop after this belongs to its last word.
fn is_abbreviated(before: &str) -> bool {
    let word = before.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or("");
    let lower = word.to_lowercase();
    let is_initial = word.chars().count() == 1 && word.chars().all(char::is_uppercase);
    let is_number = before.trim() == word && !word.is_empty() && word.chars().all(|c| c.is_ascii_digit());
    let known = |language: Language| {
        let mut known = language.grammar().words.generated.abbreviations.split_whitespace();
        !lower.is_empty() && known.any(|abbreviation| abbreviation == lower)
    };
    is_initial || is_number || Language::ALL.into_iter().any(known)
}

/// The fingerprints of the stems of the words that matter, in order, each once.
pub(crate) fn content_stems(text: &str) -> Vec<u64> {
    let words = Words::new(text, WORDS_MAX);
    let language = Language::detect(&words);
    let content = words.iter().map(|word| (language.for_word(word.folded), word.folded));
    let content = content.filter(|(language, word)| !language.is_stop(word));
    let mut stems: Vec<u64> = content.map(|(language, word)| analyse::fingerprint(&language.stem(word))).collect();
    stems.sort_unstable();
    stems.dedup();
    stems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(sentences(text).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn sentences_end_at_marks_and_lines() {
        check("One. Two! Three?\nFour", &["One.", "Two!", "Three?", "Four"]);
        check("He said \"go.\" She went.", &["He said \"go.\"", "She went."]);
        check("It costs 3.50 at v2.1 now", &["It costs 3.50 at v2.1 now"]);
        check("  \n \n", &[]);
    }

    #[test]
    fn abbreviations_do_not_end_a_sentence() {
        check("Dr. Lima called. Good.", &["Dr. Lima called.", "Good."]);
        check("J. R. Tolkien wrote it.", &["J. R. Tolkien wrote it."]);
        check("A Sra. Ana mora na Av. Paulista. Sim.", &["A Sra. Ana mora na Av. Paulista.", "Sim."]);
        check("Это ул. Мира, д. 5. Да.", &["Это ул. Мира, д. 5.", "Да."]);
        check("1. First item. More.", &["1. First item.", "More."]);
    }
}
