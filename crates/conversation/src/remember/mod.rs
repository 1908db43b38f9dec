//! What is remembered of a user beside the turns: memories, documents and repositories, tasks and their
//! results, and the summaries of threads.
//!
//! Owns where each lives, what is accepted, and how it is found again. Every surface calls these functions,
//! so that a memory is the same whichever way it came. Has none of the wire: no routes, no bodies. Invariant:
//! what was refused has stored nothing, and what was stored is found by the next search.

mod arguments;
pub mod check;
pub mod documents;
pub mod forget;
pub mod memories;
pub mod passage;
pub mod place;
pub mod reader;
pub(crate) mod repo;
pub mod reset;
pub mod results;
pub mod search;
pub mod skills;
pub(crate) mod span_tools;
pub mod summary;
pub mod supersede;
pub mod tasks;
pub mod user_data;

use self::forget::{ForgetLog, PendingErasure, Traces};
use crate::base::above;
use crate::context::Contexts;

/// The room of what is remembered of users, and of forgetting it.
pub struct UserMemory {
    /// Contexts and the rooms below.
    pub contexts: Contexts,
    /// What was forgotten, for restores; and whether the raw files are to be cleaned of single documents.
    pub forgets: ForgetLog,
    /// Forgotten bytes that files still hold.
    pub erasure: PendingErasure,
    /// Drops what the rooms above have in memory of a user.
    pub let_go: LetGo,
}

/// Lets go of the answers that the rooms above have in memory, of a user.
pub type LetGo = Box<dyn Fn(&str, Traces<'_>) + Send + Sync>;

above!(UserMemory, contexts: Contexts);

/// How often a write that lost a race is tried again.
const TRIES_MAX: usize = 16;
