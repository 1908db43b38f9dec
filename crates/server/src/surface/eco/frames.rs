//! The responses of `/ask-eco`: the frames of a stream, and the whole answer, which is the last of them.

use axum::http::HeaderValue;
use axum::response::{IntoResponse, Response};
use novelo_engine::path::encode_segment;
use serde_json::{Value, json};

use crate::http::body::Json;
use crate::http::sse;
use novelo_conversation::answer::{Event, EventReader, GuidedAnswer, LoggedEvent, ResponseFormat};
use novelo_conversation::error::Result;
use novelo_conversation::telemetry::now;

/// What an answer shows besides its text.
pub(crate) struct Shown {
    /// Whether this caller may see a trace that was requested.
    pub may_debug: bool,
    /// The guest that asked. It needs this id to ask again.
    pub guest: Option<String>,
}

impl Shown {
    /// Percent-encoded as in an address, since an id may contain any character.
    pub(crate) fn guest_header(&self) -> Option<HeaderValue> {
        self.guest.as_deref().and_then(|id| HeaderValue::try_from(encode_segment(id)).ok())
    }
}

pub(crate) fn guest_of(reader: &EventReader) -> Option<String> {
    match reader.format() {
        ResponseFormat::Guided { guest } => guest.clone(),
        ResponseFormat::Assist | ResponseFormat::Relay { .. } | ResponseFormat::Response(_) => None,
    }
}

/// Events before the first text: the prompt is ready, and the first token has arrived.
const BEFORE_TEXT: usize = 2;

/// The first frame of a resumed stream. Its id is the one that the client sent.
pub(crate) fn reconnected(behind: &str, reader: &EventReader) -> String {
    let at = now();
    let since_ms = ((at - reader.started_at()) * 1e3).max(0.0);
    let data = json!({"type": "reconnect", "at": at, "sinceStartMs": since_ms, "lastEventId": behind});
    frame(behind, "reconnect", &data)
}

/// The frames of an event, with the requested trace only if this caller may see it.
pub(crate) fn event(told: &LoggedEvent, shown: &Shown) -> String {
    let missed = match told.missed {
        0 => String::new(),
        // It has the id of the event before, so that a client that disconnects here resumes with this event.
        missed => frame(&told.before(), "reconnect", &with(told, "reconnect", json!({"missed": missed}))),
    };
    let (name, data) = match &*told.event {
        Event::Ready => ("prompt_ready", json!({})),
        Event::First => ("first_token", json!({})),
        Event::Text(text) => ("chunk", json!({"index": told.number.saturating_sub(BEFORE_TEXT + 1), "delta": text})),
        Event::Spoken { first_ms, last_ms } => ("latency", json!({"ttfbMs": first_ms, "ttlcMs": last_ms})),
        Event::Pending => ("meta_pending", json!({})),
        Event::Guided(_) | Event::Failed(_) => return missed + &frame(&told.id, "done", &done(told, shown)),
        Event::Question(_)
        | Event::Prompt(_)
        | Event::Anew
        | Event::Skill(_)
        | Event::Call(..)
        | Event::More(_)
        | Event::Done(_) => {
            return missed;
        }
    };
    missed + &frame(&told.id, name, &with(told, name, data))
}

/// The last event, which is also the whole answer.
fn done(told: &LoggedEvent, shown: &Shown) -> Value {
    let mut data = match &*told.event {
        Event::Guided(answer) if shown.may_debug => json!(answer),
        Event::Guided(answer) => json!(GuidedAnswer { trace: None, ..(**answer).clone() }),
        Event::Failed(error) => {
            let body: Value = serde_json::from_slice(&error.body()).unwrap_or_default();
            json!({"fallback": true, "cache": false, "error": body.get("error")})
        }
        _ => json!({}),
    };
    if let (Some(fields), Some(guest)) = (data.as_object_mut(), &shown.guest) {
        fields.insert("guestId".to_owned(), guest.clone().into());
    }
    with(told, "done", data)
}

/// The members of every frame, and then those of this one.
fn with(told: &LoggedEvent, name: &str, data: Value) -> Value {
    let mut all = json!({"type": name, "at": told.at, "sinceStartMs": told.since_ms});
    if let (Value::Object(all), Value::Object(data)) = (&mut all, data) {
        all.extend(data);
    }
    all
}

fn frame(id: &str, name: &str, data: &Value) -> String {
    sse::frame(id, name, &data.to_string())
}

pub(crate) async fn whole(reader: EventReader, shown: &Shown) -> Result<Response> {
    let told = sse::last(reader).await?;
    Ok(Json::from_value(&done(&told, shown)).into_response())
}
