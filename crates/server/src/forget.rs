//! Forgetting: the one way in which documents of a user leave together.
//!
//! Owns the order of it. Whoever writes in the background is held up, the documents go, and with them all that was made
//! from them. Invariant: what was made from a forgotten document is neither stored nor served afterwards: whoever stores
//! such a thing names the document in the same write (`Op::Expect`), so that it holds for a forget on any node.

use novelo_engine::path::Prefix;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::app::Shared;
use crate::http::body::Json;
use crate::http::error::{ApiError, Code, Result};
use crate::recall::points::erase;

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
    /// Whether the raw files, or Qdrant, are still being cleaned of it.
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

/// Forgets what is at these places and below them, all of one user.
pub async fn forget(app: &Shared, user: &str, what: &[Prefix], traces: Traces<'_>) -> Result<Forgotten> {
    let note = erase::begin(app, user).await?;
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
        app.guides.forget(user);
    }
    what.iter().for_each(|prefix| app.caches.forget(prefix));
    app.indexes.forget(user);
    drop((vectors, recorder));
    app.made.retain(|_| false);
    let is_erased = erase::finish(app, user, what, note).await;
    forgotten.erasing = app.store.health().erasing || !is_erased;
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
