//! Threads: listing, forking, forgetting.

use axum::extract::State;
use novelo_engine::path::Prefix;
use novelo_engine::{json, scope};
use serde::Deserialize;

use crate::app::App;
use crate::auth::Caller;
use crate::http::body::{Ids, Json, Params, Raw, page_size, parse_object};
use crate::http::error::{ApiError, Result};

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
) -> Result<Json> {
    caller.require_user(&user)?;
    let under = scope::threads(&user).map_err(|e| ApiError::bad_id("user", &e))?;
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
) -> Result<Json> {
    caller.require_user(&user)?;
    let fork: Fork = parse_object(&body)?;
    let from = scope::turns(&user, &thread).map_err(|e| ApiError::bad_id("user or thread", &e))?;
    let to = scope::turns(&user, &fork.to).map_err(|e| ApiError::bad_id("to", &e))?;
    let turns = app.store.fork(&from, fork.at_seq, &to).await?;
    Ok(Json::written(format!(r#"{{"thread":{},"turns":{turns}}}"#, json::literal(&fork.to)).into_bytes()))
}

pub async fn forget(
    State(app): State<App>,
    caller: Caller,
    Ids((user, thread)): Ids<(String, String)>,
) -> Result<Json> {
    caller.require_user(&user)?;
    let what = scope::thread(&user, &thread).map_err(|e| ApiError::bad_id("user or thread", &e))?;
    forgotten(&app, &what.prefix(), &user, Some(&thread)).await
}

pub async fn forget_user(State(app): State<App>, caller: Caller, Ids(user): Ids<String>) -> Result<Json> {
    caller.require_user(&user)?;
    let what = scope::user(&user).map_err(|e| ApiError::bad_id("user", &e))?;
    forgotten(&app, &what.prefix(), &user, None).await
}

async fn forgotten(app: &App, what: &Prefix, user: &str, thread: Option<&str>) -> Result<Json> {
    let paused = app.recorder.pause().await;
    let forgotten = app.store.forget(what).await?;
    let traces_waiting = app.recorder.forget(user, thread);
    drop(paused);
    app.caches.forget(what);
    app.indexes.forget(user);
    app.made.retain(|_| false);
    let erasing = app.store.health().erasing;
    Ok(Json::of(&serde_json::json!({
        "forgotten": {
            "documents": forgotten.documents,
            "passages": 0,
            "traces": forgotten.traces + traces_waiting,
        },
        "erasing": erasing,
    })))
}
