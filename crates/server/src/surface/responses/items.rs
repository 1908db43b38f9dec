//! The items of conversations and of responses.

use axum::response::Response;
use novelo_engine::limits::{CONTEXT_TURNS_MAX, CONVERSATION_ITEMS_MAX, ITEMS_PAGE_MAX};
use novelo_engine::path::{CollectionPath, DocumentPath};
use novelo_engine::{Turn, scope};
use novelo_store::{Op, PutTerms, Range};
use serde::Deserialize;
use serde_json::{Value, json};

use super::call::{CallInput, ConversationCall, ResponseCall, UserParams, ttl};
use super::{OpenAiResult, coded};
use novelo_conversation::app::App;
use novelo_conversation::error::{Error, Result};
use novelo_conversation::remember::forget;
use novelo_conversation::telemetry::now;
use novelo_conversation::thread::item::{ItemId, is_reference, read_items, show_document, show_turn};
use novelo_conversation::thread::{self, retention};

#[derive(Deserialize)]
pub(super) struct NewItems {
    items: Vec<Value>,
    user: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct ItemParams {
    after: Option<String>,
    limit: Option<usize>,
    order: Option<String>,
    user: Option<String>,
}

impl CallInput for NewItems {
    const IS_BODY: bool = true;
    fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }
}

impl CallInput for ItemParams {
    fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }
}

const LIMIT_DEFAULT: usize = 20;
/// Turns that are read at once.
const TURNS_AT_ONCE: u64 = 200;

/// Which items are listed.
struct ItemPage<'p> {
    after: Option<&'p str>,
    limit: usize,
    is_ascending: bool,
}

impl ItemParams {
    fn page(&self) -> Result<ItemPage<'_>> {
        let limit = self.limit.unwrap_or(LIMIT_DEFAULT);
        if !(1..=ITEMS_PAGE_MAX).contains(&limit) {
            let problem = format!("is {limit}; it must be 1 to ITEMS_PAGE_MAX, {ITEMS_PAGE_MAX}");
            return Err(Error::invalid("limit", problem));
        }
        let is_ascending = match self.order.as_deref() {
            None | Some("desc") => false,
            Some("asc") => true,
            Some(_) => return Err(Error::invalid("order", "must be asc or desc")),
        };
        Ok(ItemPage { after: self.after.as_deref().filter(|after| !after.is_empty()), limit, is_ascending })
    }
}

/// A list in OpenAI's form.
pub(super) fn page(data: Vec<Value>, has_more: bool) -> Value {
    let id = |item: Option<&Value>| item.and_then(|item| item.get("id")).cloned().unwrap_or_else(|| "".into());
    let (first, last) = (id(data.first()), id(data.last()));
    json!({"object": "list", "data": data, "first_id": first, "last_id": last, "has_more": has_more})
}

/// Refuses more items than one request may add.
pub(super) fn within_cap(items: Vec<Value>, cap: usize) -> Result<Vec<Value>> {
    match items.len() {
        count if count > cap => {
            Err(Error::invalid("items", format_args!("has {count} items; the cap CONVERSATION_ITEMS_MAX is {cap}")))
        }
        _ => Ok(items),
    }
}

/// The items with those that references name in their place.
pub(super) async fn resolved(app: &App, user: &str, items: Vec<Value>) -> Result<Vec<Value>> {
    let mut resolved = Vec::with_capacity(items.len());
    for (place, item) in items.into_iter().enumerate() {
        let Some(id) = is_reference(&item) else {
            resolved.push(item);
            continue;
        };
        let unknown = || {
            let (param, message) = (format!("input[{place}].id"), format!("Item with id '{id}' not found."));
            coded(400, "invalid_value", Some(&param), message)
        };
        let named = ItemId::parse(id).ok_or_else(unknown)?;
        let found = at(app, user, &named, id).await?.ok_or_else(unknown)?;
        resolved.push(found.item);
    }
    Ok(resolved)
}

pub(super) async fn create(mut call: ConversationCall<NewItems>) -> OpenAiResult<Response> {
    let given = within_cap(std::mem::take(&mut call.input.items), CONVERSATION_ITEMS_MAX)?;
    let ConversationCall { app, user, thread, .. } = &call;
    let turns = read_items("items", resolved(app, user, given).await?)?;
    if turns.is_empty() {
        return Err(Error::invalid("items", "is empty").into());
    }
    retention::keep_for(app, user, thread, ttl(app, &call.caller)).await?;
    thread::append(app, user, thread, turns.iter().map(Into::into), None).await?;
    let data = turns.iter().flat_map(|turn| show_document(thread, &turn.id, turn.message.raw())).collect();
    call.answer(&page(data, false))
}

pub(super) async fn list(call: ConversationCall<ItemParams>) -> OpenAiResult<Response> {
    let (data, has_more) = of_thread(&call.app, &call.user, &call.thread, &call.input.page()?).await?;
    call.answer(&page(data, has_more))
}

/// The items that the request of a response added.
pub(super) async fn list_input(call: ResponseCall<ItemParams>) -> OpenAiResult<Response> {
    let ResponseCall { app, found, input, .. } = &call;
    let asked = input.page()?;
    let mut items = found.stored.input(app, &found.user, &found.id).await?;
    if !asked.is_ascending {
        items.reverse();
    }
    let from = match asked.after {
        None => 0,
        Some(after) => 1 + items.iter().position(|item| item["id"] == after).ok_or_else(|| unknown(after))?,
    };
    let has_more = items.len() > from + asked.limit;
    call.answer(&page(items.into_iter().skip(from).take(asked.limit).collect(), has_more))
}

pub(super) async fn get(call: ConversationCall<UserParams>) -> OpenAiResult<Response> {
    call.answer(&find(&call.app, &call.user, &call.thread, &call.item).await?.item)
}

/// Removes an item, and returns its conversation. The other items of its turn stay.
pub(super) async fn delete(call: ConversationCall<UserParams>) -> OpenAiResult<Response> {
    let ConversationCall { app, user, thread, item, .. } = &call;
    let found = find(app, user, thread, item).await?;
    let rest = read_items("items", found.others)?;
    match rest.first() {
        None => {
            forget::write(app, vec![Op::Delete { at: found.turn, if_version: None }]).await?;
        }
        Some(turn) => {
            let terms = PutTerms { if_version: Some(found.version), now: now(), ..PutTerms::default() };
            app.store.put(&found.turn, turn.message.raw().clone(), terms).await?;
            app.touched(user, thread);
        }
    }
    call.answer(&super::conversations::show(app, user, thread).await?)
}

/// An item, its turn, and the other items of that turn.
struct FoundItem {
    item: Value,
    others: Vec<Value>,
    turn: DocumentPath,
    seq: u64,
    version: u64,
}

fn unknown(id: &str) -> Error {
    coded(404, "not_found", Some("item_id"), format!("Item with id '{id}' not found."))
}

fn turns_of(user: &str, thread: &str) -> Result<CollectionPath> {
    scope::turns(user, thread).map_err(|e| Error::bad_id("conversation", &e))
}

/// The item of this id in a conversation. An id that its client gave is looked for among the newest turns.
async fn find(app: &App, user: &str, thread: &str, id: &str) -> Result<FoundItem> {
    if let Some(named) = ItemId::parse(id).filter(|named| named.thread == thread)
        && let Some(found) = at(app, user, &named, id).await?
    {
        return Ok(found);
    }
    let of = turns_of(user, thread)?;
    let turns = app.store.turns(&of, Range::Last(CONTEXT_TURNS_MAX)).await?;
    let is_of = |turn: &&Turn| show_turn(thread, turn).iter().any(|item| item["id"] == id);
    let turn = turns.iter().rev().find(is_of).ok_or_else(|| unknown(id))?;
    let named = ItemId { thread: thread.to_owned(), turn: turn.id.to_string() };
    at(app, user, &named, id).await?.ok_or_else(|| unknown(id))
}

/// The item in the turn that its id names.
async fn at(app: &App, user: &str, named: &ItemId, id: &str) -> Result<Option<FoundItem>> {
    let turn = turns_of(user, &named.thread)?.document(&named.turn).map_err(|e| Error::bad_id("item_id", &e))?;
    let Some(document) = app.store.get(&turn).await? else { return Ok(None) };
    let items = show_document(&named.thread, &named.turn, &document.value);
    let (mut found, others): (Vec<Value>, Vec<Value>) = items.into_iter().partition(|item| item["id"] == id);
    let (seq, version) = (document.seq, document.version);
    Ok(found.pop().map(|item| FoundItem { item, others, turn, seq, version }))
}

/// A page of the items of a thread, and whether there are more.
async fn of_thread(app: &App, user: &str, thread: &str, page: &ItemPage<'_>) -> Result<(Vec<Value>, bool)> {
    let of = turns_of(user, thread)?;
    let after = match page.after {
        None => None,
        Some(id) => Some((find(app, user, thread, id).await?.seq, id)),
    };
    let first = app.store.turns(&of, Range::After { seq: 0, limit: 1 }).await?;
    let last = app.store.turns(&of, Range::Last(1)).await?.last_seq;
    let Some(first) = first.iter().next().map(|turn| turn.seq) else { return Ok((Vec::new(), false)) };
    let (mut low, mut high) = match (page.is_ascending, after) {
        (true, Some((seq, _))) => (seq, last),
        (false, Some((seq, _))) => (first, seq),
        (_, None) => (first, last),
    };
    let mut data: Vec<Value> = Vec::new();
    let mut skips = after.map(|(_, id)| id);
    while low <= high && data.len() <= page.limit {
        let range = match page.is_ascending {
            true => (low, high.min(low + TURNS_AT_ONCE - 1)),
            false => (low.max(high.saturating_sub(TURNS_AT_ONCE - 1)), high),
        };
        let turns = app.store.turns(&of, Range::Between { first: range.0, last: range.1 }).await?;
        let mut items: Vec<Value> = turns.iter().flat_map(|turn| show_turn(thread, turn)).collect();
        if !page.is_ascending {
            items.reverse();
        }
        if let Some(id) = skips
            && let Some(place) = items.iter().position(|item| item["id"] == id)
        {
            items.drain(..=place);
            skips = None;
        }
        data.append(&mut items);
        match page.is_ascending {
            true => low = range.1 + 1,
            false if range.0 <= 1 => break,
            false => high = range.0 - 1,
        }
    }
    let has_more = data.len() > page.limit;
    data.truncate(page.limit);
    Ok((data, has_more))
}
