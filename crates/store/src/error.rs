//! What a caller can do next.
//!
//! Owns every error of the store. Each variant is a consequence for the caller: re-read, retry, stop, or
//! repair. The text is for a person; code decides by the variant.

use std::path::{Path, PathBuf};

use crate::incomplete::Incomplete;

/// Why an operation of the store failed, by what the caller can do next.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The path holds other bytes: choose another id.
    #[error("{path} already holds something else")]
    Conflict { path: String },
    /// The caller's view is old: read again, then decide.
    #[error("expected {expected}, but it is {actual}")]
    Stale { expected: u64, actual: u64 },
    /// What was named is not there.
    #[error("{path} does not exist")]
    NotFound { path: String },
    /// The request can never succeed as it stands.
    #[error("{0}")]
    Invalid(String),
    /// Too many writes are waiting: try again shortly.
    #[error("too many writes are waiting")]
    Busy,
    /// The server that keeps the documents does not answer: nothing is known to be written; try again
    /// shortly.
    #[error("{why}")]
    Unavailable { why: String, retry_after_s: u64 },
    /// The write was refused and left no trace; it will succeed once there is room.
    #[error("the disk is full: {free_bytes} bytes free, {needed_bytes} needed")]
    DiskFull { free_bytes: u64, needed_bytes: u64 },
    /// Nothing is written until the store has recovered, which it tries by itself: reads go on, try again
    /// shortly. Of a write that was under way it is not known whether it is stored; the same write again is
    /// safe if it names its ids.
    #[error("the store does not write now: {why}")]
    ReadOnly { why: String },
    /// Another process has the directory open.
    #[error("{} is in use by another process", .dir.display())]
    Locked { dir: PathBuf },
    /// A restore, import or migration into the directory broke off: run its command again.
    #[error(
        "{} is incomplete: {} from {} broke off after {} documents or more\nhint: to resume it, run `{}`; to give it up, delete that directory",
        .dir.display(), .marker.kind, .marker.source, .marker.documents, .marker.command
    )]
    Incomplete { dir: PathBuf, marker: Incomplete },
    /// Stored bytes are not what was stored: restore a backup, or ask `novelo doctor`.
    #[error("{place} is damaged: {what}")]
    Damaged { place: String, what: String },
    /// The operating system refused.
    #[error("{place}: {source}")]
    Io { place: String, source: std::io::Error },
}

impl Error {
    pub(crate) fn io(place: &Path, source: std::io::Error) -> Self {
        Self::Io { place: place.display().to_string(), source }
    }

    pub(crate) fn damaged(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self::Damaged { place: place.into(), what: what.into() }
    }

    pub(crate) fn closed() -> Self {
        Self::ReadOnly { why: "the store was closed".into() }
    }
}
