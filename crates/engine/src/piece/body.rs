//! The bytes of a piece: those of a stored message, with what was changed in them.
//!
//! Owns the forms that a message takes on its way to the prompt. The frequent ones cost no allocation; any
//! other is a list of edits.

use std::hash::{Hash, Hasher};

use super::Framing;
use super::edit::{Edit, EditedMessage, Splice};
use crate::json::{self, Span};
use crate::message::{Message, Role};
use crate::payload::{FilePayload, Placeholder};

#[derive(Debug, Clone)]
pub(super) enum Body<'a> {
    Stored(&'a Message),
    /// A text put before its own, and nothing else.
    Framed {
        base: &'a Message,
        framing: &'a Framing,
    },
    /// One file hidden, in the text that may be framed, and nothing else: by far the most frequent edit.
    Hidden {
        base: &'a Message,
        file: &'a FilePayload,
        placeholder: &'a Placeholder,
        framing: Option<&'a Framing>,
    },
    Edited(Box<EditedMessage<'a>>),
    Made(Box<Message>),
}

impl<'a> Body<'a> {
    /// The message that the bytes come from.
    #[inline]
    pub(super) fn base(&self) -> &Message {
        match self {
            Self::Stored(base) | Self::Framed { base, .. } | Self::Hidden { base, .. } => base,
            Self::Edited(edited) => edited.base,
            Self::Made(message) => message,
        }
    }

    /// The stored message that the bytes come from.
    pub(super) fn source(&self) -> Option<&'a Message> {
        match self {
            Self::Stored(base) | Self::Framed { base, .. } | Self::Hidden { base, .. } => Some(base),
            Self::Edited(edited) => Some(edited.base),
            Self::Made(_) => None,
        }
    }

    pub(super) fn role(&self) -> Option<Role> {
        match self {
            Self::Edited(edited) => edited.role,
            _ => self.base().role(),
        }
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Stored(message) => out.extend_from_slice(message.raw()),
            Self::Made(message) => out.extend_from_slice(message.raw()),
            Self::Framed { base, framing } => {
                let (before, after) = split(base.raw(), base.text_start().unwrap_or(0));
                for part in [before, framing.escaped.as_bytes(), after] {
                    out.extend_from_slice(part);
                }
            }
            Self::Hidden { base, file, placeholder, framing } => {
                out.extend_from_slice(split(base.raw(), file.literal.start).0);
                file.write_hidden(framing.map_or("", |f| &f.escaped), placeholder, out);
                out.extend_from_slice(split(base.raw(), file.literal.end).1);
            }
            Self::Edited(edited) => edited.write(out),
        }
    }

    /// UTF-16 code units of the compact JSON.
    #[inline]
    pub(super) fn units(&self) -> u32 {
        let base = i64::from(self.base().units());
        let units = match self {
            Self::Stored(_) | Self::Made(_) => base,
            Self::Framed { framing, .. } => base + i64::from(framing.written_units),
            Self::Hidden { file, placeholder, framing, .. } => {
                base + file.units_gained(placeholder) + framing.map_or(0, |f| i64::from(f.written_units))
            }
            Self::Edited(edited) => edited.units,
        };
        units.max(0) as u32
    }

    /// Tells one form of a message from another.
    pub(super) fn hash(&self, hasher: &mut impl Hasher) {
        match self {
            Self::Stored(_) | Self::Made(_) => {}
            Self::Framed { framing, .. } => (0, framing.fingerprint).hash(hasher),
            Self::Hidden { file, placeholder, framing, .. } => {
                (1, file.literal, placeholder.text(), framing.map(|f| f.fingerprint)).hash(hasher)
            }
            Self::Edited(edited) => edited.hash_edits(hasher),
        }
    }

    /// UTF-16 code units of the text, where the content is one string.
    pub(super) fn content_units(&self) -> Option<u32> {
        let content = self.base().content()?;
        let framed = |framing: Option<&Framing>| framing.map_or(0, |f| f.unescaped_units);
        Some(match self {
            Self::Framed { framing, .. } => content.unescaped_units + framing.unescaped_units,
            Self::Hidden { file, placeholder, framing, .. } if file.literal == content.literal => {
                file.said_units_hidden(placeholder) + framed(*framing)
            }
            Self::Edited(edited) => match edited.splice_at(content.literal) {
                Some(Splice::Hidden(file, placeholder, framing)) => {
                    file.said_units_hidden(placeholder) + framed(*framing)
                }
                Some(splice) => json::unescaped_units(&splice.text()),
                None => content.unescaped_units + framed(edited.framing_in(content.literal)),
            },
            _ => content.unescaped_units,
        })
    }

    /// Cuts the text to the first `units_max` UTF-16 code units, where the content is one string.
    pub(super) fn cut(&mut self, units_max: u32) {
        let Some(content) = self.base().content() else { return };
        let original = content.literal.slice(self.base().as_str());
        let framed = |framing: &Framing| format!("\"{}{}", framing.escaped, original.get(1..).unwrap_or("\""));
        let shorter = match &*self {
            Self::Framed { framing, .. } => json::truncate(&framed(framing), units_max),
            Self::Hidden { file, placeholder, framing, .. } if file.literal == content.literal => {
                json::truncate(&Splice::Hidden(file, placeholder, *framing).text(), units_max)
            }
            Self::Edited(edited) => match (edited.splice_at(content.literal), edited.framing_in(content.literal)) {
                (Some(splice), _) => json::truncate(&splice.text(), units_max),
                (None, Some(framing)) => json::truncate(&framed(framing), units_max),
                (None, None) => json::truncate(original, units_max),
            },
            _ => json::truncate(original, units_max),
        };
        let edit = Edit::text(content.literal, shorter, original);
        self.splice(vec![edit]);
    }

    /// Whether what stood at this literal was written anew, so that it is no longer the JSON that it came as.
    pub(super) fn is_rewritten(&self, literal: Span) -> bool {
        match self {
            Self::Edited(edited) => matches!(edited.splice_at(literal), Some(Splice::Text(_))),
            _ => false,
        }
    }

    /// Hides the contents of a file.
    pub(super) fn hide(&mut self, file: &'a FilePayload, placeholder: &'a Placeholder) {
        match self {
            Self::Stored(base) => *self = Self::Hidden { base, file, placeholder, framing: None },
            Self::Framed { base, framing } if base.text_start().is_some_and(|start| file.literal.holds(start)) => {
                *self = Self::Hidden { base, file, placeholder, framing: Some(framing) };
            }
            _ => {
                if let Some(edited) = self.edited() {
                    let framing = edited.framing_in(file.literal);
                    edited.put(Edit::hidden(file, placeholder, framing));
                }
            }
        }
    }

    /// Puts a text before its own; whether it has one.
    #[inline]
    pub(super) fn frame(&mut self, framing: &'a Framing) -> bool {
        let Some(text_start) = self.base().text_start() else { return false };
        match self {
            Self::Stored(base) => *self = Self::Framed { base, framing },
            _ => self.splice(vec![Edit::framing(text_start, framing)]),
        }
        true
    }

    pub(super) fn splice(&mut self, edits: Vec<Edit<'a>>) {
        if let Self::Made(message) = self {
            let mut raw = Vec::new();
            edits.into_iter().fold(EditedMessage::unchanged(message), EditedMessage::with).write(&mut raw);
            *self = Self::Made(Box::new(Message::from_stored(raw.into())));
        } else if let Some(edited) = self.edited() {
            edits.into_iter().for_each(|edit| edited.put(edit));
        }
    }

    /// Its edits, begun where there are none; `None` for a message that was made here.
    fn edited(&mut self) -> Option<&mut EditedMessage<'a>> {
        let begun = match self {
            Self::Stored(base) => Some(EditedMessage::unchanged(base)),
            Self::Framed { base, framing } => {
                let edit = base.text_start().map(|start| Edit::framing(start, framing));
                Some(edit.into_iter().fold(EditedMessage::unchanged(base), EditedMessage::with))
            }
            Self::Hidden { base, file, placeholder, framing } => {
                Some(EditedMessage::unchanged(base).with(Edit::hidden(file, placeholder, *framing)))
            }
            Self::Edited(_) | Self::Made(_) => None,
        };
        if let Some(edited) = begun {
            *self = Self::Edited(Box::new(edited));
        }
        match self {
            Self::Edited(edited) => Some(edited),
            _ => None,
        }
    }

    /// Says that another speaks now.
    pub(super) fn set_role(&mut self, role: Role) {
        if let Self::Edited(edited) = self {
            edited.role = Some(role);
        }
    }
}

fn split(bytes: &[u8], at: u32) -> (&[u8], &[u8]) {
    bytes.split_at_checked(at as usize).unwrap_or((bytes, &[]))
}
