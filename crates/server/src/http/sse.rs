//! Event streams: how events are sent, and how a client resumes a stream.
//!
//! Owns the frames: an id, a name and JSON each, and a comment after a time without events, so that no proxy
//! takes the connection for dead. An id is the name of the reply and the number of the event. A client that
//! sends it as `Last-Event-ID` gets the events after it, on any route of the surface.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;

use super::error::ApiError;
use crate::http::trace_id::TRACE_ID;
use novelo_conversation::answer::{Event, EventReader, LoggedEvent, Reply, ResponseFormat};
use novelo_conversation::app::Shared;
use novelo_conversation::caller::Caller;
use novelo_conversation::error::{Code, Error, Result};

const PING_EVERY: Duration = Duration::from_secs(15);
const EVENT_STREAM: &str = "text/event-stream";
pub(crate) const LAST_EVENT_ID: &str = "Last-Event-ID";
/// A frame of the usual form.
pub fn frame(id: &str, name: &str, data: &str) -> String {
    format!("id: {id}\nevent: {name}\ndata: {data}\n\n")
}

/// Whether a client asks for a stream, by the body or by its header.
pub(crate) fn is_wanted(asked: Option<bool>, headers: &HeaderMap) -> bool {
    let accepts = |value: &HeaderValue| value.to_str().is_ok_and(|value| value.contains(EVENT_STREAM));
    asked.unwrap_or_else(|| headers.get_all(header::ACCEPT).iter().any(accepts))
}

/// The reply that `Last-Event-ID` resumes, if the header is there: it must be the caller's own, and in a form
/// of this surface.
pub fn resume(
    app: &Shared,
    caller: &Caller,
    headers: &HeaderMap,
    fits: impl Fn(&ResponseFormat) -> bool,
) -> Result<Option<EventReader>> {
    let Some(last) = last_event_id(headers)? else { return Ok(None) };
    let name = last.name.ok_or_else(|| malformed("must be NAME.NUMBER, as an event had it"))?;
    reader(app, caller, (name, last.number), fits).map(Some)
}

/// The reply of this name, from the event after `Last-Event-ID`, which may be a bare number here.
pub fn named(
    app: &Shared,
    caller: &Caller,
    headers: &HeaderMap,
    name: &str,
    fits: impl Fn(&ResponseFormat) -> bool,
) -> Result<EventReader> {
    let last = last_event_id(headers)?;
    if last.is_some_and(|last| last.name.is_some_and(|of| of != name)) {
        return Err(malformed("is of another reply"));
    }
    reader(app, caller, (name, last.map_or(0, |last| last.number)), fits)
}

/// Returns 404 if the caller does not own the reply or it has expired.
fn reader(
    app: &Shared,
    caller: &Caller,
    at: (&str, usize),
    fits: impl Fn(&ResponseFormat) -> bool,
) -> Result<EventReader> {
    let found = app.replies.resume(at.0, at.1, caller, fits);
    found.ok_or_else(|| Error::not_found("such reply, or no longer"))
}

/// The last event that a client received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LastEvent<'h> {
    /// The name of its reply, if given.
    name: Option<&'h str>,
    number: usize,
}

fn last_event_id(headers: &HeaderMap) -> Result<Option<LastEvent<'_>>> {
    let Some(id) = headers.get(LAST_EVENT_ID) else { return Ok(None) };
    let id = id.to_str().map_or("", str::trim);
    let (name, number) = match id.rsplit_once('.') {
        Some((name, number)) => (Some(name), number),
        None => (None, id),
    };
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let number = number.parse().ok().filter(|_| is_number && name != Some(""));
    number.map(|number| Some(LastEvent { name, number })).ok_or_else(|| malformed("is not the id of an event"))
}

fn malformed(problem: &str) -> Error {
    Error::invalid(LAST_EVENT_ID, problem)
}

/// A response that streams events as they come. `wire` returns the frames of an event, or an empty text for
/// an event that the surface does not send.
pub(crate) fn answer(reader: EventReader, wire: impl Fn(&LoggedEvent) -> String + Send + Sync + 'static) -> Response {
    answer_after(None, reader, wire)
}

/// The same, after a frame that is sent at once.
pub(crate) fn answer_after(
    head: Option<String>,
    reader: EventReader,
    wire: impl Fn(&LoggedEvent) -> String + Send + Sync + 'static,
) -> Response {
    let trace_id = reader.trace_id();
    let frames = stream::unfold((head, reader, wire), |(head, mut reader, wire)| async move {
        let frame = match head {
            Some(head) => head.into(),
            None => next(&mut reader, &wire).await?,
        };
        Some((Ok::<_, std::convert::Infallible>(frame), (None, reader, wire)))
    });
    let headers = [
        (header::CONTENT_TYPE, EVENT_STREAM),
        (header::CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    traced(&trace_id, Ok((headers, Body::from_stream(frames)).into_response()))
}

async fn next(reader: &mut EventReader, wire: &impl Fn(&LoggedEvent) -> String) -> Option<Bytes> {
    loop {
        let Ok(read) = tokio::time::timeout(PING_EVERY, reader.next()).await else {
            return Some(Bytes::from_static(b": ping\n\n"));
        };
        let frames = wire(&read?);
        if !frames.is_empty() {
            return Some(frames.into());
        }
    }
}

/// A response, or an error, with the id of its request trace in a header.
pub fn traced(trace_id: &str, answer: Result<Response>) -> Response {
    let mut response = answer.unwrap_or_else(|error| ApiError(error).into_response());
    let id = HeaderValue::try_from(trace_id).expect("an id is letters, digits and marks that stand in an address");
    response.headers_mut().insert(TRACE_ID, id);
    response
}

/// The last event of a reply, or its error if it failed.
pub(crate) async fn last(mut reader: EventReader) -> Result<LoggedEvent> {
    let mut last = None;
    while let Some(told) = reader.next().await {
        last = Some(told);
    }
    match last {
        Some(told) => match &*told.event {
            Event::Failed(error) => Err(error.clone()),
            _ => Ok(told),
        },
        None => Err(ended_early()),
    }
}

/// The response that a surface makes from the whole reply, for clients that want no stream.
pub(crate) async fn whole<T>(reader: EventReader, make: impl FnOnce(&Reply) -> Result<T>) -> Result<T> {
    match &*last(reader).await?.event {
        Event::Done(reply) => make(reply),
        _ => Err(ended_early()),
    }
}

fn ended_early() -> Error {
    Error::new(Code::Internal, "the answer ended early")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(id: &str, expected: Option<(Option<&str>, usize)>) {
        let headers = HeaderMap::from_iter([(HeaderName::from_static("last-event-id"), id.parse().unwrap())]);
        let read = last_event_id(&headers).ok().flatten();
        assert_eq!(read, expected.map(|(name, number)| LastEvent { name, number }), "{id}");
    }

    #[test]
    fn an_id_is_a_name_and_a_number() {
        check("ab12.7", Some((Some("ab12"), 7)));
        check(" ab12.0 ", Some((Some("ab12"), 0)));
        check("7", Some((None, 7)));
        for id in ["", "x", ".7", "ab.", "ab.x", "ab.-1", "ab.+1", "ab.7.", "99999999999999999999", "ab 7"] {
            check(id, None);
        }
        assert_eq!(last_event_id(&HeaderMap::new()).unwrap(), None);
    }
}
