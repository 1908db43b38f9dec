//! The cache of answers.
//!
//! The same conversation of the same user gets the same answer for a while, unless a turn was added, edited
//! or removed since, or the memories or the data of the user have changed. Owns `answered/last` below each
//! thread: an answer is a turn, so only the last one can be served again. It is stored with that turn in one
//! write, found by every node, and forgotten with the thread.

use bytes::Bytes;
use novelo_engine::path::DocumentPath;
use novelo_engine::scope;
use novelo_store::{Op, PutTerms};
use serde::{Deserialize, Serialize};

use crate::answer::Shared;
use crate::error::{Code, Error, Result};
use crate::remember::{place, user_data};
use crate::telemetry::now;
use crate::trace::fingerprint;

use super::GuidedRequest;
use crate::answer::guided_answer::GuidedAnswer;

/// The size of an answer.
const BYTES_MAX: usize = 1024 * 1024;

/// The conversation, and a fingerprint of all that the answer to it depends on.
#[derive(Debug)]
pub struct AnswerKey {
    at: DocumentPath,
    print: String,
}

/// The document of an answer.
#[derive(Debug, Serialize, Deserialize)]
struct CachedGuidedAnswer {
    /// The fingerprint of the key.
    print: String,
    state: State,
    at: f64,
    answer: GuidedAnswer,
}

/// What an answer depends on in the store. The same on every node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    /// The last turn of the thread.
    last_seq: u64,
    /// A fingerprint of its last turns.
    turns: String,
    /// A fingerprint of the memories and data of the user.
    known: String,
}

impl State {
    async fn now(app: &Shared, user: &str, thread: ThreadState<'_>) -> Result<Self> {
        let memories = app.store.version(&place::memories(user)?).await?;
        let data = user_data::get(app, user).await?;
        let known = format!("{:032x}", fingerprint(&(memories, &data[..])));
        Ok(Self { last_seq: thread.last_seq, turns: thread.print(app), known })
    }
}

/// A thread as an answer depends on it.
#[derive(Debug, Clone, Copy)]
pub struct ThreadState<'t> {
    pub last_seq: u64,
    /// The bytes of its last turns.
    pub contents: &'t [Bytes],
}

/// Turns that are looked at: no prompt of the shipped policies shows as many.
const TURNS_MAX: usize = 200;

impl ThreadState<'_> {
    fn print(&self, app: &Shared) -> String {
        let kept = app.settings.threads.turns_max.map_or(TURNS_MAX, |kept| kept as usize);
        let turns_max = TURNS_MAX.min(kept);
        let from = self.contents.len().saturating_sub(turns_max);
        format!("{:032x}", fingerprint(&self.contents.get(from..)))
    }
}

impl AnswerKey {
    /// `policies` is the fingerprint of the rules and modules in force.
    pub fn of(asked: &GuidedRequest, policies: u64) -> Result<Self> {
        let print = fingerprint(&(asked.print(), policies));
        let at =
            scope::thread(&asked.user, &asked.thread).and_then(|thread| thread.child("answered")?.document("last"));
        let at = at.map_err(|e| Error::bad_id("user or thread", &e))?;
        Ok(Self { at, print: format!("{print:032x}") })
    }
}

/// The cached answer, where it is still valid.
pub async fn find(app: &Shared, user: &str, key: &AnswerKey, thread: ThreadState<'_>) -> Result<Option<GuidedAnswer>> {
    let Some(document) = app.store.get(&key.at).await? else { return Ok(None) };
    // A client with write access may have replaced it.
    let Ok(cached) = serde_json::from_slice::<CachedGuidedAnswer>(&document.value) else { return Ok(None) };
    let lives_s = app.settings.eco.cache.unwrap_or_default().as_secs_f64();
    let holds = cached.print == key.print && now() < cached.at + lives_s;
    Ok((holds && cached.state == State::now(app, user, thread).await?).then_some(cached.answer))
}

/// The write that caches an answer, whose turn will be the last one; `None` where the cache is off.
pub async fn keep(
    app: &Shared,
    user: &str,
    key: &AnswerKey,
    answer: &GuidedAnswer,
    thread: ThreadState<'_>,
) -> Result<Option<Op>> {
    let Some(lives) = app.settings.eco.cache else { return Ok(None) };
    let (at, state) = (now(), State::now(app, user, thread).await?);
    let cached = CachedGuidedAnswer { print: key.print.clone(), state, at, answer: answer.clone() };
    let value = serde_json::to_vec(&cached).map_err(|e| Error::new(Code::Internal, e.to_string()))?;
    if value.len() > BYTES_MAX {
        let message = format!("an answer of {} bytes is too large to be kept", value.len());
        return Err(Error::new(Code::TooLarge, message));
    }
    let terms = PutTerms { now: at, expires_at: Some(at + lives.as_secs_f64()), ..PutTerms::default() };
    Ok(Some(Op::Put { at: key.at.clone(), value: value.into(), terms }))
}
