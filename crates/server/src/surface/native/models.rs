//! The models in force, in OpenAI's shape: a job is what a caller may name, the server's own name stands beside it.

use axum::extract::State;
use serde_json::json;

use crate::app::App;
use crate::auth::Caller;
use crate::http::body::Json;

pub async fn list(State(app): State<App>, _: Caller) -> Json {
    let of = |model: &crate::model::Model| {
        let name = Some(model.name()).filter(|name| !name.is_empty());
        json!({
            "id": model.job().name(), "object": "model", "created": 0, "owned_by": "novelo", "model": name,
        })
    };
    Json::of(&json!({"object": "list", "data": app.models.all().iter().map(of).collect::<Vec<_>>()}))
}
