//! Threads: listing, forking, forgetting.

use axum::extract::State;
use novelo_engine::{json, scope};
use serde::Deserialize;

use crate::http::body::{Ids, Json, Params, Raw, page_size, parse_object};
use crate::http::error::ApiResult;
use novelo_conversation::app::App;
use novelo_conversation::caller::Caller;
use novelo_conversation::error::Error;
use novelo_conversation::remember::forget::{self, Traces};
use novelo_conversation::thread::refused::Refusals;

const LIMIT_DEFAULT: usize = 100;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    after: Option<String>,
    limit: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fork {
    at_seq: u64,
    to: String,
}

pub async fn list(
    State(app): State<App>,
    caller: Caller,
    Ids(user): Ids<String>,
    Params(list): Params<List>,
) -> ApiResult<Json> {
    caller.require_user(&user)?;
    let under = scope::threads(&user).map_err(|e| Error::bad_id("user", &e))?;
    let limit = page_size("limit", list.limit, LIMIT_DEFAULT)?;
    let after = list.after.as_deref().filter(|after| !after.is_empty());
    let page = app.store.threads(&under, scope::TURNS, after, limit).await?;
    let rows = page
        .items
        .iter()
        .map(|row| serde_json::json!({"id": row.id, "turns": row.turns, "updated_at": row.updated_at}));
    let threads: Vec<_> = rows.collect();
    Ok(Json::of(&serde_json::json!({"threads": threads, "has_more": page.has_more})))
}

pub async fn fork(
    State(app): State<App>,
    caller: Caller,
    Ids((user, thread)): Ids<(String, String)>,
    Raw(body): Raw,
) -> ApiResult<Json> {
    caller.require_user(&user)?;
    let fork: Fork = parse_object(&body)?;
    let from = scope::turns(&user, &thread).map_err(|e| Error::bad_id("user or thread", &e))?;
    let to = scope::turns(&user, &fork.to).map_err(|e| Error::bad_id("to", &e))?;
    let turns = app.store.fork(&from, fork.at_seq, &to).await?;
    Refusals::fork(&app.store, &user, &thread, fork.at_seq, &fork.to).await?;
    app.touched(&user, &fork.to);
    Ok(Json::written(format!(r#"{{"thread":{},"turns":{turns}}}"#, json::literal(&fork.to)).into_bytes()))
}

pub async fn forget(
    State(app): State<App>,
    caller: Caller,
    Ids((user, thread)): Ids<(String, String)>,
) -> ApiResult<Json> {
    caller.require_user(&user)?;
    let what = scope::thread(&user, &thread).map_err(|e| Error::bad_id("user or thread", &e))?;
    Ok(forget::forget(&app, &user, &[what.prefix()], Traces::OfThread(&thread))
        .await
        .map(|forgotten| Json::of(&forgotten.answer()))?)
}

pub async fn forget_user(State(app): State<App>, caller: Caller, Ids(user): Ids<String>) -> ApiResult<Json> {
    caller.require_user(&user)?;
    let what = scope::user(&user).map_err(|e| Error::bad_id("user", &e))?;
    Ok(forget::forget(&app, &user, &[what.prefix()], Traces::OfUser)
        .await
        .map(|forgotten| Json::of(&forgotten.answer()))?)
}
