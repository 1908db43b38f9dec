//! Exact counts, kept beside the message that they are of.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::tokens::Tokenizer;

/// Exact counts, each made on first use; 0 is "not yet". Any thread may fill one, all would write the same
/// number.
#[derive(Debug, Default)]
pub(super) struct Exact([AtomicU32; 2]);

impl Exact {
    pub(super) fn get_or_count(&self, tokenizer: Tokenizer, count: impl FnOnce() -> u32) -> u32 {
        let [o200k, cl100k] = &self.0;
        let kept = if tokenizer == Tokenizer::O200kBase { o200k } else { cl100k };
        match kept.load(Ordering::Relaxed) {
            0 => {
                let tokens = count();
                kept.store(tokens, Ordering::Relaxed);
                tokens
            }
            tokens => tokens,
        }
    }
}

impl Clone for Exact {
    fn clone(&self) -> Self {
        Self(self.0.each_ref().map(|n| AtomicU32::new(n.load(Ordering::Relaxed))))
    }
}

/// The exact count of the newest edited form: the fingerprint above, the tokens below the mask, so that they
/// change together.
#[derive(Debug, Default)]
pub(super) struct EditedCount([AtomicU64; 2]);

/// Wide enough for the tokens of any message within `MESSAGE_BYTES_MAX`; a larger count is not kept.
const TOKENS_MASK: u64 = (1 << 24) - 1;

impl EditedCount {
    pub(super) fn get_or_count(&self, tokenizer: Tokenizer, fingerprint: u64, count: impl FnOnce() -> u32) -> u32 {
        let [o200k, cl100k] = &self.0;
        let kept = if tokenizer == Tokenizer::O200kBase { o200k } else { cl100k };
        let (fingerprint, known) = (fingerprint & !TOKENS_MASK, kept.load(Ordering::Relaxed));
        if known != 0 && known & !TOKENS_MASK == fingerprint {
            return (known & TOKENS_MASK) as u32;
        }
        let tokens = count();
        if u64::from(tokens) <= TOKENS_MASK {
            kept.store(fingerprint | u64::from(tokens), Ordering::Relaxed);
        }
        tokens
    }
}

impl Clone for EditedCount {
    fn clone(&self) -> Self {
        Self(self.0.each_ref().map(|n| AtomicU64::new(n.load(Ordering::Relaxed))))
    }
}
