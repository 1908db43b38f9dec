//! `POST /ask`: a question about data, answered by query. How, is `novelo_conversation::data`'s.

use crate::auth::Access;
use crate::http::error::{ApiError, ApiResult};
use crate::http::route::Routes;
use crate::http::trace_id::with_trace;
use crate::server::Server;
use axum::extract::{FromRequest, FromRequestParts, Request, State};
use axum::http::HeaderValue;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use novelo_engine::limits::{ID_BYTES_MAX, QUESTION_BYTES_MAX};
use novelo_engine::path::check_id;
use serde::Deserialize;

use crate::http::REQUEST_ID;
use crate::http::body::{Json, Raw, parse_object};
use novelo_conversation::caller::Caller;
use novelo_conversation::data::{self, Asked};
use novelo_conversation::error::{Error, Result};
use novelo_conversation::remember::check;
use novelo_conversation::trace::Tracer;

/// Exactly these, and all of them. Nothing of a conversation comes in with a question.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    question: Option<String>,
    conversation_id: Option<String>,
    nickname: Option<String>,
    client_id: Option<String>,
}

pub fn routes() -> Routes<Server> {
    Routes::new().route("/ask", Access::Users, post(ask))
}

/// Every answer names the course of its request, also one that is refused before it is known whose it is.
async fn ask(State(server): State<Server>, request: Request) -> Response {
    let tracer = Tracer::begin(&server.app.recorder, "ask");
    let answered = answer(&server, request, &tracer).await.inspect_err(|ApiError(error)| tracer.refused(error));
    tracer.end();
    with_trace(answered.into_response(), &tracer.id())
}

async fn answer(server: &Server, request: Request, tracer: &Tracer) -> ApiResult<Json> {
    let (mut parts, body) = request.into_parts();
    let caller = Caller::from_request_parts(&mut parts, server).await?;
    let request_id = parts.headers.get(REQUEST_ID).map(HeaderValue::to_str).and_then(std::result::Result::ok);
    let request_id = request_id.unwrap_or_default().to_owned();
    let Raw(body) = Raw::from_request(Request::from_parts(parts, body), server).await?;
    let wire: Wire = parse_object(&body)?;
    let question = given("question", wire.question, ("QUESTION_BYTES_MAX", QUESTION_BYTES_MAX))?;
    let thread = id("conversation_id", wire.conversation_id)?;
    let nickname = given("nickname", wire.nickname, ("ID_BYTES_MAX", ID_BYTES_MAX))?;
    let user = id("client_id", wire.client_id)?;
    caller.require_user(&user)?;
    tracer.about(&user, &thread);
    let asked = Asked { question, user, thread, nickname, request_id };
    Ok(Json::write(&data::ask(&server.app, asked, tracer).await?)?)
}

/// A field that must be there and say something.
fn given(name: &str, value: Option<String>, cap: (&str, usize)) -> Result<String> {
    let value = value.ok_or_else(|| Error::invalid(name, "is missing"))?;
    check::text(name, &value, cap)?;
    Ok(value)
}

fn id(name: &str, value: Option<String>) -> Result<String> {
    let value = value.ok_or_else(|| Error::invalid(name, "is missing"))?;
    check_id(&value).map(|()| value).map_err(|e| Error::bad_id(name, &e))
}
