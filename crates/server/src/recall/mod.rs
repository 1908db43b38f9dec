//! Finding what a user's documents say.
//!
//! Owns one index per user and kind of passage, kept in step with the store. A search first takes in what was written
//! since the last one, so a write is found by the next request and costs nothing itself. Nothing of an index is stored
//! but the vectors; the rest is made again from the documents. A user's index holds that user's documents alone.

mod corpus;
mod part;
mod search;

use std::sync::Arc;

use tokio::sync::RwLock;

use crate::cache::Cache;
pub use corpus::{Corpus, DOCUMENTS, MEMORIES, PASSAGES, Place, said};
use part::Part;
pub use search::{Ask, Found, Passage, Picked, Ranking, search};

/// The indexes of users who searched lately.
#[derive(Debug)]
pub struct Indexes {
    parts: Cache<(String, Corpus), Arc<RwLock<Part>>>,
}

impl Indexes {
    pub fn new(bytes_max: usize) -> Self {
        Self { parts: Cache::new(bytes_max) }
    }

    /// Lets go of a user's indexes: what they hold was forgotten.
    pub fn forget(&self, user: &str) {
        self.parts.retain(|(of, _)| of != user);
    }
}
