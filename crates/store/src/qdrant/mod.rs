//! Points in Qdrant: the requests that put, find, count and remove them, and what its answers say.
//!
//! Owns the names of collections, the ids and bodies of points, and the reading of answers. Sends nothing:
//! the owner of a connection does. Invariant: a request that reads or removes points names one user; only a
//! whole collection is looked at, counted, made or dropped without. No text of a document is in any of them.

mod answer;
mod point;
mod request;

#[cfg(test)]
mod qdrant_tests;

pub use answer::{Hit, Nonsense, Seen, Shape, counted, done, dropped, found, scrolled, shape};
pub use point::{Kind, Point, id};
pub use request::{Dense, Request, Requests, Scope};

/// Where points lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Collection {
    /// Turns and memories.
    Conversation,
    /// Passages of documents that were sent.
    Documents,
    /// Passages of files.
    Repositories,
}

impl Collection {
    pub const ALL: [Self; 3] = [Self::Conversation, Self::Documents, Self::Repositories];

    /// What it is called, behind the prefix of the settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Conversation => "conversation_memory",
            Self::Documents => "documents",
            Self::Repositories => "repositories",
        }
    }
}
