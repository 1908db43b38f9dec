//! `POST /v1/context`: the wire form of a request for a context.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use novelo_engine::Tokenizer;
use novelo_engine::limits::{BUDGET_TOKENS_MAX, INLINE_MESSAGES_MAX};
use novelo_engine::path::check_id;
use novelo_engine::time_scope::TimeScope;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::time::{TimeWire, as_of};
use super::turns::accept_messages;
use crate::http::body::{Json, RawBody, parse_object};
use crate::http::error::ApiResult;
use crate::http::trace_id::with_trace;
use novelo_conversation::app::App;
use novelo_conversation::caller::Caller;
use novelo_conversation::context;
use novelo_conversation::context::answer::{Answer, ContextResponse, Explain};
use novelo_conversation::context::request::{RecipeChoice, Request};
use novelo_conversation::error::{Error, Result};
use novelo_conversation::remember::check;
use novelo_conversation::telemetry::now;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ContextRequest<'b> {
    user: Option<String>,
    thread: Option<String>,
    question: Option<String>,
    preset: Option<String>,
    recipe: Option<Value>,
    #[serde(borrow)]
    messages: Option<Vec<&'b RawValue>>,
    filters: Option<Value>,
    compact: Option<Value>,
    budget_tokens: Option<u32>,
    tokenizer: Option<String>,
    explain: Option<Value>,
    as_of: Option<TimeWire>,
}

pub(crate) async fn make(State(app): State<App>, caller: Caller, RawBody(body): RawBody) -> ApiResult<Response> {
    let wire: ContextRequest<'_> = parse_object(&body)?;
    let request = checked(wire, &caller)?;
    Ok(context::context(&app, request).await.map(answer)?)
}

/// The response for a context, with its trace id if the trace was stored.
pub(crate) fn answer(made: ContextResponse) -> Response {
    let response = Json::from_bytes(made.body).into_response();
    if made.traced { with_trace(response, &made.trace) } else { response }
}

fn checked(wire: ContextRequest<'_>, caller: &Caller) -> Result<Request> {
    let messages = accept_messages(&wire.messages.unwrap_or_default(), INLINE_MESSAGES_MAX, "INLINE_MESSAGES_MAX")?;
    if wire.filters.as_ref().is_some_and(|f| !f.is_array()) {
        return Err(Error::invalid("filters", "must be an array"));
    }
    if let Some(question) = &wire.question {
        check::size("question", question, check::QUERY)?;
    }
    let user = user(wire.user, caller)?;
    Ok(Request {
        omits_what_cannot_fit: false,
        is_off_record: false,
        reach: reach(user.as_deref(), wire.thread)?,
        legacy: false,
        user,
        question: wire.question.filter(|q| !q.trim().is_empty()),
        query: None,
        as_of: as_of(wire.as_of)?,
        recalled: Vec::new(),
        omits_recall_notice: false,
        recipe: choice(wire.preset, wire.recipe)?,
        messages,
        filters: wire.filters,
        compact: compact(wire.compact)?,
        budget_tokens: budget(wire.budget_tokens)?,
        tokenizer: wire.tokenizer.as_deref().map(tokenizer).transpose()?,
        answer: Answer::Context(explain(wire.explain)?),
        unknown_fields: Vec::new(),
        made_from: None,
    })
}

/// The options of the filter `compact`: `true` for the usual ones.
fn compact(given: Option<Value>) -> Result<Option<Value>> {
    match given {
        None | Some(Value::Null | Value::Bool(false)) => Ok(None),
        Some(Value::Bool(true)) => Ok(Some(Value::Object(Default::default()))),
        Some(options @ Value::Object(_)) => Ok(Some(options)),
        Some(_) => Err(Error::invalid("compact", "must be a boolean or an object of options")),
    }
}

/// The user that the request is about. A user's key names its user.
fn user(user: Option<String>, caller: &Caller) -> Result<Option<String>> {
    caller.subject("user", user)
}

/// The scope of the thread, if one is named.
fn reach(user: Option<&str>, thread: Option<String>) -> Result<TimeScope> {
    let Some(thread) = thread else { return Ok(TimeScope::default()) };
    check_id(&thread).map_err(|e| Error::bad_id("thread", &e))?;
    match user {
        Some(_) => Ok(TimeScope::thread(&thread, now())),
        None => Err(Error::invalid("user", "is missing: a thread belongs to one")),
    }
}

fn choice(preset: Option<String>, recipe: Option<Value>) -> Result<RecipeChoice> {
    match (preset, recipe) {
        (Some(_), Some(_)) => Err(Error::invalid("preset", "and recipe exclude each other")),
        (Some(name), None) => Ok(RecipeChoice::Preset(name)),
        (None, Some(recipe)) => Ok(RecipeChoice::Given(recipe)),
        (None, None) => Ok(RecipeChoice::Unspecified),
    }
}

/// A budget of tokens, within its cap.
pub(crate) fn budget(tokens: Option<u32>) -> Result<Option<u32>> {
    match tokens.is_none_or(|tokens| tokens > 0 && tokens as usize <= BUDGET_TOKENS_MAX) {
        true => Ok(tokens),
        false => {
            let problem = format!("must be 1 to BUDGET_TOKENS_MAX, {BUDGET_TOKENS_MAX}");
            Err(Error::invalid("budget_tokens", problem))
        }
    }
}

pub(crate) fn tokenizer(name: &str) -> Result<Tokenizer> {
    let names = || Tokenizer::ALL.map(Tokenizer::name).join(", ");
    Tokenizer::from_name(name).ok_or_else(|| Error::invalid("tokenizer", format_args!("must be one of {}", names())))
}

pub(crate) fn explain(asked: Option<Value>) -> Result<Explain> {
    match asked {
        None | Some(Value::Null | Value::Bool(false)) => Ok(Explain::No),
        Some(Value::Bool(true)) => Ok(Explain::Rows),
        Some(Value::String(how)) if how == "text" => Ok(Explain::Text),
        _ => Err(Error::invalid("explain", "must be true, false or \"text\"")),
    }
}
