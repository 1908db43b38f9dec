//! How long a thread is kept whose turns go together: a chain of responses, or a conversation.
//!
//! Owns the documents `novelo.retention/{fingerprint}`: the user, the thread, and for how long it is kept
//! after its newest turn. Their time is when to look at the thread next, so that those that are due are found
//! without reading any other, and a turn costs no write here. A document is removed with its thread.

use std::time::Duration;

use novelo_engine::path::{CollectionPath, DocumentPath};
use novelo_engine::scope;
use novelo_store::{Document, PutTerms, Range, Store, Window};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use super::Threads;
use crate::caller::RETENTION;
use crate::error::{Error, Result};
use crate::telemetry::now;

/// Threads that are looked at in one go, and threads of a user that is forgotten.
const PAGE: usize = 100;

/// A thread that is kept for so long after its newest turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RetainedThread {
    pub user: String,
    pub thread: String,
    pub ttl_seconds: f64,
}

impl RetainedThread {
    /// When it is to be forgotten, unless there is a newer turn until then.
    pub async fn expires_at(&self, app: &Threads) -> Result<Option<f64>> {
        let of = scope::turns(&self.user, &self.thread).map_err(bad_id)?;
        let newest = app.store.turns(&of, Range::Last(1)).await?;
        Ok(newest.iter().next().map(|turn| turn.create_time + self.ttl_seconds))
    }

    /// Has it looked at then.
    pub(crate) async fn look_at(&self, app: &Threads, time: f64) -> Result<()> {
        let value = serde_json::json!(self).to_string();
        let terms = PutTerms { create_time: Some(time), now: now(), ..PutTerms::default() };
        app.store.put(&at(&self.user, &self.thread)?, value.into(), terms).await?;
        Ok(())
    }
}

/// Keeps a thread for so long after its newest turn. What was said last counts; nothing said changes nothing.
pub async fn keep_for(app: &Threads, user: &str, thread: &str, ttl: Option<Duration>) -> Result<()> {
    let Some(ttl) = ttl else { return Ok(()) };
    let (user, thread) = (user.to_owned(), thread.to_owned());
    let retained = RetainedThread { user, thread, ttl_seconds: ttl.as_secs_f64() };
    let held = app.store.get(&at(&retained.user, &retained.thread)?).await?;
    match held.as_ref().and_then(read).as_ref() == Some(&retained) {
        true => Ok(()),
        false => retained.look_at(app, now() + retained.ttl_seconds).await,
    }
}

/// When a thread is forgotten, unless there is a newer turn until then.
pub async fn expires_at(app: &Threads, user: &str, thread: &str) -> Result<Option<f64>> {
    let Some(held) = app.store.get(&at(user, thread)?).await? else { return Ok(None) };
    match read(&held) {
        None => Ok(None),
        Some(retained) => Ok(Some(retained.expires_at(app).await?.unwrap_or(held.create_time))),
    }
}

/// The threads that are to be looked at, the longest due first.
pub(crate) async fn due(store: &Store) -> Result<Vec<RetainedThread>> {
    let window = Window { end: Some(now()), limit: PAGE, ..Window::default() };
    Ok(store.scan(&all()?, window).await?.items.iter().filter_map(read).collect())
}

/// Removes what is said of a thread that is forgotten.
pub(crate) async fn forget_thread(store: &Store, user: &str, thread: &str) -> Result<()> {
    let at = at(user, thread)?;
    if store.get(&at).await?.is_some() {
        store.delete(&at, None).await?;
    }
    Ok(())
}

/// The same of all threads of a user.
pub(crate) async fn forget_user(store: &Store, user: &str) -> Result<()> {
    if store.scan(&all()?, Window { limit: 1, ..Window::default() }).await?.items.is_empty() {
        return Ok(());
    }
    for child in [scope::TURNS, CONVERSATION] {
        let under = scope::threads(user).map_err(bad_id)?;
        let mut after: Option<String> = None;
        loop {
            let page = store.threads(&under, child, after.as_deref(), PAGE).await?;
            for row in &page.items {
                forget_thread(store, user, &row.id).await?;
            }
            after = page.items.last().map(|row| row.id.to_string());
            if !page.has_more {
                break;
            }
        }
    }
    Ok(())
}

/// The collection below a thread by which a conversation is found that has no turn.
pub const CONVERSATION: &str = "conversation";

fn read(document: &Document) -> Option<RetainedThread> {
    serde_json::from_slice(&document.value).ok()
}

fn all() -> Result<CollectionPath> {
    CollectionPath::new(&[RETENTION]).map_err(bad_id)
}

fn at(user: &str, thread: &str) -> Result<DocumentPath> {
    let named = format!("{} {user} {thread}", user.len());
    all()?.document(&format!("{:032x}", xxh3_128(named.as_bytes()))).map_err(bad_id)
}

fn bad_id(error: novelo_engine::path::PathError) -> Error {
    Error::bad_id("user or thread", &error)
}
