//! `POST /memory/reset`: forgetting by scope.

use axum::extract::State;
use serde::Deserialize;

use super::subject;
use crate::http::body::{Json, RawBody, parse_object};
use crate::http::error::ApiResult;
use crate::surface::optional_id;
use novelo_conversation::app::App;
use novelo_conversation::caller::Caller;
use novelo_conversation::error::Error;
use novelo_conversation::remember::reset::{self, Scope};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ResetRequest {
    user_id: Option<String>,
    session_id: Option<String>,
    scope: Option<String>,
}

pub(crate) async fn reset(State(app): State<App>, caller: Caller, RawBody(body): RawBody) -> ApiResult<Json> {
    let wire: ResetRequest = parse_object(&body)?;
    let user = subject(wire.user_id, &caller)?;
    let session = optional_id("session_id", wire.session_id)?;
    let names = || Scope::NAMES.map(|(name, _)| name).join(", ");
    let unknown = || Error::invalid("scope", format_args!("must be one of {}", names()));
    let scope = wire.scope.as_deref().and_then(Scope::from_name).ok_or_else(unknown)?;
    let forgotten = reset::reset(&app, &user, session.as_deref(), scope).await?;
    Ok(Json::from_value(&serde_json::json!({"reset": forgotten.counts(), "erasing": forgotten.erasing})))
}
