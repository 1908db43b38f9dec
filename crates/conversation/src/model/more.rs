//! What a server says beside the words, the calls and the end of an answer.
//!
//! Pure. Log probabilities, fingerprints, thoughts, annotations and whatever else there is belong to the
//! client that asked: they are passed on, and put together where the answer is wanted in one piece. A null
//! says nothing.

use serde_json::{Map, Value};

/// Further members of an answer, or of a piece of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct More {
    /// Of the completion itself: its model, its fingerprint, the details of its usage.
    pub answer: Map<String, Value>,
    /// Of the one choice: log probabilities and the like.
    pub choice: Map<String, Value>,
    /// Of the message: a refusal, thoughts, annotations and the like.
    pub message: Map<String, Value>,
}

/// Members that are understood, or ours to say.
const OF_ANSWER: [&str; 6] = ["id", "object", "created", "choices", "error", "usage"];
const OF_CHOICE: [&str; 4] = ["index", "delta", "message", "finish_reason"];
const OF_MESSAGE: [&str; 3] = ["role", "content", "tool_calls"];
/// Strings that name something: the next piece repeats them, and is no continuation.
const NAMES: [&str; 7] = ["id", "type", "format", "name", "model", "role", "object"];

impl More {
    /// The fields of a chunk that Novelo does not read.
    pub fn of_answer(chunk: &Value) -> Map<String, Value> {
        others(chunk, &OF_ANSWER)
    }

    /// The fields of a choice that Novelo does not read.
    pub fn of_choice(choice: &Value) -> Map<String, Value> {
        others(choice, &OF_CHOICE)
    }

    /// A text of no characters continues nothing.
    pub(crate) fn of_message(message: &Value) -> Map<String, Value> {
        let mut members = others(message, &OF_MESSAGE);
        members.retain(|_, value| value.as_str() != Some(""));
        members
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.answer.is_empty() && self.choice.is_empty() && self.message.is_empty()
    }

    /// Whether the message says something a reader waits for, and not only thoughts.
    pub(crate) fn says_something(&self) -> bool {
        ["refusal", "function_call", "audio"].iter().any(|name| self.message.contains_key(*name))
    }

    /// About how many bytes it takes.
    pub fn bytes(&self) -> usize {
        let size = |members: &Map<String, Value>| {
            members.iter().map(|(name, value)| name.len() + weight(value)).sum::<usize>()
        };
        size(&self.answer) + size(&self.choice) + size(&self.message)
    }

    /// Adds the next piece: texts and lists go on, anything else is as it was said last.
    pub fn add(&mut self, piece: Self) {
        self.answer.extend(piece.answer);
        merge(&mut self.choice, piece.choice);
        merge(&mut self.message, piece.message);
    }
}

fn others(of: &Value, known: &[&str]) -> Map<String, Value> {
    let members = of.as_object().into_iter().flatten();
    let other = members.filter(|(name, value)| !known.contains(&name.as_str()) && !value.is_null());
    other.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Puts the members of a piece to what came before it.
pub fn merge(all: &mut Map<String, Value>, piece: Map<String, Value>) {
    for (name, value) in piece {
        match all.get_mut(&name) {
            Some(before) => add(&name, before, value),
            None => {
                all.insert(name, value);
            }
        }
    }
}

fn add(name: &str, before: &mut Value, value: Value) {
    match (before, value) {
        (_, Value::Null) => {}
        (Value::String(before), Value::String(more)) if !NAMES.contains(&name) => before.push_str(&more),
        (Value::Array(before), Value::Array(more)) => more.into_iter().for_each(|item| add_item(before, item)),
        (Value::Object(before), Value::Object(more)) => merge(before, more),
        (before, value) => *before = value,
    }
}

/// Items with the same index are pieces of one.
fn add_item(all: &mut Vec<Value>, item: Value) {
    let same = item.get("index").cloned().and_then(|index| all.iter_mut().find(|of| of.get("index") == Some(&index)));
    match same {
        Some(before) => add("", before, item),
        None => all.push(item),
    }
}

/// About how many bytes a value takes.
fn weight(value: &Value) -> usize {
    const EACH: usize = 8;
    EACH + match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(members) => members.iter().map(|(name, value)| name.len() + weight(value)).sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pieces_are_put_together() {
        let mut all = Map::new();
        for piece in [
            json!({"reasoning_content": "Let ", "logprobs": {"content": [{"token": "a"}]}, "audio": {"id": "x", "data": "AA"}}),
            json!({"reasoning_content": "me.", "logprobs": {"content": [{"token": "b"}]}, "audio": {"id": "x", "data": "BB"}}),
            json!({"details": [{"index": 0, "type": "text", "text": "a"}, {"index": 1, "text": "c"}], "refusal": "No"}),
            json!({"details": [{"index": 0, "type": "text", "text": "b"}], "refusal": ".", "n": 1}),
            json!({"n": 2, "refusal": null}),
        ] {
            merge(&mut all, piece.as_object().unwrap().clone());
        }
        let expected = json!({
            "reasoning_content": "Let me.", "logprobs": {"content": [{"token": "a"}, {"token": "b"}]},
            "audio": {"id": "x", "data": "AABB"},
            "details": [{"index": 0, "type": "text", "text": "ab"}, {"index": 1, "text": "c"}],
            "refusal": "No.", "n": 2,
        });
        assert_eq!(Value::Object(all), expected);
    }
}
