//! `/v1/conversations`: threads under the name of conversations, with metadata.
//!
//! Owns the document of a thread as far as it is a conversation: `conversation.metadata` and
//! `conversation.created_at`. A thread that was made by another door is a conversation without that document.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use novelo_engine::limits::CONVERSATION_ITEMS_MAX;
use novelo_engine::scope;
use novelo_store::{Document, PutTerms, Range};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::request::check_metadata;
use super::stored::require_conversation;
use super::{UserParams, answered, in_thread, items, user};
use crate::http::body::{Json, PathIds, QueryParams, RawBody, page_size, parse_object};
use crate::http::error::ApiResult;
use novelo_conversation::app::App;
use novelo_conversation::caller::Caller;
use novelo_conversation::error::{Code, Error, Result};
use novelo_conversation::remember::forget::{self, Traces};
use novelo_conversation::telemetry::now;
use novelo_conversation::thread::item::{conversation_id, read_items, thread_of_conversation};
use novelo_conversation::{ids, thread};

#[derive(Deserialize)]
struct NewConversation {
    items: Option<Vec<Value>>,
    metadata: Option<Map<String, Value>>,
    user: Option<String>,
}

#[derive(Deserialize)]
struct ConversationChange {
    metadata: Option<Map<String, Value>>,
    user: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct ListParams {
    after: Option<String>,
    limit: Option<usize>,
    user: Option<String>,
}

const CONVERSATION: &str = "conversation";
const LIMIT_DEFAULT: usize = 20;
/// Writes by others that are waited for.
const TRIES_MAX: usize = 10;

pub(super) async fn create(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    body: ApiResult<RawBody>,
) -> Response {
    let created = async {
        let RawBody(body) = body?;
        let body = if body.is_empty() { Bytes::from_static(b"{}") } else { body };
        let request: NewConversation = parse_object(&body)?;
        let user = user(&headers, request.user.as_deref(), &caller)?;
        check_metadata(request.metadata.as_ref())?;
        let given = items::within_cap(request.items.unwrap_or_default(), CONVERSATION_ITEMS_MAX)?;
        let turns = read_items("items", items::resolved(&app, &user, given).await?)?;
        let (name, metadata) = (ids::fresh_text(), request.metadata.unwrap_or_default());
        let made = put(&app, &user, &name, metadata, Some(0)).await?;
        if !turns.is_empty() {
            thread::append(&app, &user, &name, turns.iter().map(Into::into), None).await?;
        }
        ApiResult::Ok(in_thread(Some(&name), Json::from_value(&made).into_response()))
    };
    answered(created.await)
}

pub(super) async fn get(
    State(app): State<App>,
    caller: Caller,
    PathIds(id): PathIds<String>,
    headers: HeaderMap,
    params: ApiResult<QueryParams<UserParams>>,
) -> Response {
    let found = async {
        let QueryParams(params) = params?;
        let user = user(&headers, params.user.as_deref(), &caller)?;
        let thread = require_conversation(&app, &user, &id).await?;
        let shown = show(&app, &user, &thread).await?;
        ApiResult::Ok(in_thread(Some(&thread), Json::from_value(&shown).into_response()))
    };
    answered(found.await)
}

pub(super) async fn update(
    State(app): State<App>,
    caller: Caller,
    PathIds(id): PathIds<String>,
    headers: HeaderMap,
    body: ApiResult<RawBody>,
) -> Response {
    let updated = async {
        let RawBody(body) = body?;
        let request: ConversationChange = parse_object(&body)?;
        let user = user(&headers, request.user.as_deref(), &caller)?;
        check_metadata(request.metadata.as_ref())?;
        let thread = require_conversation(&app, &user, &id).await?;
        let made = put(&app, &user, &thread, request.metadata.unwrap_or_default(), None).await?;
        ApiResult::Ok(in_thread(Some(&thread), Json::from_value(&made).into_response()))
    };
    answered(updated.await)
}

/// Forgets the thread, with all that was made from it.
pub(super) async fn delete(
    State(app): State<App>,
    caller: Caller,
    PathIds(id): PathIds<String>,
    headers: HeaderMap,
    params: ApiResult<QueryParams<UserParams>>,
) -> Response {
    let deleted = async {
        let QueryParams(params) = params?;
        let user = user(&headers, params.user.as_deref(), &caller)?;
        let thread = require_conversation(&app, &user, &id).await?;
        let what = scope::thread(&user, &thread).map_err(|e| Error::bad_id(CONVERSATION, &e))?;
        forget::forget(&app, &user, &[what.prefix()], Traces::OfThread(&thread)).await?;
        let deleted = Json::from_value(&json!({"id": id, "object": "conversation.deleted", "deleted": true}));
        ApiResult::Ok(in_thread(Some(&thread), deleted.into_response()))
    };
    answered(deleted.await)
}

/// The conversations of a user that have items, by the names of their threads.
pub(super) async fn list(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    params: ApiResult<QueryParams<ListParams>>,
) -> Response {
    let listed = async {
        let QueryParams(params) = params?;
        let user = user(&headers, params.user.as_deref(), &caller)?;
        let after = match params.after.as_deref().filter(|after| !after.is_empty()) {
            None => None,
            Some(after) => Some(
                thread_of_conversation(after)
                    .ok_or_else(|| Error::invalid("after", "is not the id of a conversation"))?,
            ),
        };
        let limit = page_size("limit", params.limit, LIMIT_DEFAULT)?;
        let under = scope::threads(&user).map_err(|e| Error::bad_id("user", &e))?;
        let page = app.store.threads(&under, scope::TURNS, after.as_deref(), limit).await?;
        let mut data = Vec::new();
        for row in &page.items {
            let mut shown = show(&app, &user, &row.id).await?;
            if let Some(members) = shown.as_object_mut() {
                members.insert("updated_at".to_owned(), (row.updated_at as u64).into());
            }
            data.push(shown);
        }
        let listed = items::page(data, page.has_more);
        ApiResult::Ok(in_thread(None, Json::from_value(&listed).into_response()))
    };
    answered(listed.await)
}

async fn document(app: &App, user: &str, thread: &str) -> Result<Option<Document>> {
    let at = scope::thread(user, thread).map_err(|e| Error::bad_id(CONVERSATION, &e))?;
    Ok(app.store.get(&at).await?)
}

/// The document of a thread, as far as it can be read.
fn members(document: Option<&Document>) -> Map<String, Value> {
    document.and_then(|document| serde_json::from_slice(&document.value).ok()).unwrap_or_default()
}

/// A conversation in OpenAI's form. One that was made by another door began with its first turn.
pub(super) async fn show(app: &App, user: &str, thread: &str) -> Result<Value> {
    let members = members(document(app, user, thread).await?.as_ref());
    let own = members.get(CONVERSATION);
    let metadata = own.and_then(|own| own.get("metadata")).cloned().unwrap_or_else(|| json!({}));
    let created_at = match own.and_then(|own| own.get("created_at")).and_then(Value::as_u64) {
        Some(created_at) => created_at,
        None => {
            let of = scope::turns(user, thread).map_err(|e| Error::bad_id(CONVERSATION, &e))?;
            let first = app.store.turns(&of, Range::After { seq: 0, limit: 1 }).await?;
            first.iter().next().map_or(0, |turn| turn.create_time as u64)
        }
    };
    Ok(shown(thread, created_at, metadata))
}

fn shown(thread: &str, created_at: u64, metadata: Value) -> Value {
    json!({
        "id": conversation_id(thread), "object": CONVERSATION, "created_at": created_at, "metadata": metadata,
    })
}

/// Sets the metadata of a conversation; other members of the document stay.
async fn put(
    app: &App,
    user: &str,
    thread: &str,
    metadata: Map<String, Value>,
    if_version: Option<u64>,
) -> Result<Value> {
    let at = scope::thread(user, thread).map_err(|e| Error::bad_id(CONVERSATION, &e))?;
    for _ in 0..TRIES_MAX {
        let before = document(app, user, thread).await?;
        let created_at = match if_version {
            Some(_) => now() as u64,
            None => {
                let shown = show(app, user, thread).await?;
                shown.get("created_at").and_then(Value::as_u64).unwrap_or_default()
            }
        };
        let mut members = members(before.as_ref());
        members.insert(CONVERSATION.to_owned(), json!({"created_at": created_at, "metadata": metadata}));
        let version = if_version.unwrap_or_else(|| before.map_or(0, |before| before.version));
        let terms = PutTerms { if_version: Some(version), now: now(), ..PutTerms::default() };
        match app.store.put(&at, Value::Object(members).to_string().into(), terms).await {
            Ok(_) => return Ok(shown(thread, created_at, metadata.into())),
            Err(novelo_store::Error::Stale { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Error::new(Code::Busy, "too many others write to this conversation"))
}
