//! Finding what a user's documents say.
//!
//! Owns one index per user and kind of passage, kept in step with the store. A search first takes in what was
//! written since the last one, so a write is found by the next request and costs nothing itself. Nothing of
//! an index is stored but the vectors; the rest is made again from the documents. With `index = qdrant` the
//! vectors are searched there (`points`), and the words still here. A user's index holds that user's
//! documents alone.

mod embedder;
mod find;
mod join;
pub mod levels;
mod passage;
pub mod qdrant_index;
mod sources;
mod standing;
mod user_index;
pub mod validity;
pub mod vectors;
pub mod worker;

use std::sync::Arc;

pub use novelo_engine::recall::RecallSource;
use tokio::sync::RwLock;

use crate::base::{Base, above};
use crate::cache::Cache;
pub use embedder::{EmbeddedTexts, Embedder, EmbeddingFailure};
pub use find::{Found, PassageQuery, Picked, Ranking, search};
pub(crate) use find::{NEAR_MAX, has_any};
pub(crate) use join::join_neighbours;
pub(crate) use passage::name_documents;
pub use passage::{FoundPassage, PassagePlace};
pub use qdrant_index::QdrantIndex;
pub use sources::{DOCUMENTS, MEMORIES, PASSAGES, PassageRef};
pub(crate) use standing::{LaterSaid, ReplacedMemories, replaced_by_all};
use user_index::UserIndex;
use worker::Waiting;

/// The room of searches.
pub struct Search {
    /// The parts that stand on their own.
    pub base: Base,
    /// The indexes.
    pub indexes: Indexes,
}

above!(Search, base: Base);

/// The indexes of users who searched lately.
#[derive(Debug)]
pub struct Indexes {
    parts: Cache<(String, RecallSource), Arc<RwLock<UserIndex>>>,
    bytes_max: usize,
    /// The embedding model, or none.
    pub embedder: Embedder,
    /// Where vectors are searched, if not here.
    pub points: Option<Box<QdrantIndex>>,
    /// Users whose passages wait for their embedding.
    pub waiting: Waiting,
}

impl Indexes {
    /// No user has an index yet.
    pub fn new(bytes_max: usize, embedder: Embedder, points: Option<Box<QdrantIndex>>) -> Self {
        Self { parts: Cache::new(bytes_max), bytes_max, embedder, points, waiting: Waiting::default() }
    }

    /// Says that something was written or removed which has, or had, a vector or a point.
    pub fn touched(&self, user: &str, source: RecallSource) {
        if self.embedder.fingerprint().is_some() || self.points.is_some() {
            self.waiting.add(user, source);
        }
    }

    /// Keeps an index, also one that is larger than all should be together: making it anew for every search
    /// costs more.
    fn keep(&self, key: (String, RecallSource), part: Arc<RwLock<UserIndex>>, bytes: usize) {
        self.parts.insert(key, part, bytes.min(self.bytes_max / 4));
    }

    /// An index that is empty as yet.
    fn part(&self, source: RecallSource) -> UserIndex {
        if self.points.is_some() { UserIndex::elsewhere(source) } else { UserIndex::new(source) }
    }

    /// Lets go of all indexes: what they know of points is no longer so.
    fn forget_all(&self) {
        self.parts.retain(|_| false);
    }

    /// Lets go of a user's indexes: what they hold was forgotten.
    pub fn forget(&self, user: &str) {
        self.parts.retain(|(of, _)| of != user);
    }
}
