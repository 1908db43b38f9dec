//! `POST /memory/chat`: an answer of a model, for which a model must be set.

use novelo_engine::limits::MESSAGE_BYTES_MAX;
use serde::Deserialize;

use super::{id, subject};
use crate::auth::Caller;
use crate::http::body::{Json, Raw, parse_object};
use crate::http::error::{ApiError, Code, Result};
use crate::memory::check;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    user_id: Option<String>,
    session_id: Option<String>,
    task_id: Option<String>,
    message: String,
    #[serde(rename = "stream")]
    _stream: Option<bool>,
}

pub async fn chat(caller: Caller, Raw(body): Raw) -> Result<Json> {
    let wire: Wire = parse_object(&body)?;
    subject(wire.user_id, &caller)?;
    id("session_id", wire.session_id)?;
    id("task_id", wire.task_id)?;
    check::text("message", &wire.message, ("MESSAGE_BYTES_MAX", MESSAGE_BYTES_MAX))?;
    Err(ApiError::new(
        Code::NoModel,
        "a model is needed and none is set: models.answer.url is missing, and this version has no such setting yet",
    ))
}
