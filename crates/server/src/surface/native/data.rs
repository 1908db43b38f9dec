//! `…/data`: what is known of a user, a flat object.

use axum::extract::State;
use bytes::Bytes;
use novelo_engine::component::user_data_path;
use serde_json::Value;

use super::documents::put_document;
use crate::app::App;
use crate::auth::Caller;
use crate::http::body::{Ids, Json, Raw, parse};
use crate::http::error::{ApiError, Result};

pub async fn get(State(app): State<App>, caller: Caller, Ids(user): Ids<String>) -> Result<Json> {
    caller.require_user(&user)?;
    let at = user_data_path(&user).map_err(|e| ApiError::bad_id("user", &e))?;
    let document = app.store.get(&at).await?;
    Ok(Json::written(document.map_or_else(|| b"{}".to_vec(), |d| d.value.to_vec())))
}

pub async fn put(State(app): State<App>, caller: Caller, Ids(user): Ids<String>, Raw(body): Raw) -> Result<Json> {
    write(&app, &caller, &user, body, false).await
}

pub async fn patch(State(app): State<App>, caller: Caller, Ids(user): Ids<String>, Raw(body): Raw) -> Result<Json> {
    write(&app, &caller, &user, body, true).await
}

/// Stores the data, and answers with what it is now.
async fn write(app: &App, caller: &Caller, user: &str, body: Bytes, merge: bool) -> Result<Json> {
    caller.require_user(user)?;
    let at = user_data_path(user).map_err(|e| ApiError::bad_id("user", &e))?;
    check_flat(&parse::<Value>(&body)?)?;
    put_document(app, &at, body, merge, None).await?;
    let document = app.store.get(&at).await?;
    Ok(Json::written(document.map_or_else(|| b"{}".to_vec(), |d| d.value.to_vec())))
}

fn check_flat(data: &Value) -> Result<()> {
    let Value::Object(fields) = data else { return Err(ApiError::invalid("body", "must be an object")) };
    match fields.iter().find(|(_, value)| value.is_object() || value.is_array()) {
        Some((key, _)) => Err(ApiError::invalid(key.as_str(), "must be a string, a number, true, false or null")),
        None => Ok(()),
    }
}
