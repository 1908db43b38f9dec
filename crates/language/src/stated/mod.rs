//! What the words of a question state, in whatever language: amounts, bounds, and kinds of what was not
//! understood. The folders of the languages fill these types; `plan` uses them.

mod read;

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
    /// A name that several subjects have.
    Ambiguous,
    /// A number that counts nothing that is known.
    Number,
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

/// How a language states conditions. Lists of words are separated by blanks.
#[derive(Debug)]
pub(crate) struct ConditionWords {
    pub bounds: &'static [(&'static str, NumberBound)],
    /// Between a bound and its number.
    pub fillers: &'static str,
    pub between: &'static str,
    pub between_links: &'static str,
    /// The same of `de 8 a 10 reais`, where the number has a unit.
    pub from: &'static str,
    pub from_links: &'static str,
    /// Signs of money, and letters that stand before a dollar sign.
    pub signs: &'static [&'static str],
    pub sign_letters: &'static [&'static str],
    pub money: &'static str,
    pub percent: &'static [&'static str],
    pub zero: &'static str,
    pub scales: &'static [(&'static str, f64)],
    /// Between a scale and what is counted: `milhões de reais`.
    pub of: &'static str,
    /// Between groups of three digits, and before decimals.
    pub groups: &'static [&'static str],
    pub points: &'static [&'static str],
}
