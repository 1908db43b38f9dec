//! `…/turns`: appending turns and reading them back, byte for byte.

use axum::extract::State;
use axum::http::HeaderMap;
use bytes::Bytes;
use novelo_engine::limits::APPEND_MESSAGES_MAX;
use novelo_engine::path::check_id;
use novelo_engine::{Message, Tokenizer, json, scope};
use novelo_store::{NewId, Range};
use serde::Deserialize;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use super::PageParams;
use crate::http::body::{Json, PathIds, QueryParams, RawBody, page_size, parse_object};
use crate::http::error::ApiResult;
use novelo_conversation::app::App;
use novelo_conversation::error::{Error, Result};
use novelo_conversation::thread::NewTurn;

const LAST_DEFAULT: usize = 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AppendRequest<'b> {
    #[serde(borrow)]
    messages: Vec<&'b RawValue>,
    if_seq: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TurnListParams {
    last: Option<usize>,
    after: Option<u64>,
    limit: Option<usize>,
}

pub(crate) async fn append(
    State(app): State<App>,
    PathIds((user, thread)): PathIds<(String, String)>,
    headers: HeaderMap,
    RawBody(body): RawBody,
) -> ApiResult<Json> {
    scope::turns(&user, &thread).map_err(|e| Error::bad_id("user or thread", &e))?;
    let wire: AppendRequest<'_> = parse_object(&body)?;
    let messages = accept_messages(&wire.messages, APPEND_MESSAGES_MAX, "APPEND_MESSAGES_MAX")?;
    let key = idempotency_key(&headers)?;
    let turns = messages.iter().enumerate().map(|(i, message)| {
        let (id, create_time) = own_fields(i, message)?;
        let turn = NewTurn { create_time, ..NewTurn::from(message.clone()) };
        let id = id.or_else(|| key.map(|key| derived_id(key, i))).map_or(turn.id, NewId::Given);
        Ok(NewTurn { id, ..turn })
    });
    let turns = turns.collect::<Result<Vec<_>>>()?;
    let stamps = novelo_conversation::thread::append(&app, &user, &thread, turns, wire.if_seq).await?;
    let mut out = Vec::with_capacity(ROW_BYTES * (stamps.len() + 1));
    out.extend_from_slice(b"{\"turns\":[");
    for (n, (stamp, message)) in stamps.iter().zip(&messages).enumerate() {
        write_head(&mut out, n, &stamp.id, stamp.seq, stamp.create_time);
        out.extend_from_slice(b",\"tokens\":");
        write_json(&mut out, &message.tokens(Tokenizer::Approx));
        out.push(b'}');
    }
    out.extend_from_slice(b"]}");
    Ok(Json::from_bytes(out))
}

/// Bytes of a row without its message, more or less.
const ROW_BYTES: usize = 120;

/// Writes the row of a turn up to its time.
fn write_head(out: &mut Vec<u8>, n: usize, id: &str, seq: u64, create_time: f64) {
    out.extend_from_slice(if n > 0 { b",{\"id\":" } else { b"{\"id\":" });
    write_id(out, id);
    out.extend_from_slice(b",\"seq\":");
    write_json(out, &seq);
    out.extend_from_slice(b",\"create_time\":");
    write_json(out, &create_time);
}

/// Writes an id. Most have only characters that stand for themselves.
fn write_id(out: &mut Vec<u8>, id: &str) {
    match id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte)) {
        true => {
            out.push(b'"');
            out.extend_from_slice(id.as_bytes());
            out.push(b'"');
        }
        false => write_json(out, id),
    }
}

/// Writes a text or a number.
fn write_json<T: serde::Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) {
    serde_json::to_writer(out, value).expect("texts and numbers are written to memory without a failure");
}

pub(crate) async fn list(
    State(app): State<App>,
    PathIds((user, thread)): PathIds<(String, String)>,
    QueryParams(list): QueryParams<TurnListParams>,
) -> ApiResult<Json> {
    listed(&app, &user, &thread, &list).await
}

/// A page of the turns of a thread.
pub(crate) async fn listed(app: &App, user: &str, thread: &str, list: &TurnListParams) -> ApiResult<Json> {
    let of = scope::turns(user, thread).map_err(|e| Error::bad_id("user or thread", &e))?;
    let range = match (list.last, list.after) {
        (Some(_), Some(_)) => return Err(Error::invalid("last", "and after exclude each other").into()),
        (last, None) if list.limit.is_none() => Range::Last(page_size("last", last, LAST_DEFAULT)?),
        (Some(_), None) => return Err(Error::invalid("limit", "goes with after, not with last").into()),
        (None, after) => {
            Range::After { seq: after.unwrap_or(0), limit: page_size("limit", list.limit, PageParams::LIMIT_DEFAULT)? }
        }
    };
    let turns = app.store.turns(&of, range).await?;
    let size: usize = turns.iter().map(|turn| turn.message.raw().len() + ROW_BYTES).sum();
    let mut out = Vec::with_capacity(size + ROW_BYTES);
    out.extend_from_slice(b"{\"turns\":[");
    for (n, turn) in turns.iter().enumerate() {
        write_head(&mut out, n, &turn.id, turn.seq, turn.create_time);
        out.extend_from_slice(b",\"message\":");
        out.extend_from_slice(turn.message.raw());
        out.push(b'}');
    }
    out.extend_from_slice(if turns.has_more { b"],\"has_more\":true}" } else { b"],\"has_more\":false}" });
    Ok(Json::from_bytes(out))
}

/// Accepts the messages of a request, or names the first that is wrong.
pub(crate) fn accept_messages(raw: &[&RawValue], most: usize, cap: &str) -> Result<Vec<Message>> {
    if raw.len() > most {
        return Err(Error::invalid("messages", format_args!("has {} entries; the cap {cap} is {most}", raw.len())));
    }
    let accept = |(i, raw): (usize, &&RawValue)| {
        Message::accept(Bytes::copy_from_slice(raw.get().as_bytes())).map_err(|error| {
            let field = error.field().map(|f| format!(".{f}")).unwrap_or_default();
            Error { param: Some(format!("messages[{i}]{field}")), ..Error::invalid(format!("messages[{i}]"), error) }
        })
    };
    raw.iter().enumerate().map(accept).collect()
}

const ID: &str = r#""id""#;
const CREATE_TIME: &str = r#""create_time""#;
const OWN_FIELDS: [&str; 2] = [ID, CREATE_TIME];

/// The id and the time in a message. Most have neither, which a search tells sooner than a walk.
fn own_fields(i: usize, message: &Message) -> Result<(Option<Box<str>>, Option<f64>)> {
    let text = message.as_str();
    let (mut id, mut create_time) = (None, None);
    if !OWN_FIELDS.iter().any(|name| text.contains(name)) {
        return Ok((None, None));
    }
    for (key, value) in json::members(text).filter(|(_, value)| value.slice(text) != "null") {
        match key.slice(text) {
            ID => {
                let path = format!("messages[{i}].id");
                let given = value.slice(text).starts_with('"').then(|| json::unescape(value.slice(text))).flatten();
                let given = given.ok_or_else(|| Error::invalid(path.as_str(), "must be a string"))?;
                check_id(&given).map_err(|e| Error::bad_id(&path, &e))?;
                id = Some(given.into());
            }
            CREATE_TIME => create_time = Some(time(&format!("messages[{i}].create_time"), value.slice(text))?),
            _ => {}
        }
    }
    Ok((id, create_time))
}

/// Seconds since 1970, as a number.
pub(crate) fn time(path: &str, value: &str) -> Result<f64> {
    let parsed = value.parse::<f64>().ok().filter(|t| t.is_finite() && !value.starts_with('"'));
    parsed.ok_or_else(|| Error::invalid(path, "must be a number of seconds"))
}

fn idempotency_key(headers: &HeaderMap) -> Result<Option<&str>> {
    let Some(key) = headers.get("idempotency-key") else { return Ok(None) };
    let key = key.to_str().ok().filter(|k| (1..=256).contains(&k.len()));
    key.map(Some).ok_or_else(|| Error::invalid("Idempotency-Key", "must be 1 to 256 visible characters"))
}

/// The id that one key always gives one message, so that a repeated request is the same turn.
fn derived_id(key: &str, i: usize) -> Box<str> {
    let digest = Sha256::digest(format!("{i}:{key}").as_bytes());
    let hex: String = digest.iter().take(16).map(|b| format!("{b:02x}")).collect();
    format!("idem-{hex}").into()
}
