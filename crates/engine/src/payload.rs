//! Files that travel inside tool traffic.
//!
//! Owns the recognition of `{filepath, content}` in a JSON text within a message, and how that text reads
//! once the content is hidden. Both are worked out when the message enters, so that hiding it later is a
//! splice of bytes.

use std::borrow::Cow;
use std::hash::BuildHasher;

use rustc_hash::{FxBuildHasher, FxHashMap};
use serde_json::value::RawValue;

use crate::json::{self, Span};

/// A file in a string of a message.
#[derive(Debug)]
pub(crate) struct FilePayload {
    /// The string literal that holds the payload.
    pub literal: Span,
    pub path: Box<str>,
    /// A hash of the path, so that most paths are distinguished by one comparison.
    pub fingerprint: u64,
    /// The literal up to the content, and from it on, compact and escaped as they stand in the message.
    before: Box<str>,
    after: Box<str>,
    /// Length of `before` and `after` in UTF-16 code units: as written, and as said.
    written_units: u32,
    unescaped_units: u32,
    /// Length of the literal as it is, in UTF-16 code units of compact JSON.
    literal_units: u32,
}

/// The text that stands in for a hidden file, ready to be spliced in.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Placeholder {
    text: Box<str>,
    escaped: String,
    written_units: u32,
    unescaped_units: u32,
}

impl Placeholder {
    pub(crate) fn new(text: &str) -> Self {
        let inner = json::literal(text);
        let mut escaped = String::new();
        json::escape_into(&inner, &mut escaped);
        Self {
            text: text.into(),
            written_units: json::utf16_units(&escaped),
            unescaped_units: json::utf16_units(&inner),
            escaped,
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

impl FilePayload {
    /// Reads the payload in the string literal at `literal`, if there is one.
    pub(crate) fn read(text: &str, literal: Span) -> Option<Self> {
        let said = json::unescape(literal.slice(text))?;
        if !said.trim_start().starts_with('{') || !(said.contains("filepath") || said.contains("\\u")) {
            return None;
        }
        serde_json::from_str::<&RawValue>(&said).ok()?;
        let said = without_repeats(&said).map_or(said, Cow::Owned);
        let (path, content) = path_and_content(&said)?;
        let (before, after) = (said.get(..content.start as usize)?, said.get(content.end as usize..)?);
        let (before, after) = (json::compact(before), json::compact(after));
        let unescaped_units = json::utf16_units(&before) + json::utf16_units(&after);
        let escaped = |part: &str| {
            let mut out = String::with_capacity(part.len() + 8);
            json::escape_into(part, &mut out);
            out.into_boxed_str()
        };
        let (before, after) = (escaped(&before), escaped(&after));
        Some(Self {
            literal,
            fingerprint: FxBuildHasher.hash_one(&path),
            path,
            written_units: json::utf16_units(&before) + json::utf16_units(&after),
            unescaped_units,
            literal_units: json::compact_units(literal.slice(text)),
            before,
            after,
        })
    }

    /// Writes the literal with its content hidden, after an escaped framing.
    pub(crate) fn write_hidden(&self, framing: &str, placeholder: &Placeholder, out: &mut Vec<u8>) {
        for part in ["\"", framing, &self.before, &placeholder.escaped, &self.after, "\""] {
            out.extend_from_slice(part.as_bytes());
        }
    }

    /// How many UTF-16 code units of compact JSON the message gains by hiding the content; negative as a
    /// rule.
    pub(crate) fn units_gained(&self, placeholder: &Placeholder) -> i64 {
        i64::from(self.written_units + placeholder.written_units + 2) - i64::from(self.literal_units)
    }

    /// UTF-16 code units that the literal says once the content is hidden.
    pub(crate) fn said_units_hidden(&self, placeholder: &Placeholder) -> u32 {
        self.unescaped_units + placeholder.unescaped_units
    }

    pub(crate) fn weight(&self) -> usize {
        std::mem::size_of::<Self>() + self.before.len() + self.after.len() + self.path.len()
    }
}

/// An object without the keys that stand in it twice, as a JSON parser reads it: a key stays where it is
/// first, with its last value. `None` where no key is repeated.
fn without_repeats(payload: &str) -> Option<String> {
    let mut places: FxHashMap<Cow<'_, str>, usize> = FxHashMap::default();
    let (mut members, mut count): (Vec<(&str, &str)>, usize) = (Vec::new(), 0);
    for (key, value) in json::members(payload) {
        let (key, value) = (key.slice(payload), value.slice(payload));
        let place = *places.entry(json::unescape(key)?).or_insert(members.len());
        count += 1;
        match members.get_mut(place) {
            Some(known) => known.1 = value,
            None => members.push((key, value)),
        }
    }
    let member = |(key, value): &(&str, &str)| format!("{key}:{value}");
    (count > members.len()).then(|| format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(",")))
}

/// The path, and where the content stands. A path that is not a string is known by its JSON.
fn path_and_content(payload: &str) -> Option<(Box<str>, Span)> {
    let said = |value: Span| value.slice(payload);
    let path = json::member(payload, "filepath").filter(|path| said(*path) != "null")?;
    let content = json::member(payload, "content").filter(|content| said(*content) != "null")?;
    let path = json::unescape(said(path)).map_or_else(|| json::compact(said(path)), Cow::into_owned);
    Some((path.into(), content))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The path of a payload, and the payload with its content hidden.
    fn hidden(payload: &str) -> Option<(String, String)> {
        let literal = json::literal(payload);
        let file = FilePayload::read(&literal, Span { start: 0, end: literal.len() as u32 })?;
        let mut out = Vec::new();
        file.write_hidden("", &Placeholder::new("gone"), &mut out);
        let written = String::from_utf8(out).unwrap();
        assert_eq!(
            json::utf16_units(&written),
            json::utf16_units(&literal).wrapping_add_signed(file.units_gained(&Placeholder::new("gone")) as i32)
        );
        Some((file.path.to_string(), json::unescape(&written).unwrap().into_owned()))
    }

    #[test]
    fn repeated_keys_are_read_as_a_parser_reads_them() {
        for (payload, path, shown) in [
            (r#"{"filepath":"a","content":"x","content":"y"}"#, "a", r#"{"filepath":"a","content":"gone"}"#),
            (
                r#"{"filepath":"a","n":1,"content":"x","filepath":"b"}"#,
                "b",
                r#"{"filepath":"b","n":1,"content":"gone"}"#,
            ),
            (r#"{"content":null,"filepath":"a","\u0063ontent":"x"}"#, "a", r#"{"content":"gone","filepath":"a"}"#),
            (r#"{"n": 1, "filepath":"a", "n": 2, "content":"x"}"#, "a", r#"{"n":2,"filepath":"a","content":"gone"}"#),
        ] {
            assert_eq!(hidden(payload), Some((path.to_owned(), shown.to_owned())), "{payload}");
        }
        assert_eq!(hidden(r#"{"filepath":"a","content":"x","content":null}"#), None, "its last value is none");
    }

    #[test]
    fn a_path_that_is_not_a_string_is_a_path() {
        for (path, known) in [("7", "7"), ("[ \"a\", 1 ]", "[\"a\",1]"), ("true", "true"), ("{}", "{}")] {
            let shown = format!(r#"{{"filepath":{},"content":"gone"}}"#, json::compact(path));
            assert_eq!(hidden(&format!(r#"{{"filepath":{path},"content":"x"}}"#)), Some((known.to_owned(), shown)));
        }
        assert_eq!(hidden(r#"{"filepath":null,"content":"x"}"#), None);
    }
}
