//! Answers that were given lately.
//!
//! A repeat of the same conversation by the same user is answered again, for a while, unless anything was said in the thread
//! since, or is remembered or known of the user now that was not then, whichever way it came.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::app::Shared;
use crate::cache::Cache;
use crate::http::error::Result;
use crate::memory::{place, user_data};
use crate::trace::print;
use crate::turns::Words;

use super::{Answer, Asked};

/// No answer takes more, so that one does not push out all others.
pub const BYTES_MAX: usize = 1024 * 1024;

pub type Responses = Cache<Key, Arc<Cached>>;

/// Whose conversation it is, and all of it that an answer depends on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Key {
    user: String,
    thread: String,
    print: u128,
}

#[derive(Debug)]
pub struct Cached {
    pub answer: Answer,
    /// What it was given for.
    state: State,
    at: Instant,
}

/// What an answer depends on beside what was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State {
    /// The last turn of the thread.
    last_seq: u64,
    /// What is remembered and known of the user.
    known: u128,
}

impl State {
    pub async fn now(app: &Shared, user: &str, last_seq: u64) -> Result<Self> {
        let memories = app.store.version(&place::memories(user)?).await?;
        let data = user_data::get(app, user).await?;
        Ok(Self { last_seq, known: print(&(memories, &data[..])) })
    }
}

impl Key {
    /// `policies` tells the rules and modules in force from any others.
    pub fn of(asked: &Asked, policies: u64) -> Self {
        let Asked { messages, is_guest, forced, instructions, name, opening, block, .. } = asked;
        let said: Vec<Words> = messages.iter().map(Words::of).collect();
        let block = block.as_ref().map(|block| format!("{block:?}"));
        let print = print(&(said, is_guest, forced, instructions, name, opening, block, policies));
        Self { user: asked.user.clone(), thread: asked.thread.clone(), print }
    }

    pub fn is_of(&self, user: &str, thread: Option<&str>) -> bool {
        self.user == user && thread.is_none_or(|thread| thread == self.thread)
    }
}

impl Cached {
    pub fn new(answer: Answer, state: State) -> Self {
        Self { answer, state, at: Instant::now() }
    }

    /// Whether it may be given again, as things are.
    pub fn holds(&self, state: State, lives: Duration) -> bool {
        self.state == state && self.at.elapsed() < lives
    }

    /// How much memory it takes.
    pub fn bytes(&self) -> usize {
        let Answer { message, sense, model, .. } = &self.answer;
        let words = sense.tags.iter().chain(&sense.summary).chain(&sense.category).chain(&sense.emotion).chain(model);
        1_024 + message.len() + words.map(|word| word.len() + 32).sum::<usize>()
    }
}
