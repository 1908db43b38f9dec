//! What the chat page calls: a question as a form, and its reply, which can be come back to.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{Html, Response};
use serde::Deserialize;

use super::{ask, page};
use crate::app::App;
use crate::auth::Caller;
use crate::http::body::{Ids, Raw};
use crate::http::error::{ApiError, Result};
use crate::http::sse;
use crate::reply::Reader;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    thread_id: String,
    question: String,
}

/// Begins to answer, and gives the piece of the page where that will be shown.
pub async fn begin(State(app): State<App>, caller: Caller, Raw(body): Raw) -> Result<Html<String>> {
    let form: Form = serde_urlencoded::from_bytes(&body).map_err(|e| ApiError::invalid("body", e))?;
    let asked = ask::asked(&app, ask::user(None, &caller)?, form.thread_id, form.question.clone())?;
    let name = app.replies.begin_named(&app, asked)?;
    Ok(Html(page::exchange(&form.question, &format!("/chat/replies/{name}"))))
}

/// The events of a reply, from behind `Last-Event-ID` on.
pub async fn read(
    State(app): State<App>,
    caller: Caller,
    Ids(name): Ids<String>,
    headers: HeaderMap,
) -> Result<Response> {
    let after = sse::last_event_id(&headers)?;
    Ok(sse::answer(reader(&app, &caller, &name, after)?, ask::event))
}

/// Ends a reply early: what there is of it, once that is stored.
pub async fn end(State(app): State<App>, caller: Caller, Ids(name): Ids<String>) -> Result<Response> {
    let reader = reader(&app, &caller, &name, 0)?;
    reader.dismiss();
    ask::whole(reader).await
}

fn reader(app: &App, caller: &Caller, name: &str, after: usize) -> Result<Reader> {
    let reader = app.replies.resume(name, after, |user| user.is_some_and(|user| caller.scope.covers_user(user)));
    reader.ok_or_else(|| ApiError::not_found("such reply, or no longer"))
}
