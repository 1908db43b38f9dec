//! The models that a caller may name, in OpenAI's shape: the jobs, and what the configured servers list.

use axum::extract::State;
use serde_json::{Value, json};

use super::completions::unknown_model;
use crate::http::body::{Ids, Json};
use crate::http::error::ApiResult;
use novelo_conversation::app::App;
use novelo_conversation::caller::Caller;
use novelo_conversation::error::Error;

pub async fn list(State(app): State<App>, _: Caller) -> Json {
    Json::of(&json!({"object": "list", "data": app.models.described().await}))
}

/// One of them. An id may hold slashes.
pub async fn get(State(app): State<App>, _: Caller, Ids(id): Ids<String>) -> ApiResult<Json> {
    let found = app.models.described().await.into_iter().find(|model| model.get("id") == Some(&Value::from(&*id)));
    match found {
        Some(model) => Ok(Json::of(&model)),
        None => {
            Err(Error { param: Some("id".to_owned()), ..unknown_model(&id, &app.models.known_names().await) }.into())
        }
    }
}
