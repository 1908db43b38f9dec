//! `POST /v1/chat/completions`: OpenAI's form, with the thread behind it.
//!
//! The model is one of the jobs that `/v1/models` lists, or what the server behind one calls it. With `X-Novelo-Thread`
//! what is new among the messages is stored, the model sees the thread within its window, and its answer is stored too;
//! without it the messages are all there is, and nothing is kept. Tools are the caller's to run.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use novelo_engine::limits::INLINE_MESSAGES_MAX;
use novelo_engine::path::{check_id, decode_segment};
use novelo_engine::{Message, Role};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::turns::accept_messages;
use crate::app::{App, Shared};
use crate::auth::Caller;
use crate::http::body::{Json, Raw, parse_object};
use crate::http::error::{ApiError, Code, Result};
use crate::http::sse;
use crate::model::{Job, ToolCall};
use crate::policy::{self, Preset};
use crate::reply::{Asked, Event, Form, Manner, Owner, Reader, Reply, Says, Terms, Told};
use crate::trace::Tracer;

#[derive(Deserialize)]
struct Wire<'b> {
    model: Option<String>,
    #[serde(borrow)]
    messages: Vec<&'b RawValue>,
    stream: Option<bool>,
    stream_options: Option<Map<String, Value>>,
    user: Option<String>,
    n: Option<u64>,
}

/// What of a request is not the model's.
const OURS: [&str; 6] = ["model", "messages", "stream", "stream_options", "user", "n"];

const SURFACE: &str = "chat/completions";
const THREAD: &str = "x-novelo-thread";
/// How long a stream may take to begin.
const HEAD_WAIT: Duration = Duration::from_secs(5);
/// Which server is asked, and as whom, is not a caller's to say; nor may a server behind it be talked into it.
const REFUSED: [&str; 5] = ["api_base", "base_url", "api_key", "extra_headers", "extra_body"];

pub async fn complete(State(app): State<App>, caller: Caller, headers: HeaderMap, Raw(body): Raw) -> Result<Response> {
    if let Some(reader) = sse::resume(&app, &caller, &headers, |form| matches!(form, Form::Relay { .. }))? {
        return Ok(streamed(reader));
    }
    let wire: Wire<'_> = parse_object(&body)?;
    if wire.n.is_some_and(|n| n != 1) {
        return Err(ApiError::invalid("n", "must be 1"));
    }
    let job = job(&app, wire.model.as_deref())?;
    let messages = accept_messages(&wire.messages, INLINE_MESSAGES_MAX, "INLINE_MESSAGES_MAX")?;
    if messages.is_empty() {
        return Err(ApiError::invalid("messages", "is empty"));
    }
    let place = place(&headers, wire.user.clone(), &caller)?;
    let mut options: Map<String, Value> = parse_object(&body)?;
    options.retain(|name, _| !OURS.contains(&name.as_str()));
    if let Some(name) = REFUSED.into_iter().find(|name| options.contains_key(*name)) {
        return Err(ApiError::invalid(name, "is the operator's to set"));
    }
    let asked = asked(&app, place, messages, Manner::Relay(job, options)).await?;
    let (trace_id, streams) = (asked.tracer.id().encode(), wire.stream == Some(true));
    let usual = asked.terms(streams);
    let terms = Terms {
        owner: Owner { user: usual.owner.user.or(wire.user).or_else(|| caller.user()), thread: usual.owner.thread },
        form: Form::Relay {
            model: wire.model.unwrap_or_else(|| job.name().to_owned()),
            wants_usage: wire.stream_options.is_some_and(|options| options.get("include_usage") == Some(&json!(true))),
        },
        ..usual
    };
    let answer = match app.replies.begin(&app, asked, terms) {
        Ok(reader) if streams => begun(reader).await,
        Ok(reader) => whole(reader).await,
        Err(error) => Err(error),
    };
    Ok(sse::traced(&trace_id, answer))
}

/// A stream that has begun. An error has its status where it comes soon; a model that thinks for long must not keep the
/// client waiting.
async fn begun(mut reader: Reader) -> Result<Response> {
    match tokio::time::timeout(HEAD_WAIT, reader.begun()).await.ok().flatten() {
        Some(error) => Err(error),
        None => Ok(streamed(reader)),
    }
}

fn streamed(reader: Reader) -> Response {
    let frame = Frame::of(&reader);
    sse::answer(reader, move |told| frame.told(told))
}

async fn whole(reader: Reader) -> Result<Response> {
    let frame = Frame::of(&reader);
    let whole = |reply: &Reply| match broken(reply) {
        Some(error) => Err(error),
        None => Ok(Json::of(&frame.whole(reply)).into_response()),
    };
    sse::whole(reader, whole).await
}

/// The job that a caller names, by its own name or by that of its model; the one that answers where none is named.
fn job(app: &Shared, named: Option<&str>) -> Result<Job> {
    let Some(named) = named.filter(|name| !name.is_empty()) else { return Ok(Job::Answer) };
    let known = Job::ALL.into_iter().find(|job| job.name() == named);
    let behind = || app.models.all().iter().find(|model| model.name() == named).map(|model| model.job());
    known.or_else(behind).ok_or_else(|| {
        let names = Job::ALL.map(Job::name).join(", ");
        ApiError {
            param: Some("model".to_owned()),
            ..ApiError::not_found(format_args!("model {named}; there are {names}"))
        }
    })
}

/// The user and the thread, where one is named.
fn place(headers: &HeaderMap, user: Option<String>, caller: &Caller) -> Result<Option<(String, String)>> {
    if let Some(user) = &user {
        check_id(user).map_err(|e| ApiError::bad_id("user", &e))?;
        caller.require_user(user)?;
    }
    let Some(thread) = headers.get(THREAD) else { return Ok(None) };
    let thread = thread.to_str().map_err(|_| ApiError::invalid("X-Novelo-Thread", "must be visible characters"))?;
    let bad_id = |e| ApiError::bad_id("X-Novelo-Thread", &e);
    let thread = decode_segment(thread).map_err(bad_id)?;
    check_id(&thread).map_err(bad_id)?;
    let user = user.or_else(|| caller.user());
    let user = user.ok_or_else(|| ApiError::invalid("user", "is missing: a thread belongs to one"))?;
    Ok(Some((user, thread)))
}

async fn asked(app: &App, place: Option<(String, String)>, messages: Vec<Message>, manner: Manner) -> Result<Asked> {
    let Some((user, thread)) = place else {
        let preset = Preset::given("recipe", json!({"filters": ["toolCallBackfill"]}))?;
        return Ok(Asked {
            user: None,
            thread: None,
            says: Says::Messages(messages),
            preset: Arc::new(preset),
            manner,
            tracer: Tracer::begin(app, SURFACE),
        });
    };
    let (instructions, said): (Vec<Message>, Vec<Message>) =
        messages.into_iter().partition(|message| message.role().is_some_and(Role::instructs));
    let unsaid = crate::turns::unsaid(app, &user, &thread, &said).await?;
    if unsaid.new.is_empty() && unsaid.is_answered {
        return Err(ApiError::invalid("messages", "hold nothing to answer that the thread does not hold already"));
    }
    let preset = Arc::new(preset(app, &instructions)?);
    let tracer = Tracer::begin(app, SURFACE);
    tracer.about(&user, &thread);
    Ok(Asked { user: Some(user), thread: Some(thread), says: Says::Messages(unsaid.new), preset, manner, tracer })
}

/// The preset of a thread, with the instructions of the caller before it.
fn preset(app: &Shared, instructions: &[Message]) -> Result<Preset> {
    let preset = app.policies.preset(policy::DEFAULT);
    let preset = preset.ok_or_else(|| ApiError::new(Code::Internal, "there is no preset chat"))?;
    let mut recipe: Value = serde_json::from_str(preset.text.get())
        .map_err(|e| ApiError::new(Code::Internal, format!("the preset chat: {e}")))?;
    let literal = |message: &Message| {
        let text = crate::recall::said(message)?;
        Some(json!({"kind": "literal", "role": message.role()?.name(), "value": text}))
    };
    if let Some(components) = recipe.get_mut("components").and_then(Value::as_array_mut) {
        components.splice(0..0, instructions.iter().filter_map(literal));
    }
    Ok(Preset::given("messages", recipe)?)
}

/// What every part of one answer says of it, also to one who comes back.
struct Frame {
    id: String,
    created: u64,
    model: String,
    wants_usage: bool,
}

impl Frame {
    fn of(reader: &Reader) -> Self {
        let (model, wants_usage) = match reader.form() {
            Form::Relay { model, wants_usage } => (model.clone(), *wants_usage),
            Form::Assist | Form::Guided { .. } => (String::new(), false),
        };
        let id = format!("chatcmpl-{}", reader.name());
        Self { id, created: reader.started_at() as u64, model, wants_usage }
    }

    /// The frames of an event. The last of them has its id: who comes back before that is told all of them.
    fn told(&self, told: &Told) -> String {
        let missed = match told.missed {
            0 => String::new(),
            missed => format!(": missed {missed} events\n\n"),
        };
        let mut frames = self.frames(&told.event);
        if let Some(last) = frames.pop() {
            frames.push(format!("id: {}\n{last}", told.id));
        }
        missed + &frames.concat()
    }

    fn frames(&self, event: &Event) -> Vec<String> {
        match event {
            Event::Text(text) => vec![self.chunk(&json!({"content": text}), None)],
            Event::Calls(calls) => vec![self.chunk(&json!({"tool_calls": indexed(calls)}), None)],
            Event::Done(reply) => self.end(reply),
            Event::Failed(error) => vec![data(String::from_utf8_lossy(&error.body()))],
            _ => Vec::new(),
        }
    }

    fn end(&self, reply: &Reply) -> Vec<String> {
        let end = match broken(reply) {
            Some(error) => data(String::from_utf8_lossy(&error.body())),
            None => self.chunk(&json!({}), Some(&reply.finish)),
        };
        let usage = self.wants_usage.then(|| {
            let usage = json!({"choices": [], "usage": usage(reply)});
            data(self.with("chat.completion.chunk", usage))
        });
        [Some(end), usage, Some(data("[DONE]"))].into_iter().flatten().collect()
    }

    fn chunk(&self, delta: &Value, finish: Option<&str>) -> String {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        data(self.with("chat.completion.chunk", json!({"choices": [choice]})))
    }

    fn whole(&self, reply: &Reply) -> Value {
        let message = crate::reply::message(&reply.answer, &reply.to_run);
        let choice = json!({"index": 0, "message": message, "finish_reason": reply.finish});
        self.with("chat.completion", json!({"choices": [choice], "usage": usage(reply)}))
    }

    fn with(&self, object: &str, mut rest: Value) -> Value {
        let mut value = json!({"id": self.id, "object": object, "created": self.created, "model": self.model});
        if let (Some(members), Some(rest)) = (value.as_object_mut(), rest.as_object_mut()) {
            members.append(rest);
        }
        value
    }
}

fn data(data: impl std::fmt::Display) -> String {
    format!("data: {data}\n\n")
}

/// What kept an answer from its end.
fn broken(reply: &Reply) -> Option<ApiError> {
    reply.partial.map(|partial| ApiError::new(Code::ModelFailed, partial.in_words()))
}

fn usage(reply: &Reply) -> Value {
    let usage = reply.usage.unwrap_or_default();
    let total = usage.prompt_tokens.saturating_add(usage.completion_tokens);
    json!({"prompt_tokens": usage.prompt_tokens, "completion_tokens": usage.completion_tokens, "total_tokens": total})
}

fn indexed(calls: &[ToolCall]) -> Vec<Value> {
    let with_index = |(index, call): (usize, &ToolCall)| {
        let mut call = call.message();
        if let Some(members) = call.as_object_mut() {
            members.insert("index".to_owned(), index.into());
        }
        call
    };
    calls.iter().enumerate().map(with_index).collect()
}
