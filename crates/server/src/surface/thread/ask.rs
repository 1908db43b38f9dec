//! `POST /api/ask`: a question to a thread, and its answer, whole or as it is made.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use novelo_engine::limits::QUESTION_BYTES_MAX;
use novelo_engine::path::check_id;
use serde::Deserialize;
use serde_json::json;

use crate::app::App;
use crate::auth::{ANONYMOUS, Caller};
use crate::http::body::{Json, Raw, parse_object};
use crate::http::error::{ApiError, Code, Result};
use crate::http::sse;
use crate::memory::check;
use crate::reply::{Asked, Event, Manner, Reader, Says};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    question: String,
    thread_id: Option<String>,
    user_id: Option<String>,
    stream: Option<bool>,
}

const PRESET: &str = "thread";

pub async fn ask(State(app): State<App>, caller: Caller, headers: HeaderMap, Raw(body): Raw) -> Result<Response> {
    let wire: Wire = parse_object(&body)?;
    let thread = wire.thread_id.unwrap_or_else(|| uuid::Uuid::new_v4().to_string());
    let reader = app.replies.begin(&app, asked(&app, user(wire.user_id, &caller)?, thread, wire.question)?)?;
    match sse::is_wanted(wire.stream, &headers) {
        true => Ok(sse::answer(reader, event)),
        false => whole(reader).await,
    }
}

/// Whose thread it is: a key speaks for its user; whoever speaks for all may name one.
pub fn user(named: Option<String>, caller: &Caller) -> Result<String> {
    match named {
        Some(user) => caller.require_user(&user).map(|()| user),
        None => Ok(caller.user().unwrap_or_else(|| ANONYMOUS.to_owned())),
    }
}

/// A question, checked.
pub fn asked(app: &App, user: String, thread: String, question: String) -> Result<Asked> {
    check_id(&user).map_err(|e| ApiError::bad_id("user_id", &e))?;
    check_id(&thread).map_err(|e| ApiError::bad_id("thread_id", &e))?;
    check::text("question", &question, ("QUESTION_BYTES_MAX", QUESTION_BYTES_MAX))?;
    let preset = app.policies.preset(PRESET);
    let preset = preset.ok_or_else(|| ApiError::new(Code::Internal, format!("there is no preset {PRESET}")))?;
    let (says, manner) = (Says::Question(question), Manner::Assist(None));
    Ok(Asked { user: Some(user), thread: Some(thread), says, preset, manner })
}

/// The whole answer, once there is one.
pub async fn whole(reader: Reader) -> Result<Response> {
    sse::whole(reader, |reply| Json::write(reply).map(IntoResponse::into_response)).await
}

/// An event as its frame.
pub fn event(number: usize, event: &Event) -> String {
    let (name, written) = match event {
        Event::Question(understood) => ("question", serde_json::to_string(understood)),
        Event::Prompt(prompted) => ("sources", serde_json::to_string(prompted)),
        Event::Text(text) => ("text", Ok(json!({"delta": text}).to_string())),
        Event::Skill(called) => ("skill", serde_json::to_string(called)),
        Event::Done(reply) => ("done", serde_json::to_string(reply)),
        Event::Failed(error) => ("error", Ok(String::from_utf8_lossy(&error.body()).into_owned())),
    };
    let unwritten = |e| ApiError::new(Code::Internal, format!("the event {name} cannot be written: {e}"));
    match written.map_err(unwritten) {
        Ok(data) => sse::frame(number, name, &data),
        Err(error) => sse::frame(number, "error", &String::from_utf8_lossy(&error.body())),
    }
}
