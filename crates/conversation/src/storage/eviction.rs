//! Whether the Redis servers of a shared store drop documents when memory is short.
//!
//! Owns the refusal to start on such a server, and a look at it every few seconds, since an operator can
//! change it at any time: a node over a server that drops documents is not ready. `redis.allow_eviction`
//! switches both off.

use std::sync::{Mutex, PoisonError};

use anyhow::bail;
use novelo_store::{Error, EvictionState, Store};

use crate::settings::Settings;

/// What was found last.
#[derive(Debug)]
pub struct Evictions {
    is_allowed: bool,
    found: Mutex<Option<String>>,
}

impl Evictions {
    pub fn new(settings: &Settings) -> Self {
        Self { is_allowed: settings.redis.allow_eviction, found: Mutex::default() }
    }

    /// Why this node is not ready, where documents may be dropped and nobody allowed that.
    pub fn why(&self) -> Option<String> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).clone().filter(|_| !self.is_allowed)
    }

    /// Looks at the servers again. One that does not answer leaves what was found before.
    pub async fn look(&self, store: &Store) {
        let Ok(now) = evicting(store).await else { return };
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if *found != now {
            match &now {
                Some(why) => tracing::error!(why, "documents can be lost: set maxmemory-policy noeviction"),
                None => tracing::info!("no Redis server drops documents any more"),
            }
            *found = now;
        }
    }
}

/// Refuses a store whose servers drop documents, unless the settings allow it.
pub(crate) async fn require_none(store: &Store, settings: &Settings) -> anyhow::Result<()> {
    if settings.redis.allow_eviction {
        return Ok(());
    }
    match evicting(store).await? {
        None => Ok(()),
        Some(why) => bail!(
            "{why}: turns would be lost while every answer is 200\nhint: set maxmemory-policy noeviction there \
            (CONFIG SET maxmemory-policy noeviction), or redis.allow_eviction = true if you accept the loss"
        ),
    }
}

/// The first server that drops documents, in a sentence.
async fn evicting(store: &Store) -> Result<Option<String>, Error> {
    let servers = store.evictions().await?;
    Ok(servers.into_iter().find_map(|server| match server.state {
        EvictionState::Evicting { policy, .. } => Some(format!(
            "redis {} drops documents when memory is short: its maxmemory-policy is {policy}",
            server.address
        )),
        EvictionState::Never | EvictionState::Unbounded { .. } | EvictionState::Unknown => None,
    }))
}
