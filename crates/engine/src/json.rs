//! LevelScope JSON text in place.
//!
//! Owns spans, lengths and spellings of text that a parser has already accepted: where a member stands, how
//! long the text is once compact, what a literal says. It builds no tree, so that messages keep the bytes
//! they came with. Refuses nothing: on text that is not JSON the answers are meaningless, but never a panic.

use std::borrow::Cow;

/// A range of bytes within a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
}

impl Span {
    fn new(start: usize, end: usize) -> Self {
        Self { start: start as u32, end: end as u32 }
    }

    /// The part of `text` that this span covers.
    pub fn slice<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.start as usize..self.end as usize).unwrap_or("")
    }

    /// A place between two bytes.
    pub(crate) fn at(place: u32) -> Self {
        Self { start: place, end: place }
    }

    /// Whether a place lies between the first and the last byte.
    pub(crate) fn holds(&self, place: u32) -> bool {
        self.start < place && place < self.end
    }

    /// The same range, seen from a text in which this one begins at `offset`.
    pub(crate) fn shifted(&self, offset: u32) -> Self {
        Self { start: self.start + offset, end: self.end + offset }
    }
}

/// The members of an object, as spans of key and value; nothing when `text` is not an object.
pub fn members(text: &str) -> impl Iterator<Item = (Span, Span)> + '_ {
    let bytes = text.as_bytes();
    let mut at = open(bytes, b'{');
    std::iter::from_fn(move || {
        let start = skip_space(bytes, at?);
        let key = (byte(bytes, start) == b'"').then(|| Span::new(start, skip_string(bytes, start)))?;
        let colon = skip_space(bytes, key.end as usize);
        let value_start = skip_space(bytes, colon + 1);
        let value = Span::new(value_start, skip_value(bytes, value_start));
        at = after_comma(bytes, value.end as usize);
        Some((key, value))
    })
}

/// The value of `name` in an object; the last, as most readers take it, where there are two.
pub fn member(text: &str, name: &str) -> Option<Span> {
    members(text).filter(|(key, _)| unescape(key.slice(text)).as_deref() == Some(name)).last().map(|(_, value)| value)
}

/// The elements of an array; nothing when `text` is not an array.
pub fn elements(text: &str) -> impl Iterator<Item = Span> + '_ {
    let bytes = text.as_bytes();
    let mut at = open(bytes, b'[');
    std::iter::from_fn(move || {
        let start = skip_space(bytes, at?);
        if matches!(byte(bytes, start), b']' | 0) {
            return None;
        }
        let span = Span::new(start, skip_value(bytes, start));
        at = after_comma(bytes, span.end as usize);
        Some(span)
    })
}

/// How deep the text nests.
pub fn depth(text: &str) -> usize {
    let (mut depth, mut deepest, mut at) = (0usize, 0usize, 0usize);
    let bytes = text.as_bytes();
    while at < bytes.len() {
        match byte(bytes, at) {
            b'"' => {
                at = skip_string(bytes, at);
                continue;
            }
            b'{' | b'[' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    deepest
}

/// What a string literal says, or `None` when it holds half a surrogate pair.
pub fn unescape(literal: &str) -> Option<Cow<'_, str>> {
    let inner = literal.strip_prefix('"')?.strip_suffix('"')?;
    if !inner.contains('\\') {
        return Some(Cow::Borrowed(inner));
    }
    serde_json::from_str::<String>(literal).ok().map(Cow::Owned)
}

/// Writes `text` as a JSON string literal without its quotes, escaping only what must be.
pub(crate) fn escape_into(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
}

/// `text` as a JSON string literal.
pub fn literal(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    escape_into(text, &mut out);
    out.push('"');
    out
}

/// The length of [`literal`] in UTF-16 code units.
pub(crate) fn literal_units(text: &str) -> u32 {
    match text.bytes().all(|b| matches!(b, b' '..=b'~') && b != b'"' && b != b'\\') {
        true => text.len() as u32 + 2,
        false => utf16_units(&literal(text)),
    }
}

/// Whether a value holds anything: not null, a blank string, or an array or object of such values alone.
pub(crate) fn has_content(value: &str) -> bool {
    match value.as_bytes().first() {
        Some(b'{') => members(value).any(|(_, member)| has_content(member.slice(value))),
        Some(b'[') => elements(value).any(|element| has_content(element.slice(value))),
        _ => value != "null" && !unescape(value).is_some_and(|text| text.trim().is_empty()),
    }
}

/// The text with no white space between tokens and the shortest spelling of every string; numbers and the
/// order of keys stay as they are.
pub fn compact(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    walk(text, |token| match token {
        Token::Verbatim(part) => out.push_str(part),
        Token::Char(c) => escape_into(c.encode_utf8(&mut [0; 4]), &mut out),
        Token::Lone(unit) => out.push_str(&format!("\\u{unit:04x}")),
    });
    out
}

/// The length of [`compact`] in UTF-16 code units.
pub(crate) fn compact_units(text: &str) -> u32 {
    let mut units = 0;
    walk(text, |token| units += token.units());
    units
}

/// The length in UTF-16 code units of what a string literal says.
pub(crate) fn unescaped_units(literal: &str) -> u32 {
    let mut units = 0;
    walk(literal, |token| match token {
        Token::Verbatim(part) if part.starts_with('\\') => units += 1,
        Token::Verbatim("\"") => {}
        Token::Verbatim(part) => units += utf16_units(part),
        Token::Char(c) => units += c.len_utf16() as u32,
        Token::Lone(_) => units += 1,
    });
    units
}

/// The literal that says the first `units_max` UTF-16 code units of this one, never half a character.
pub(crate) fn truncate(literal: &str, units_max: u32) -> String {
    let mut out = String::from("\"");
    let mut units = 0;
    let mut full = false;
    walk(literal, |token| {
        let mut take = |units_more: u32, text: &str| {
            full |= units + units_more > units_max;
            if !full {
                units += units_more;
                out.push_str(text);
            }
        };
        match token {
            Token::Verbatim("\"") => {}
            Token::Verbatim(part) if part.starts_with('\\') => take(1, part),
            Token::Verbatim(part) => part.chars().for_each(|c| take(c.len_utf16() as u32, c.encode_utf8(&mut [0; 4]))),
            Token::Char(c) => {
                let mut escaped = String::new();
                escape_into(c.encode_utf8(&mut [0; 4]), &mut escaped);
                take(c.len_utf16() as u32, &escaped);
            }
            Token::Lone(unit) => take(1, &format!("\\u{unit:04x}")),
        }
    });
    out.push('"');
    out
}

/// UTF-16 code units of a text.
pub(crate) fn utf16_units(text: &str) -> u32 {
    if text.is_ascii() {
        return text.len() as u32;
    }
    text.bytes().map(|b| u32::from(b & 0xC0 != 0x80) + u32::from(b >= 0xF0)).sum()
}

/// A stretch of compact JSON.
enum Token<'t> {
    /// To be written as it stands: punctuation, a quote, a number, plain text or a two-character escape.
    Verbatim(&'t str),
    /// A character that was spelled as an escape.
    Char(char),
    /// Half a surrogate pair, spelled as an escape.
    Lone(u16),
}

impl Token<'_> {
    fn units(&self) -> u32 {
        match self {
            Self::Verbatim(part) => utf16_units(part),
            Self::Char('"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}') => 2,
            Self::Char(c) if *c < ' ' => 6,
            Self::Char(c) => c.len_utf16() as u32,
            Self::Lone(_) => 6,
        }
    }
}

/// Visits the compact form of a text, token by token.
fn walk<'t>(text: &'t str, mut visit: impl FnMut(Token<'t>)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match byte(bytes, at) {
            b' ' | b'\n' | b'\r' | b'\t' => at += 1,
            b'"' => at = walk_string(text, at, &mut visit),
            _ => {
                let end = run(bytes, at, |b| !matches!(b, b' ' | b'\n' | b'\r' | b'\t' | b'"'));
                visit(Token::Verbatim(part(text, at, end)));
                at = end;
            }
        }
    }
}

fn walk_string<'t>(text: &'t str, start: usize, visit: &mut impl FnMut(Token<'t>)) -> usize {
    let bytes = text.as_bytes();
    visit(Token::Verbatim(part(text, start, start + 1)));
    let mut at = start + 1;
    while at < bytes.len() {
        match byte(bytes, at) {
            b'"' => {
                visit(Token::Verbatim(part(text, at, at + 1)));
                return at + 1;
            }
            b'\\' => at = walk_escape(text, at, visit),
            _ => {
                let end = plain(bytes, at);
                visit(Token::Verbatim(part(text, at, end)));
                at = end;
            }
        }
    }
    at
}

fn walk_escape<'t>(text: &'t str, at: usize, visit: &mut impl FnMut(Token<'t>)) -> usize {
    match byte(text.as_bytes(), at + 1) {
        b'/' => visit(Token::Char('/')),
        b'u' => return walk_unicode(text, at, visit),
        _ => visit(Token::Verbatim(part(text, at, at + 2))),
    }
    at + 2
}

fn walk_unicode<'t>(text: &'t str, at: usize, visit: &mut impl FnMut(Token<'t>)) -> usize {
    let unit = |at: usize| u16::from_str_radix(part(text, at + 2, at + 6), 16).unwrap_or(0);
    let first = unit(at);
    let second = if part(text, at + 6, at + 8) == "\\u" { unit(at + 6) } else { 0 };
    match char::decode_utf16([first]).next() {
        Some(Ok(c)) => visit(Token::Char(c)),
        _ => match char::decode_utf16([first, second]).next() {
            Some(Ok(c)) => {
                visit(Token::Char(c));
                return at + 12;
            }
            _ => visit(Token::Lone(first)),
        },
    }
    at + 6
}

fn part(text: &str, start: usize, end: usize) -> &str {
    text.get(start..end).unwrap_or("")
}

fn byte(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or(0)
}

fn run(bytes: &[u8], start: usize, keep: impl Fn(u8) -> bool) -> usize {
    let rest = bytes.get(start..).unwrap_or_default();
    start + rest.iter().position(|b| !keep(*b)).unwrap_or(rest.len())
}

/// Where the plain text of a literal ends: at a quote or an escape. Most of a message is such text.
fn plain(bytes: &[u8], start: usize) -> usize {
    let rest = bytes.get(start..).unwrap_or_default();
    start + memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len())
}

fn open(bytes: &[u8], bracket: u8) -> Option<usize> {
    let start = skip_space(bytes, 0);
    (byte(bytes, start) == bracket).then_some(start + 1)
}

fn after_comma(bytes: &[u8], end: usize) -> Option<usize> {
    let at = skip_space(bytes, end);
    (byte(bytes, at) == b',').then_some(at + 1)
}

fn skip_space(bytes: &[u8], at: usize) -> usize {
    run(bytes, at, |b| matches!(b, b' ' | b'\n' | b'\r' | b'\t'))
}

fn skip_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match byte(bytes, at) {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at = plain(bytes, at),
        }
    }
    bytes.len()
}

fn skip_value(bytes: &[u8], start: usize) -> usize {
    match byte(bytes, start) {
        b'"' => skip_string(bytes, start),
        b'{' | b'[' => skip_nested(bytes, start),
        _ => run(bytes, start, |b| !matches!(b, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t')),
    }
}

fn skip_nested(bytes: &[u8], start: usize) -> usize {
    let (mut depth, mut at) = (0usize, start);
    while at < bytes.len() {
        match byte(bytes, at) {
            b'"' => {
                at = skip_string(bytes, at);
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 1 => return at + 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        assert_eq!(compact(text), expect);
        assert_eq!(compact_units(text), expect.encode_utf16().count() as u32, "{text}");
    }

    #[test]
    fn compact_drops_space_and_needless_escapes() {
        check(r#" { "a" : [ 1.0 , "x y" ] } "#, r#"{"a":[1.0,"x y"]}"#);
        check(r#""\u00e9\/\n\u000a\u0022\u005c""#, r#""é/\n\n\"\\""#);
        check(r#""\u0001\u001f""#, r#""\u0001\u001f""#);
    }

    #[test]
    fn surrogates_pair_up_or_stay_escaped() {
        check(r#""\ud83d\ude00 😀""#, r#""😀 😀""#);
        check(r#""\ud83d x \ude00""#, r#""\ud83d x \ude00""#);
        assert_eq!(unescape(r#""\ud83d""#), None);
    }

    #[test]
    fn members_and_elements_stand_where_they_are() {
        let text = r#"{ "a": [1, {"b":"]"}], "c\"": null }"#;
        let found: Vec<_> = members(text).map(|(k, v)| (k.slice(text), v.slice(text))).collect();
        assert_eq!(found, [(r#""a""#, r#"[1, {"b":"]"}]"#), (r#""c\"""#, "null")]);
        let list = r#"[1, {"b":"]"}, "x"]"#;
        assert_eq!(elements(list).map(|s| s.slice(list)).collect::<Vec<_>>(), ["1", r#"{"b":"]"}"#, r#""x""#]);
        assert_eq!(elements(" [ ] ").count() + members("{}").count() + members("[1]").count(), 0);
    }

    #[test]
    fn said_units_count_what_is_said() {
        for literal in [r#""a\nb""#, r#""\u00e9""#, r#""😀""#, r#""\ud83d\ude00""#, r#""""#, r#""\"\\""#] {
            let said = unescape(literal).unwrap();
            assert_eq!(unescaped_units(literal), said.encode_utf16().count() as u32, "{literal}");
        }
    }

    #[test]
    fn truncate_never_splits_a_character() {
        assert_eq!(truncate(r#""a😀b""#, 2), r#""a""#);
        assert_eq!(truncate(r#""a😀b""#, 3), r#""a😀""#);
        assert_eq!(truncate(r#""a\n\"b""#, 3), r#""a\n\"""#);
        assert_eq!(truncate(r#""ab""#, 9), r#""ab""#);
    }

    #[test]
    fn depth_ignores_brackets_in_strings() {
        assert_eq!(depth(r#"{"a":["[[["]}"#), 2);
        assert_eq!(depth(&"[".repeat(10_000)), 10_000);
    }
}
