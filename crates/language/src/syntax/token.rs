//! A text as words and marks that know where they stand, so that what is not replaced stays byte for byte.

use std::ops::Range;

use super::lexicon::{Class, Lexicon};

/// A word, a number or a mark.
#[derive(Debug, Clone)]
pub struct Token<'t> {
    pub text: &'t str,
    /// In lower case, with plain apostrophes and without ё.
    pub lower: String,
    pub range: Range<usize>,
    /// Which sentence of the text it is in.
    pub sentence: usize,
    /// What its language knows of it. A word in capitals is no common one, save yes and no.
    pub class: Class,
    word: bool,
}

impl<'t> Token<'t> {
    fn new(text: &'t str, range: Range<usize>, sentence: usize, lexicon: &Lexicon) -> Self {
        let lower = lower(text);
        let class = lexicon.class(&lower);
        let word = text.contains(char::is_alphanumeric);
        let token = Self { text, lower, range, sentence, class, word };
        let common = !token.is_acronym() || class.has(Class::FILLER);
        Self { class: if common { class } else { Class::default() }, ..token }
    }

    pub fn has(&self, class: Class) -> bool {
        self.class.has(class)
    }

    pub fn is_word(&self) -> bool {
        self.word
    }

    /// In the first letter, or in the second: iPhone.
    pub(crate) fn is_capital(&self) -> bool {
        self.text.chars().take(2).any(char::is_uppercase)
    }

    /// Spelled in capitals, and so no common word: `US` is not `us`.
    pub(crate) fn is_acronym(&self) -> bool {
        self.text.len() > 1 && self.text.bytes().all(|c| c.is_ascii_uppercase())
    }

    pub(crate) fn has_digit(&self) -> bool {
        self.text.contains(|c: char| c.is_ascii_digit())
    }

    pub(crate) fn ends_sentence(&self) -> bool {
        matches!(self.text, "." | "!" | "?" | "…" | "\n")
    }

    pub(crate) fn is_quote(&self) -> bool {
        matches!(self.text, "\"" | "«" | "»" | "“" | "”" | "„" | "``" | "''" | "`")
    }
}

/// Letters that an apostrophe ties to the word before it; names from English keep them in every language.
const CLITICS: [&str; 6] = ["s", "m", "re", "ve", "ll", "d"];

/// The tokens of a text, at most `tokens_max`.
pub fn tokens<'t>(text: &'t str, lexicon: &Lexicon, tokens_max: usize) -> Vec<Token<'t>> {
    let mut tokens: Vec<Token<'_>> = Vec::with_capacity((text.len() / 5).min(tokens_max));
    let mut sentence = 0;
    let mut at = 0;
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        if tokens.len() >= tokens_max {
            break;
        }
        let end = match c {
            '\n' => at + 1,
            _ if c.is_whitespace() => {
                at += c.len_utf8();
                continue;
            }
            _ if is_letter(c) => word_end(text, at),
            '\'' | '’' => clitic_end(text, at + c.len_utf8()).unwrap_or(at + c.len_utf8()),
            '`' if text.get(at..).is_some_and(|rest| rest.starts_with("``")) => at + 2,
            _ => at + c.len_utf8(),
        };
        for range in split_clitic(text, at..end) {
            let Some(spelled) = text.get(range.clone()) else { continue };
            tokens.push(Token::new(spelled, range, sentence, lexicon));
        }
        let titled = tokens
            .len()
            .checked_sub(2)
            .and_then(|at| tokens.get(at))
            .is_some_and(|before| lexicon.has(&before.lower, Class::TITLE));
        sentence += usize::from(!titled && tokens.last().is_some_and(Token::ends_sentence));
        at = end;
    }
    tokens
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '\u{300}'..='\u{36f}' | '%' | '_')
}

/// Apostrophes, hyphens, dots and commas belong to a word that goes on after them; the last two only within
/// numbers.
fn word_end(text: &str, from: usize) -> usize {
    let mut end = from;
    let mut chars = text.get(from..).unwrap_or_default().char_indices().peekable();
    let mut before = ' ';
    while let Some((at, c)) = chars.next() {
        let after = chars.peek().map_or(' ', |(_, after)| *after);
        let joins = match c {
            '\'' | '’' | '-' | '&' => is_letter(after),
            '.' | ',' | ':' => before.is_ascii_digit() && after.is_ascii_digit(),
            _ => is_letter(c),
        };
        if !joins {
            break;
        }
        before = c;
        end = from + at + c.len_utf8();
    }
    end
}

/// Where a clitic that stands by itself, such as `'s`, ends.
fn clitic_end(text: &str, from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    let letters = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
    CLITICS.contains(&rest.get(..letters)?).then_some(from + letters)
}

/// `it's` is two words.
fn split_clitic(text: &str, range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let word = text.get(range.clone()).unwrap_or_default();
    let cut = word.rfind(['\'', '’']).filter(|at| *at > 0);
    let cut = cut.filter(|at| CLITICS.contains(&word.get(*at..).unwrap_or_default().trim_start_matches(['\'', '’'])));
    let cut = cut.map(|at| range.start + at);
    let first = range.start..cut.unwrap_or(range.end);
    [Some(first), cut.map(|at| at..range.end)].into_iter().flatten()
}

pub fn lower(word: &str) -> String {
    if word.is_ascii() {
        return word.to_ascii_lowercase();
    }
    word.chars().flat_map(char::to_lowercase).map(plain).collect()
}

fn plain(c: char) -> char {
    match c {
        'ё' => 'е',
        '’' => '\'',
        _ => c,
    }
}

/// A text whose first letter is a capital.
pub(crate) fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

/// A text whose first letter is small.
pub fn small(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_lowercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Language;

    fn english() -> &'static Lexicon {
        Language::English.lexicon()
    }

    #[track_caller]
    fn check(text: &str, expect: &[&str]) {
        let tokens = tokens(text, english(), 100);
        assert_eq!(tokens.iter().map(|token| token.text).collect::<Vec<_>>(), expect);
        assert!(tokens.iter().all(|token| text.get(token.range.clone()) == Some(token.text)));
    }

    #[test]
    fn words_marks_and_clitics_stand_apart() {
        check("It’s Ann's T-shirt, ok?", &["It", "’s", "Ann", "'s", "T-shirt", ",", "ok", "?"]);
        check("Who 's on at 12:30 ?", &["Who", "'s", "on", "at", "12:30", "?"]);
        check("R$ 8,5% 'tis «да»", &["R", "$", "8,5%", "'", "tis", "«", "да", "»"]);
        check("", &[]);
        check("- ' … 🙂", &["-", "'", "…", "🙂"]);
    }

    #[test]
    fn sentences_are_numbered() {
        let of = tokens("Yes . Ann!\nBob", english(), 100);
        assert_eq!(of.iter().map(|token| token.sentence).collect::<Vec<_>>(), [0, 0, 1, 1, 2, 3]);
    }

    #[test]
    fn no_more_than_asked_for() {
        assert_eq!(tokens("a b c", english(), 3).len(), 3);
        assert_eq!(tokens("a b c d", english(), 3).len(), 3);
    }
}
