//! `…/threads/{thread}/summary`: the summary of turns that no longer fit into a thread's window.

use axum::extract::State;
use serde::Deserialize;

use super::deleted;
use crate::http::body::{Json, PathIds, RawBody, parse_object};
use crate::http::error::ApiResult;
use novelo_conversation::app::App;
use novelo_conversation::error::Error;
use novelo_conversation::remember::summary;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SetSummaryRequest {
    text: String,
    upto_seq: Option<u64>,
}

pub(crate) async fn get(State(app): State<App>, PathIds((user, thread)): PathIds<(String, String)>) -> ApiResult<Json> {
    let summary = summary::get(&app, &user, &thread).await?;
    Ok(Json::serialize(&summary.ok_or_else(|| Error::not_found("summary of this thread"))?)?)
}

pub(crate) async fn put(
    State(app): State<App>,
    PathIds((user, thread)): PathIds<(String, String)>,
    RawBody(body): RawBody,
) -> ApiResult<Json> {
    let wire: SetSummaryRequest = parse_object(&body)?;
    Ok(Json::serialize(&summary::set(&app, &user, &thread, &wire.text, wire.upto_seq).await?)?)
}

pub(crate) async fn delete(
    State(app): State<App>,
    PathIds((user, thread)): PathIds<(String, String)>,
) -> ApiResult<Json> {
    deleted(summary::remove(&app, &user, &thread).await?, "summary of this thread")
}
