//! `…/threads/{thread}/summary`: what fell out of a thread's window.

use axum::extract::State;
use serde::Deserialize;

use crate::http::body::{Ids, Json, Raw, parse_object};
use crate::http::error::ApiResult;
use novelo_conversation::app::App;
use novelo_conversation::caller::Caller;
use novelo_conversation::error::Error;
use novelo_conversation::remember::summary;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    text: String,
    upto_seq: Option<u64>,
}

pub async fn get(
    State(app): State<App>,
    caller: Caller,
    Ids((user, thread)): Ids<(String, String)>,
) -> ApiResult<Json> {
    caller.require_user(&user)?;
    let summary = summary::get(&app, &user, &thread).await?;
    Ok(Json::write(&summary.ok_or_else(|| Error::not_found("summary of this thread"))?)?)
}

pub async fn put(
    State(app): State<App>,
    caller: Caller,
    Ids((user, thread)): Ids<(String, String)>,
    Raw(body): Raw,
) -> ApiResult<Json> {
    caller.require_user(&user)?;
    let wire: Wire = parse_object(&body)?;
    Ok(Json::write(&summary::set(&app, &user, &thread, &wire.text, wire.upto_seq).await?)?)
}

pub async fn delete(
    State(app): State<App>,
    caller: Caller,
    Ids((user, thread)): Ids<(String, String)>,
) -> ApiResult<Json> {
    caller.require_user(&user)?;
    match summary::remove(&app, &user, &thread).await? {
        true => Ok(Json::written(br#"{"deleted":true}"#.to_vec())),
        false => Err(Error::not_found("summary of this thread").into()),
    }
}
