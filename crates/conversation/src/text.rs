//! Texts: what a message says, what a member of a document says, and the first characters of either.

use std::borrow::Cow;

use novelo_engine::loaded::show_value;
use novelo_engine::{Message, json};

/// The words of a message, also where they stand in parts.
pub fn said(message: &Message) -> Option<Cow<'_, str>> {
    if let Some(text) = message.content_text() {
        return Some(text);
    }
    let raw = message.as_str();
    let parts: Vec<serde_json::Value> = serde_json::from_str(json::member(raw, "content")?.slice(raw)).ok()?;
    let texts: Vec<&str> = parts.iter().filter_map(|part| part.get("text")?.as_str()).collect();
    Some(texts.join("\n").into())
}

/// The text of one member of a document.
pub fn member<'m>(document: &'m Message, name: &str) -> Option<Cow<'m, str>> {
    let raw = document.as_str();
    json::unescape(json::member(raw, name)?.slice(raw))
}

/// One member of a document, as a prompt shows it; `None` when it holds nothing.
pub fn shown_member<'m>(document: &'m Message, name: &str) -> Option<Cow<'m, str>> {
    let raw = document.as_str();
    show_value(json::member(raw, name)?.slice(raw))
}

/// The first characters of a text.
pub fn cut(text: &str, chars_max: usize) -> String {
    let end = text.char_indices().nth(chars_max).map_or(text.len(), |(end, _)| end);
    text.get(..end).unwrap_or(text).to_owned()
}
