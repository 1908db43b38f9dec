//! Adding turns: the one way in which a thread grows by itself.
//!
//! Owns what every new turn gets: its id, its time, its end, and that whoever works in the background is told.

use std::sync::atomic::Ordering;

use novelo_engine::{Message, scope};
use novelo_store::{AppendTerms, NewDocument, NewId, Op, Outcome, Stamp};

use crate::app::Shared;
use crate::http::error::{ApiError, Result};
use crate::telemetry::now;

/// A turn to be added.
#[derive(Debug)]
pub struct NewTurn {
    pub id: NewId,
    /// When it was said; now, where nobody says.
    pub create_time: Option<f64>,
    pub message: Message,
}

impl From<Message> for NewTurn {
    fn from(message: Message) -> Self {
        Self { id: NewId::Fresh(crate::ids::fresh_text().into()), create_time: None, message }
    }
}

/// Adds turns, all or none. `if_seq` is the last seq that the caller knows.
pub async fn append(
    app: &Shared,
    user: &str,
    thread: &str,
    turns: impl IntoIterator<Item = NewTurn>,
    if_seq: Option<u64>,
) -> Result<Vec<Stamp>> {
    append_with(app, user, thread, turns, if_seq, None).await
}

/// The same with what is written in one go with them.
pub async fn append_with(
    app: &Shared,
    user: &str,
    thread: &str,
    turns: impl IntoIterator<Item = NewTurn>,
    if_seq: Option<u64>,
    beside: Option<Op>,
) -> Result<Vec<Stamp>> {
    let to = scope::turns(user, thread).map_err(|e| ApiError::bad_id("user or thread", &e))?;
    let at = now();
    let ttl = app.config.number("threads.ttl_seconds");
    let document = |turn: NewTurn| {
        let create_time = turn.create_time.unwrap_or(at);
        let expires_at = (ttl > 0).then_some(create_time + ttl as f64);
        NewDocument { id: turn.id, create_time, value: turn.message.raw().clone(), expires_at }
    };
    let keep_last = Some(app.config.number("threads.turns_max")).filter(|n| *n > 0);
    let documents = turns.into_iter().map(document).collect();
    let append = Op::Append { to, documents, terms: AppendTerms { if_seq, keep_last } };
    let outcomes = app.store.write([Some(append), beside].into_iter().flatten().collect()).await?;
    let Some(Outcome::Appended(stamps)) = outcomes.into_iter().next() else { return Ok(Vec::new()) };
    app.touched(user, thread);
    app.metrics.turns.fetch_add(stamps.len() as u64, Ordering::Relaxed);
    Ok(stamps)
}
