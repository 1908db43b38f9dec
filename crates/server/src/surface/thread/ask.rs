//! `POST /api/ask`: a question to a thread, and its answer, whole or as a stream.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use novelo_engine::limits::QUESTION_BYTES_MAX;
use novelo_engine::path::check_id;
use serde::Deserialize;
use serde_json::json;

use super::wire::{CallBody, QuestionBody, ReplyBody, SourcesBody};
use crate::http::body::{Json, RawBody, parse_object};
use crate::http::error::ApiResult;
use crate::http::sse;
use novelo_conversation::answer::reply::{ReplyInput, ReplyKind, ReplyRequest};
use novelo_conversation::answer::{
    self, AnswerRequest, Event, EventReader, LoggedEvent, PromptRecording, ResponseFormat,
};
use novelo_conversation::app::App;
use novelo_conversation::caller::{ANONYMOUS, Caller};
use novelo_conversation::error::{Code, Error, Result};
use novelo_conversation::remember::check;
use novelo_conversation::trace::RequestTracer;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ThreadAskRequest {
    question: String,
    thread_id: Option<String>,
    user_id: Option<String>,
    stream: Option<bool>,
}

const SURFACE: &str = "api/ask";
const PRESET: &str = "thread";

pub(crate) async fn ask(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    RawBody(body): RawBody,
) -> ApiResult<Response> {
    if let Some(reader) = sse::resume(&app, &caller, &headers, is_ours)? {
        return Ok(sse::answer(reader, event));
    }
    let wire: ThreadAskRequest = parse_object(&body)?;
    let thread = wire.thread_id.unwrap_or_else(|| uuid::Uuid::new_v4().to_string());
    let asked = asked(&app, SURFACE, user(wire.user_id, &caller)?, thread, wire.question)?;
    Ok(answer(&app, asked, sse::is_wanted(wire.stream, &headers)).await)
}

/// Whether `event` can write this form of a reply.
pub(crate) fn is_ours(format: &ResponseFormat) -> bool {
    *format == ResponseFormat::Assist
}

/// Begins the reply and returns it, as a stream or whole.
pub(crate) async fn answer(app: &App, asked: ReplyRequest, streams: bool) -> Response {
    let trace_id = asked.tracer.id().encode();
    let options = asked.reply_options(streams);
    let answer = match answer::begin(app, AnswerRequest::Reply(asked), options) {
        Ok(reader) if streams => Ok(sse::answer(reader, event)),
        Ok(reader) => whole(reader).await,
        Err(error) => Err(error),
    };
    sse::traced(&trace_id, answer)
}

/// The owner of the thread: the user of the key, or the user that a service or admin names.
pub(crate) fn user(named: Option<String>, caller: &Caller) -> Result<String> {
    Ok(caller.subject("user_id", named)?.unwrap_or_else(|| ANONYMOUS.to_owned()))
}

/// A checked question from a surface.
pub(crate) fn asked(app: &App, surface: &str, user: String, thread: String, question: String) -> Result<ReplyRequest> {
    check_id(&user).map_err(|e| Error::bad_id("user_id", &e))?;
    check_id(&thread).map_err(|e| Error::bad_id("thread_id", &e))?;
    check::text("question", &question, ("QUESTION_BYTES_MAX", QUESTION_BYTES_MAX))?;
    let preset = app.policies.preset(PRESET);
    let preset = preset.ok_or_else(|| Error::new(Code::Internal, format!("there is no preset {PRESET}")))?;
    let (input, kind) = (ReplyInput::Question(question), ReplyKind::Assist(None));
    let tracer = RequestTracer::begin(&app.recorder, surface);
    tracer.about(&user, &thread);
    let (user, thread, recording) = (Some(user), Some(thread), PromptRecording::default());
    Ok(ReplyRequest { user, thread, input, preset, kind, tracer, response: None, recording })
}

/// The whole answer, once it is finished.
pub(crate) async fn whole(reader: EventReader) -> Result<Response> {
    sse::whole(reader, |reply| Json::serialize(&ReplyBody::from(reply)).map(IntoResponse::into_response)).await
}

/// The frame of an event, after a frame with the number of events that are no longer stored.
pub(crate) fn event(told: &LoggedEvent) -> String {
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
