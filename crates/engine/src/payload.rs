//! Files that travel inside tool traffic.
//!
//! Owns the recognition of `{filepath, content}` in a JSON text within a message, and how that text reads
//! once the content is hidden. Both are worked out when the message enters, so that hiding it later is a
//! splice of bytes.

use std::hash::BuildHasher;

use rustc_hash::FxBuildHasher;
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

/// The path, and where the content stands. A payload with either key twice is ambiguous, and left alone.
fn path_and_content(payload: &str) -> Option<(Box<str>, Span)> {
    let (mut path, mut content) = (None, None);
    for (key, value) in json::members(payload) {
        match json::unescape(key.slice(payload)).as_deref() {
            Some("filepath") if path.is_none() => path = Some(json::unescape(value.slice(payload))?.into()),
            Some("content") if content.is_none() => content = Some(value),
            Some("filepath" | "content") => return None,
            _ => {}
        }
    }
    Some((path?, content.filter(|c| c.slice(payload) != "null")?))
}
