//! A change of a question and where it is made.

use std::ops::Range;

use super::{Change, ChangeKind};
use crate::syntax::{FollowUp, token};

/// A change and the bytes that it replaces.
#[derive(Debug)]
pub struct Edit {
    pub range: Range<usize>,
    pub change: Change,
}

impl Edit {
    /// Replaces some tokens of a question. A capital that begins the question is kept.
    pub fn replace(question: &FollowUp<'_>, tokens: Range<usize>, now: String, kind: ChangeKind) -> Option<Self> {
        let of = question.tokens.get(tokens)?;
        let range = of.first()?.range.start..of.last()?.range.end;
        let was = question.text.get(range.clone())?.to_owned();
        let now = if of.first()?.is_capital() && range.start == 0 { token::capitalised(&now) } else { now };
        Some(Self { range, change: Change { kind, was, now } })
    }
}
