//! `…/threads/{thread}/summary`: what fell out of a thread's window.

use axum::extract::State;
use serde::Deserialize;

use crate::app::App;
use crate::auth::Caller;
use crate::http::body::{Ids, Json, Raw, parse_object};
use crate::http::error::{ApiError, Result};
use crate::memory::summary;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    text: String,
    upto_seq: Option<u64>,
}

pub async fn get(State(app): State<App>, caller: Caller, Ids((user, thread)): Ids<(String, String)>) -> Result<Json> {
    caller.require_user(&user)?;
    let summary = summary::get(&app, &user, &thread).await?;
    Json::write(&summary.ok_or_else(|| ApiError::not_found("summary of this thread"))?)
}

pub async fn put(
    State(app): State<App>,
    caller: Caller,
    Ids((user, thread)): Ids<(String, String)>,
    Raw(body): Raw,
) -> Result<Json> {
    caller.require_user(&user)?;
    let wire: Wire = parse_object(&body)?;
    Json::write(&summary::set(&app, &user, &thread, &wire.text, wire.upto_seq).await?)
}

pub async fn delete(
    State(app): State<App>,
    caller: Caller,
    Ids((user, thread)): Ids<(String, String)>,
) -> Result<Json> {
    caller.require_user(&user)?;
    match summary::remove(&app, &user, &thread).await? {
        true => Ok(Json::written(br#"{"deleted":true}"#.to_vec())),
        false => Err(ApiError::not_found("summary of this thread")),
    }
}
