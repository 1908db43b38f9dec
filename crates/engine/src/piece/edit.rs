//! Changes to a message, as splices over the bytes it came as.
//!
//! Owns what a changed message costs and how it is written. Invariant: the count kept beside the edits is that of the
//! bytes that will be written.

use std::borrow::Cow;

use crate::json::{self, Span};
use crate::message::{Message, Role};
use crate::payload::{FilePayload, Placeholder};
use crate::tokens::{self, Tokenizer};

/// A stored message with edits, in the order of their spans.
#[derive(Debug, Clone)]
pub(super) struct Edited<'a> {
    pub(super) base: &'a Message,
    pub(super) role: Option<Role>,
    pub(super) units: i64,
    pub(super) edits: Vec<Edit<'a>>,
}

/// What stands at a span instead of the bytes that came, and how many UTF-16 code units of compact JSON it gains.
#[derive(Debug, Clone)]
pub(super) struct Edit<'a> {
    pub(super) at: Span,
    pub(super) splice: Splice<'a>,
    pub(super) units_gained: i64,
}

#[derive(Debug, Clone)]
pub(super) enum Splice<'a> {
    Hidden(&'a FilePayload, &'a Placeholder),
    Text(String),
}

impl<'a> Edit<'a> {
    pub(super) fn hidden(file: &'a FilePayload, placeholder: &'a Placeholder) -> Self {
        let units_gained = file.units_gained(placeholder);
        Self { at: file.literal, splice: Splice::Hidden(file, placeholder), units_gained }
    }

    pub(super) fn text(at: Span, instead: String, original: &str) -> Self {
        let units_gained = i64::from(json::compact_units(&instead)) - i64::from(json::compact_units(original));
        Self { at, splice: Splice::Text(instead), units_gained }
    }
}

impl<'a> Edited<'a> {
    pub(super) fn of(base: &'a Message) -> Self {
        Self { base, role: base.role(), units: i64::from(base.units()), edits: Vec::new() }
    }

    pub(super) fn with(mut self, edit: Edit<'a>) -> Self {
        self.put(edit);
        self
    }

    /// Adds an edit, in the place of one that stood at the same span.
    pub(super) fn put(&mut self, edit: Edit<'a>) {
        self.units += edit.units_gained;
        match self.edits.binary_search_by_key(&edit.at, |known| known.at) {
            Ok(found) => {
                if let Some(known) = self.edits.get_mut(found) {
                    self.units -= std::mem::replace(known, edit).units_gained;
                }
            }
            Err(place) => self.edits.insert(place, edit),
        }
    }

    pub(super) fn text_tokens(&self, tokenizer: Tokenizer) -> u32 {
        match tokenizer {
            Tokenizer::Approx => tokens::approx(self.units.max(0) as u32),
            exact => self.base.edited_tokens(exact, self.print(), || {
                let mut raw = Vec::new();
                self.write(&mut raw);
                exact.count(&json::compact(&String::from_utf8_lossy(&raw)))
            }),
        }
    }

    /// What tells one edited form of a message from another.
    pub(super) fn print(&self) -> u64 {
        use std::hash::{Hash, Hasher};
        let mut hasher = rustc_hash::FxHasher::default();
        for edit in &self.edits {
            edit.at.hash(&mut hasher);
            match &edit.splice {
                Splice::Hidden(_, placeholder) => (0, placeholder.text()).hash(&mut hasher),
                Splice::Text(text) => (1, text).hash(&mut hasher),
            }
        }
        hasher.finish()
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let raw = self.base.raw();
        let mut copied = 0;
        for edit in &self.edits {
            out.extend_from_slice(raw.get(copied..edit.at.start as usize).unwrap_or_default());
            edit.splice.write(out);
            copied = edit.at.end as usize;
        }
        out.extend_from_slice(raw.get(copied..).unwrap_or_default());
    }
}

impl Splice<'_> {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Hidden(file, placeholder) => file.write_hidden(placeholder, out),
            Self::Text(text) => out.extend_from_slice(text.as_bytes()),
        }
    }

    pub(super) fn text(&self) -> Cow<'_, str> {
        let mut bytes = Vec::new();
        self.write(&mut bytes);
        Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
    }
}
