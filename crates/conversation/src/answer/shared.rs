//! The top room: what answers use, and with them the whole application.

use std::sync::Arc;

use super::guide::Guides;
use super::replies::Replies;
use crate::base::above;
use crate::remember::UserMemory;

/// The running application; clones share it.
pub type App = Arc<Shared>;

/// The state that all answers share.
pub struct Shared {
    /// Memories, contexts, threads and searches.
    pub memory: Arc<UserMemory>,
    /// The replies that are being made.
    pub replies: Arc<Replies>,
    /// The caches of guided answers.
    pub guides: Arc<Guides>,
}

above!(Shared, memory: UserMemory);
