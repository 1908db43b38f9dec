//! The events of a streamed answer.

use std::collections::VecDeque;

use anyhow::{Context, bail};
use axum::body::Body;
use http_body_util::BodyExt;
use hyper::Method;
use novelo_engine::limits::MODEL_FRAME_BYTES_MAX;
use serde_json::Value;

use super::client::{Client, refusal};
use novelo_conversation::model::sse::{Frame, Frames};

/// The events that matter to a reader.
#[derive(Debug)]
pub enum Event {
    Text(String),
    /// The text so far is discarded, and the answer starts again.
    Anew,
    /// The last event: the whole answer.
    Done(Value),
}

/// Dropping it closes the connection, so that the server stops sending.
pub(crate) struct Events {
    body: Body,
    frames: Frames,
    ready: VecDeque<Frame>,
    /// The name of the reply, once the server has sent it.
    pub reply: Option<String>,
}

impl Events {
    /// Asks; a refusal is an error with the server's own words.
    pub async fn ask(client: &Client, path: &str, question: &Value) -> anyhow::Result<Self> {
        let response = client.send(Method::POST, path, Body::from(question.to_string())).await?;
        let (head, body) = response.into_parts();
        if !head.status.is_success() {
            return Err(refusal(&body.collect().await?.to_bytes()));
        }
        Ok(Self { body, frames: Frames::default(), ready: VecDeque::new(), reply: None })
    }

    /// The next event. An answer that ends without its last event is an error.
    pub async fn next(&mut self) -> anyhow::Result<Event> {
        loop {
            while let Some(frame) = self.ready.pop_front() {
                if let Some((name, _)) = frame.id.rsplit_once('.') {
                    self.reply = Some(name.to_owned());
                }
                if let Some(event) = read(&frame)? {
                    return Ok(event);
                }
            }
            self.more().await?;
        }
    }

    async fn more(&mut self) -> anyhow::Result<()> {
        let Some(frame) = self.body.frame().await else { bail!("the server ended before its answer did") };
        let Ok(bytes) = frame.context("the answer broke off")?.into_data() else { return Ok(()) };
        let mut found = Vec::new();
        let fed = self.frames.feed(&bytes, &mut found);
        self.ready.extend(found);
        fed.map_err(|_| anyhow::anyhow!("the answer has an event of more than {MODEL_FRAME_BYTES_MAX} bytes"))
    }
}

fn read(frame: &Frame) -> anyhow::Result<Option<Event>> {
    match frame.event.as_str() {
        "text" | "done" => {}
        "anew" => return Ok(Some(Event::Anew)),
        "error" => return Err(refusal(&frame.data)),
        _ => return Ok(None),
    }
    let value: Value = serde_json::from_slice(&frame.data).context("the answer is not JSON")?;
    Ok(Some(match value.get("delta").and_then(Value::as_str) {
        Some(text) => Event::Text(text.to_owned()),
        None => Event::Done(value),
    }))
}
