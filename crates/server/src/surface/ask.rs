//! `POST /ask`: a question about data, answered by query. How, is `crate::data`'s.

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue};
use axum::routing::post;
use novelo_engine::limits::{ID_BYTES_MAX, QUESTION_BYTES_MAX};
use novelo_engine::path::check_id;
use serde::Deserialize;

use crate::app::App;
use crate::auth::Caller;
use crate::data::{self, Asked};
use crate::http::REQUEST_ID;
use crate::http::body::{Json, Raw, parse_object};
use crate::http::error::{ApiError, Result};
use crate::memory::check;

/// Exactly these, and all of them. Nothing of a conversation comes in with a question.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    question: Option<String>,
    conversation_id: Option<String>,
    nickname: Option<String>,
    client_id: Option<String>,
}

pub fn routes() -> Router<App> {
    Router::new().route("/ask", post(ask))
}

async fn ask(State(app): State<App>, caller: Caller, headers: HeaderMap, Raw(body): Raw) -> Result<Json> {
    let wire: Wire = parse_object(&body)?;
    let question = given("question", wire.question, ("QUESTION_BYTES_MAX", QUESTION_BYTES_MAX))?;
    let thread = id("conversation_id", wire.conversation_id)?;
    let nickname = given("nickname", wire.nickname, ("ID_BYTES_MAX", ID_BYTES_MAX))?;
    let user = id("client_id", wire.client_id)?;
    caller.require_user(&user)?;
    let request_id = headers.get(REQUEST_ID).map(HeaderValue::to_str).and_then(std::result::Result::ok);
    let request_id = request_id.unwrap_or_default().to_owned();
    Json::write(&data::ask(&app, Asked { question, user, thread, nickname, request_id }).await?)
}

/// A field that must be there and say something.
fn given(name: &str, value: Option<String>, cap: (&str, usize)) -> Result<String> {
    let value = value.ok_or_else(|| ApiError::invalid(name, "is missing"))?;
    check::text(name, &value, cap)?;
    Ok(value)
}

fn id(name: &str, value: Option<String>) -> Result<String> {
    let value = value.ok_or_else(|| ApiError::invalid(name, "is missing"))?;
    check_id(&value).map(|()| value).map_err(|e| ApiError::bad_id(name, &e))
}
