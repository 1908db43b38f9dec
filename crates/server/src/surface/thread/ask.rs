//! `POST /api/ask`: a question to a thread, and its answer, whole or as it is made.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use novelo_engine::limits::QUESTION_BYTES_MAX;
use novelo_engine::path::check_id;
use serde::Deserialize;
use serde_json::json;

use super::wire::{CallBody, QuestionBody, ReplyBody, SourcesBody};
use crate::http::body::{Json, Raw, parse_object};
use crate::http::error::ApiResult;
use crate::http::sse;
use novelo_conversation::answer::reply::{ReplyInput, ReplyKind, ReplyRequest};
use novelo_conversation::answer::{self, AnswerRequest, Event, EventReader, LoggedEvent, ResponseFormat};
use novelo_conversation::app::App;
use novelo_conversation::caller::{ANONYMOUS, Caller};
use novelo_conversation::error::{Code, Error, Result};
use novelo_conversation::remember::check;
use novelo_conversation::trace::Tracer;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    question: String,
    thread_id: Option<String>,
    user_id: Option<String>,
    stream: Option<bool>,
}

const SURFACE: &str = "api/ask";
const PRESET: &str = "thread";

pub async fn ask(State(app): State<App>, caller: Caller, headers: HeaderMap, Raw(body): Raw) -> ApiResult<Response> {
    if let Some(reader) = sse::resume(&app, &caller, &headers, is_ours)? {
        return Ok(sse::answer(reader, event));
    }
    let wire: Wire = parse_object(&body)?;
    let thread = wire.thread_id.unwrap_or_else(|| uuid::Uuid::new_v4().to_string());
    let asked = asked(&app, SURFACE, user(wire.user_id, &caller)?, thread, wire.question)?;
    Ok(answer(&app, asked, sse::is_wanted(wire.stream, &headers)).await)
}

/// Whether a reply is told in the words of `event`.
pub fn is_ours(format: &ResponseFormat) -> bool {
    *format == ResponseFormat::Assist
}

/// Begins to answer, and answers with that: as it is told, or whole.
pub async fn answer(app: &App, asked: ReplyRequest, streams: bool) -> Response {
    let trace_id = asked.tracer.id().encode();
    let options = asked.reply_options(streams);
    let answer = match answer::begin(app, AnswerRequest::Reply(asked), options) {
        Ok(reader) if streams => Ok(sse::answer(reader, event)),
        Ok(reader) => whole(reader).await,
        Err(error) => Err(error),
    };
    sse::traced(&trace_id, answer)
}

/// Whose thread it is: a key speaks for its user; whoever speaks for all may name one.
pub fn user(named: Option<String>, caller: &Caller) -> Result<String> {
    Ok(caller.subject("user_id", named)?.unwrap_or_else(|| ANONYMOUS.to_owned()))
}

/// A question that came in by a surface, checked.
pub fn asked(app: &App, surface: &str, user: String, thread: String, question: String) -> Result<ReplyRequest> {
    check_id(&user).map_err(|e| Error::bad_id("user_id", &e))?;
    check_id(&thread).map_err(|e| Error::bad_id("thread_id", &e))?;
    check::text("question", &question, ("QUESTION_BYTES_MAX", QUESTION_BYTES_MAX))?;
    let preset = app.policies.preset(PRESET);
    let preset = preset.ok_or_else(|| Error::new(Code::Internal, format!("there is no preset {PRESET}")))?;
    let (input, kind) = (ReplyInput::Question(question), ReplyKind::Assist(None));
    let tracer = Tracer::begin(&app.recorder, surface);
    tracer.about(&user, &thread);
    Ok(ReplyRequest { user: Some(user), thread: Some(thread), input, preset, kind, tracer })
}

/// The whole answer, once there is one.
pub async fn whole(reader: EventReader) -> Result<Response> {
    sse::whole(reader, |reply| Json::write(&ReplyBody::from(reply)).map(IntoResponse::into_response)).await
}

/// An event as its frame, and before it how many there were that cannot be told any more.
pub fn event(told: &LoggedEvent) -> String {
    match told.missed {
        0 => frame(told),
        missed => format!("event: missed\ndata: {}\n\n{}", json!({"events": missed}), frame(told)),
    }
}

fn frame(told: &LoggedEvent) -> String {
    let (name, written) = match &*told.event {
        Event::Question(understood) => ("question", serde_json::to_string(&QuestionBody::from(understood))),
        Event::Prompt(prompted) => ("sources", serde_json::to_string(&SourcesBody::from(prompted))),
        Event::Text(text) => ("text", Ok(json!({"delta": text}).to_string())),
        Event::Anew => ("anew", Ok("{}".to_owned())),
        Event::Skill(called) => ("skill", serde_json::to_string(&CallBody::from(called))),
        Event::Done(reply) => ("done", serde_json::to_string(&ReplyBody::from(&**reply))),
        Event::Failed(error) => ("error", Ok(String::from_utf8_lossy(&error.body()).into_owned())),
        Event::Ready
        | Event::First
        | Event::Call(..)
        | Event::More(_)
        | Event::Spoken { .. }
        | Event::Pending
        | Event::Guided(_) => {
            return String::new();
        }
    };
    let unwritten = |e| Error::new(Code::Internal, format!("the event {name} cannot be written: {e}"));
    match written.map_err(unwritten) {
        Ok(data) => sse::frame(&told.id, name, &data),
        Err(error) => sse::frame(&told.id, "error", &String::from_utf8_lossy(&error.body())),
    }
}
