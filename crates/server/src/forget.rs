//! Forgetting: the one way in which documents of a user leave together.
//!
//! Owns the order of it. Whoever writes in the background is held up, the documents go, and with them all that was made
//! from them. Invariant: what was made from a forgotten document is neither stored nor served afterwards.

use novelo_engine::path::Prefix;
use serde_json::{Value, json};
use tokio::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use tokio::task::JoinSet;

use crate::app::Shared;
use crate::http::body::Json;
use crate::http::error::{ApiError, Code, Result};

/// Which traces go along that are on their way to the store; those that are stored go with what they are below.
#[derive(Debug, Clone, Copy)]
pub enum Traces<'a> {
    Stay,
    OfThread(&'a str),
    OfUser,
}

/// What is gone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Forgotten {
    pub documents: u64,
    pub passages: u64,
    pub traces: u64,
    /// Whether the raw files are still being cleaned of it.
    pub erasing: bool,
}

impl Forgotten {
    pub fn counts(&self) -> Value {
        json!({"documents": self.documents, "passages": self.passages, "traces": self.traces})
    }

    pub fn answer(self) -> Json {
        Json::of(&json!({"forgotten": self.counts(), "erasing": self.erasing}))
    }
}

/// How often something was forgotten. Whoever stores what was made from documents reads it twice: with the documents, and
/// again, holding it, while storing. A forget waits for those who hold it, and they for a forget.
#[derive(Debug, Default)]
pub struct Forgets(RwLock<u64>);

impl Forgets {
    /// The right to store what was made while the count was the same.
    pub async fn writing(&self) -> RwLockReadGuard<'_, u64> {
        self.0.read().await
    }

    async fn forgetting(&self) -> RwLockWriteGuard<'_, u64> {
        let mut count = self.0.write().await;
        *count += 1;
        count
    }
}

/// Forgets what is at these places and below them, all of one user.
pub async fn forget(app: &Shared, user: &str, what: &[Prefix], traces: Traces<'_>) -> Result<Forgotten> {
    let others = app.forgets.forgetting().await;
    let recorder = app.recorder.pause().await;
    let vectors = app.indexes.waiting.pause().await;
    let mut forgotten = from_store(app, what).await?;
    let in_threads = match traces {
        Traces::Stay => None,
        Traces::OfThread(thread) => Some(Some(thread)),
        Traces::OfUser => Some(None),
    };
    if let Some(thread) = in_threads {
        forgotten.traces += app.recorder.forget(user, thread);
        app.replies.forget(user, thread);
        app.guides.forget(user, thread);
    }
    what.iter().for_each(|prefix| app.caches.forget(prefix));
    app.indexes.forget(user);
    drop((vectors, recorder, others));
    app.made.retain(|_| false);
    forgotten.erasing = app.store.health().erasing;
    Ok(forgotten)
}

/// All at once, so that the raw files are cleaned once.
async fn from_store(app: &Shared, what: &[Prefix]) -> Result<Forgotten> {
    let mut running = JoinSet::new();
    for prefix in what {
        let (store, prefix) = (app.store.clone(), prefix.clone());
        running.spawn(async move { store.forget(&prefix).await });
    }
    let mut all = Forgotten::default();
    while let Some(done) = running.join_next().await {
        let one = done.map_err(|e| ApiError::new(Code::Internal, format!("a forget ended early: {e}")))??;
        all.documents += one.documents;
        all.passages += one.passages;
        all.traces += one.traces;
    }
    Ok(all)
}
