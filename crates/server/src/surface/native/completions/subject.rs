//! The user and the thread of a completion request.
//!
//! Pure but for one setting. A user's key names its user; any other caller names one in `X-Novelo-User` or in
//! `user`. A thread is named in `X-Novelo-Thread` or in `metadata.thread_id`; the header wins. Without a name
//! there is no thread, or one per user, as `completions.default_thread` says; several users never share one.

use axum::http::{HeaderMap, HeaderName};
use novelo_engine::path::{check_id, decode_segment};
use serde_json::{Map, Value};

use super::{CompletionRequest, NO_THREAD};
use novelo_conversation::app::Shared;
use novelo_conversation::caller::Caller;
use novelo_conversation::error::{Code, Error, Result};
use novelo_conversation::settings::DefaultThread;

pub(crate) const THREAD: HeaderName = HeaderName::from_static("x-novelo-thread");
const USER: HeaderName = HeaderName::from_static("x-novelo-user");
/// The member of `metadata` that names a thread.
pub(crate) const THREAD_ID: &str = "thread_id";
/// The thread of a user who does not name one.
const DEFAULT_THREAD: &str = "default";

/// The user who asks, and the thread. Without a user there is no thread.
#[derive(Debug)]
pub(crate) struct CompletionSubject {
    pub user: Option<String>,
    pub thread: Option<String>,
}

/// What a caller says about the thread.
enum NamedThread {
    Thread(String),
    /// The caller wants none.
    None,
    /// Nothing.
    NewMessages,
}

impl CompletionSubject {
    pub(super) fn read(
        app: &Shared,
        headers: &HeaderMap,
        request: &CompletionRequest<'_>,
        caller: &Caller,
    ) -> Result<Self> {
        let user = user(headers, request.user.as_deref(), caller)?;
        let thread = match named(headers, request.metadata.as_ref())? {
            NamedThread::Thread(thread) => {
                if user.is_none() {
                    let missing = "is missing: a thread belongs to one; name it here or in X-Novelo-User";
                    return Err(Error::invalid("user", missing));
                }
                Some(thread)
            }
            NamedThread::None => None,
            NamedThread::NewMessages => {
                let is_per_user = app.settings.completions.default_thread == DefaultThread::User;
                user.as_ref().filter(|_| is_per_user).map(|_| DEFAULT_THREAD.to_owned())
            }
        };
        Ok(Self { user, thread })
    }
}

/// The user that the request names, else the caller's own.
pub(crate) fn user(headers: &HeaderMap, given: Option<&str>, caller: &Caller) -> Result<Option<String>> {
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

/// The thread that a request names.
pub(crate) fn thread(headers: &HeaderMap, metadata: Option<&Map<String, Value>>) -> Result<Option<String>> {
    match named(headers, metadata)? {
        NamedThread::Thread(thread) => Ok(Some(thread)),
        NamedThread::None | NamedThread::NewMessages => Ok(None),
    }
}

fn named(headers: &HeaderMap, metadata: Option<&Map<String, Value>>) -> Result<NamedThread> {
    if headers.get(THREAD).is_some_and(|value| value.as_bytes() == NO_THREAD.as_bytes()) {
        return Ok(NamedThread::None);
    }
    if let Some(thread) = id(headers, &THREAD, "X-Novelo-Thread")? {
        return Ok(NamedThread::Thread(thread));
    }
    let param = "metadata.thread_id";
    match metadata.and_then(|metadata| metadata.get(THREAD_ID)) {
        None | Some(Value::Null) => Ok(NamedThread::NewMessages),
        Some(Value::String(thread)) => {
            check_id(thread).map_err(|e| Error::bad_id(param, &e))?;
            Ok(NamedThread::Thread(thread.clone()))
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
