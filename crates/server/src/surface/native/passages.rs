//! `…/documents` and `…/turns/search`: texts and repositories as passages, and search in turns.

use axum::extract::State;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::PageParams;
use super::time::{TimeWire, as_of};
use crate::http::body::{Json, PathIds, QueryParams, RawBody, parse_object};
use crate::http::error::ApiResult;
use novelo_conversation::app::App;
use novelo_conversation::caller::Caller;
use novelo_conversation::error::Error;
use novelo_conversation::remember::documents::{self, DocumentKind, NewFiles, NewText};
use novelo_conversation::remember::search::{self, MemoryQuery};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct IndexDocumentRequest<'b> {
    id: Option<String>,
    name: Option<String>,
    text: Option<String>,
    path: Option<String>,
    #[serde(borrow)]
    meta: Option<&'b RawValue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PassageSearchRequest {
    query: String,
    k: Option<u64>,
    explain: Option<bool>,
    kind: Option<DocumentKind>,
    document: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TurnSearchRequest {
    query: String,
    k: Option<u64>,
    explain: Option<bool>,
    as_of: Option<TimeWire>,
    thread: Option<String>,
}

pub(crate) async fn index(
    State(app): State<App>,
    caller: Caller,
    PathIds(user): PathIds<String>,
    RawBody(body): RawBody,
) -> ApiResult<Json> {
    let wire: IndexDocumentRequest<'_> = parse_object(&body)?;
    let id = wire.id.as_deref();
    let indexed = match (&wire.text, &wire.path) {
        (Some(text), None) => {
            let name = wire.name.as_deref().ok_or_else(|| Error::invalid("name", "is missing"))?;
            documents::index_text(&app, &user, NewText { id, name, text, meta: wire.meta }).await?
        }
        (None, Some(_)) if wire.meta.is_some() => {
            return Err(Error::invalid("meta", "goes with text, not with path").into());
        }
        (None, Some(path)) => {
            let new = NewFiles { id, name: wire.name.as_deref(), path };
            documents::index_files(&app, &caller, &user, new).await?
        }
        (Some(_), Some(_)) => return Err(Error::invalid("path", "and text exclude each other").into()),
        (None, None) => return Err(Error::invalid("text", "is missing, and so is path").into()),
    };
    Ok(Json::serialize(&indexed)?)
}

pub(crate) async fn list(
    State(app): State<App>,
    PathIds(user): PathIds<String>,
    QueryParams(page): QueryParams<PageParams>,
) -> ApiResult<Json> {
    Ok(Json::serialize(&documents::list(&app, &user, page.after(), page.limit()?).await?)?)
}

pub(crate) async fn get(State(app): State<App>, PathIds((user, id)): PathIds<(String, String)>) -> ApiResult<Json> {
    let document = documents::get(&app, &user, &id).await?;
    Ok(Json::serialize(&document.ok_or_else(|| Error::not_found("such document"))?)?)
}

pub(crate) async fn delete(State(app): State<App>, PathIds((user, id)): PathIds<(String, String)>) -> ApiResult<Json> {
    let passages = documents::remove(&app, &user, &id).await?.ok_or_else(|| Error::not_found("such document"))?;
    Ok(Json::from_value(&serde_json::json!({"deleted": true, "passages": passages})))
}

pub(crate) async fn find(
    State(app): State<App>,
    PathIds(user): PathIds<String>,
    RawBody(body): RawBody,
) -> ApiResult<Json> {
    let wire: PassageSearchRequest = parse_object(&body)?;
    let query = MemoryQuery { text: &wire.query, k: wire.k, explain: wire.explain == Some(true), as_of: None };
    Ok(Json::serialize(&search::passages(&app, &user, query, wire.kind, wire.document.as_deref()).await?)?)
}

pub(crate) async fn find_turns(
    State(app): State<App>,
    PathIds(user): PathIds<String>,
    RawBody(body): RawBody,
) -> ApiResult<Json> {
    let wire: TurnSearchRequest = parse_object(&body)?;
    let query =
        MemoryQuery { text: &wire.query, k: wire.k, explain: wire.explain == Some(true), as_of: as_of(wire.as_of)? };
    Ok(Json::serialize(&search::turns(&app, &user, query, wire.thread.as_deref()).await?)?)
}
