//! Adding turns: the one way in which a thread grows by itself.
//!
//! Owns what every new turn gets: its id, its time, its end, and that background tasks learn of it. What of a
//! conversation that a client sends again is new is in `new_messages`.

pub mod compaction;
pub mod due;
pub mod item;
pub mod kept;
mod meaning;
mod new_messages;
pub mod refused;
mod repeated;
pub mod retention;
pub mod tail;
mod words;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use novelo_engine::path::DocumentPath;
use novelo_engine::{Message, scope};
use novelo_store::{AppendTerms, NewDocument, NewId, Op, Outcome, Stamp};

use self::due::Due;
use crate::base::above;
use crate::error::{Error, Result};
use crate::model::Job;
use crate::search::{RecallSource, Search};
use crate::telemetry::now;

pub use new_messages::{NewMessages, new_messages};
pub(crate) use repeated::repeats_unanswered;
pub use words::Words;
pub(crate) use words::is_text;

/// The room of threads.
pub struct Threads {
    /// Searches and the parts below.
    pub search: Arc<Search>,
    /// Threads whose summary may be behind.
    pub due: Due,
}

above!(Threads, search: Search);

impl Threads {
    /// Tells the background tasks that turns of a thread were added or removed.
    pub fn touched(&self, user: &str, thread: &str) {
        self.due.add(user, thread, Instant::now());
        self.indexes.touched(user, RecallSource::Turns);
    }

    /// The same for turns that were added, up to a seq. A short thread is not summed up.
    fn appended(&self, user: &str, thread: &str, last_seq: u64) {
        if last_seq > self.settings.memory.summary_threshold_messages {
            self.due.add(user, thread, Instant::now());
        }
        self.indexes.touched(user, RecallSource::Turns);
    }

    /// Has the summary of a thread brought up to date for a reader, which waits for it. A model takes too
    /// long for that: then the reader gets the summary that is there.
    pub(crate) async fn sum_up_now(&self, user: &str, thread: &str, wanted: WantedSummary) {
        match self.models.get(Job::Summary) {
            None => self.due.sum_up_now(user, thread, wanted == WantedSummary::Anyway).await,
            Some(_) => self.due.hasten(user, thread, wanted == WantedSummary::Anyway),
        }
    }
}

/// Whether a summary is wanted that no turn was announced for in this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WantedSummary {
    IfItWaits,
    Anyway,
}

/// A turn to be added.
#[derive(Debug, Clone)]
pub struct NewTurn {
    /// The id of the turn.
    pub id: NewId,
    /// When it was said; now, where nobody says.
    pub create_time: Option<f64>,
    /// The message.
    pub message: Message,
    /// Whether it goes with its thread (`retention`), or at its own time.
    pub goes_with_thread: bool,
}

impl From<Message> for NewTurn {
    fn from(message: Message) -> Self {
        let id = NewId::Fresh(crate::ids::fresh_text().into());
        Self { id, create_time: None, message, goes_with_thread: false }
    }
}

/// Adds turns, all or none. `if_seq` is the last seq that the caller knows.
pub async fn append(
    app: &Threads,
    user: &str,
    thread: &str,
    turns: impl IntoIterator<Item = NewTurn>,
    if_seq: Option<u64>,
) -> Result<Vec<Stamp>> {
    append_with(app, user, thread, turns, if_seq, Beside::default()).await
}

/// Makes a thread that begins with the turns of another up to and including a seq. Returns how many these
/// are.
pub async fn fork(app: &Threads, user: &str, thread: &str, at_seq: u64, to: &str) -> Result<u64> {
    let from = scope::turns(user, thread).map_err(|e| Error::bad_id("user or thread", &e))?;
    let to_turns = scope::turns(user, to).map_err(|e| Error::bad_id("to", &e))?;
    let turns = app.store.fork(&from, at_seq, &to_turns).await?;
    refused::Refusals::fork(&app.store, user, thread, at_seq, to).await?;
    compaction::fork(&app.store, user, thread, at_seq, to).await?;
    app.touched(user, to);
    Ok(turns)
}

/// What goes into one write with turns.
#[derive(Debug, Default)]
pub(crate) struct Beside {
    /// What must still be there: they were made from it.
    pub expects: Option<DocumentPath>,
    pub ops: Vec<Op>,
}

/// The same with what is written in one go with them; what was expected and is gone is `not_found`.
pub(crate) async fn append_with(
    app: &Threads,
    user: &str,
    thread: &str,
    turns: impl IntoIterator<Item = NewTurn>,
    if_seq: Option<u64>,
    beside: Beside,
) -> Result<Vec<Stamp>> {
    let to = scope::turns(user, thread).map_err(|e| Error::bad_id("user or thread", &e))?;
    let at = now();
    let ttl = app.settings.threads.ttl;
    let document = |turn: NewTurn| {
        let create_time = turn.create_time.unwrap_or(at);
        let ttl = ttl.filter(|_| !turn.goes_with_thread);
        let expires_at = ttl.map(|ttl| create_time + ttl.as_secs_f64());
        NewDocument { id: turn.id, create_time, value: turn.message.raw().clone(), expires_at }
    };
    let keep_last = app.settings.threads.turns_max;
    let documents = turns.into_iter().map(document).collect();
    let append = Op::Append { to, documents, terms: AppendTerms { if_seq, keep_last } };
    // Expected first: the append itself may trim what it was made from.
    let expect = beside.expects.map(|at| Op::Expect { at });
    let outcomes = app.store.write(expect.into_iter().chain([append]).chain(beside.ops).collect()).await?;
    let appended = |outcome| if let Outcome::Appended(stamps) = outcome { Some(stamps) } else { None };
    let stamps = outcomes.into_iter().find_map(appended).unwrap_or_default();
    app.appended(user, thread, stamps.last().map_or(0, |stamp| stamp.seq));
    app.metrics.turns.fetch_add(stamps.len() as u64, Ordering::Relaxed);
    Ok(stamps)
}
