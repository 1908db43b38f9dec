//! What every room uses: the store, the settings, and parts that stand on their own.
//!
//! Each room above adds its own state and reaches those below by `Deref`: `Base`, `Search`, `Threads`,
//! `Contexts`, `UserMemory`, and `Shared` at the top. A function takes the lowest room that has what it
//! needs, so that no room can use one above it.

use std::sync::Arc;

use novelo_store::Store;

use crate::data::Data;
use crate::model::Models;
use crate::policy::Policies;
use crate::settings::Settings;
use crate::storage::eviction::Evictions;
use crate::telemetry::Metrics;
use crate::trace::record::Recorder;

/// The parts that stand on their own.
pub struct Base {
    /// The store of documents.
    pub store: Store,
    /// The settings in force.
    pub settings: Settings,
    /// Counters since the start.
    pub metrics: Arc<Metrics>,
    /// Writes traces in the background.
    pub recorder: Arc<Recorder>,
    /// The policy files in force.
    pub policies: Policies,
    /// The configured models.
    pub models: Models,
    /// What questions are answered from by query.
    pub data: Option<Arc<Data>>,
    /// Whether Redis may drop documents, as it was found last.
    pub evictions: Evictions,
    /// The name of this node among those that share the store.
    pub node: String,
}

/// Lets a room use the one below it.
macro_rules! above {
    ($room:ty, $field:ident: $below:ty) => {
        impl std::ops::Deref for $room {
            type Target = $below;

            fn deref(&self) -> &$below {
                &self.$field
            }
        }
    };
}
pub(crate) use above;
