//! Cleaning the raw files of documents that were deleted one by one.
//!
//! Cleaning rewrites files, so single deletions share it: the first one leaves a mark in the store, and a few
//! seconds later the mark itself is forgotten, which cleans the files of everything that went before. A mark
//! outlives a crash.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use novelo_store::Store;

use super::log::unerased_mark;
use crate::error::Result;
use crate::remember::UserMemory;

/// How long single deletions wait for others to share the cleaning.
const GATHER: Duration = Duration::from_secs(3);
/// How often it is looked whether another node left a mark and ended.
const LOOK_EVERY: u64 = 60;

/// Whether the raw files are to be cleaned, and since when. Requests set it, the sweeper takes it.
#[derive(Debug, Default)]
pub struct PendingErasure {
    since: Mutex<Option<Instant>>,
    /// Whether the request was taken and the cleaning has begun.
    runs: AtomicBool,
    looks: AtomicU64,
}

impl PendingErasure {
    /// What an earlier process left undone is to be done.
    pub async fn open(store: &Store) -> anyhow::Result<Self> {
        let pending = Self::default();
        let mark = unerased_mark().map_err(|error| anyhow::anyhow!("{error}"))?;
        if store.get(&mark).await?.is_some() {
            pending.request();
        }
        Ok(pending)
    }

    /// Whether files still hold forgotten bytes.
    pub fn is_pending(&self) -> bool {
        let since = self.lock();
        since.is_some() || self.runs.load(Ordering::Relaxed)
    }

    /// Asks for the files to be rewritten.
    pub fn request(&self) {
        self.lock().get_or_insert_with(Instant::now);
    }

    /// Whether it is time; asking takes the request.
    fn take_due(&self) -> bool {
        let mut since = self.lock();
        let is_due = since.is_some_and(|since| since.elapsed() >= GATHER);
        if is_due {
            *since = None;
            self.runs.store(true, Ordering::Relaxed);
        }
        is_due
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        self.since.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Cleans the raw files if deletions wait for it. Called again and again.
pub(crate) async fn erase_when_due(app: &UserMemory) {
    if let Err(error) = try_erase(app).await {
        app.erasure.request();
        tracing::warn!(%error, "the raw files are not cleaned of what was deleted yet");
    }
}

async fn try_erase(app: &UserMemory) -> Result<()> {
    let mark = unerased_mark()?;
    let looks = app.erasure.looks.fetch_add(1, Ordering::Relaxed).is_multiple_of(LOOK_EVERY);
    if looks && app.store.get(&mark).await?.is_some() {
        app.erasure.request();
    }
    if app.erasure.take_due() {
        let cleaned = app.store.forget(&mark.prefix()).await;
        if cleaned.is_err() {
            app.erasure.request();
        }
        app.erasure.runs.store(false, Ordering::Relaxed);
        cleaned?;
    }
    Ok(())
}
