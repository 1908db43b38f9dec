//! What a model generated for the work behind an answer, cleaned first and judged afterwards.
//!
//! Owns what is taken off (thoughts, fences, labels, quotes, emphasis) and what a text must be to be used:
//! a rewrite is one question about the same thing in the same language, a summary says what was said and
//! invents no number and no name, the short text of a span also denies nothing else than the span, and a
//! narration says what the rows say. Writes nothing of its own; what does not qualify is refused with a
//! reason.

mod belonging;
mod clean;
mod figure;
mod narration;
mod rewrite;
mod summary;

pub use self::narration::{FactCell, FactColumn, NarrationFacts, accept_narration};
pub use self::rewrite::accept_rewrite;
pub use self::summary::{accept_compaction, accept_summary};
