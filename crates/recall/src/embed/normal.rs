//! Text as BERT's vocabulary knows it: cleaned, with spaces around ideographs, without accents, in lower
//! case.
//!
//! Follows `BertNormalizer` and `BertPreTokenizer` of the `tokenizers` library, down to the version of the
//! Unicode tables, because a model has learnt from their output. Works character by character, so that a
//! reader may stop early.

use unicode_categories::UnicodeCategories;
use unicode_normalization::UnicodeNormalization;

/// What happens to a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Normal {
    pub clean: bool,
    pub part_ideographs: bool,
    pub strip_accents: bool,
    pub lowercase: bool,
    /// Before all else, where the sentence model asks for it.
    pub lowercase_first: bool,
}

type Chars<'t> = Box<dyn Iterator<Item = char> + 't>;

impl Normal {
    pub fn chars<'t>(&self, text: &'t str) -> Chars<'t> {
        let mut chars: Chars<'t> = Box::new(text.chars());
        if self.lowercase_first {
            chars = Box::new(chars.flat_map(char::to_lowercase));
        }
        if self.clean {
            chars = Box::new(chars.filter(|c| !is_dirt(*c)).map(|c| if c.is_whitespace() { ' ' } else { c }));
        }
        if self.part_ideographs {
            chars = Box::new(chars.flat_map(part));
        }
        if self.strip_accents {
            chars = Box::new(chars.nfd().filter(|c| c.is_ascii() || !c.is_mark_nonspacing()));
        }
        if self.lowercase {
            chars = Box::new(chars.flat_map(char::to_lowercase));
        }
        chars
    }
}

/// Whether a character is a word by itself.
pub(crate) fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation() || (!c.is_ascii() && c.is_punctuation())
}

fn is_dirt(c: char) -> bool {
    match c {
        '\t' | '\n' | '\r' => false,
        '\0' | '\u{fffd}' => true,
        c if c.is_ascii() => c.is_ascii_control(),
        c => c.is_other(),
    }
}

fn part(c: char) -> impl Iterator<Item = char> {
    let space = is_ideograph(c).then_some(' ');
    space.into_iter().chain([c]).chain(space)
}

/// The blocks that BERT names, gaps included.
fn is_ideograph(c: char) -> bool {
    matches!(u32::from(c),
        0x3400..=0x4dbf
        | 0x4e00..=0x9fff
        | 0xf900..=0xfaff
        | 0x20000..=0x2a6df
        | 0x2a700..=0x2b73f
        | 0x2b740..=0x2b81f
        | 0x2b920..=0x2ceaf
        | 0x2f800..=0x2fa1f)
}
