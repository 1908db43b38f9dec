//! What the words of a question state, in whatever language: amounts, bounds, and kinds of what was not
//! understood. The folders of the languages fill these types; `plan` uses them.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// What kind of thing was not understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UnreadKind {
    /// A subject that there is not.
    Name,
    /// A stretch of time.
    Period,
    /// A condition that the entity does not declare.
    Condition,
    /// A word that points at subjects of which there are none, or too many.
    Pointer,
    /// A subject that was named before and not answered about.
    Unanswered,
}

/// What is counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AmountUnit {
    #[default]
    Number,
    Percent,
    Money,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NumberBound {
    Above,
    AtLeast,
    Below,
    AtMost,
    Equal,
}

/// A number with its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Amount {
    pub value: f64,
    /// What it was multiplied by: thousands, millions.
    pub scale: f64,
    pub unit: AmountUnit,
}

/// A condition as words state it, before its column is known.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StatedCondition {
    pub words: Range<usize>,
    pub unit: AmountUnit,
    pub tests: Vec<(NumberBound, f64)>,
}
