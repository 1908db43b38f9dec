//! `/v1/traces`: reading what was recorded of an assembly, and making it again.

use axum::extract::State;

use crate::app::App;
use crate::auth::Caller;
use crate::flow;
use crate::http::body::{Ids, Json};
use crate::http::error::{ApiError, Code, Result};
use crate::trace::{Inputs, Trace, TraceId};

pub async fn get(State(app): State<App>, caller: Caller, Ids(id): Ids<String>) -> Result<Json> {
    let trace = find(&app, &caller, &id).await?;
    let (_, explanation, identical) = flow::replay(&app, &trace).await?;
    let explanation = serde_json::to_string(&explanation).map_err(internal)?;
    let mut out = serde_json::to_vec(&trace).map_err(internal)?;
    out.truncate(out.len() - 1);
    out.extend_from_slice(format!(r#","identical":{identical},"explain":{explanation}}}"#).as_bytes());
    Ok(Json::written(out))
}

pub async fn replay(State(app): State<App>, caller: Caller, Ids(id): Ids<String>) -> Result<Json> {
    let trace = find(&app, &caller, &id).await?;
    let (messages, _, identical) = flow::replay(&app, &trace).await?;
    let mut out = b"{\"messages\":".to_vec();
    out.extend_from_slice(&messages);
    out.extend_from_slice(format!(r#","identical":{identical}}}"#).as_bytes());
    Ok(Json::written(out))
}

async fn find(app: &App, caller: &Caller, id: &str) -> Result<Trace> {
    let unknown = || ApiError::not_found("such trace");
    let id = TraceId::decode(id).ok_or_else(unknown)?;
    let recorded = app.recorder.find(&id);
    let owner = id.thread.as_ref().map(|(user, _)| user).or(recorded.as_ref().and_then(|t| t.user.as_ref()));
    match owner {
        Some(user) => caller.require_user(user)?,
        None => caller.require_admin()?,
    }
    if let Some(trace) = recorded {
        return Ok((*trace).clone());
    }
    let document = app.store.get(&id.path().ok_or_else(unknown)?).await?.ok_or_else(unknown)?;
    let trace: Trace = serde_json::from_slice(&document.value).map_err(|_| unknown())?;
    // The document may have been written by its user: it speaks of the thread that it lies in, and of no other.
    let (user, thread) = id.thread.ok_or_else(unknown)?;
    let inputs = Inputs { turns_in: None, ..trace.inputs };
    Ok(Trace { user: Some(user), thread: Some(thread), inputs, ..trace })
}

fn internal(error: serde_json::Error) -> ApiError {
    ApiError::new(Code::Internal, format!("the trace cannot be read: {error}"))
}
