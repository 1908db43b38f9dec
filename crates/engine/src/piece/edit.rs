//! Changes to a message, as splices over the bytes it came as.
//!
//! Owns what a changed message costs and how it is written. Invariants: the count kept beside the edits is
//! that of the bytes that will be written, and no edit lies within another.

use std::hash::{Hash, Hasher};

use super::Framing;
use crate::json::{self, Span};
use crate::message::{Message, Role};
use crate::payload::{FilePayload, Placeholder};

/// A stored message with edits, in the order of their spans.
#[derive(Debug, Clone)]
pub(super) struct EditedMessage<'a> {
    pub(super) base: &'a Message,
    pub(super) role: Option<Role>,
    pub(super) units: i64,
    pub(super) edits: Vec<Edit<'a>>,
}

/// What stands at a span instead of the bytes that came, and how many UTF-16 code units of compact JSON it
/// gains.
#[derive(Debug, Clone)]
pub(super) struct Edit<'a> {
    pub(super) at: Span,
    pub(super) splice: Splice<'a>,
    pub(super) units_gained: i64,
}

#[derive(Debug, Clone)]
pub(super) enum Splice<'a> {
    /// A file, after the framing of the text that it stands in.
    Hidden(&'a FilePayload, &'a Placeholder, Option<&'a Framing>),
    Framing(&'a Framing),
    Members(&'a str),
    Text(String),
}

impl<'a> Edit<'a> {
    pub(super) fn hidden(file: &'a FilePayload, placeholder: &'a Placeholder, framing: Option<&'a Framing>) -> Self {
        let units_gained = file.units_gained(placeholder) + framing.map_or(0, |f| i64::from(f.written_units));
        Self { at: file.literal, splice: Splice::Hidden(file, placeholder, framing), units_gained }
    }

    pub(super) fn framing(text_start: u32, framing: &'a Framing) -> Self {
        let units_gained = i64::from(framing.written_units);
        Self { at: Span::at(text_start), splice: Splice::Framing(framing), units_gained }
    }

    /// Members, each after a comma, at the end of the object.
    pub(super) fn members(end: u32, members: &'a str) -> Self {
        let units_gained = i64::from(json::utf16_units(members));
        Self { at: Span::at(end), splice: Splice::Members(members), units_gained }
    }

    pub(super) fn text(at: Span, instead: String, original: &str) -> Self {
        let units_gained = i64::from(json::compact_units(&instead)) - i64::from(json::compact_units(original));
        Self { at, splice: Splice::Text(instead), units_gained }
    }
}

impl<'a> EditedMessage<'a> {
    pub(super) fn unchanged(base: &'a Message) -> Self {
        Self { base, role: base.role(), units: i64::from(base.units()), edits: Vec::new() }
    }

    pub(super) fn with(mut self, edit: Edit<'a>) -> Self {
        self.put(edit);
        self
    }

    /// Adds an edit, in the place of what stood at the same span or within it.
    pub(super) fn put(&mut self, edit: Edit<'a>) {
        let place = self.edits.partition_point(|known| known.at < edit.at);
        let goes = |known: &&Edit<'a>| known.at == edit.at || edit.at.holds(known.at.start);
        let gone = self.edits.iter().skip(place).take_while(goes).count();
        self.units += edit.units_gained;
        for known in self.edits.splice(place..place + gone, [edit]) {
            self.units -= known.units_gained;
        }
    }

    /// The framing of the text in a literal.
    pub(super) fn framing_in(&self, literal: Span) -> Option<&'a Framing> {
        let from = self.edits.partition_point(|edit| edit.at.start < literal.start);
        match self.edits.get(from)?.splice {
            Splice::Framing(framing) if literal.holds(self.edits.get(from)?.at.start) => Some(framing),
            Splice::Hidden(file, _, framing) if file.literal == literal => framing,
            _ => None,
        }
    }

    /// What stands at a span instead of it.
    pub(super) fn splice_at(&self, span: Span) -> Option<&Splice<'a>> {
        let found = self.edits.binary_search_by_key(&span, |edit| edit.at).ok()?;
        self.edits.get(found).map(|edit| &edit.splice)
    }

    /// Tells one edited form of a message from another.
    pub(super) fn hash_edits(&self, hasher: &mut impl Hasher) {
        for edit in &self.edits {
            edit.at.hash(hasher);
            match &edit.splice {
                Splice::Hidden(_, placeholder, framing) => {
                    (0, placeholder.text(), framing.map(|f| f.fingerprint)).hash(hasher)
                }
                Splice::Framing(framing) => (1, framing.fingerprint).hash(hasher),
                Splice::Members(members) => (2, members).hash(hasher),
                Splice::Text(text) => (3, text).hash(hasher),
            }
        }
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
            Self::Hidden(file, placeholder, framing) => {
                file.write_hidden(framing.map_or("", |f| &f.escaped), placeholder, out)
            }
            Self::Framing(framing) => out.extend_from_slice(framing.escaped.as_bytes()),
            Self::Members(members) => out.extend_from_slice(members.as_bytes()),
            Self::Text(text) => out.extend_from_slice(text.as_bytes()),
        }
    }

    pub(super) fn text(&self) -> String {
        let mut bytes = Vec::new();
        self.write(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}
