//! `/v1/conversations`: threads under the name of conversations, with metadata.
//!
//! Owns the document of a thread as far as it is a conversation: `conversation.metadata` and
//! `conversation.created_at`. A thread that was made by another door is a conversation without that document.

use std::collections::BTreeMap;

use axum::response::Response;
use novelo_engine::limits::CONVERSATION_ITEMS_MAX;
use novelo_engine::scope;
use novelo_store::{Document, Op, PutTerms, Range};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::call::{CallInput, ConversationCall, UserCall, UserParams, answer_in, ttl};
use super::request::check_metadata;
use super::{OpenAiResult, items};
use crate::http::body::page_size;
use novelo_conversation::app::App;
use novelo_conversation::error::{Code, Error, Result};
use novelo_conversation::remember::forget::{self, Traces};
use novelo_conversation::telemetry::now;
use novelo_conversation::thread::item::{conversation_id, read_items, thread_of_conversation};
use novelo_conversation::thread::retention;
use novelo_conversation::{ids, thread};

#[derive(Deserialize)]
pub(super) struct NewConversation {
    items: Option<Vec<Value>>,
    metadata: Option<Map<String, Value>>,
    user: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct ConversationChange {
    /// It must be there, and may be null.
    #[serde(deserialize_with = "Option::deserialize")]
    metadata: Option<Map<String, Value>>,
    user: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct ListParams {
    after: Option<String>,
    limit: Option<usize>,
    user: Option<String>,
}

impl CallInput for NewConversation {
    const IS_BODY: bool = true;
    fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }
}

impl CallInput for ConversationChange {
    const IS_BODY: bool = true;
    fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }
}

impl CallInput for ListParams {
    fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }
}

const CONVERSATION: &str = "conversation";
const LIMIT_DEFAULT: usize = 20;
/// Writes by others that are waited for.
const TRIES_MAX: usize = 10;

pub(super) async fn create(call: UserCall<NewConversation>) -> OpenAiResult<Response> {
    let UserCall { app, caller, user, input } = call;
    check_metadata(input.metadata.as_ref())?;
    let given = items::within_cap(input.items.unwrap_or_default(), CONVERSATION_ITEMS_MAX)?;
    let turns = read_items("items", items::resolved(&app, &user, given).await?)?;
    let (name, metadata) = (ids::fresh_text(), input.metadata.unwrap_or_default());
    retention::keep_for(&app, &user, &name, ttl(&app, &caller)).await?;
    put(&app, &user, &name, metadata, Some(0)).await?;
    if !turns.is_empty() {
        thread::append(&app, &user, &name, turns.iter().map(Into::into), None).await?;
    }
    answer_in(Some(&name), &show(&app, &user, &name).await?)
}

pub(super) async fn get(call: ConversationCall<UserParams>) -> OpenAiResult<Response> {
    call.answer(&show(&call.app, &call.user, &call.thread).await?)
}

pub(super) async fn update(mut call: ConversationCall<ConversationChange>) -> OpenAiResult<Response> {
    let metadata = call.input.metadata.take().unwrap_or_default();
    check_metadata(Some(&metadata))?;
    put(&call.app, &call.user, &call.thread, metadata, None).await?;
    call.answer(&show(&call.app, &call.user, &call.thread).await?)
}

/// Forgets the thread, with all that was made from it.
pub(super) async fn delete(call: ConversationCall<UserParams>) -> OpenAiResult<Response> {
    let ConversationCall { app, user, thread, id, .. } = &call;
    let what = scope::thread(user, thread).map_err(|e| Error::bad_id(CONVERSATION, &e))?;
    forget::forget(app, user, &[what.prefix()], Traces::OfThread(thread)).await?;
    call.answer(&json!({"id": id, "object": "conversation.deleted", "deleted": true}))
}

/// The conversations of a user, by the names of their threads.
pub(super) async fn list(call: UserCall<ListParams>) -> OpenAiResult<Response> {
    let UserCall { app, user, input, .. } = call;
    let after = match input.after.as_deref().filter(|after| !after.is_empty()) {
        None => None,
        Some(after) => Some(
            thread_of_conversation(after).ok_or_else(|| Error::invalid("after", "is not the id of a conversation"))?,
        ),
    };
    let limit = page_size("limit", input.limit, LIMIT_DEFAULT)?;
    let under = scope::threads(&user).map_err(|e| Error::bad_id("user", &e))?;
    let said = app.store.threads(&under, scope::TURNS, after.as_deref(), limit).await?;
    let made = app.store.threads(&under, retention::CONVERSATION, after.as_deref(), limit).await?;
    let mut rows: BTreeMap<&str, f64> = BTreeMap::new();
    for row in said.items.iter().chain(&made.items) {
        let updated_at = rows.entry(&row.id).or_default();
        *updated_at = updated_at.max(row.updated_at);
    }
    let has_more = said.has_more || made.has_more || rows.len() > limit;
    let mut data = Vec::new();
    for (thread, updated_at) in rows.into_iter().take(limit) {
        let mut shown = show(&app, &user, thread).await?;
        if let Some(members) = shown.as_object_mut() {
            members.insert("updated_at".to_owned(), (updated_at as u64).into());
        }
        data.push(shown);
    }
    answer_in(None, &items::page(data, has_more))
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
    let mut shown = json!({
        "id": conversation_id(thread), "object": CONVERSATION, "created_at": created_at, "metadata": metadata,
    });
    if let (Some(time), Some(members)) = (retention::expires_at(app, user, thread).await?, shown.as_object_mut()) {
        members.insert("expires_at".to_owned(), (time as u64).into());
    }
    Ok(shown)
}

/// Sets the metadata of a conversation; other members of the document stay.
async fn put(app: &App, user: &str, thread: &str, metadata: Map<String, Value>, if_version: Option<u64>) -> Result<()> {
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
        let mut ops = vec![Op::Put { at: at.clone(), value: Value::Object(members).to_string().into(), terms }];
        if version == 0 {
            let made = at
                .child(retention::CONVERSATION)
                .and_then(|made| made.document("made"))
                .map_err(|e| Error::bad_id(CONVERSATION, &e))?;
            ops.push(Op::Put { at: made, value: "{}".into(), terms: PutTerms { now: now(), ..PutTerms::default() } });
        }
        match app.store.write(ops).await {
            Ok(_) => return Ok(()),
            Err(novelo_store::Error::Stale { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Error::new(Code::Busy, "too many others write to this conversation"))
}
