//! Items into turns.
//!
//! What an assistant thought, said and called before anybody answered is one turn, as chats have it; any
//! other item is a turn of its own. A type that nobody knows is kept as it came. Refuses what no chat can
//! hold, naming the field.

use bytes::Bytes;
use novelo_engine::message::check_size;
use novelo_engine::{Message, Role};
use serde_json::{Map, Value, json};

use super::compaction::compaction_text;
use super::id::fresh_turn;
use super::show::{completed, show_message};
use super::{ItemTurn, type_of};
use crate::error::{Error, Result};

/// Whether an item stands for one that is stored elsewhere; its id.
pub fn is_reference(item: &Value) -> Option<&str> {
    let is_bare = item.get("type").is_none_or(Value::is_null) && item.get("role").is_none();
    let is_reference = is_bare || item.get("type").is_some_and(|kind| kind == "item_reference");
    item.get("id").and_then(Value::as_str).filter(|_| is_reference)
}

/// The turns of items that stand in a field of a request.
pub fn read_items(field: &str, items: Vec<Value>) -> Result<Vec<ItemTurn>> {
    let mut reader = ItemReader::default();
    for (place, item) in items.into_iter().enumerate() {
        let at = format!("{field}[{place}]");
        reader.read(&at, item)?;
    }
    reader.flush()?;
    Ok(reader.turns)
}

#[derive(Debug, Default)]
struct ItemReader {
    turns: Vec<ItemTurn>,
    /// What an assistant says, until somebody else speaks.
    said: AssistantTurn,
}

#[derive(Debug, Default)]
struct AssistantTurn {
    /// Where its first item stands.
    at: String,
    items: Vec<Value>,
    text: Option<String>,
    refusal: Option<String>,
    calls: Vec<Value>,
}

impl ItemReader {
    fn read(&mut self, at: &str, item: Value) -> Result<()> {
        let Some(members) = item.as_object() else { return Err(Error::invalid(at, "must be an object")) };
        match type_of(&item) {
            "message" if text_member(members, at, "role")? == "assistant" => {
                if self.said.has_text() {
                    self.flush()?;
                }
                self.said.say(at, members)?;
                self.said.items.push(item);
            }
            "message" => {
                let role = text_member(members, at, "role")?;
                if !matches!(Role::from_name(role), Some(Role::User | Role::System | Role::Developer)) {
                    let problem = "must be user, assistant, system or developer";
                    return Err(Error::invalid(format!("{at}.role"), problem));
                }
                let content = input_content(at, "content", members.get("content"))?;
                let message = json!({"role": role, "content": content});
                self.add(at, vec![item], Some(message))?;
            }
            "reasoning" => self.said.add(at, item),
            "function_call" => {
                let [name, arguments, id] = ["name", "arguments", "call_id"].map(|name| text_member(members, at, name));
                let function = json!({"name": name?, "arguments": arguments?});
                self.said.calls.push(json!({"id": id?, "type": "function", "function": function}));
                self.said.add(at, item);
            }
            "function_call_output" => {
                let id = text_member(members, at, "call_id")?;
                let content = input_content(at, "output", members.get("output"))?;
                let message = json!({"role": "tool", "tool_call_id": id, "content": content});
                self.add(at, vec![item], Some(message))?;
            }
            "compaction" if compaction_text(members).is_some() => {
                let message = json!({"role": "user", "content": compaction_text(members)});
                self.add(at, vec![item], Some(message))?;
            }
            "" => return Err(Error::invalid(format!("{at}.type"), "is missing")),
            _ => self.add(at, vec![item], None)?,
        }
        Ok(())
    }

    /// Ends what an assistant says.
    fn flush(&mut self) -> Result<()> {
        let said = std::mem::take(&mut self.said);
        if said.items.is_empty() {
            return Ok(());
        }
        let message = said.message();
        self.push(&said.at, said.items, message)
    }

    /// A turn of somebody else.
    fn add(&mut self, at: &str, items: Vec<Value>, message: Option<Value>) -> Result<()> {
        self.flush()?;
        self.push(at, items, message)
    }

    fn push(&mut self, at: &str, items: Vec<Value>, message: Option<Value>) -> Result<()> {
        let document = match message {
            Some(message) if says_all(&message, &items) => message,
            Some(message) => json!({"items": items, "value": message}),
            None => json!({"items": items}),
        };
        let raw = Bytes::from(document.to_string());
        check_size(&raw).map_err(|error| Error::invalid(at, error))?;
        self.turns.push(ItemTurn { id: fresh_turn(), message: Message::from_stored(raw) });
        Ok(())
    }
}

impl AssistantTurn {
    fn has_text(&self) -> bool {
        self.text.is_some() || self.refusal.is_some()
    }

    fn add(&mut self, at: &str, item: Value) {
        if self.items.is_empty() {
            at.clone_into(&mut self.at);
        }
        self.items.push(item);
    }

    /// Takes the text of a message; the message itself is added by the caller.
    fn say(&mut self, at: &str, members: &Map<String, Value>) -> Result<()> {
        if self.items.is_empty() {
            at.clone_into(&mut self.at);
        }
        let parts = match members.get("content") {
            Some(Value::String(text)) => {
                self.text = Some(text.clone());
                return Ok(());
            }
            Some(Value::Array(parts)) => parts,
            _ => return Err(Error::invalid(format!("{at}.content"), "must be a string or an array of parts")),
        };
        for (place, part) in parts.iter().enumerate() {
            let at = format!("{at}.content[{place}]");
            let member = |name: &str| {
                let text = part.get(name).and_then(Value::as_str);
                text.ok_or_else(|| Error::invalid(format!("{at}.{name}"), "must be a string"))
            };
            match part.get("type").and_then(Value::as_str) {
                Some("output_text" | "text" | "input_text") => {
                    self.text.get_or_insert_default().push_str(member("text")?);
                }
                Some("refusal") => self.refusal.get_or_insert_default().push_str(member("refusal")?),
                _ => return Err(Error::invalid(format!("{at}.type"), "must be output_text or refusal")),
            }
        }
        Ok(())
    }

    /// The message; none for a thought that nothing was said after.
    fn message(&self) -> Option<Value> {
        if self.text.is_none() && self.refusal.is_none() && self.calls.is_empty() {
            return None;
        }
        let refusal = self.refusal.as_ref().map(|refusal| ("refusal", json!(refusal)));
        let calls = (!self.calls.is_empty()).then(|| ("tool_calls", json!(self.calls)));
        Some(with(json!({"role": "assistant", "content": self.text}), refusal.into_iter().chain(calls)))
    }
}

/// An object with more members.
fn with<'n>(mut object: Value, more: impl IntoIterator<Item = (&'n str, Value)>) -> Value {
    if let Some(members) = object.as_object_mut() {
        members.extend(more.into_iter().map(|(name, value)| (name.to_owned(), value)));
    }
    object
}

fn text_member<'m>(members: &'m Map<String, Value>, at: &str, name: &str) -> Result<&'m str> {
    match members.get(name) {
        Some(Value::String(text)) => Ok(text),
        None | Some(Value::Null) => Err(Error::invalid(format!("{at}.{name}"), "is missing")),
        Some(_) => Err(Error::invalid(format!("{at}.{name}"), "must be a string")),
    }
}

/// What a user said, or a tool returned, as the content of a message: one text stays a string.
fn input_content(at: &str, name: &str, content: Option<&Value>) -> Result<Value> {
    let at = format!("{at}.{name}");
    let parts = match content {
        Some(Value::String(text)) => return Ok(text.clone().into()),
        Some(Value::Array(parts)) => parts,
        None | Some(Value::Null) => return Err(Error::invalid(at, "is missing")),
        Some(_) => return Err(Error::invalid(at, "must be a string or an array of parts")),
    };
    let parts = parts.iter().enumerate().map(|(place, part)| chat_part(&format!("{at}[{place}]"), part));
    let parts = parts.collect::<Result<Vec<_>>>()?;
    match parts.as_slice() {
        [only] if only["type"] == "text" => Ok(only["text"].clone()),
        _ => Ok(parts.into()),
    }
}

/// A part of an item as a part of a message.
fn chat_part(at: &str, part: &Value) -> Result<Value> {
    let text = |name: &str| part.get(name).and_then(Value::as_str);
    let missing = |name: &str, problem: &str| Error::invalid(format!("{at}.{name}"), problem.to_owned());
    match text("type") {
        Some("input_text" | "output_text" | "text") => {
            let text = text("text").ok_or_else(|| missing("text", "must be a string"))?;
            Ok(json!({"type": "text", "text": text}))
        }
        Some("input_image") => {
            let problem = "is missing: an image is given by its address or as a data URL; there is no file store";
            let image = json!({"url": text("image_url").ok_or_else(|| missing("image_url", problem))?});
            let detail = text("detail").filter(|detail| *detail != "auto");
            let image = with(image, detail.map(|detail| ("detail", json!(detail))));
            Ok(json!({"type": "image_url", "image_url": image}))
        }
        Some("input_file") => {
            let problem = "is missing: a file is given as data; there is no file store, and none is fetched";
            let file = json!({"file_data": text("file_data").ok_or_else(|| missing("file_data", problem))?});
            let file = with(file, text("filename").map(|name| ("filename", json!(name))));
            Ok(json!({"type": "file", "file": file}))
        }
        Some("input_audio") => Ok(part.clone()),
        _ => Err(missing("type", "must be input_text, input_image, input_file or input_audio")),
    }
}

/// Whether the items can be derived from the message.
fn says_all(message: &Value, items: &[Value]) -> bool {
    let derived = show_message("t", "t", message).into_iter().map(|mut item| {
        item.as_object_mut().map(|members| members.remove("id"));
        plain(item)
    });
    derived.eq(items.iter().map(|item| plain(completed(item))))
}

/// An item without what says nothing: nulls, empty lists, and usual values.
fn plain(item: Value) -> Value {
    match item {
        Value::Object(members) => {
            let says = |name: &str, value: &Value| match value {
                Value::Null => false,
                Value::Array(items) => !items.is_empty() || !matches!(name, "annotations" | "logprobs"),
                Value::String(text) => !matches!((name, text.as_str()), ("status", "completed") | ("detail", "auto")),
                _ => true,
            };
            let members = members.into_iter().filter(|(name, value)| says(name, value));
            Value::Object(members.map(|(name, value)| (name, plain(value))).collect())
        }
        Value::Array(items) => items.into_iter().map(plain).collect(),
        other => other,
    }
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
