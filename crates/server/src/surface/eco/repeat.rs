//! The id by which a request is recognised when it is sent again: `Idempotency-Key`, else the `id` of the
//! message. Without one, the same request joins the answer only while that is being made.

use axum::http::{HeaderMap, HeaderName};
use novelo_engine::path::check_id;

use novelo_conversation::answer::RepeatKey;
use novelo_conversation::answer::guide::GuidedRequest;
use novelo_conversation::error::{Error, Result};
use novelo_conversation::text::member;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

pub(crate) fn key(headers: &HeaderMap, asked: &GuidedRequest) -> Result<Option<RepeatKey>> {
    if let Some(key) = headers.get(IDEMPOTENCY_KEY) {
        let wrong = |problem: String| Error::invalid("Idempotency-Key", problem);
        let key = key.to_str().map_err(|_| wrong("must be visible ASCII characters".to_owned()))?.trim();
        check_id(key).map_err(|e| wrong(e.to_string()))?;
        return Ok(Some(RepeatKey { id: format!("key {key}"), print: asked.print(), param: "Idempotency-Key" }));
    }
    let Some(last) = asked.messages.last() else { return Ok(None) };
    // Clients also count their messages: another message under an id is another message.
    let id = member(last, "id").filter(|id| check_id(id).is_ok());
    let print = asked.message_print();
    Ok(id.map(|id| RepeatKey { id: format!("message {id} {print}"), print, param: "messages" }))
}

/// By what another request joins the answer to this one while it runs: its id, else all that it says.
pub(crate) fn running_key(asked: &GuidedRequest) -> RepeatKey {
    let print = asked.print();
    let whole = || RepeatKey { id: format!("request {print}"), print: print.clone(), param: "messages" };
    asked.repeat.clone().unwrap_or_else(whole)
}
