//! `…/data`: what is known of a user, a flat object.

use axum::extract::State;
use bytes::Bytes;
use serde_json::Value;
use serde_json::value::RawValue;

use super::documents::put_terms;
use crate::http::body::{Ids, Json, Raw, parse};
use crate::http::error::ApiResult;
use novelo_conversation::app::App;
use novelo_conversation::caller::Caller;
use novelo_conversation::error::Result;
use novelo_conversation::remember::user_data;

pub async fn get(State(app): State<App>, caller: Caller, Ids(user): Ids<String>) -> ApiResult<Json> {
    caller.require_user(&user)?;
    Ok(user_data::get(&app, &user).await.map(Json::written)?)
}

pub async fn put(State(app): State<App>, caller: Caller, Ids(user): Ids<String>, Raw(body): Raw) -> ApiResult<Json> {
    Ok(write(&app, &caller, &user, body, false).await?)
}

pub async fn patch(State(app): State<App>, caller: Caller, Ids(user): Ids<String>, Raw(body): Raw) -> ApiResult<Json> {
    Ok(write(&app, &caller, &user, body, true).await?)
}

/// Stores the data, and answers with what it is now.
async fn write(app: &App, caller: &Caller, user: &str, body: Bytes, merge: bool) -> Result<Json> {
    caller.require_user(user)?;
    let (data, written): (Value, &RawValue) = (parse(&body)?, parse(&body)?);
    let terms = put_terms("body", written.get(), merge, None)?;
    user_data::write(app, user, &data, written.get(), terms).await.map(Json::written)
}
