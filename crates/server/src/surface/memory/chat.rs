//! `POST /memory/chat`: an assistant that remembers, and that may use the skills.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use novelo_engine::limits::QUESTION_BYTES_MAX;
use novelo_language::iso_date;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{context, subject};
use crate::http::body::{RawBody, parse_object};
use crate::http::error::ApiResult;
use crate::http::sse;
use crate::surface::optional_id;
use crate::surface::thread;
use novelo_conversation::answer::reply::{Asked, Manner, Says, Skills};
use novelo_conversation::app::App;
use novelo_conversation::caller::Caller;
use novelo_conversation::policy::Preset;
use novelo_conversation::remember::check;
use novelo_conversation::remember::reset::DEFAULT_SESSION;
use novelo_conversation::telemetry::now;
use novelo_conversation::trace::Tracer;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MemoryChatRequest {
    user_id: Option<String>,
    session_id: Option<String>,
    task_id: Option<String>,
    message: String,
    stream: Option<bool>,
}

const SURFACE: &str = "memory/chat";

pub(crate) async fn chat(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    RawBody(body): RawBody,
) -> ApiResult<Response> {
    if let Some(reader) = sse::resume(&app, &caller, &headers, thread::is_ours)? {
        return Ok(sse::answer(reader, thread::event));
    }
    let wire: MemoryChatRequest = parse_object(&body)?;
    let user = subject(wire.user_id, &caller)?;
    let session = optional_id("session_id", wire.session_id)?.unwrap_or_else(|| DEFAULT_SESSION.to_owned());
    let task = optional_id("task_id", wire.task_id)?;
    check::text("message", &wire.message, ("QUESTION_BYTES_MAX", QUESTION_BYTES_MAX))?;
    let preset = Arc::new(Preset::given("recipe", recipe(&app))?);
    let (says, manner) = (Says::Question(wire.message), Manner::Assist(Some(Skills { caller, task })));
    let tracer = Tracer::begin(&app.recorder, SURFACE);
    tracer.about(&user, &session);
    let asked = Asked { user: Some(user), thread: Some(session), says, preset, manner, tracer };
    Ok(thread::answer(&app, asked, sse::is_wanted(wire.stream, &headers)).await)
}

/// The date, then the context of this surface, then the question.
fn recipe(app: &App) -> Value {
    let mut recipe = context::recipe(app, true);
    let date = json!({"kind": "literal", "value": format!("Current date: {}", iso_date(now()))});
    if let Some(components) = recipe.get_mut("components").and_then(Value::as_array_mut) {
        components.insert(0, date);
    }
    recipe
}
