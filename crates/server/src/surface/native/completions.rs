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
use novelo_engine::{Message, Role, scope};
use novelo_store::Range;
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
use crate::reply::{Asked, Event, Manner, Reply, Says};
use crate::telemetry::now;

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

const THREAD: &str = "x-novelo-thread";
/// How long a stream may take to begin.
const HEAD_WAIT: Duration = Duration::from_secs(5);
/// Which server is asked, and as whom, is not a caller's to say; nor may a server behind it be talked into it.
const REFUSED: [&str; 5] = ["api_base", "base_url", "api_key", "extra_headers", "extra_body"];

pub async fn complete(State(app): State<App>, caller: Caller, headers: HeaderMap, Raw(body): Raw) -> Result<Response> {
    let wire: Wire<'_> = parse_object(&body)?;
    if wire.n.is_some_and(|n| n != 1) {
        return Err(ApiError::invalid("n", "must be 1"));
    }
    let job = job(&app, wire.model.as_deref())?;
    let messages = accept_messages(&wire.messages, INLINE_MESSAGES_MAX, "INLINE_MESSAGES_MAX")?;
    if messages.is_empty() {
        return Err(ApiError::invalid("messages", "is empty"));
    }
    let place = place(&headers, wire.user, &caller)?;
    let mut options: Map<String, Value> = parse_object(&body)?;
    options.retain(|name, _| !OURS.contains(&name.as_str()));
    if let Some(name) = REFUSED.into_iter().find(|name| options.contains_key(*name)) {
        return Err(ApiError::invalid(name, "is the operator's to set"));
    }
    let asked = asked(&app, place, messages, Manner::Relay(job, options)).await?;
    let frame = Frame {
        id: format!("chatcmpl-{}", crate::ids::fresh_text()),
        created: now() as u64,
        model: wire.model.unwrap_or_else(|| job.name().to_owned()),
        wants_usage: wire.stream_options.is_some_and(|options| options.get("include_usage") == Some(&json!(true))),
    };
    let mut reader = app.replies.begin(&app, asked)?;
    if wire.stream == Some(true) {
        // An error has its status where it comes soon; a model that thinks for long must not keep the client waiting.
        let begun = tokio::time::timeout(HEAD_WAIT, reader.begun()).await;
        return match begun.ok().flatten() {
            Some(error) => Err(error),
            None => Ok(sse::answer(reader, move |_, event| frame.of(event))),
        };
    }
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

async fn asked(app: &Shared, place: Option<(String, String)>, messages: Vec<Message>, manner: Manner) -> Result<Asked> {
    let Some((user, thread)) = place else {
        let preset = Preset::given("recipe", json!({"filters": ["toolCallBackfill"]}))?;
        return Ok(Asked {
            user: None,
            thread: None,
            says: Says::Messages(messages),
            preset: Arc::new(preset),
            manner,
        });
    };
    let of = scope::turns(&user, &thread).map_err(|e| ApiError::bad_id("user", &e))?;
    let kept = app.store.turns(&of, Range::Last(LOOK_BACK)).await?;
    let kept: Vec<Value> = kept.iter().map(|turn| words(turn.message.shown())).collect();
    let (instructions, said): (Vec<Message>, Vec<Message>) =
        messages.into_iter().partition(|message| message.role().is_some_and(Role::instructs));
    let new = said.get(known(&kept, &said)..).unwrap_or_default().to_vec();
    let is_answered = kept.last().is_none_or(|newest| newest.get(0) == Some(&json!(Role::Assistant.name())));
    if new.is_empty() && is_answered {
        return Err(ApiError::invalid("messages", "hold nothing to answer that the thread does not hold already"));
    }
    let preset = Arc::new(preset(app, &instructions)?);
    Ok(Asked { user: Some(user), thread: Some(thread), says: Says::Messages(new), preset, manner })
}

/// Turns of a thread that are compared with the messages that a caller sends again.
const LOOK_BACK: usize = 200;

/// How many of the messages the thread holds already: those of the longest run, from the first message on, that is a
/// run of the thread too. A single message in the middle of a thread is the same words said again, and so is what was
/// answered already.
fn known(kept: &[Value], said: &[Message]) -> usize {
    let said: Vec<Value> = said.iter().map(words).collect();
    let run = |from: usize| {
        let length = kept.iter().skip(from).zip(&said).take_while(|(a, b)| a == b).count();
        if length > 1 || from == 0 || from + length == kept.len() { length } else { 0 }
    };
    let longest = (0..kept.len()).map(run).max().unwrap_or(0);
    let is_role = |message: Option<&Value>, role: Role| message.and_then(|m| m.get(0)) == Some(&json!(role.name()));
    match longest == said.len() && is_role(kept.last(), Role::Assistant) && is_role(said.last(), Role::User) {
        true => longest - 1,
        false => longest,
    }
}

/// What tells a message from another, whoever wrote its JSON.
fn words(message: &Message) -> Value {
    let value: Value = serde_json::from_slice(message.raw()).unwrap_or_default();
    let member = |name: &str| value.get(name).cloned().unwrap_or_default();
    let content = match member("content") {
        Value::String(text) => Value::String(text.trim().to_owned()),
        other => other,
    };
    let call =
        |call: &Value| json!([call.get("id"), call.pointer("/function/name"), call.pointer("/function/arguments")]);
    let calls: Vec<Value> = value.get("tool_calls").and_then(Value::as_array).into_iter().flatten().map(call).collect();
    json!([member("role"), content, calls, member("tool_call_id")])
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

/// What every part of one answer says of it.
struct Frame {
    id: String,
    created: u64,
    model: String,
    wants_usage: bool,
}

impl Frame {
    /// The frames of an event.
    fn of(&self, event: &Event) -> String {
        match event {
            Event::Text(text) => self.chunk(&json!({"content": text}), None),
            Event::Done(reply) => self.end(reply),
            Event::Failed(error) => format!("data: {}\n\n", String::from_utf8_lossy(&error.body())),
            Event::Question(_) | Event::Prompt(_) | Event::Skill(_) => String::new(),
        }
    }

    fn end(&self, reply: &Reply) -> String {
        let mut frames = String::new();
        if !reply.to_run.is_empty() {
            frames.push_str(&self.chunk(&json!({"tool_calls": indexed(&reply.to_run)}), None));
        }
        match broken(reply) {
            Some(error) => frames.push_str(&format!("data: {}\n\n", String::from_utf8_lossy(&error.body()))),
            None => frames.push_str(&self.chunk(&json!({}), Some(&reply.finish))),
        }
        if self.wants_usage {
            let usage = json!({"choices": [], "usage": usage(reply)});
            frames.push_str(&format!("data: {}\n\n", self.with("chat.completion.chunk", usage)));
        }
        frames + "data: [DONE]\n\n"
    }

    fn chunk(&self, delta: &Value, finish: Option<&str>) -> String {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        format!("data: {}\n\n", self.with("chat.completion.chunk", json!({"choices": [choice]})))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kept: &[&str], said: &[&str], expected: usize) {
        let message = |text: &&str| Message::text(Role::User, text);
        let kept: Vec<Value> = kept.iter().map(|text| words(&message(text))).collect();
        let said: Vec<Message> = said.iter().map(message).collect();
        assert_eq!(known(&kept, &said), expected, "{kept:?}");
    }

    #[test]
    fn what_the_thread_holds_is_not_said_again() {
        check(&[], &["a"], 0);
        check(&["a", "b"], &["a", "b", "c"], 2);
        check(&["a", "b"], &["b", "c"], 1);
        check(&["x", "a", "b"], &["a", "b", "c", "d"], 2);
        check(&["a", "b"], &["c"], 0);
        check(&["a", "b"], &["z", "b", "c"], 0);
        check(&["a", "b", "a"], &["a", "b", "a", "b"], 3);
        check(&["a", "b", "c"], &["a", "b", "edited"], 2);
        check(&["a", "ok", "b"], &["ok", "c"], 0);
        check(&["a"], &["a"], 1);
        check(&["a "], &[" a", "b"], 1);
    }
}
