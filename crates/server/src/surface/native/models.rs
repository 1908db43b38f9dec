//! The models that a caller may name, in OpenAI's shape: the jobs, and what the configured servers list.

use axum::extract::State;
use serde_json::{Value, json};

use super::completions::unknown_model;
use crate::http::body::{Json, PathIds};
use crate::http::error::ApiResult;
use novelo_conversation::app::App;
use novelo_conversation::error::Error;

pub(crate) async fn list(State(app): State<App>) -> Json {
    Json::from_value(&json!({"object": "list", "data": app.models.described().await}))
}

/// One model. An id may contain slashes.
pub(crate) async fn get(State(app): State<App>, PathIds(id): PathIds<String>) -> ApiResult<Json> {
    let found = app.models.described().await.into_iter().find(|model| model.get("id") == Some(&Value::from(&*id)));
    match found {
        Some(model) => Ok(Json::from_value(&model)),
        None => {
            Err(Error { param: Some("id".to_owned()), ..unknown_model(&id, &app.models.known_names().await) }.into())
        }
    }
}
