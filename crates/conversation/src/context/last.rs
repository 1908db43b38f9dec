//! The prompt before, for telling how much of the front of a prompt stays the same.

use std::sync::Mutex;

use novelo_engine::assemble::MessageMark;
use rustc_hash::FxHashMap;

/// The newest prompt of each thread and recipe, for telling how much of the front has stayed the same.
#[derive(Debug, Default)]
pub struct LastPrompts(Mutex<FxHashMap<u64, LastPrompt>>);

#[derive(Debug)]
struct LastPrompt {
    epoch: u64,
    marks: Vec<MessageMark>,
}

const LAST_PROMPTS_MAX: usize = 10_000;

impl LastPrompts {
    /// Puts the newest prompt in; the leading tokens it shares with the one before, where there was one.
    pub fn replace(&self, key: &impl std::hash::Hash, epoch: u64, marks: Vec<MessageMark>) -> Option<u32> {
        use std::hash::BuildHasher;
        let key = rustc_hash::FxBuildHasher.hash_one(key);
        let mut last = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if last.len() >= LAST_PROMPTS_MAX {
            last.clear();
        }
        let unchanged = last
            .get(&key)
            .filter(|before| before.epoch == epoch)
            .map(|before| novelo_engine::assemble::unchanged_tokens(&before.marks, &marks));
        last.insert(key, LastPrompt { epoch, marks });
        unchanged
    }
}
