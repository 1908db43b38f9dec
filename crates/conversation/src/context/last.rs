//! The prompt before, for telling how much of the front of a prompt stays the same.

use std::hash::BuildHasher;
use std::sync::Arc;

use novelo_engine::assemble::{MessageMark, unchanged_tokens};
use rustc_hash::FxBuildHasher;

use crate::cache::Cache;

/// The newest prompts of threads and recipes, for telling how much of the front has stayed the same.
#[derive(Debug)]
pub struct LastPrompts(Cache<u64, LastPrompt>);

#[derive(Debug, Clone)]
struct LastPrompt {
    epoch: u64,
    marks: Arc<[MessageMark]>,
}

const LAST_BYTES_MAX: usize = 8 * 1024 * 1024;
/// What an entry costs besides its marks.
const ENTRY_BYTES: usize = 64;

impl Default for LastPrompts {
    fn default() -> Self {
        Self(Cache::new(LAST_BYTES_MAX))
    }
}

impl LastPrompts {
    /// Puts the newest prompt in; the leading tokens it shares with the one before, where there was one.
    pub fn replace(&self, key: &impl std::hash::Hash, epoch: u64, marks: Vec<MessageMark>) -> Option<u32> {
        let key = FxBuildHasher.hash_one(key);
        let before = self.0.get(&key).filter(|before| before.epoch == epoch);
        let unchanged = before.map(|before| unchanged_tokens(&before.marks, &marks));
        let bytes = ENTRY_BYTES + size_of_val(marks.as_slice());
        self.0.insert(key, LastPrompt { epoch, marks: marks.into() }, bytes);
        unchanged
    }
}
