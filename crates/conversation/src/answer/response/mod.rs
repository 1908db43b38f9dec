//! Responses in OpenAI's form: what is stored of one beside the turns of its thread.
//!
//! Owns the document `…/responses/{name}` below the thread: what the request decided, how it ended, and which
//! turns are its input and its output. It is written with the question, and again with the answer. The text
//! is in the turns alone. Invariants: a response is forgotten with its thread; nothing of a response is
//! stored once its thread was forgotten.

mod lock;
mod place;
mod prune;

use std::sync::Arc;

use novelo_engine::path::DocumentPath;
use novelo_engine::{Message, scope};
use novelo_store::{NewId, Op, PutTerms, Range, Store};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::event::{Partial, Prompted};
use super::generate::LENGTH;
use super::generation::Generated;
use crate::answer::Shared;
use crate::error::{Code, Error, Relayed, Result};
use crate::telemetry::now;
use crate::thread::NewTurn;
use crate::thread::compaction;
use crate::thread::item::{ResponseId, show_compaction, show_document, show_turn};
use crate::thread::kept::{StoredAnswer, unless_forgotten};

pub use lock::{ResponseLock, ResponseLocks};
pub use place::{ResponsePlace, messages_upto};
pub(crate) use prune::prune;

/// The collection of a thread's responses.
const RESPONSES: &str = "responses";

/// What a response shows from its beginning on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownResponse {
    /// The members that the request decides.
    pub members: Map<String, Value>,
    /// The thread and the turn that its items are named after.
    pub thread: String,
    /// The turn of the answer.
    pub turn: String,
}

/// A response before its end.
#[derive(Debug)]
pub struct ResponseDraft {
    /// The id of the response.
    pub id: ResponseId,
    /// No other response is made in the thread meanwhile.
    pub lock: ResponseLock,
    /// The user it belongs to.
    pub user: String,
    /// What it shows from its beginning on.
    pub shown: Arc<ShownResponse>,
    /// Whether it belongs to a conversation, not to a chain.
    pub is_in_conversation: bool,
    /// Whether it stays if it fails before it begins: the client has its id already.
    pub outlives_failure: bool,
    /// The last seq of the thread, where that must not have moved on.
    pub if_seq: Option<u64>,
    /// The first seq of the input, if a call that failed stored it.
    pub first_seq: Option<u64>,
}

/// How far a response has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResponseStatus {
    /// It waits to begin.
    Queued,
    /// A model is answering.
    InProgress,
    /// The answer is whole.
    Completed,
    /// The answer ended early.
    Incomplete,
    /// It was cancelled.
    Cancelled,
    /// There is no answer.
    Failed,
}

/// How a response ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResponseEnd {
    /// How far it came.
    pub status: ResponseStatus,
    /// A code and a message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<(String, String)>,
    /// Why it is not complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
    /// The tokens, as OpenAI's clients expect them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Value>,
    /// The name that the model's server gives itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What the client should know, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// When it ended, in seconds since 1970.
    pub at: f64,
}

/// A response as it is stored.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StoredResponse {
    /// The fields that every reader sees.
    pub shown: Map<String, Value>,
    /// Whether it belongs to a conversation, not to a chain.
    pub is_in_conversation: bool,
    /// How it ended; none while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<ResponseEnd>,
    /// The turns of its input; 0 before it has begun.
    pub first_seq: u64,
    /// The seq of the first turn of its input.
    pub input_seq: u64,
    /// Its last turn, after which it is continued.
    pub last_seq: u64,
    /// The id of the request's trace.
    pub trace_id: String,
    /// The id of the prompt's trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_id: Option<String>,
    /// The compaction of the thread that its prompt made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compaction: Option<String>,
}

/// The error of a second response in a thread that has one being made.
fn locked(other: &ResponseId) -> Error {
    let message = format!("another response is being made in this conversation: {}", other.encode());
    let error = Error::new(Code::Conflict, message).for_openai();
    let code = "conversation_locked".to_owned();
    Error { relayed: error.relayed.map(|relayed| Box::new(Relayed { code, ..*relayed })), ..error }
}

impl ResponseStatus {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Incomplete => "incomplete",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
        }
    }
}

impl ResponseEnd {
    fn new(status: ResponseStatus) -> Self {
        Self { status, error: None, incomplete: None, usage: None, model: None, warning: None, at: now() }
    }

    /// The end of an answer.
    pub fn of(generated: &Generated) -> Self {
        let (status, incomplete) = match (generated.partial, generated.finish.as_str()) {
            (Some(Partial::ClientLeft), _) => (ResponseStatus::Cancelled, None),
            (Some(Partial::ModelFailed | Partial::ServerStopped), _) => (ResponseStatus::Failed, None),
            (None, LENGTH) => (ResponseStatus::Incomplete, Some("max_output_tokens")),
            (None, "content_filter") => (ResponseStatus::Incomplete, Some("content_filter")),
            (None, _) => (ResponseStatus::Completed, None),
        };
        let error = generated.partial.filter(|_| status == ResponseStatus::Failed).map(|partial| {
            let failure = generated.failure.as_ref().map(fault);
            failure.unwrap_or_else(|| (SERVER_ERROR.to_owned(), partial.in_words().to_owned()))
        });
        let model = generated.more.answer.get("model").and_then(Value::as_str).map(str::to_owned);
        let (incomplete, usage) = (incomplete.map(str::to_owned), usage(generated));
        let warning = generated.cut_prompt.map(|(read, tokens)| {
            format!("the model's server read {read} tokens of about {tokens}: its window is too small")
        });
        Self { error, incomplete, usage, model, warning, at: generated.ended_at, ..Self::new(status) }
    }

    /// The end of a request that failed.
    pub fn failed(error: &Error) -> Self {
        Self { error: Some(fault(error)), ..Self::new(ResponseStatus::Failed) }
    }

    /// The end of a response whose process ended before it.
    fn lost() -> Self {
        let error = (SERVER_ERROR.to_owned(), Partial::ServerStopped.in_words().to_owned());
        Self { error: Some(error), ..Self::new(ResponseStatus::Failed) }
    }
}

const SERVER_ERROR: &str = "server_error";

/// The code and the message of an error within a response.
fn fault(error: &Error) -> (String, String) {
    let code = match error.status() {
        429 => "rate_limit_exceeded",
        400..500 => "invalid_prompt",
        _ => SERVER_ERROR,
    };
    (code.to_owned(), error.message.clone())
}

/// What an answer cost, as the server tells it.
fn usage(generated: &Generated) -> Option<Value> {
    let told = generated.more.answer.get("usage");
    let count = |of: &str, name: &str| told?.get(of)?.get(name)?.as_u64();
    let usage = generated.usage?;
    let (input, output) = (usage.prompt_tokens, usage.completion_tokens);
    let cached = count("prompt_tokens_details", "cached_tokens").unwrap_or(0);
    let thought = count("completion_tokens_details", "reasoning_tokens").unwrap_or(0);
    Some(json!({
        "input_tokens": input, "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": 0},
        "output_tokens": output, "output_tokens_details": {"reasoning_tokens": thought},
        "total_tokens": input.saturating_add(output),
    }))
}

impl ResponseDraft {
    /// The document of a response that has not ended.
    pub fn begun(&self, trace_id: &str) -> Result<Op> {
        self.put(&self.stored(trace_id))
    }

    /// Stores the answer, and in the same write how the response ended. Returns whether both were stored.
    pub async fn end(
        &self,
        app: &Shared,
        kept: &StoredAnswer,
        generated: &Generated,
        (trace_id, prompted): (&str, &Prompted),
    ) -> Result<bool> {
        let (first, last) = kept.seqs().unwrap_or_default();
        let document = |last_seq: u64| StoredResponse {
            end: Some(ResponseEnd::of(generated)),
            first_seq: self.first_seq.unwrap_or(first),
            input_seq: last,
            last_seq,
            prompt_id: Some(prompted.trace_id.clone()),
            compaction: prompted.compaction.as_ref().map(|compaction| compaction.id.clone()),
            ..self.stored(trace_id)
        };
        // Written once here, so that what cannot be written is an error and not a part of an answer.
        self.put(&document(last))?;
        let Some(message) = generated.said_or_thought() else {
            return self.replace(app, &document(last)).await;
        };
        let message = Message::from_stored(message.to_string().into());
        let id = NewId::Fresh(self.id.name.as_str().into());
        let turn = NewTurn { id, create_time: None, message, goes_with_thread: true };
        kept.add_with(app, turn, |seq| self.put(&document(seq)).ok()).await
    }

    /// Removes a response that was stored and could not begin.
    pub async fn discard(app: &Shared, user: &str, id: &ResponseId) -> Result<()> {
        app.store.delete(&path(user, id)?, None).await?;
        Ok(())
    }

    /// Stores that the response failed, or removes it if no client knows of it.
    pub(super) async fn fail(&self, app: &Shared, trace_id: &str, error: &Error) -> Result<()> {
        if self.outlives_failure {
            let before = load(&app.store, &self.user, &self.id).await?;
            let before = before.unwrap_or_else(|| self.stored(trace_id));
            let end = Some(ResponseEnd::failed(error));
            return self.replace(app, &StoredResponse { end, ..before }).await.map(|_| ());
        }
        Self::discard(app, &self.user, &self.id).await
    }

    /// Replaces the document, unless it was forgotten.
    async fn replace(&self, app: &Shared, document: &StoredResponse) -> Result<bool> {
        let expect = Op::Expect { at: path(&self.user, &self.id)? };
        let written = app.store.write(vec![expect, self.put(document)?]).await;
        Ok(unless_forgotten(written.map_err(Error::from))?.is_some())
    }

    fn stored(&self, trace_id: &str) -> StoredResponse {
        StoredResponse {
            shown: self.shown.members.clone(),
            is_in_conversation: self.is_in_conversation,
            end: None,
            first_seq: 0,
            input_seq: 0,
            last_seq: 0,
            trace_id: trace_id.to_owned(),
            prompt_id: None,
            compaction: None,
        }
    }

    fn put(&self, document: &StoredResponse) -> Result<Op> {
        let unwritten = |error| Error::new(Code::Internal, format!("the response cannot be written: {error}"));
        let value = serde_json::to_vec(document).map_err(unwritten)?;
        let terms = PutTerms { now: now(), ..PutTerms::default() };
        Ok(Op::Put { at: path(&self.user, &self.id)?, value: value.into(), terms })
    }
}

impl StoredResponse {
    /// How far it is. One that has not ended and is not being made was lost with its process.
    pub fn state(&self, app: &Shared, id: &ResponseId) -> ResponseState {
        match &self.end {
            Some(end) => ResponseState::Ended(Box::new(end.clone())),
            None if app.replies.is_running(&id.reply_name()) => ResponseState::Running,
            None => ResponseState::Ended(Box::new(ResponseEnd::lost())),
        }
    }

    /// The items that its request added.
    pub async fn input(&self, app: &Shared, user: &str, id: &ResponseId) -> Result<Vec<Value>> {
        if self.first_seq == 0 {
            return Ok(Vec::new());
        }
        let of = scope::turns(user, &id.thread).map_err(bad_id)?;
        let range = Range::Between { first: self.first_seq, last: self.input_seq };
        let turns = app.store.turns(&of, range).await?;
        Ok(turns.iter().flat_map(|turn| show_turn(&id.thread, turn)).collect())
    }

    /// The items that the model made.
    pub async fn output(&self, app: &Shared, user: &str, id: &ResponseId) -> Result<Vec<Value>> {
        let of = scope::turns(user, &id.thread).map_err(bad_id)?;
        let document = app.store.get(&of.document(&id.name).map_err(bad_id)?).await?;
        let shown = document.map(|document| show_document(&id.thread, &id.name, &document.value));
        let compaction = match &self.compaction {
            Some(compaction) => compaction::get(app, user, &id.thread, compaction).await?,
            None => None,
        };
        let compaction = compaction.map(|compaction| show_compaction(&id.thread, &compaction));
        Ok(compaction.into_iter().chain(shown.unwrap_or_default()).collect())
    }
}

/// Whether a response is still being made.
#[derive(Debug, Clone, PartialEq)]
pub enum ResponseState {
    /// It is being made on this node.
    Running,
    /// It is over.
    Ended(Box<ResponseEnd>),
}

/// The response of this id.
pub async fn load(store: &Store, user: &str, id: &ResponseId) -> Result<Option<StoredResponse>> {
    let Some(document) = store.get(&path(user, id)?).await? else { return Ok(None) };
    Ok(serde_json::from_slice(&document.value).ok())
}

/// The document of a response.
pub fn path(user: &str, id: &ResponseId) -> Result<DocumentPath> {
    let thread = scope::thread(user, &id.thread).and_then(|thread| thread.child(RESPONSES));
    thread.and_then(|responses| responses.document(&id.name)).map_err(bad_id)
}

fn bad_id(error: novelo_engine::path::PathError) -> Error {
    Error::bad_id("user or thread", &error)
}

/// The messages that stored turns show.
fn shown_messages(turns: &novelo_store::Turns) -> Vec<Message> {
    turns.iter().map(|turn| turn.message.shown().clone()).filter(|message| message.role().is_some()).collect()
}
