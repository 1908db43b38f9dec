//! `POST /ask`: a question about data, answered by a query (`novelo_conversation::answer::data`).

pub(crate) mod schema;

use axum::extract::{FromRequest, FromRequestParts, Request, State};
use axum::http::HeaderValue;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use novelo_engine::limits::{ID_BYTES_MAX, QUESTION_BYTES_MAX};
use serde::Deserialize;

use crate::auth::Access;
use crate::http::REQUEST_ID;
use crate::http::body::{Json, RawBody, parse_object};
use crate::http::error::{ApiError, ApiResult};
use crate::http::trace_id::with_trace;
use crate::route::Routes;
use crate::server::Server;
use crate::surface::required_id;
use novelo_conversation::answer::data::{self, DataQuestion};
use novelo_conversation::caller::Caller;
use novelo_conversation::error::{Error, Result};
use novelo_conversation::remember::check;
use novelo_conversation::trace::RequestTracer;

/// All members are required, and no others are allowed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AskRequest {
    question: Option<String>,
    conversation_id: Option<String>,
    nickname: Option<String>,
    client_id: Option<String>,
}

pub(crate) fn routes(server: &Server) -> Routes {
    Routes::new(server).route("/ask", Access::Users.refusing(refuse), post(ask))
}

/// The refusal of a caller has a trace like every other response.
fn refuse(server: &Server, error: Error) -> Response {
    let tracer = RequestTracer::begin(&server.app.recorder, "ask");
    tracer.refused(&error);
    tracer.end();
    with_trace(ApiError(error).into_response(), &tracer.id())
}

/// Every response names its request trace, also if the request is refused before its user is known.
async fn ask(State(server): State<Server>, request: Request) -> Response {
    let tracer = RequestTracer::begin(&server.app.recorder, "ask");
    let answered = answer(&server, request, &tracer).await.inspect_err(|ApiError(error)| tracer.refused(error));
    tracer.end();
    with_trace(answered.into_response(), &tracer.id())
}

async fn answer(server: &Server, request: Request, tracer: &RequestTracer) -> ApiResult<Json> {
    let (mut parts, body) = request.into_parts();
    let caller = Caller::from_request_parts(&mut parts, server).await?;
    let request_id = parts.headers.get(REQUEST_ID).map(HeaderValue::to_str).and_then(std::result::Result::ok);
    let request_id = request_id.unwrap_or_default().to_owned();
    let RawBody(body) = RawBody::from_request(Request::from_parts(parts, body), server).await?;
    let fields: AskRequest = parse_object(&body)?;
    let question = given("question", fields.question, ("QUESTION_BYTES_MAX", QUESTION_BYTES_MAX))?;
    let thread = required_id("conversation_id", fields.conversation_id)?;
    let nickname = given("nickname", fields.nickname, ("ID_BYTES_MAX", ID_BYTES_MAX))?;
    let user = required_id("client_id", fields.client_id)?;
    caller.require_user(&user)?;
    tracer.about(&user, &thread);
    let asked = DataQuestion { question, user, thread, nickname, request_id };
    Ok(Json::serialize(&data::ask(&server.app, asked, tracer).await?)?)
}

/// A required field that is not empty.
fn given(name: &str, value: Option<String>, cap: (&str, usize)) -> Result<String> {
    let value = value.ok_or_else(|| Error::invalid(name, "is missing"))?;
    check::text(name, &value, cap)?;
    Ok(value)
}
