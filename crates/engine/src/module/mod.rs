//! Modules: texts that a situation calls for.
//!
//! Owns [`Module`], a text of a recipe and how it is weighed where not all fit, and [`Manifest`], the file
//! that says which texts there are and when. What does not fit a prompt is decided by the filter
//! `moduleBudget`.

mod manifest;
mod text;
mod when;

pub use manifest::{Chosen, Manifest, Situation};

use crate::Role;
use crate::decode::{DecodeError, Fields};
use crate::message::Message;

/// Modules of one manifest.
pub(crate) const MODULES_MAX: usize = 100;
/// Bytes of a module's name.
pub(crate) const NAME_BYTES_MAX: usize = 64;
/// The highest priority; the lowest is 0.
pub(crate) const PRIORITY_MAX: u32 = 1_000;
pub(crate) const PRIORITY_DEFAULT: u32 = 50;
/// Tokens that one text may cost.
pub(crate) const TEXT_TOKENS_MAX: u32 = 100_000;
/// Heuristics that one module may wait for.
pub(crate) const HEURISTICS_MAX: usize = 64;

/// A module of a recipe.
#[derive(Debug, Clone, PartialEq)]
pub struct Module {
    /// The name that explanations show.
    pub name: Box<str>,
    /// Modules of higher priority are kept first.
    pub priority: u32,
    /// Whether it is kept before all that are not pinned.
    pub pinned: bool,
    /// Its text as a message.
    pub message: Message,
}

impl Module {
    /// Reads the fields of a component.
    pub(crate) fn decode(fields: &mut Fields<'_>) -> Result<Self, DecodeError> {
        let missing = |fields: &Fields<'_>, name| DecodeError::new(fields.path(name), "is missing");
        let name = fields.string("name")?.ok_or_else(|| missing(fields, "name"))?;
        if !(1..=NAME_BYTES_MAX).contains(&name.len()) || name.contains(char::is_control) {
            let problem = format!("must be 1 to {NAME_BYTES_MAX} bytes without control characters");
            return Err(DecodeError::new(fields.path("name"), problem));
        }
        let value = fields.string("value")?.ok_or_else(|| missing(fields, "value"))?;
        let (priority, pinned) = decode_weight(fields)?;
        Ok(Self { name: name.into(), priority, pinned, message: Message::text(Role::System, value) })
    }
}

/// Reads the fields `priority` and `pinned`.
fn decode_weight(fields: &mut Fields<'_>) -> Result<(u32, bool), DecodeError> {
    let priority = fields.number("priority", 0, PRIORITY_MAX)?.unwrap_or(PRIORITY_DEFAULT);
    Ok((priority, fields.flag("pinned")?.unwrap_or(false)))
}

#[cfg(test)]
mod tests;
