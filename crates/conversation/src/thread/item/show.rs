//! The items of a turn.
//!
//! A turn that was made from items has them; the items of any other turn are derived from its message.

use novelo_engine::Turn;
use serde_json::{Map, Value, json};

use super::id::ItemId;
use super::type_of;

/// The members in which servers tell what a model thought.
const THOUGHTS: [&str; 2] = ["reasoning_content", "reasoning"];

/// The items of a stored turn, each with its id.
pub fn show_turn(thread: &str, turn: &Turn) -> Vec<Value> {
    show_document(thread, &turn.id, turn.message.raw())
}

/// The items of the document of a turn.
pub fn show_document(thread: &str, turn: &str, document: &[u8]) -> Vec<Value> {
    show_value(thread, turn, &serde_json::from_slice(document).unwrap_or_default())
}

/// The items of a message of a chat, as the turn of this id would have them.
pub fn show_message(thread: &str, turn: &str, message: &Value) -> Vec<Value> {
    let named =
        |(kind, place, item): (&str, Option<usize>, Value)| with_id(item, ItemId::encode(thread, turn, kind, place));
    derived(message).into_iter().map(named).collect()
}

fn show_value(thread: &str, turn: &str, document: &Value) -> Vec<Value> {
    let items = document.get("items").and_then(Value::as_array).filter(|_| document.get("role").is_none());
    let Some(items) = items else {
        let message = document.get("value").filter(|_| document.get("role").is_none()).unwrap_or(document);
        return show_message(thread, turn, message);
    };
    let several = items.len() > 1;
    let named = |(place, item): (usize, &Value)| {
        let id = ItemId::encode(thread, turn, type_of(item), several.then_some(place));
        with_id(completed(item), id)
    };
    items.iter().enumerate().map(named).collect()
}

/// The item under its own id, or else under this one, which comes first.
fn with_id(item: Value, id: String) -> Value {
    let Value::Object(members) = item else { return item };
    let id = members.get("id").filter(|own| own.is_string()).cloned().unwrap_or_else(|| id.into());
    let rest = members.into_iter().filter(|(name, _)| name != "id");
    Value::Object([("id".to_owned(), id)].into_iter().chain(rest).collect())
}

/// An item as clients expect to read it: its type, its status, and the content of a message in parts.
pub(super) fn completed(item: &Value) -> Value {
    let kind = type_of(item);
    let Some(members) = item.as_object() else { return item.clone() };
    let mut members = members.clone();
    members.entry("type").or_insert_with(|| kind.into());
    if matches!(kind, "message" | "function_call" | "function_call_output") {
        let status = members.entry("status").or_insert(Value::Null);
        if status.is_null() {
            *status = "completed".into();
        }
    }
    if kind == "message"
        && let Some(text) = members.get("content").and_then(Value::as_str)
    {
        let is_said = members.get("role").is_some_and(|role| role == "assistant");
        let part = if is_said { output_text(text) } else { input_text(text) };
        members.insert("content".to_owned(), json!([part]));
    }
    members.into()
}

/// The items of a message without their ids: the type of each, and its place where there may be several.
fn derived(message: &Value) -> Vec<(&'static str, Option<usize>, Value)> {
    let role = message.get("role").and_then(Value::as_str).unwrap_or("unknown");
    let content = message.get("content").unwrap_or(&Value::Null);
    let status = if message.get("partial").is_some() { "incomplete" } else { "completed" };
    match role {
        "assistant" => said(message, content, status),
        "tool" => {
            let output = match content {
                Value::Array(parts) => parts.iter().map(input_part).collect(),
                Value::Null => "".into(),
                text => text.clone(),
            };
            let call_id = message.get("tool_call_id");
            let item = json!({"type": "function_call_output", "status": status, "call_id": call_id, "output": output});
            vec![("function_call_output", None, item)]
        }
        _ => {
            let parts = match content {
                Value::String(text) => vec![input_text(text)],
                Value::Array(parts) => parts.iter().map(input_part).collect(),
                _ => Vec::new(),
            };
            vec![("message", None, json!({"type": "message", "status": status, "role": role, "content": parts}))]
        }
    }
}

/// What an assistant thought, said and called.
fn said(message: &Value, content: &Value, status: &str) -> Vec<(&'static str, Option<usize>, Value)> {
    let mut items = Vec::new();
    if let Some(thought) = thought(message) {
        let content = json!([{"type": "reasoning_text", "text": thought}]);
        items.push(("reasoning", None, json!({"type": "reasoning", "summary": [], "content": content})));
    }
    let mut parts: Vec<Value> = match content {
        Value::String(text) if !text.trim().is_empty() => vec![output_text(text)],
        Value::Array(parts) => parts.iter().map(output_part).collect(),
        _ => Vec::new(),
    };
    if let Some(refusal) = message.get("refusal").and_then(Value::as_str) {
        parts.push(json!({"type": "refusal", "refusal": refusal}));
    }
    if !parts.is_empty() {
        let item = json!({"type": "message", "status": status, "role": "assistant", "content": parts});
        items.push(("message", None, item));
    }
    let calls = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
    items.extend(calls.enumerate().map(|(place, call)| ("function_call", Some(place), function_call(call, status))));
    items
}

fn function_call(call: &Value, status: &str) -> Value {
    let function = call.get("function").unwrap_or(&Value::Null);
    let member = |name: &str| function.get(name).cloned().unwrap_or_else(|| "".into());
    json!({
        "type": "function_call", "status": status, "call_id": call.get("id"), "name": member("name"),
        "arguments": member("arguments"),
    })
}

/// What a model thought before it spoke, where its server tells.
fn thought(message: &Value) -> Option<&str> {
    THOUGHTS.iter().find_map(|name| message.get(name)?.as_str()).filter(|thought| !thought.is_empty())
}

/// The piece of a thought among further members of a streamed message.
pub fn thought_piece(members: &Map<String, Value>) -> Option<&str> {
    THOUGHTS.iter().find_map(|name| members.get(*name)?.as_str())
}

pub(super) fn input_text(text: &str) -> Value {
    json!({"type": "input_text", "text": text})
}

pub(super) fn output_text(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []})
}

/// A part of what a user said, or a tool returned. Parts that nobody knows stay as they are.
fn input_part(part: &Value) -> Value {
    let within = |outer: &str, name: &str| part.get(outer).and_then(|of| of.get(name)).cloned();
    match part.get("type").and_then(Value::as_str) {
        Some("text") => input_text(part.get("text").and_then(Value::as_str).unwrap_or_default()),
        Some("image_url") => {
            let url = within("image_url", "url").or_else(|| part.get("image_url").cloned());
            let detail = within("image_url", "detail").unwrap_or_else(|| "auto".into());
            json!({"type": "input_image", "image_url": url, "detail": detail})
        }
        Some("file") => {
            let mut item = Map::from_iter([("type".to_owned(), Value::from("input_file"))]);
            item.extend(part.get("file").and_then(Value::as_object).cloned().unwrap_or_default());
            item.into()
        }
        _ => part.clone(),
    }
}

fn output_part(part: &Value) -> Value {
    match part.get("type").and_then(Value::as_str) {
        Some("text") => output_text(part.get("text").and_then(Value::as_str).unwrap_or_default()),
        _ => part.clone(),
    }
}
