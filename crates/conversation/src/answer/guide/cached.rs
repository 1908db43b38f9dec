//! Answers that were given lately.
//!
//! A repeat of the same conversation by the same user is answered again, for a while, unless anything was said in the thread
//! since, or is remembered or known of the user now that was not then, whichever way it came. Owns `answered/last` below each
//! thread: an answer is a turn, so none but the last can be given again. It is stored with that turn in one write, found
//! by every node, and forgotten with the thread.

use novelo_engine::path::DocumentPath;
use novelo_engine::scope;
use novelo_store::{Op, PutTerms};
use serde::{Deserialize, Serialize};

use crate::app::Shared;
use crate::error::{Code, Error, Result};
use crate::remember::{place, user_data};
use crate::telemetry::now;
use crate::thread::Words;
use crate::trace::print;

use super::{Answer, Asked};

/// No answer takes more.
const BYTES_MAX: usize = 1024 * 1024;

/// Which conversation it is, and all of it that an answer depends on.
#[derive(Debug)]
pub struct Key {
    at: DocumentPath,
    print: String,
}

/// An answer as its document is.
#[derive(Debug, Serialize, Deserialize)]
struct Cached {
    /// What it was given to.
    print: String,
    /// What it was given for.
    state: State,
    at: f64,
    answer: Answer,
}

/// What an answer depends on beside what was asked. The same on every node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    /// The last turn of the thread.
    last_seq: u64,
    /// What is remembered and known of the user.
    known: String,
}

impl State {
    async fn now(app: &Shared, user: &str, last_seq: u64) -> Result<Self> {
        let memories = app.store.version(&place::memories(user)?).await?;
        let data = user_data::get(app, user).await?;
        Ok(Self { last_seq, known: format!("{:032x}", print(&(memories, &data[..]))) })
    }
}

impl Key {
    /// `policies` tells the rules and modules in force from any others.
    pub fn of(asked: &Asked, policies: u64) -> Result<Self> {
        let Asked { user, thread, messages, is_guest, forced, instructions, name, opening, block, .. } = asked;
        let said: Vec<Words> = messages.iter().map(Words::of).collect();
        let block = block.as_ref().map(|block| format!("{block:?}"));
        let print = print(&(said, is_guest, forced, instructions, name, opening, block, policies));
        let at = scope::thread(user, thread).and_then(|thread| thread.child("answered")?.document("last"));
        let at = at.map_err(|e| Error::bad_id("user or thread", &e))?;
        Ok(Self { at, print: format!("{print:032x}") })
    }
}

/// What was answered before, where that still holds.
pub async fn find(app: &Shared, user: &str, key: &Key, last_seq: u64) -> Result<Option<Answer>> {
    let Some(document) = app.store.get(&key.at).await? else { return Ok(None) };
    // Whoever may write documents may have written this one.
    let Ok(cached) = serde_json::from_slice::<Cached>(&document.value) else { return Ok(None) };
    let lives_s = app.config.number("eco.cache_seconds") as f64;
    let holds = cached.print == key.print && now() < cached.at + lives_s;
    Ok((holds && cached.state == State::now(app, user, last_seq).await?).then_some(cached.answer))
}

/// The write that keeps an answer, whose turn will be the last one; `None` where answers are not kept.
pub async fn keep(app: &Shared, user: &str, key: &Key, answer: &Answer, last_seq: u64) -> Result<Option<Op>> {
    let lives_s = app.config.number("eco.cache_seconds") as f64;
    if lives_s <= 0.0 {
        return Ok(None);
    }
    let (at, state) = (now(), State::now(app, user, last_seq).await?);
    let cached = Cached { print: key.print.clone(), state, at, answer: answer.clone() };
    let value = serde_json::to_vec(&cached).map_err(|e| Error::new(Code::Internal, e.to_string()))?;
    if value.len() > BYTES_MAX {
        let message = format!("an answer of {} bytes is too large to be kept", value.len());
        return Err(Error::new(Code::TooLarge, message));
    }
    let terms = PutTerms { now: at, expires_at: Some(at + lives_s), ..PutTerms::default() };
    Ok(Some(Op::Put { at: key.at.clone(), value: value.into(), terms }))
}
