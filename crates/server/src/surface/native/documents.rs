//! `/v1/docs`: any document by its path.

use axum::extract::State;
use axum::http::{HeaderMap, Uri, header};
use bytes::Bytes;
use novelo_engine::limits::BATCH_OPS_MAX;
use novelo_engine::message::check_size;
use novelo_engine::path::{self, CollectionPath, DocumentPath, PathError};
use novelo_engine::{json, scope};
use novelo_store::{Cursor, Document, Op, Outcome, PutTerms, Stamp, Window};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::turns::time;
use super::{PageParams, deleted};
use crate::http::body::{Json, QueryParams, RawBody, page_size, parse, parse_object};
use crate::http::error::ApiResult;
use novelo_conversation::app::App;
use novelo_conversation::caller::Caller;
use novelo_conversation::context::collapse::{Places, retract};
use novelo_conversation::error::{Code, Error, Result};
use novelo_conversation::remember::forget;
use novelo_conversation::telemetry::now;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DocumentListParams {
    begin: Option<f64>,
    end: Option<f64>,
    limit: Option<usize>,
    /// The id of the last document of the page before.
    after: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BatchRequest<'b> {
    #[serde(borrow)]
    ops: Vec<BatchOp<'b>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BatchOp<'b> {
    op: String,
    path: String,
    #[serde(borrow)]
    value: Option<&'b RawValue>,
}

/// The target of an address under `/v1/docs/`.
enum DocumentOrCollection {
    Document(DocumentPath),
    Collection(CollectionPath),
}

pub(crate) async fn get(
    State(app): State<App>,
    caller: Caller,
    uri: Uri,
    QueryParams(list): QueryParams<DocumentListParams>,
) -> ApiResult<Json> {
    match named(&uri, &caller)? {
        DocumentOrCollection::Document(at) => {
            let document = app.store.get(&at).await?.ok_or_else(|| Error::not_found("such document"))?;
            let mut out = Vec::new();
            write_document(&document, &mut out);
            Ok(Json::from_bytes(out))
        }
        DocumentOrCollection::Collection(of) => Ok(list_collection(&app, &of, list).await?),
    }
}

pub(crate) async fn put(
    State(app): State<App>,
    caller: Caller,
    uri: Uri,
    headers: HeaderMap,
    RawBody(body): RawBody,
) -> ApiResult<Json> {
    Ok(write(&app, &caller, &uri, &headers, body, false).await?)
}

pub(crate) async fn patch(
    State(app): State<App>,
    caller: Caller,
    uri: Uri,
    headers: HeaderMap,
    RawBody(body): RawBody,
) -> ApiResult<Json> {
    Ok(write(&app, &caller, &uri, &headers, body, true).await?)
}

pub(crate) async fn delete(State(app): State<App>, caller: Caller, uri: Uri, headers: HeaderMap) -> ApiResult<Json> {
    let at = document(named(&uri, &caller)?)?;
    let if_version = if_match(&headers)?;
    let is_deleted = match Places::response_at(&at) {
        Some(_) => retract::delete(&app.store, at, if_version).await?,
        None => forget::write(&app, vec![Op::Delete { at, if_version }]).await?.contains(&Outcome::Deleted(true)),
    };
    deleted(is_deleted, "such document")
}

pub(crate) async fn batch(State(app): State<App>, caller: Caller, RawBody(body): RawBody) -> ApiResult<Json> {
    let wire: BatchRequest<'_> = parse_object(&body)?;
    let count = wire.ops.len();
    if count > BATCH_OPS_MAX {
        let problem = format!("has {count} entries; the cap BATCH_OPS_MAX is {BATCH_OPS_MAX}");
        return Err(Error::invalid("ops", problem).into());
    }
    let read = |(i, op): (usize, &BatchOp<'_>)| batch_op(i, op, &caller);
    let ops = wire.ops.iter().enumerate().map(read).collect::<Result<Vec<_>>>()?;
    let places: Vec<DocumentPath> = ops.iter().filter_map(put_at).collect();
    forget::write(&app, ops).await?;
    places.iter().for_each(|at| touch(&app, at));
    Ok(Json::from_bytes(format!(r#"{{"done":{count}}}"#).into_bytes()))
}

fn put_at(op: &Op) -> Option<DocumentPath> {
    match op {
        Op::Put { at, .. } => Some(at.clone()),
        _ => None,
    }
}

fn batch_op(i: usize, wire: &BatchOp<'_>, caller: &Caller) -> Result<Op> {
    let here = |field: &str| format!("ops[{i}].{field}");
    let at = path::decode(&wire.path).and_then(|segments| DocumentPath::new(&segments));
    let at = at.map_err(|e| Error::invalid(here("path"), format_args!("is wrong: {e}")))?;
    caller.require_path(at.segments())?;
    match (wire.op.as_str(), wire.value) {
        ("delete", None) => Ok(Op::Delete { at, if_version: None }),
        ("delete", Some(_)) => Err(Error::invalid(here("value"), "must not stand on a delete")),
        ("put" | "patch", None) => Err(Error::invalid(here("value"), "is missing")),
        ("put" | "patch", Some(value)) => {
            let merge = wire.op == "patch";
            let terms = put_terms(&here("value"), value.get(), merge, None)?;
            Ok(Op::Put { at, value: Bytes::copy_from_slice(value.get().as_bytes()), terms })
        }
        _ => Err(Error::invalid(here("op"), "must be put, patch or delete")),
    }
}

async fn write(app: &App, caller: &Caller, uri: &Uri, headers: &HeaderMap, body: Bytes, merge: bool) -> Result<Json> {
    let at = document(named(uri, caller)?)?;
    let if_version = if_match(headers)?;
    let value: &RawValue = parse(&body)?;
    let terms = put_terms("body", value.get(), merge, if_version)?;
    let stamp = app.store.put(&at, Bytes::copy_from_slice(value.get().as_bytes()), terms).await?;
    touch(app, &at);
    Ok(Json::from_bytes(stamped(&stamp)))
}

/// A turn that is written as a document updates its thread too.
fn touch(app: &App, at: &DocumentPath) {
    if let [root, user, threads, thread, turns, _] = at.segments()
        && (&**root, &**threads, &**turns) == (scope::USERS, scope::THREADS, scope::TURNS)
    {
        app.touched(user, thread);
    }
}

/// Checks a document: its size, and its own time if it has one.
pub(crate) fn put_terms(path: &str, text: &str, merge: bool, if_version: Option<u64>) -> Result<PutTerms> {
    check_size(text.as_bytes()).map_err(|e| Error::invalid(path, e))?;
    if merge && !text.starts_with('{') {
        return Err(Error::invalid(path, "must be an object to be merged"));
    }
    let own_time = json::members(text).find(|(key, _)| key.slice(text) == r#""create_time""#);
    let numeric = own_time
        .map(|(_, value)| value.slice(text))
        .filter(|v| v.starts_with(|c: char| c == '-' || c.is_ascii_digit()));
    let create_time = numeric.map(|v| time(&format!("{path}.create_time"), v)).transpose()?;
    Ok(PutTerms { merge, if_version, create_time, now: now(), expires_at: None })
}

async fn list_collection(app: &App, of: &CollectionPath, list: DocumentListParams) -> Result<Json> {
    let after = match list.after.as_deref().filter(|id| !id.is_empty()) {
        Some(id) => Some(cursor(app, of, id).await?),
        None => None,
    };
    let limit = page_size("limit", list.limit, PageParams::LIMIT_DEFAULT)?;
    for (name, bound) in [("begin", list.begin), ("end", list.end)] {
        if bound.is_some_and(|time| !time.is_finite()) {
            return Err(Error::invalid(name, "must be a number of seconds"));
        }
    }
    let page = app.store.scan(of, Window { begin: list.begin, end: list.end, after, limit }).await?;
    let mut out = b"{\"documents\":[".to_vec();
    for (n, document) in page.items.iter().enumerate() {
        if n > 0 {
            out.push(b',');
        }
        write_document(document, &mut out);
    }
    out.extend_from_slice(format!(r#"],"has_more":{}}}"#, page.has_more).as_bytes());
    Ok(Json::from_bytes(out))
}

async fn cursor(app: &App, of: &CollectionPath, id: &str) -> Result<Cursor> {
    let at = of.document(id).map_err(|e| Error::bad_id("after", &e))?;
    let last = app.store.get(&at).await?;
    let last = last.ok_or_else(|| Error::invalid("after", "names no document of this collection"))?;
    Ok(Cursor { create_time: last.create_time, seq: last.seq })
}

fn write_document(document: &Document, out: &mut Vec<u8>) {
    let (id, time) = (json::literal(&document.id), serde_json::Value::from(document.create_time));
    let version = document.version;
    out.extend_from_slice(format!(r#"{{"id":{id},"create_time":{time},"version":{version},"value":"#).as_bytes());
    out.extend_from_slice(&document.value);
    out.push(b'}');
}

fn stamped(stamp: &Stamp) -> Vec<u8> {
    let (id, time) = (json::literal(&stamp.id), serde_json::Value::from(stamp.create_time));
    let (seq, version) = (stamp.seq, stamp.version);
    format!(r#"{{"id":{id},"seq":{seq},"create_time":{time},"version":{version}}}"#).into_bytes()
}

fn named(uri: &Uri, caller: &Caller) -> Result<DocumentOrCollection> {
    let refuse = |error: PathError| Error::invalid("path", format_args!("is wrong: {error}"));
    let text = uri.path().strip_prefix("/v1/docs/").unwrap_or("");
    let segments = path::decode(text.strip_suffix('/').unwrap_or(text)).map_err(refuse)?;
    let named = match segments.len() % 2 {
        0 => DocumentOrCollection::Document(DocumentPath::new(&segments).map_err(refuse)?),
        _ => DocumentOrCollection::Collection(CollectionPath::new(&segments).map_err(refuse)?),
    };
    let segments = match &named {
        DocumentOrCollection::Document(at) => at.segments(),
        DocumentOrCollection::Collection(of) => of.segments(),
    };
    caller.require_path(segments)?;
    Ok(named)
}

fn document(named: DocumentOrCollection) -> Result<DocumentPath> {
    match named {
        DocumentOrCollection::Document(at) => Ok(at),
        DocumentOrCollection::Collection(_) => {
            Err(Error::new(Code::MethodNotAllowed, "the path names a collection; only GET lists one"))
        }
    }
}

/// The version that the caller expects.
fn if_match(headers: &HeaderMap) -> Result<Option<u64>> {
    let Some(given) = headers.get(header::IF_MATCH) else { return Ok(None) };
    let version = given.to_str().ok().and_then(|v| v.trim_matches('"').parse().ok());
    version.map(Some).ok_or_else(|| Error::invalid("If-Match", "must be a version number"))
}
