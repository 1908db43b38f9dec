//! Words, folded: lower case, without accents, `ё` as `е`; scripts without spaces as pairs of characters.
//!
//! Refuses to be surprised: any text gives words, none longer than [`WORD_CHARS_MAX`], at most as many as
//! asked for.

use std::ops::Range;

use unicode_normalization::char::{decompose_compatible, is_combining_mark};

/// Longer words are cut; the rest of them tells nothing that their beginning does not.
const WORD_CHARS_MAX: usize = 40;

/// The words of a text.
#[derive(Debug, Default)]
pub struct Words {
    folded: String,
    words: Vec<WordSpan>,
}

#[derive(Debug, Clone)]
struct WordSpan {
    folded: Range<usize>,
    spelled: Range<usize>,
    accented: bool,
}

/// One word, in three forms.
#[derive(Debug, Clone, PartialEq)]
pub struct Spelled<'w> {
    pub folded: &'w str,
    /// Where the text spells it.
    pub range: Range<usize>,
    /// Whether folding took an accent off a Latin letter.
    pub accented: bool,
}

impl Words {
    pub fn new(text: &str, words_max: usize) -> Self {
        let mut reader = WordReader::default();
        for (at, c) in text.char_indices() {
            if reader.words.words.len() >= words_max {
                return reader.words;
            }
            reader.read(at, c);
        }
        reader.end_word(text.len());
        reader.end_pairs();
        reader.words.words.truncate(words_max);
        reader.words
    }

    pub fn iter(&self) -> impl Iterator<Item = Spelled<'_>> {
        self.words.iter().map(|word| Spelled {
            folded: self.folded.get(word.folded.clone()).unwrap_or_default(),
            range: word.spelled.clone(),
            accented: word.accented,
        })
    }
}

#[derive(Debug, Default)]
struct WordReader {
    words: Words,
    /// The word that is being read.
    open: Option<Open>,
    /// The last character of a script without spaces, and whether a pair with it was made.
    half: Option<(usize, char, bool)>,
}

#[derive(Debug)]
struct Open {
    spelled: usize,
    folded: usize,
    chars: usize,
    accented: bool,
}

impl WordReader {
    fn read(&mut self, at: usize, c: char) {
        if c.is_ascii() {
            self.end_pairs();
            match c.is_ascii_alphanumeric() {
                true => self.letter(at, c.to_ascii_lowercase()),
                false => self.end_word(at),
            }
        } else if without_spaces(c) {
            self.end_word(at);
            self.pair(at, c);
        } else {
            self.end_pairs();
            self.other(at, c);
        }
    }

    fn other(&mut self, at: usize, c: char) {
        if is_combining_mark(c) {
            self.mark(c);
        } else if c.is_alphanumeric() {
            for c in c.to_lowercase() {
                self.fold(at, c);
            }
        } else {
            self.end_word(at);
        }
    }

    fn fold(&mut self, at: usize, c: char) {
        match c {
            // Two letters of their own in Russian, although Unicode writes them as an и or е with a mark.
            'й' => self.letter(at, c),
            'ё' => self.letter(at, 'е'),
            'ß' => [at, at].into_iter().for_each(|at| self.letter(at, 's')),
            'æ' => ['a', 'e'].into_iter().for_each(|c| self.letter(at, c)),
            'ø' => self.letter(at, 'o'),
            'ı' => self.letter(at, 'i'),
            'ł' => self.letter(at, 'l'),
            'đ' => self.letter(at, 'd'),
            _ => decompose_compatible(c, |part| {
                if is_combining_mark(part) {
                    self.mark(part);
                } else if part.is_alphanumeric() {
                    self.letter(at, part);
                }
            }),
        }
    }

    /// A mark that changes a Latin letter is dropped; one that makes a Brahmic syllable is part of the word.
    fn mark(&mut self, c: char) {
        let Some(open) = &mut self.open else { return };
        match c {
            '\u{306}' if self.words.folded.ends_with('и') => {
                self.words.folded.pop();
                self.words.folded.push('й');
            }
            '\u{300}'..='\u{36f}' => open.accented |= self.words.folded.ends_with(|c: char| c.is_ascii_alphabetic()),
            _ if open.chars < WORD_CHARS_MAX => {
                open.chars += 1;
                self.words.folded.push(c);
            }
            _ => {}
        }
    }

    fn letter(&mut self, at: usize, c: char) {
        let folded = self.words.folded.len();
        let open = self.open.get_or_insert(Open { spelled: at, folded, chars: 0, accented: false });
        if open.chars < WORD_CHARS_MAX {
            open.chars += 1;
            self.words.folded.push(c);
        }
    }

    fn end_word(&mut self, at: usize) {
        let Some(open) = self.open.take() else { return };
        let folded = open.folded..self.words.folded.len();
        self.words.words.push(WordSpan { folded, spelled: open.spelled..at, accented: open.accented });
    }

    fn pair(&mut self, at: usize, c: char) {
        if let Some((from, before, _)) = self.half {
            self.push(from..at + c.len_utf8(), [Some(before), Some(c)]);
        }
        self.half = Some((at, c, self.half.is_some()));
    }

    /// A lone character is a word of its own.
    fn end_pairs(&mut self) {
        if let Some((at, c, false)) = self.half.take() {
            self.push(at..at + c.len_utf8(), [Some(c), None]);
        }
    }

    fn push(&mut self, spelled: Range<usize>, chars: [Option<char>; 2]) {
        let from = self.words.folded.len();
        self.words.folded.extend(chars.into_iter().flatten());
        self.words.words.push(WordSpan { folded: from..self.words.folded.len(), spelled, accented: false });
    }
}

/// Han, kana and Hangul, Thai, Lao, Khmer, Burmese.
fn without_spaces(c: char) -> bool {
    matches!(c, '\u{e01}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3041}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &[&str]) {
        let words = Words::new(text, 1000);
        assert_eq!(words.iter().map(|word| word.folded.to_owned()).collect::<Vec<_>>(), expect);
        for word in words.iter() {
            assert!(text.get(word.range.clone()).is_some_and(|spelled| !spelled.is_empty()), "{word:?}");
        }
    }

    #[test]
    fn latin_words_lose_case_and_accents() {
        check("Educação, AÇÚCAR! naïve", &["educacao", "acucar", "naive"]);
        check("Caroline's e\u{301}te\u{301}", &["caroline", "s", "ete"]);
        check("Straße Ærø", &["strasse", "aero"]);
    }

    #[test]
    fn russian_keeps_its_short_i_and_forgets_yo() {
        check("Ёлка мой", &["елка", "мой"]);
        check("мои\u{306}", &["мой"]);
    }

    #[test]
    fn scripts_without_spaces_come_in_pairs() {
        check("我喜欢咖啡 ok 茶", &["我喜", "喜欢", "欢咖", "咖啡", "ok", "茶"]);
    }

    #[test]
    fn nothing_in_particular_gives_nothing() {
        check("", &[]);
        check(" \0 …—!? 🙂🙂 \u{301}\u{301}", &[]);
        check("हिन्दी", &["हिन्दी"]);
    }

    #[test]
    fn words_and_their_number_are_capped() {
        for extra in [0, 1] {
            let words = Words::new(&"я".repeat(WORD_CHARS_MAX + extra), 10);
            assert_eq!(words.iter().next().unwrap().folded.chars().count(), WORD_CHARS_MAX);
        }
        assert_eq!(Words::new("a b c", 3).iter().count(), 3);
        assert_eq!(Words::new("a b c d", 3).iter().count(), 3);
    }
}
