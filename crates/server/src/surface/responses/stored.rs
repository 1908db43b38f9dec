//! Responses that are stored: reading, resuming, cancelling, explaining and deleting them.

use axum::response::{IntoResponse, Response};
use novelo_engine::scope;
use novelo_store::{Op, Range};
use serde::Deserialize;
use serde_json::{Value, json};

use super::call::{CallInput, ResponseCall, UserParams};
use super::writer::{self, ResponseWriter};
use super::{OpenAiResult, coded, in_thread};
use crate::http::sse;
use crate::surface::native::traces;
use novelo_conversation::answer::response::{self, ResponseState, ResponseStatus, StoredResponse};
use novelo_conversation::answer::{EventReader, ResponseFormat};
use novelo_conversation::app::App;
use novelo_conversation::caller::Caller;
use novelo_conversation::error::{Error, Result};
use novelo_conversation::remember::forget;
use novelo_conversation::thread::item::{ResponseId, thread_of_conversation};

#[derive(Deserialize)]
pub(super) struct ReadParams {
    user: Option<String>,
    stream: Option<bool>,
    starting_after: Option<u64>,
}

impl CallInput for ReadParams {
    fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }
}

/// A response of a user.
pub(super) struct Found {
    pub(super) user: String,
    pub(super) id: ResponseId,
    pub(super) stored: StoredResponse,
}

/// The response of this id, of this user.
pub(super) async fn find(app: &App, user: String, id: &str) -> Result<Found> {
    let unknown = || coded(404, "not_found", Some("response_id"), format!("Response with id '{id}' not found."));
    let parsed = ResponseId::parse(id).ok_or_else(unknown)?;
    let stored = response::load(&app.store, &user, &parsed).await?.ok_or_else(unknown)?;
    Ok(Found { user, id: parsed, stored })
}

/// The thread of a conversation that exists.
pub(super) async fn require_conversation(app: &App, user: &str, id: &str) -> Result<String> {
    let unknown = || coded(404, "not_found", Some("conversation"), format!("Conversation with id '{id}' not found."));
    let thread = thread_of_conversation(id).ok_or_else(unknown)?;
    let bad_id = |e| Error::bad_id("conversation", &e);
    let turns = scope::turns(user, &thread).map_err(bad_id)?;
    let exists = app.store.get(&scope::thread(user, &thread).map_err(bad_id)?).await?.is_some()
        || !app.store.turns(&turns, Range::Last(1)).await?.is_empty();
    if exists { Ok(thread) } else { Err(unknown()) }
}

impl Found {
    /// The response as it is now.
    pub(super) async fn show(&self, app: &App) -> Result<Value> {
        let Self { user, id, stored } = self;
        let members = stored.shown.clone();
        match stored.state(app, id) {
            ResponseState::Running => Ok(writer::with_status(members, ResponseStatus::InProgress)),
            ResponseState::Ended(end) => Ok(writer::ended(members, &end, stored.output(app, user, id).await?)),
        }
    }

    fn reader(&self, app: &App, caller: &Caller) -> Option<EventReader> {
        app.replies.resume(&self.id.reply_name(), 0, caller, |format| matches!(format, ResponseFormat::Response(_)))
    }
}

pub(super) async fn get(call: ResponseCall<ReadParams>) -> OpenAiResult<Response> {
    let ResponseCall { app, caller, found, input, .. } = &call;
    if input.stream != Some(true) {
        if input.starting_after.is_some() {
            return Err(Error::invalid("starting_after", "goes with stream=true").into());
        }
        return call.answer(&found.show(app).await?);
    }
    let Some(reader) = found.reader(app, caller) else {
        let problem = "cannot be resumed any more: the response has ended a while ago; read it without stream";
        return Err(Error::invalid("stream", problem).into());
    };
    let writer = ResponseWriter::for_reader(&reader, input.starting_after);
    let head = writer.head();
    // The first event is still there, unless the response is longer than what is kept of one.
    if reader.is_cut() {
        let problem = "cannot be resumed: the response is too long for its events to be kept; read it whole";
        return Err(Error::invalid("stream", problem).into());
    }
    let head = Some(head).filter(|head| !head.is_empty());
    let stream = sse::answer_after(head, reader, move |told| writer.write_event(told));
    Ok(in_thread(Some(&found.id.thread), stream))
}

/// Ends a response that is made in the background.
pub(super) async fn cancel(mut call: ResponseCall<UserParams>) -> OpenAiResult<Response> {
    if call.found.stored.shown.get("background") != Some(&json!(true)) {
        let problem = "is not of a background response: only those are cancelled";
        return Err(Error::invalid("response_id", problem).into());
    }
    if let Some(mut reader) = call.found.reader(&call.app, &call.caller) {
        reader.dismiss();
        while reader.next().await.is_some() {}
        call.found = find(&call.app, call.found.user.clone(), &call.id).await?;
    }
    call.answer(&call.found.show(&call.app).await?)
}

/// Removes a response. Its turns go too where nothing follows them; else later responses rest on them, and
/// they stay a part of the thread.
pub(super) async fn delete(call: ResponseCall<UserParams>) -> OpenAiResult<Response> {
    let ResponseCall { app, found: Found { user, id, stored }, .. } = &call;
    let bad_id = |e| Error::bad_id("response_id", &e);
    let of = scope::turns(user, &id.thread).map_err(bad_id)?;
    let mut ops = vec![Op::Delete { at: response::path(user, id)?, if_version: None }];
    let behind = app.store.turns(&of, Range::After { seq: stored.last_seq, limit: 1 }).await?;
    if !stored.is_in_conversation && stored.first_seq > 0 && behind.is_empty() {
        let range = Range::Between { first: stored.first_seq, last: stored.last_seq };
        for turn in app.store.turns(&of, range).await?.iter() {
            ops.push(Op::Delete { at: of.document(&turn.id).map_err(bad_id)?, if_version: None });
        }
    }
    forget::write(app, ops).await?;
    call.answer(&json!({"id": call.id, "object": "response", "deleted": true}))
}

/// What of the conversation the model saw, and why.
pub(super) async fn explain(call: ResponseCall<UserParams>) -> OpenAiResult<Response> {
    let prompt = call.found.stored.prompt_id.as_deref();
    let prompt = prompt.ok_or_else(|| Error::not_found("prompt of this response: it has not ended, or failed"))?;
    let explained = traces::read(&call.app, &call.caller, prompt).await?;
    Ok(in_thread(Some(&call.found.id.thread), explained.into_response()))
}
