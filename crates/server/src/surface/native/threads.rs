//! Threads: listing, forking, forgetting.

use axum::extract::State;
use novelo_engine::{json, scope};
use serde::Deserialize;

use super::PageParams;
use crate::http::body::{Json, PathIds, QueryParams, RawBody, parse_object};
use crate::http::error::ApiResult;
use novelo_conversation::app::App;
use novelo_conversation::error::Error;
use novelo_conversation::remember::forget::{self, Traces};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ForkRequest {
    at_seq: u64,
    to: String,
}

pub(crate) async fn list(
    State(app): State<App>,
    PathIds(user): PathIds<String>,
    QueryParams(page): QueryParams<PageParams>,
) -> ApiResult<Json> {
    let under = scope::threads(&user).map_err(|e| Error::bad_id("user", &e))?;
    let found = app.store.threads(&under, scope::TURNS, page.after(), page.limit()?).await?;
    let rows = found
        .items
        .iter()
        .map(|row| serde_json::json!({"id": row.id, "turns": row.turns, "updated_at": row.updated_at}));
    let threads: Vec<_> = rows.collect();
    Ok(Json::from_value(&serde_json::json!({"threads": threads, "has_more": found.has_more})))
}

pub(crate) async fn fork(
    State(app): State<App>,
    PathIds((user, thread)): PathIds<(String, String)>,
    RawBody(body): RawBody,
) -> ApiResult<Json> {
    let fork: ForkRequest = parse_object(&body)?;
    let turns = novelo_conversation::thread::fork(&app, &user, &thread, fork.at_seq, &fork.to).await?;
    Ok(Json::from_bytes(format!(r#"{{"thread":{},"turns":{turns}}}"#, json::literal(&fork.to)).into_bytes()))
}

pub(crate) async fn forget(
    State(app): State<App>,
    PathIds((user, thread)): PathIds<(String, String)>,
) -> ApiResult<Json> {
    let what = scope::thread(&user, &thread).map_err(|e| Error::bad_id("user or thread", &e))?;
    Ok(forget::forget(&app, &user, &[what.prefix()], Traces::OfThread(&thread))
        .await
        .map(|forgotten| Json::from_value(&forgotten.answer()))?)
}

pub(crate) async fn forget_user(State(app): State<App>, PathIds(user): PathIds<String>) -> ApiResult<Json> {
    let what = scope::user(&user).map_err(|e| Error::bad_id("user", &e))?;
    Ok(forget::forget(&app, &user, &[what.prefix()], Traces::OfUser)
        .await
        .map(|forgotten| Json::from_value(&forgotten.answer()))?)
}
