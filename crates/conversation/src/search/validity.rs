//! What the document of a memory says about when it is true, where it is from and what it replaces.

use serde::{Deserialize, Serialize};

/// Where a memory is from. Without one it was stored by a program, for the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum MemorySource {
    /// A turn: who said it.
    Turn {
        /// The thread.
        thread: String,
        /// The seq of the turn.
        seq: u64,
        /// Who said it.
        role: String,
    },
    /// A document.
    Document {
        /// The id of the document.
        document: String,
    },
    /// A program.
    Api,
    /// A model that remembered it by itself.
    Model,
}

/// The members of a memory beside its text and its meta.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct MemoryTerms {
    /// From when on it holds, in seconds since 1970.
    pub valid_from: Option<f64>,
    /// Until when it holds, in seconds since 1970.
    pub valid_to: Option<f64>,
    /// The ids of what it replaces. If there is a list, even an empty one, rules replace nothing by it.
    pub supersedes: Option<Vec<Box<str>>>,
    /// Where it is from.
    pub source: Option<MemorySource>,
    /// From 0 to 1.
    pub confidence: Option<f64>,
}

/// A memory that is less sure replaces nothing by rule.
const CONFIDENCE_MIN: f64 = 0.5;

impl MemoryTerms {
    /// Reads them from a document; what is not understood counts as missing.
    pub(crate) fn read(document: &[u8]) -> Self {
        serde_json::from_slice(document).unwrap_or_default()
    }

    /// Whether the user said it, or a program on behalf of the user.
    pub(crate) fn is_of_user(&self) -> bool {
        match &self.source {
            None | Some(MemorySource::Api) => true,
            Some(MemorySource::Turn { role, .. }) => role == "user",
            Some(MemorySource::Document { .. } | MemorySource::Model) => false,
        }
    }

    /// Whether rules may replace what was said before by it.
    pub(crate) fn allows_rules(&self) -> bool {
        self.supersedes.is_none() && self.confidence.is_none_or(|confidence| confidence >= CONFIDENCE_MIN)
    }
}
