//! `POST /jobs/context/collapse/indexer/run` and `…/collapse/state/set`: updates the index of groups.

use axum::extract::State;
use novelo_engine::group;
use novelo_engine::limits::ID_BYTES_MAX;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{TopicCaller, TopicSubject};
use crate::http::body::{Json, RawBody, parse_object};
use crate::http::error::ApiResult;
use crate::surface::{optional_id, required_id};
use novelo_conversation::app::App;
use novelo_conversation::context::collapse::{Places, index};
use novelo_conversation::error::{Error, Result};
use novelo_conversation::telemetry::now;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct IndexerRequest {
    session_id: Option<String>,
    response_id: Option<String>,
    groups: Option<Value>,
    user_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct GroupStateRequest {
    session_id: Option<String>,
    group: Option<String>,
    expanded: Option<bool>,
    state: Option<String>,
    response_id: Option<String>,
    user_id: Option<String>,
}

pub(crate) async fn run(State(app): State<App>, about: TopicCaller, RawBody(body): RawBody) -> ApiResult<Json> {
    let wire: IndexerRequest = parse_object(&body)?;
    let subject = about.subject(wire.user_id)?;
    let session = required_id("sessionId", wire.session_id)?;
    let places = places(&subject, &session)?;
    let response = optional_id("responseId", wire.response_id)?;
    let indexed = match (response, wire.groups) {
        (response, Some(groups)) => {
            let groups = group::define("groups", &groups)?;
            index::run_given(&app.store, first(&places)?, response.as_deref(), &groups, now()).await?
        }
        (Some(response), None) => {
            let unknown = || Error::invalid("responseId", "names no response of this session");
            index::run(&app.store, &places, &response, now()).await?.ok_or_else(unknown)?
        }
        (None, None) => return Err(Error::invalid("responseId", "is missing, and so is groups").into()),
    };
    Ok(Json::from_value(&json!({
        "ok": true,
        "indexed_groups": indexed.groups,
        "indexed_messages": indexed.messages,
        "batches": indexed.batches,
    })))
}

pub(crate) async fn set_state(State(app): State<App>, about: TopicCaller, RawBody(body): RawBody) -> ApiResult<Json> {
    let wire: GroupStateRequest = parse_object(&body)?;
    let expanded = expanded(wire.expanded, wire.state.as_deref())?;
    let subject = about.subject(wire.user_id)?;
    let places = places(&subject, &required_id("sessionId", wire.session_id)?)?;
    let name = wire.group.ok_or_else(|| Error::invalid("group", "is missing"))?;
    let name = group::name(&name).filter(|name| name.len() <= ID_BYTES_MAX);
    let name = name.ok_or_else(|| Error::invalid("group", "is no name of a group"))?;
    let response = optional_id("responseId", wire.response_id)?;
    let mut known = false;
    for at in &places {
        known = known || index::response_of(&app.store, at, &name).await?.is_some();
    }
    if !known {
        return Err(Error::invalid("group", "names no group of this session").into());
    }
    let now = now();
    index::set_state(&app.store, first(&places)?, &name, expanded, response.as_deref(), now).await?;
    Ok(Json::from_value(&json!({"ok": true, "group": name, "expanded": expanded, "updated_at": now})))
}

fn expanded(flag: Option<bool>, state: Option<&str>) -> Result<bool> {
    match (flag, state) {
        (Some(expanded), None) => Ok(expanded),
        (None, Some("expanded")) => Ok(true),
        (None, Some("collapsed")) => Ok(false),
        (None, Some(_)) => Err(Error::invalid("state", "must be expanded or collapsed")),
        (None, None) => Err(Error::invalid("expanded", "is missing")),
        (Some(_), Some(_)) => Err(Error::invalid("expanded", "and state exclude each other")),
    }
}

/// The locations of a session's index: its own, and those that are read as a fallback.
fn places(subject: &TopicSubject, session: &str) -> Result<Vec<Places>> {
    let places = subject.whose().roots().map(|root| Places::of(root, session));
    places.collect::<std::result::Result<_, _>>().map_err(|e| Error::bad_id("sessionId", &e))
}

/// The location that is written.
fn first(places: &[Places]) -> Result<&Places> {
    places.first().ok_or_else(|| Error::invalid("userId", "is missing"))
}
