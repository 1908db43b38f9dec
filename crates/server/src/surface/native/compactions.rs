//! `…/threads/{thread}/compactions`, `…/spans` and `…/pins`: old turns in short, and back again.

use axum::extract::State;
use novelo_engine::compact::SpanMaker;
use novelo_engine::recipe::CompactOptions;
use serde::Deserialize;
use serde_json::json;

use super::context::tokenizer;
use super::{PageParams, deleted};
use crate::http::body::{Json, PathIds, QueryParams, RawBody, parse_object};
use crate::http::error::ApiResult;
use novelo_conversation::app::App;
use novelo_conversation::context::compact::{self, CompactRequest};
use novelo_conversation::error::Error;
use novelo_conversation::thread::compaction::{self, Pins};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewCompaction {
    max_tokens: Option<u32>,
    keep: Option<f64>,
    recent_turns: Option<u32>,
    by: Option<SpanMaker>,
    max_text_tokens: Option<u32>,
    tokenizer: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewPins {
    turns: Vec<String>,
}

pub(crate) async fn make(
    State(app): State<App>,
    PathIds((user, thread)): PathIds<(String, String)>,
    RawBody(body): RawBody,
) -> ApiResult<Json> {
    let body = if body.is_empty() { b"{}".as_slice().into() } else { body };
    let NewCompaction { max_tokens, keep, recent_turns, by, max_text_tokens, tokenizer: counted } =
        parse_object(&body)?;
    let options = CompactOptions { max_tokens, keep, recent_turns, by, max_text_tokens };
    let tokenizer = counted.as_deref().map(tokenizer).transpose()?.unwrap_or_default();
    Ok(Json::serialize(&compact::compact(&app, &user, &thread, &CompactRequest { options, tokenizer }).await?)?)
}

pub(crate) async fn list(
    State(app): State<App>,
    PathIds((user, thread)): PathIds<(String, String)>,
    QueryParams(page): QueryParams<PageParams>,
) -> ApiResult<Json> {
    let (compactions, has_more) = compaction::list(&app, &user, &thread, page.after(), page.limit()?).await?;
    Ok(Json::from_value(&json!({"compactions": compactions, "has_more": has_more})))
}

pub(crate) async fn get(
    State(app): State<App>,
    PathIds((user, thread, id)): PathIds<(String, String, String)>,
) -> ApiResult<Json> {
    let found = compaction::get(&app, &user, &thread, &id).await?;
    Ok(Json::serialize(&found.ok_or_else(|| Error::not_found(format_args!("compaction {id}")))?)?)
}

pub(crate) async fn undo(
    State(app): State<App>,
    PathIds((user, thread, id)): PathIds<(String, String, String)>,
) -> ApiResult<Json> {
    deleted(compaction::undo(&app, &user, &thread, &id).await?, &format!("compaction {id}"))
}

pub(crate) async fn span(
    State(app): State<App>,
    PathIds((user, thread, id)): PathIds<(String, String, String)>,
) -> ApiResult<Json> {
    Ok(Json::serialize(&compact::span(&app, &user, &thread, &id).await?)?)
}

pub(crate) async fn restore(
    State(app): State<App>,
    PathIds((user, thread, id)): PathIds<(String, String, String)>,
) -> ApiResult<Json> {
    Ok(Json::serialize(&compact::restore(&app, &user, &thread, &id).await?)?)
}

pub(crate) async fn pins(
    State(app): State<App>,
    PathIds((user, thread)): PathIds<(String, String)>,
) -> ApiResult<Json> {
    Ok(Json::serialize(&compact::pins(&app, &user, &thread).await?)?)
}

pub(crate) async fn set_pins(
    State(app): State<App>,
    PathIds((user, thread)): PathIds<(String, String)>,
    RawBody(body): RawBody,
) -> ApiResult<Json> {
    let NewPins { turns } = parse_object(&body)?;
    Ok(Json::serialize(&compaction::set_pins(&app, &user, &thread, Pins { turns }).await?)?)
}
