//! `/v1/traces`: reads the trace of a prompt or of a request, and replays prompts.

use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;

use crate::http::body::{Json, PathIds};
use crate::http::error::ApiResult;
use novelo_conversation::app::App;
use novelo_conversation::caller::Caller;
use novelo_conversation::context;
use novelo_conversation::error::{Code, Error, Result};
use novelo_conversation::trace::{self, PromptTrace, TraceEntry, TraceId};

pub(crate) async fn get(State(app): State<App>, caller: Caller, PathIds(id): PathIds<String>) -> ApiResult<Json> {
    read(&app, &caller, &id).await
}

/// The trace of a prompt with its explanation, or of a request.
pub(crate) async fn read(app: &App, caller: &Caller, id: &str) -> ApiResult<Json> {
    let trace = match find(app, caller, id).await? {
        TraceEntry::Prompt(trace) => trace,
        TraceEntry::Request(request_trace) => return Ok(written(&*request_trace, r#""kind":"course""#)?),
    };
    let (_, explanation, identical) = context::replay(app, &trace).await?;
    let explanation = serde_json::to_string(&explanation).map_err(internal)?;
    Ok(written(&*trace, &format!(r#""kind":"prompt","identical":{identical},"explain":{explanation}"#))?)
}

pub(crate) async fn replay(State(app): State<App>, caller: Caller, PathIds(id): PathIds<String>) -> ApiResult<Json> {
    let trace = prompt(&app, &caller, &id).await?;
    let (messages, _, identical) = context::replay(&app, &trace).await?;
    let mut out = b"{\"messages\":".to_vec();
    out.extend_from_slice(&messages);
    out.extend_from_slice(format!(r#","identical":{identical}}}"#).as_bytes());
    Ok(Json::from_bytes(out))
}

/// The prompt with this id. If the id is of a request, the last prompt that was made for it.
async fn prompt(app: &App, caller: &Caller, id: &str) -> Result<Arc<PromptTrace>> {
    let none = || Error::not_found("prompt in this trace");
    let request_trace = match find(app, caller, id).await? {
        TraceEntry::Prompt(trace) => return Ok(trace),
        TraceEntry::Request(request_trace) => request_trace,
    };
    match find(app, caller, request_trace.prompts.last().ok_or_else(none)?).await? {
        TraceEntry::Prompt(trace) => Ok(trace),
        TraceEntry::Request(_) => Err(none()),
    }
}

/// The trace with this id, if the caller may see it: its user, or an admin if it has no user.
async fn find(app: &App, caller: &Caller, id: &str) -> Result<TraceEntry> {
    let unknown = || Error::not_found("such trace");
    let id = TraceId::decode(id).ok_or_else(unknown)?;
    if let Some((user, _)) = &id.thread {
        caller.require_user(user)?;
        return trace::find(&app.store, &app.recorder, &id).await?.ok_or_else(unknown);
    }
    let entry = trace::find(&app.store, &app.recorder, &id).await?;
    match entry.as_ref().and_then(TraceEntry::user) {
        Some(user) => caller.require_user(user)?,
        None => caller.require_admin()?,
    }
    entry.ok_or_else(unknown)
}

/// The object with more members at its end.
fn written(object: &impl Serialize, more: &str) -> Result<Json> {
    let mut out = serde_json::to_vec(object).map_err(internal)?;
    out.truncate(out.len() - 1);
    out.extend_from_slice(format!(",{more}}}").as_bytes());
    Ok(Json::from_bytes(out))
}

fn internal(error: serde_json::Error) -> Error {
    Error::new(Code::Internal, format!("the trace cannot be read: {error}"))
}
