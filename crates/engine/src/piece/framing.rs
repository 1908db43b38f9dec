//! Texts that go before other texts.

use std::hash::BuildHasher;

use crate::json;

/// A text to be put before that of a message, escaped once for all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Framing {
    pub(crate) escaped: Box<str>,
    /// Length in UTF-16 code units: as written, and as said.
    pub(crate) written_units: u32,
    pub(crate) unescaped_units: u32,
    pub(crate) fingerprint: u64,
}

impl Framing {
    /// `None` for an empty text.
    pub(crate) fn new(text: &str) -> Option<Self> {
        let mut escaped = String::with_capacity(text.len() + 2);
        json::escape_into(text, &mut escaped);
        (!text.is_empty()).then(|| Self {
            written_units: json::utf16_units(&escaped),
            unescaped_units: json::utf16_units(text),
            fingerprint: rustc_hash::FxBuildHasher.hash_one(text),
            escaped: escaped.into(),
        })
    }
}
