//! Search over messages, memories and documents.
//!
//! Owns text analysis, the index over one user's passages, embeddings by a local model and the fusion of
//! rankings. Has no storage, no network and no clock: passages and vectors come in, rankings go out.

pub mod embed;
pub mod extract;
pub mod index;
pub mod quote;
pub mod split;
mod top;

pub use index::sparse;
pub use index::{ExternalHits, Hit, Index, Passage, Query, Ranked, Score, Why};
