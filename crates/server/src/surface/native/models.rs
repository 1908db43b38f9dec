//! The models that a caller may name, in OpenAI's shape: the jobs, what the configured servers list, and the
//! embedder.

use axum::extract::State;
use serde_json::{Value, json};

use super::completions::unknown_model;
use crate::http::body::{Json, PathIds};
use crate::http::error::ApiResult;
use crate::surface::responses::EMBEDDING;
use novelo_conversation::app::App;
use novelo_conversation::error::Error;

pub(crate) async fn list(State(app): State<App>) -> Json {
    Json::from_value(&json!({"object": "list", "data": described(&app).await}))
}

/// One model. An id may contain slashes.
pub(crate) async fn get(State(app): State<App>, PathIds(id): PathIds<String>) -> ApiResult<Json> {
    let found = described(&app).await.into_iter().find(|model| model.get("id") == Some(&Value::from(&*id)));
    match found {
        Some(model) => Ok(Json::from_value(&model)),
        None => {
            Err(Error { param: Some("id".to_owned()), ..unknown_model(&id, &app.models.known_names().await) }.into())
        }
    }
}

async fn described(app: &App) -> Vec<Value> {
    let mut all = app.models.described().await;
    if let Some(name) = app.indexes.embedder.model_name() {
        let is_known = |id: &str, all: &[Value]| all.iter().any(|model| model.get("id") == Some(&Value::from(id)));
        all.push(json!({"id": EMBEDDING, "object": "model", "created": 0, "owned_by": "novelo", "model": name}));
        if !is_known(name, &all) {
            all.push(json!({"id": name, "object": "model", "created": 0, "owned_by": "novelo"}));
        }
    }
    all
}
