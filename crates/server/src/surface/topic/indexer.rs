//! `POST /jobs/context/collapse/indexer/run` and `…/collapse/state/set`: updates the index of groups.

use axum::extract::State;
use axum::response::Response;
use novelo_engine::decode::Fields;
use novelo_engine::group::{self, SkippedGroup};
use novelo_engine::limits::ID_BYTES_MAX;
use serde_json::{Value, json};

use super::unknown::{TopicBody, answer};
use super::{TopicCaller, TopicSubject};
use crate::http::body::{Json, RawBody};
use crate::http::error::ApiResult;
use crate::surface::{optional_id, required_id};
use novelo_conversation::app::App;
use novelo_conversation::context::collapse::{Places, index};
use novelo_conversation::error::{Error, Result};
use novelo_conversation::telemetry::now;

const RUN_FIELDS: [&str; 4] = ["sessionId", "responseId", "groups", "userId"];
const STATE_FIELDS: [&str; 6] = ["sessionId", "group", "expanded", "state", "responseId", "userId"];
/// Skipped groups that an answer lists; more are counted.
const SKIPPED_MAX: usize = 100;

pub(crate) async fn run(State(app): State<App>, about: TopicCaller, RawBody(body): RawBody) -> ApiResult<Response> {
    let body = TopicBody::parse(&body, &RUN_FIELDS)?;
    Ok(answer(index_groups(&app, about, &body.fields).await, &body.unknown))
}

async fn index_groups(app: &App, about: TopicCaller, body: &Value) -> Result<Json> {
    let mut fields = Fields::from_value("", body)?;
    let subject = about.subject(text(&mut fields, "userId")?)?;
    let session = required_id("sessionId", text(&mut fields, "sessionId")?)?;
    let places = places(&subject, &session)?;
    let response = optional_id("responseId", text(&mut fields, "responseId")?)?;
    let (indexed, skipped) = match (response, fields.value("groups")) {
        (response, Some(groups)) => {
            let groups = group::define("groups", groups)?;
            let indexed = index::run_given(&app.store, first(&places)?, response.as_deref(), &groups, now()).await?;
            (indexed, Vec::new())
        }
        (Some(response), None) => {
            let unknown = || Error::invalid("responseId", "names no response of this session");
            index::run(&app.store, &places, &response, now()).await?.ok_or_else(unknown)?
        }
        (None, None) => return Err(Error::invalid("responseId", "is missing, and so is groups")),
    };
    let mut answer = json!({
        "ok": true,
        "indexed_groups": indexed.groups,
        "indexed_messages": indexed.messages,
        "batches": indexed.batches,
    });
    if let Some(answer) = answer.as_object_mut().filter(|_| !skipped.is_empty()) {
        answer.insert("skipped".to_owned(), listed(skipped));
    }
    Ok(Json::from_value(&answer))
}

/// The groups that were skipped.
fn listed(mut skipped: Vec<SkippedGroup>) -> Value {
    let more = skipped.len().saturating_sub(SKIPPED_MAX);
    skipped.truncate(SKIPPED_MAX);
    let mut listed = json!(skipped);
    if let (Some(list), 1..) = (listed.as_array_mut(), more) {
        list.push(json!({"group": "", "why": format!("{more} more groups were skipped")}));
    }
    listed
}

pub(crate) async fn set_state(
    State(app): State<App>,
    about: TopicCaller,
    RawBody(body): RawBody,
) -> ApiResult<Response> {
    let body = TopicBody::parse(&body, &STATE_FIELDS)?;
    Ok(answer(expand(&app, about, &body.fields).await, &body.unknown))
}

async fn expand(app: &App, about: TopicCaller, body: &Value) -> Result<Json> {
    let mut fields = Fields::from_value("", body)?;
    let expanded = expanded(fields.flag("expanded")?, fields.string("state")?)?;
    let subject = about.subject(text(&mut fields, "userId")?)?;
    let places = places(&subject, &required_id("sessionId", text(&mut fields, "sessionId")?)?)?;
    let given = fields.string("group")?.ok_or_else(|| Error::invalid("group", "is missing"))?;
    let response = optional_id("responseId", text(&mut fields, "responseId")?)?;
    let name = known_name(app, &places, given).await?;
    let now = now();
    index::set_state(&app.store, first(&places)?, &name, expanded, response.as_deref(), now).await?;
    Ok(Json::from_value(&json!({"ok": true, "group": name, "expanded": expanded, "updated_at": now})))
}

/// The name of a group of this session, in the spelling that its index has.
async fn known_name(app: &App, places: &[Places], given: &str) -> Result<String> {
    let fits = |name: &String| name.len() <= ID_BYTES_MAX;
    let name = group::name(given).filter(fits).ok_or_else(|| Error::invalid("group", "is no name of a group"))?;
    for name in [Some(name), group::former_name(given)].into_iter().flatten() {
        for at in places {
            if index::response_of(&app.store, at, &name).await?.is_some() {
                return Ok(name);
            }
        }
    }
    Err(Error::invalid("group", "names no group of this session"))
}

fn text(fields: &mut Fields<'_>, name: &'static str) -> Result<Option<String>> {
    Ok(fields.string(name)?.map(str::to_owned))
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
