//! What a store that is still being filled says of itself.
//!
//! Owns the content of the marker that a restore, an import or a migration leaves in a store from before its
//! first document until after its last. `local/marker.rs` keeps it in a directory.

use serde::{Deserialize, Serialize};

/// What fills the directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FillKind {
    Restore,
    Import,
    Migrate,
}

impl std::fmt::Display for FillKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Restore => "a restore",
            Self::Import => "an import",
            Self::Migrate => "a migration",
        })
    }
}

/// Says that a directory does not hold everything yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Incomplete {
    pub kind: FillKind,
    /// Where the documents come from: a file, or the address of a store without its password.
    pub source: String,
    /// The command that resumes it, as an operator would type it.
    pub command: String,
    /// Documents of the source that are stored for certain.
    pub documents: u64,
}
