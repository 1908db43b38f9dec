//! The top room: what answers use, and with them the whole application.

use std::sync::Arc;

use super::guide::Guides;
use super::replies::Replies;
use crate::base::above;
use crate::remember::UserMemory;

/// The running application; clones share it.
pub type App = Arc<Shared>;

pub struct Shared {
    pub memory: Arc<UserMemory>,
    pub replies: Arc<Replies>,
    /// The caches of guided answers.
    pub guides: Arc<Guides>,
}

above!(Shared, memory: UserMemory);
