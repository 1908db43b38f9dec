//! Text into terms.
//!
//! Owns words, folding, prints of terms and letter trigrams. Knows no language, no passages and no scores,
//! and keeps nothing: the same text gives the same terms, today and after a restart.

pub mod grams;
mod words;

use std::hash::Hasher;

use rustc_hash::FxHasher;

pub use self::words::{Spelled, Words};

/// Words of a question about data that are looked at.
pub(crate) const QUESTION_WORDS_MAX: usize = 200;

/// The fingerprint of a term. Two terms that share one would be found together, which is harmless.
pub fn fingerprint(term: &str) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(term.as_bytes());
    hasher.finish()
}

/// The fingerprint of a stop word, which is never that of a stem.
pub fn stop_fingerprint(word: &str) -> u64 {
    !fingerprint(word)
}

/// Whether a text ends by asking. What follows the last sentence without an end of its own, such as the
/// caption of a picture, does not count.
pub fn asks(text: &str) -> bool {
    let end = text.rfind(['.', '!', '?', '…', '？', '。', '！']);
    end.and_then(|at| text.get(at..)).is_some_and(|end| end.starts_with(['?', '？']))
}
