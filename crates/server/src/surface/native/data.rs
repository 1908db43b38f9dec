//! `…/data`: the data of a user, an object.

use axum::extract::State;
use bytes::Bytes;
use serde_json::value::RawValue;

use super::documents::put_terms;
use crate::http::body::{Json, PathIds, RawBody, parse};
use crate::http::error::ApiResult;
use novelo_conversation::app::App;
use novelo_conversation::error::Result;
use novelo_conversation::remember::user_data;

pub(crate) async fn get(State(app): State<App>, PathIds(user): PathIds<String>) -> ApiResult<Json> {
    Ok(user_data::get(&app, &user).await.map(Json::from_bytes)?)
}

pub(crate) async fn put(
    State(app): State<App>,
    PathIds(user): PathIds<String>,
    RawBody(body): RawBody,
) -> ApiResult<Json> {
    Ok(write(&app, &user, body, false).await?)
}

pub(crate) async fn patch(
    State(app): State<App>,
    PathIds(user): PathIds<String>,
    RawBody(body): RawBody,
) -> ApiResult<Json> {
    Ok(write(&app, &user, body, true).await?)
}

/// Stores the data, and returns it as it is now.
async fn write(app: &App, user: &str, body: Bytes, merge: bool) -> Result<Json> {
    let written: &RawValue = parse(&body)?;
    let terms = put_terms("body", written.get(), merge, None)?;
    user_data::write(app, user, ("body", written.get()), terms).await.map(Json::from_bytes)
}
