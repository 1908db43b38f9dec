//! `POST /memory/chat`: an assistant that remembers, and that may use the skills.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use novelo_engine::limits::QUESTION_BYTES_MAX;
use novelo_engine::recipe::ComponentSpec;
use novelo_language::iso_date;
use serde::Deserialize;

use super::{context, subject};
use crate::http::body::{RawBody, parse_object};
use crate::http::error::ApiResult;
use crate::http::sse;
use crate::surface::optional_id;
use crate::surface::thread;
use novelo_conversation::answer::reply::{ReplyInput, ReplyKind, ReplyRequest};
use novelo_conversation::answer::{PromptRecording, Skills};
use novelo_conversation::app::App;
use novelo_conversation::caller::Caller;
use novelo_conversation::policy::Preset;
use novelo_conversation::remember::check;
use novelo_conversation::remember::reset::DEFAULT_SESSION;
use novelo_conversation::telemetry::now;
use novelo_conversation::trace::RequestTracer;

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
    let date = ComponentSpec::system(format!("Current date: {}", iso_date(now())));
    // The message that is answered does not take a place of the window.
    let turns = context::window_turns(&app).saturating_add(1);
    let preset = Arc::new(Preset::from(context::recipe([date], turns, true)?));
    let (input, kind) = (ReplyInput::Question(wire.message), ReplyKind::Assist(Some(Skills { caller, task })));
    let tracer = RequestTracer::begin(&app.recorder, SURFACE);
    tracer.about(&user, &session);
    let (user, thread, recording) = (Some(user), Some(session), PromptRecording::default());
    let asked = ReplyRequest { user, thread, input, preset, kind, tracer, response: None, recording };
    Ok(thread::answer(&app, asked, sse::is_wanted(wire.stream, &headers)).await)
}
