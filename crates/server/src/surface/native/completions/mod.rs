//! `POST /v1/chat/completions`: OpenAI's form, with a thread.
//!
//! The model is one of Novelo's jobs, or a name that a configured server knows. If a thread is named, new
//! messages are stored, the model sees the thread within its window, and its answer is stored. Without a
//! thread the model sees only the messages, and nothing is stored. The caller runs the tools. Every response
//! names the thread in `X-Novelo-Thread`.

pub(crate) mod subject;
mod writer;

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use novelo_engine::limits::INLINE_MESSAGES_MAX;
use novelo_engine::path::encode_segment;
use novelo_engine::recipe::{ComponentSpec, FilterSpec, RecipeBuilder};
use novelo_engine::{Message, Role};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::turns::accept_messages;
use crate::http::body::{Json, RawBody, parse_object};
use crate::http::error::{ApiError, ApiResult};
use crate::http::sse;
use crate::server::Server;
use novelo_conversation::answer::reply::{RelayRequest, ReplyInput, ReplyKind, ReplyRequest};
use novelo_conversation::answer::{
    self, AnswerRequest, EventReader, PromptRecording, Reply, ReplyOptions, ReplyOwner, ResponseFormat,
};
use novelo_conversation::app::{App, Shared};
use novelo_conversation::caller::Caller;
use novelo_conversation::error::{Code, Error, Relayed, Result};
use novelo_conversation::model::{Job, Model};
use novelo_conversation::policy::{self, Preset};
use novelo_conversation::thread::refused::Refusals;
use novelo_conversation::trace::RequestTracer;
use subject::{CompletionSubject, THREAD};
use writer::CompletionWriter;
pub(crate) use writer::broken;

#[derive(Deserialize)]
struct CompletionRequest<'b> {
    model: Option<String>,
    #[serde(borrow)]
    messages: Vec<&'b RawValue>,
    stream: Option<bool>,
    stream_options: Option<Map<String, Value>>,
    user: Option<String>,
    n: Option<u64>,
    metadata: Option<Map<String, Value>>,
}

/// Members of a request that are not passed to the model.
const OURS: [&str; 6] = ["model", "messages", "stream", "stream_options", "n", "metadata"];

const SURFACE: &str = "chat/completions";
/// The value of `X-Novelo-Thread` for no thread.
const NO_THREAD: &str = "none";
/// How long a stream may take to begin.
const HEAD_WAIT: Duration = Duration::from_secs(5);
/// A caller must not choose the model server or its credentials, directly or through a server behind it.
const REFUSED: [&str; 5] = ["api_base", "base_url", "api_key", "extra_headers", "extra_body"];

pub(crate) async fn complete(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    body: ApiResult<RawBody>,
) -> Response {
    let answered = match body {
        Ok(RawBody(body)) => answer(&app, caller, &headers, &body).await,
        Err(error) => Err(error),
    };
    answered.unwrap_or_else(|ApiError(error)| refused(error))
}

/// The refusal of a caller, in OpenAI's form.
pub(crate) fn refuse(_: &Server, error: Error) -> Response {
    refused(error)
}

fn refused(error: Error) -> Response {
    in_thread(None, ApiError(error.for_openai()).into_response())
}

async fn answer(app: &App, caller: Caller, headers: &HeaderMap, body: &[u8]) -> ApiResult<Response> {
    if let Some(reader) = sse::resume(app, &caller, headers, |format| matches!(format, ResponseFormat::Relay { .. }))? {
        let thread = reader.thread().map(str::to_owned);
        return Ok(in_thread(thread.as_deref(), streamed(reader)));
    }
    let request: CompletionRequest<'_> = parse_object(body)?;
    if request.n.is_some_and(|n| n != 1) {
        return Err(
            Error::invalid("n", "must be 1: a thread has one answer to a question; ask again for another").into()
        );
    }
    let messages = accept_messages(&request.messages, INLINE_MESSAGES_MAX, "INLINE_MESSAGES_MAX")?;
    if messages.is_empty() {
        return Err(Error::invalid("messages", "is empty").into());
    }
    let subject = CompletionSubject::read(app, headers, &request, &caller)?;
    let options = options(body, request.metadata.as_ref())?;
    let (job, model) = model(app, request.model.as_deref()).await?;
    let kind = ReplyKind::Relay(Box::new(RelayRequest { job, model, options, shortens: true, has_span_tools: false }));
    let asked = asked(app, &subject, messages, kind).await?;
    let (trace_id, streams) = (asked.tracer.id().encode(), request.stream == Some(true));
    let usual = asked.reply_options(streams);
    let reply_options = ReplyOptions {
        owner: ReplyOwner {
            user: usual.owner.user.or(subject.user).or_else(|| caller.user()),
            thread: usual.owner.thread,
        },
        format: ResponseFormat::Relay {
            model: request.model.unwrap_or_else(|| job.name().to_owned()),
            wants_usage: request
                .stream_options
                .is_some_and(|options| options.get("include_usage") == Some(&json!(true))),
        },
        ..usual
    };
    let answer = match answer::begin(app, AnswerRequest::Reply(asked), reply_options) {
        Ok(reader) if streams => begun(reader).await,
        Ok(reader) => whole(reader).await,
        Err(error) => Err(error),
    };
    let answer = answer.map_err(Error::for_openai);
    Ok(in_thread(subject.thread.as_deref(), sse::traced(&trace_id, answer)))
}

/// The response with the name of the thread that was used.
pub(crate) fn in_thread(thread: Option<&str>, mut response: Response) -> Response {
    let name = match thread {
        None => NO_THREAD.to_owned(),
        // A thread of this name is percent-encoded, and callers must do the same.
        Some(NO_THREAD) => "%6Eone".to_owned(),
        Some(thread) => encode_segment(thread),
    };
    if let Ok(name) = HeaderValue::try_from(name) {
        response.headers_mut().insert(THREAD, name);
    }
    response
}

/// A stream that has begun. An early error gets its own status; after `HEAD_WAIT` the stream begins anyway,
/// so that a slow model does not keep the client waiting.
async fn begun(mut reader: EventReader) -> Result<Response> {
    match tokio::time::timeout(HEAD_WAIT, reader.begun()).await.ok().flatten() {
        Some(error) => Err(error),
        None => Ok(streamed(reader)),
    }
}

fn streamed(reader: EventReader) -> Response {
    let writer = CompletionWriter::for_reader(&reader);
    sse::answer(reader, move |told| writer.write_event(told))
}

async fn whole(reader: EventReader) -> Result<Response> {
    let writer = CompletionWriter::for_reader(&reader);
    let whole = |reply: &Reply| match writer::broken(reply) {
        Some(error) => Err(error),
        None => Ok(Json::from_value(&writer.whole(reply)).into_response()),
    };
    sse::whole(reader, whole).await
}

/// The members that are passed to the model unchanged. The thread in `metadata` is removed.
fn options(body: &[u8], metadata: Option<&Map<String, Value>>) -> Result<Map<String, Value>> {
    let mut options: Map<String, Value> = parse_object(body)?;
    options.retain(|name, _| !OURS.contains(&name.as_str()));
    if let Some(name) = REFUSED.into_iter().find(|name| options.contains_key(*name)) {
        return Err(Error::invalid(name, "is the operator's to set"));
    }
    let mut metadata = metadata.cloned().unwrap_or_default();
    metadata.remove(subject::THREAD_ID);
    if !metadata.is_empty() {
        options.insert("metadata".to_owned(), Value::Object(metadata));
    }
    Ok(options)
}

/// The model that the caller names, else the one for answers.
pub(crate) async fn model(app: &Shared, named: Option<&str>) -> Result<(Job, Option<Model>)> {
    let Some(named) = named.filter(|name| !name.is_empty()) else {
        return Ok((Job::Answer, app.models.get(Job::Answer).cloned()));
    };
    if named.len() > MODEL_NAME_BYTES_MAX || named.chars().any(char::is_control) {
        return Err(Error::invalid("model", format_args!("must be a name of at most {MODEL_NAME_BYTES_MAX} bytes")));
    }
    app.models.choose(named).await.map_err(|unknown| unknown_model(named, &unknown.known))
}

const MODEL_NAME_BYTES_MAX: usize = 256;

/// The error for an unknown model, in OpenAI's form.
pub(crate) fn unknown_model(named: &str, known: &[String]) -> Error {
    let names = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    let error = Error::not_found(format_args!("model {named}; there are {names}")).for_openai();
    let relayed = error.relayed.map(|relayed| Box::new(Relayed { code: "model_not_found".to_owned(), ..*relayed }));
    Error { param: Some("model".to_owned()), relayed, ..error }
}

async fn asked(
    app: &App,
    subject: &CompletionSubject,
    messages: Vec<Message>,
    kind: ReplyKind,
) -> Result<ReplyRequest> {
    let Some((user, thread)) = subject.user.as_ref().zip(subject.thread.as_ref()) else {
        let preset = Preset::from(RecipeBuilder::new().filter(FilterSpec::tool_call_backfill()).build()?);
        return Ok(ReplyRequest {
            user: None,
            thread: None,
            input: ReplyInput::Messages(messages),
            preset: Arc::new(preset),
            kind,
            tracer: RequestTracer::begin(&app.recorder, SURFACE),
            response: None,
            recording: PromptRecording::default(),
        });
    };
    let (instructions, said): (Vec<Message>, Vec<Message>) =
        messages.into_iter().partition(|message| message.role().is_some_and(Role::instructs));
    app.replies.end_unread(user, thread).await;
    let new_messages = novelo_conversation::thread::new_messages(app, user, thread, &said).await?;
    if new_messages.new.is_empty() && new_messages.is_answered {
        return Err(Error::invalid("messages", "hold nothing to answer that the thread does not hold already"));
    }
    if !new_messages.asked_again.is_empty() {
        Refusals::lift(&app.store, user, thread, &new_messages.asked_again).await?;
    }
    let preset = Arc::new(preset(app, &instructions)?);
    let tracer = RequestTracer::begin(&app.recorder, SURFACE);
    tracer.about(user, thread);
    let (user, thread, recording) = (Some(user.clone()), Some(thread.clone()), PromptRecording::default());
    let input = ReplyInput::Messages(new_messages.new);
    Ok(ReplyRequest { user, thread, input, preset, kind, tracer, response: None, recording })
}

/// The preset of a thread, after the instructions of the caller.
fn preset(app: &Shared, instructions: &[Message]) -> Result<Preset> {
    let preset = app.policies.preset(policy::DEFAULT);
    let preset = preset.ok_or_else(|| Error::new(Code::Internal, "there is no preset chat"))?;
    let literal = |message: &Message| {
        let text = novelo_conversation::text::said(message)?;
        Some(ComponentSpec::literal(message.role()?, text))
    };
    Ok(preset.with_leading("messages", instructions.iter().filter_map(literal))?)
}
