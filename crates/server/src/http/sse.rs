//! The one way in which a stream of events leaves.
//!
//! Owns the frames: a number, a name and JSON each, and a comment when there was nothing to say for a while, so that
//! nobody in between takes the connection for dead.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;

use super::error::{ApiError, Code, Result};
use crate::reply::{Event, Reader, Reply};

const PING_EVERY: Duration = Duration::from_secs(15);
const EVENT_STREAM: &str = "text/event-stream";

/// A frame of the usual form.
pub fn frame(number: usize, name: &str, data: &str) -> String {
    format!("id: {number}\nevent: {name}\ndata: {data}\n\n")
}

/// Whether a client asks for a stream, by the body or by its header.
pub fn is_wanted(asked: Option<bool>, headers: &HeaderMap) -> bool {
    let accepts = |value: &HeaderValue| value.to_str().is_ok_and(|value| value.contains(EVENT_STREAM));
    asked.unwrap_or_else(|| headers.get_all(header::ACCEPT).iter().any(accepts))
}

/// The number of the last event that a client has; 0 where it has none.
pub fn last_event_id(headers: &HeaderMap) -> Result<usize> {
    let Some(id) = headers.get("last-event-id") else { return Ok(0) };
    let id = id.to_str().ok().and_then(|id| id.trim().parse().ok());
    id.ok_or_else(|| ApiError::invalid("Last-Event-ID", "must be the number of an event"))
}

/// The answer that tells events as they come: `wire` gives the frames of an event and its number, none for what its
/// surface does not tell.
pub fn answer(reader: Reader, wire: impl Fn(usize, &Event) -> String + Send + Sync + 'static) -> Response {
    let frames = stream::unfold((reader, wire), |(mut reader, wire)| async move {
        let frame = next(&mut reader, &wire).await?;
        Some((Ok::<_, std::convert::Infallible>(frame), (reader, wire)))
    });
    let headers = [
        (header::CONTENT_TYPE, EVENT_STREAM),
        (header::CACHE_CONTROL, "no-store"),
        (header::HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    (headers, Body::from_stream(frames)).into_response()
}

async fn next(reader: &mut Reader, wire: &impl Fn(usize, &Event) -> String) -> Option<Bytes> {
    loop {
        let Ok(read) = tokio::time::timeout(PING_EVERY, reader.next()).await else {
            return Some(Bytes::from_static(b": ping\n\n"));
        };
        let (number, event) = read?;
        let frames = wire(number, &event);
        if !frames.is_empty() {
            return Some(frames.into());
        }
    }
}

/// What a surface makes of the whole reply, where a client wants nothing else.
pub async fn whole<T>(mut reader: Reader, make: impl FnOnce(&Reply) -> Result<T>) -> Result<T> {
    let mut last = None;
    while let Some((_, event)) = reader.next().await {
        last = Some(event);
    }
    match last.as_deref() {
        Some(Event::Done(reply)) => make(reply),
        Some(Event::Failed(error)) => Err(error.clone()),
        _ => Err(ApiError::new(Code::Internal, "the answer ended early")),
    }
}
