//! Finding what was said.
//!
//! Owns text analysis, the index over one user's passages, embeddings by a local model and the fusion of rankings. Has
//! no storage, no network and no clock: passages and vectors come in, rankings go out.

mod analyse;
pub mod decide;
pub mod embed;
pub mod extract;
pub mod finish;
pub mod index;
pub mod plan;
pub mod quote;
mod rank;
pub mod rewrite;
pub mod split;
mod top;

pub use analyse::dates::{iso_date, iso_day};
pub use analyse::{Language, Words};
pub use index::sparse;
pub use index::{Hit, Index, Near, Passage, Query, Ranked, Score, Why};
