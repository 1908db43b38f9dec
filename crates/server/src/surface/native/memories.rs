//! `…/memories`: adds, lists, finds, changes and deletes memories.

use axum::extract::State;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::time::{TimeWire, as_of};
use super::{PageParams, deleted};
use crate::http::body::{Json, PathIds, QueryParams, RawBody, parse_object};
use crate::http::error::ApiResult;
use novelo_conversation::app::App;
use novelo_conversation::error::{Error, Result};
use novelo_conversation::remember::memories::{self, MemoryChange, NewMemory};
use novelo_conversation::remember::search::{self, MemoryQuery};
use novelo_conversation::remember::supersede::{self, ClaimedSource};
use novelo_conversation::search::validity::MemoryTerms;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AddMemoryRequest<'b> {
    id: Option<String>,
    text: String,
    #[serde(borrow)]
    meta: Option<&'b RawValue>,
    valid_from: Option<TimeWire>,
    valid_to: Option<TimeWire>,
    supersedes: Option<Vec<Box<str>>>,
    source: Option<SourceWire>,
    confidence: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SourceWire {
    kind: Option<String>,
    thread: Option<String>,
    seq: Option<u64>,
    document: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChangeMemoryRequest {
    #[serde(default, deserialize_with = "given")]
    valid_from: Option<Option<TimeWire>>,
    #[serde(default, deserialize_with = "given")]
    valid_to: Option<Option<TimeWire>>,
    #[serde(default, deserialize_with = "given")]
    supersedes: Option<Option<Vec<Box<str>>>>,
    #[serde(default, deserialize_with = "given")]
    confidence: Option<Option<f64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MemorySearchRequest {
    query: String,
    k: Option<u64>,
    explain: Option<bool>,
    as_of: Option<TimeWire>,
}

/// Distinguishes null from a missing member.
pub(super) fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> std::result::Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

impl SourceWire {
    fn claimed(self) -> Result<ClaimedSource> {
        let Self { kind, thread, seq, document } = self;
        let problem = "must be {\"thread\", \"seq\"}, {\"document\"}, or {\"kind\": \"api\" or \"model\"}";
        match (kind.as_deref(), thread, seq, document) {
            (None | Some("turn"), Some(thread), Some(seq), None) => Ok(ClaimedSource::Turn { thread, seq }),
            (None | Some("document"), None, None, Some(document)) => Ok(ClaimedSource::Document { document }),
            (Some("api"), None, None, None) => Ok(ClaimedSource::Api),
            (Some("model"), None, None, None) => Ok(ClaimedSource::Model),
            _ => Err(Error::invalid("source", problem)),
        }
    }
}

pub(crate) async fn add(
    State(app): State<App>,
    PathIds(user): PathIds<String>,
    RawBody(body): RawBody,
) -> ApiResult<Json> {
    let wire: AddMemoryRequest<'_> = parse_object(&body)?;
    let source = match wire.source {
        Some(source) => Some(supersede::resolve_source(&app, &user, source.claimed()?).await?),
        None => None,
    };
    let terms = MemoryTerms {
        valid_from: wire.valid_from.map(|time| time.seconds("valid_from")).transpose()?,
        valid_to: wire.valid_to.map(|time| time.seconds("valid_to")).transpose()?,
        supersedes: wire.supersedes,
        source,
        confidence: wire.confidence,
    };
    let new = NewMemory { id: wire.id.as_deref(), text: &wire.text, meta: wire.meta, terms };
    let id = memories::add(&app, &user, new).await?;
    Ok(Json::from_value(&serde_json::json!({"id": id})))
}

pub(crate) async fn list(
    State(app): State<App>,
    PathIds(user): PathIds<String>,
    QueryParams(page): QueryParams<PageParams>,
) -> ApiResult<Json> {
    Ok(Json::serialize(&memories::list(&app, &user, page.after(), page.limit()?).await?)?)
}

pub(crate) async fn get(State(app): State<App>, PathIds((user, id)): PathIds<(String, String)>) -> ApiResult<Json> {
    Ok(Json::serialize(&memories::get(&app, &user, &id).await?.ok_or_else(|| Error::not_found("such memory"))?)?)
}

pub(crate) async fn change(
    State(app): State<App>,
    PathIds((user, id)): PathIds<(String, String)>,
    RawBody(body): RawBody,
) -> ApiResult<Json> {
    let wire: ChangeMemoryRequest = parse_object(&body)?;
    let time = |field: &str, wire: Option<Option<TimeWire>>| {
        wire.map(|time| time.map(|time| time.seconds(field)).transpose()).transpose()
    };
    let change = MemoryChange {
        valid_from: time("valid_from", wire.valid_from)?,
        valid_to: time("valid_to", wire.valid_to)?,
        supersedes: wire.supersedes,
        confidence: wire.confidence,
    };
    let changed = memories::change(&app, &user, &id, change).await?;
    Ok(Json::serialize(&changed.ok_or_else(|| Error::not_found("such memory"))?)?)
}

pub(crate) async fn find(
    State(app): State<App>,
    PathIds(user): PathIds<String>,
    RawBody(body): RawBody,
) -> ApiResult<Json> {
    let wire: MemorySearchRequest = parse_object(&body)?;
    let (k, explain, as_of) = (wire.k, wire.explain == Some(true), as_of(wire.as_of)?);
    let query = MemoryQuery { text: &wire.query, k, explain, as_of };
    Ok(Json::serialize(&search::memories(&app, &user, query).await?)?)
}

pub(crate) async fn forget(State(app): State<App>, PathIds(user): PathIds<String>) -> ApiResult<Json> {
    Ok(memories::forget_all(&app, &user).await.map(|forgotten| Json::from_value(&forgotten.answer()))?)
}

pub(crate) async fn delete(State(app): State<App>, PathIds((user, id)): PathIds<(String, String)>) -> ApiResult<Json> {
    deleted(memories::remove(&app, &user, &id).await?, "such memory")
}
