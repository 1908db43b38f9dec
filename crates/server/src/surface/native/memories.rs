//! `…/memories`: adds, lists, finds and deletes memories.

use axum::extract::State;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{PageParams, deleted};
use crate::http::body::{Json, PathIds, QueryParams, RawBody, parse_object};
use crate::http::error::ApiResult;
use novelo_conversation::app::App;
use novelo_conversation::remember::memories::{self, NewMemory};
use novelo_conversation::remember::search::{self, MemoryQuery};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AddMemoryRequest<'b> {
    id: Option<String>,
    text: String,
    #[serde(borrow)]
    meta: Option<&'b RawValue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MemorySearchRequest {
    query: String,
    k: Option<u64>,
    explain: Option<bool>,
}

pub(crate) async fn add(
    State(app): State<App>,
    PathIds(user): PathIds<String>,
    RawBody(body): RawBody,
) -> ApiResult<Json> {
    let wire: AddMemoryRequest<'_> = parse_object(&body)?;
    let new = NewMemory { id: wire.id.as_deref(), text: &wire.text, meta: wire.meta };
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

pub(crate) async fn find(
    State(app): State<App>,
    PathIds(user): PathIds<String>,
    RawBody(body): RawBody,
) -> ApiResult<Json> {
    let wire: MemorySearchRequest = parse_object(&body)?;
    let query = MemoryQuery { text: &wire.query, k: wire.k, explain: wire.explain == Some(true) };
    Ok(Json::serialize(&search::memories(&app, &user, query).await?)?)
}

pub(crate) async fn forget(State(app): State<App>, PathIds(user): PathIds<String>) -> ApiResult<Json> {
    Ok(memories::forget_all(&app, &user).await.map(|forgotten| Json::from_value(&forgotten.answer()))?)
}

pub(crate) async fn delete(State(app): State<App>, PathIds((user, id)): PathIds<(String, String)>) -> ApiResult<Json> {
    deleted(memories::remove(&app, &user, &id).await?, "such memory")
}
