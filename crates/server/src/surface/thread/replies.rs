//! The calls of the chat page: a question as a form, and its reply, which can be resumed.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use serde::Deserialize;

use super::{ask, page};
use crate::http::body::{Json, PathIds, QueryParams, RawBody};
use crate::http::error::ApiResult;
use crate::http::sse;
use crate::surface::native::turns::{self, TurnListParams};
use crate::surface::pages;
use novelo_conversation::answer::{self, AnswerRequest};
use novelo_conversation::app::App;
use novelo_conversation::caller::Caller;
use novelo_conversation::error::Error;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChatForm {
    thread_id: String,
    question: String,
}

const SURFACE: &str = "chat page";

/// Begins the reply, and returns the fragment of the page that will show it.
pub(crate) async fn begin(State(app): State<App>, caller: Caller, RawBody(body): RawBody) -> ApiResult<Response> {
    let form: ChatForm = serde_urlencoded::from_bytes(&body).map_err(|e| Error::invalid("body", e))?;
    let asked = ask::asked(&app, SURFACE, ask::user(None, &caller)?, form.thread_id, form.question.clone())?;
    let (trace_id, options) = (asked.tracer.id().encode(), asked.reply_options(true));
    let piece = answer::begin(&app, AnswerRequest::Reply(asked), options).map(|reader| {
        let address = format!("/chat/replies/{}", reader.name());
        pages::piece(page::exchange(&form.question, &address, &trace_id))
    });
    Ok(sse::traced(&trace_id, piece))
}

/// The turns of a conversation of the caller's own user, as `…/turns` lists them.
pub(crate) async fn turns(
    State(app): State<App>,
    caller: Caller,
    PathIds(thread): PathIds<String>,
    QueryParams(list): QueryParams<TurnListParams>,
) -> ApiResult<Json> {
    turns::listed(&app, &ask::user(None, &caller)?, &thread, &list).await
}

/// The events of a reply after `Last-Event-ID`.
pub(crate) async fn read(
    State(app): State<App>,
    caller: Caller,
    PathIds(name): PathIds<String>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    Ok(sse::answer(sse::named(&app, &caller, &headers, &name, ask::is_ours)?, ask::event))
}

/// Ends a reply early, and returns the part that was stored.
pub(crate) async fn end(State(app): State<App>, caller: Caller, PathIds(name): PathIds<String>) -> ApiResult<Response> {
    let reader = sse::named(&app, &caller, &HeaderMap::new(), &name, ask::is_ours)?;
    let trace_id = reader.trace_id();
    reader.dismiss();
    Ok(sse::traced(&trace_id, ask::whole(reader).await))
}
