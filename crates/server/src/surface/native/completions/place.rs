//! Whose request it is, and which thread stands behind it.
//!
//! Pure but for one setting. A user's key names its user; any other caller names one in `X-Novelo-User` or in `user`. A thread is
//! named in `X-Novelo-Thread` or in `metadata.thread_id`; the header wins. Callers that name none have none, or one for each
//! user, by `completions.default_thread`; never one for several users.

use axum::http::{HeaderMap, HeaderName};
use novelo_engine::path::{check_id, decode_segment};
use serde_json::Value;

use super::{CompletionRequest, NO_THREAD};
use novelo_conversation::app::Shared;
use novelo_conversation::caller::Caller;
use novelo_conversation::error::{Code, Error, Result};

pub const THREAD: HeaderName = HeaderName::from_static("x-novelo-thread");
const USER: HeaderName = HeaderName::from_static("x-novelo-user");
/// The member of `metadata` that names a thread.
pub const THREAD_ID: &str = "thread_id";
/// The thread of a user who names none.
const DEFAULT_THREAD: &str = "default";

/// The user who asks, and the thread: without a user there is none.
#[derive(Debug)]
pub struct Place {
    pub user: Option<String>,
    pub thread: Option<String>,
}

/// What a caller says of the thread.
enum Named {
    Thread(String),
    /// That there should be none.
    None,
    /// Nothing.
    Unsaid,
}

impl Place {
    pub fn read(app: &Shared, headers: &HeaderMap, request: &CompletionRequest<'_>, caller: &Caller) -> Result<Self> {
        let user = user(headers, request.user.as_deref(), caller)?;
        let thread = match named(headers, request)? {
            Named::Thread(thread) => {
                if user.is_none() {
                    let missing = "is missing: a thread belongs to one; name it here or in X-Novelo-User";
                    return Err(Error::invalid("user", missing));
                }
                Some(thread)
            }
            Named::None => None,
            Named::Unsaid => {
                let is_per_user = app.config.text("completions.default_thread") == "user";
                user.as_ref().filter(|_| is_per_user).map(|_| DEFAULT_THREAD.to_owned())
            }
        };
        Ok(Self { user, thread })
    }
}

/// The user whom the request names, else the caller's own.
fn user(headers: &HeaderMap, given: Option<&str>, caller: &Caller) -> Result<Option<String>> {
    let from_header = id(headers, &USER, "X-Novelo-User")?;
    let given = given.filter(|user| !user.is_empty());
    if let (Some(header), Some(given)) = (from_header.as_deref(), given)
        && header != given
    {
        let message =
            format!("X-Novelo-User names {header:?} and user {given:?}: they must be the same, or one left out");
        return Err(Error { param: Some("user".to_owned()), ..Error::new(Code::Contradiction, message) });
    }
    caller.subject("user", from_header.or_else(|| given.map(str::to_owned)))
}

fn named(headers: &HeaderMap, request: &CompletionRequest<'_>) -> Result<Named> {
    if headers.get(THREAD).is_some_and(|value| value.as_bytes() == NO_THREAD.as_bytes()) {
        return Ok(Named::None);
    }
    if let Some(thread) = id(headers, &THREAD, "X-Novelo-Thread")? {
        return Ok(Named::Thread(thread));
    }
    let param = "metadata.thread_id";
    match request.metadata.as_ref().and_then(|metadata| metadata.get(THREAD_ID)) {
        None | Some(Value::Null) => Ok(Named::Unsaid),
        Some(Value::String(thread)) => {
            check_id(thread).map_err(|e| Error::bad_id(param, &e))?;
            Ok(Named::Thread(thread.clone()))
        }
        Some(_) => Err(Error::invalid(param, "must be a string")),
    }
}

/// The id in a header, percent-encoded as in an address.
fn id(headers: &HeaderMap, name: &HeaderName, shown: &str) -> Result<Option<String>> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.any(|other| other != value) {
        return Err(Error::invalid(shown, "is given twice, with different values"));
    }
    let value = value.to_str().map_err(|_| Error::invalid(shown, "must be visible characters, percent-encoded"))?;
    let bad_id = |e| Error::bad_id(shown, &e);
    let id = decode_segment(value).map_err(bad_id)?;
    check_id(&id).map_err(bad_id)?;
    Ok(Some(id))
}
