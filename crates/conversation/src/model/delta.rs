//! From the frames of a server to the pieces of an answer.
//!
//! Pure, and lenient where servers differ: null contents, empty choices, calls without an index, a whole
//! message instead of a delta. What a model only thinks is skipped, unless all that the server says is to be
//! passed on. Refuses what is not JSON, and answers of more than `MODEL_ANSWER_BYTES_MAX`.

use std::collections::VecDeque;

use novelo_engine::limits::{MODEL_ANSWER_BYTES_MAX, MODEL_TOOL_CALLS_MAX};
use serde_json::{Map, Value};

use super::more::More;
use super::{CallDelta, Delta, Usage};

/// Why an answer cannot be read on.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamFault {
    /// What the server says instead: its error object.
    Said(Value),
    /// What came is not of the form.
    Form(String),
}

/// What has been read of an answer.
#[derive(Debug, Default)]
pub struct AnswerSoFar {
    finish: Option<String>,
    usage: Option<Usage>,
    /// Whether what is not understood is passed on as well, and a refusal as what it is.
    tells_all: bool,
    /// What was said of the answer as a whole, and its usage in the server's own words.
    told: Map<String, Value>,
    usage_told: Option<Value>,
    /// The index and id of each call on the wire, in the order of ours.
    calls: Vec<(Option<u64>, String)>,
    bytes: usize,
}

impl AnswerSoFar {
    /// One that passes on all that the server says.
    pub(crate) fn of_all() -> Self {
        Self { tells_all: true, ..Self::default() }
    }

    pub(crate) fn has_finished(&self) -> bool {
        self.finish.is_some()
    }

    /// The last pieces; a server that gives no reason has simply stopped.
    pub fn end(&mut self, out: &mut VecDeque<Delta>) {
        if let Some(usage) = self.usage_told.take() {
            let answer = Map::from_iter([("usage".to_owned(), usage)]);
            out.push_back(Delta::More(Box::new(More { answer, ..More::default() })));
        }
        let finish = self.finish.clone().unwrap_or_else(|| "stop".to_owned());
        out.push_back(Delta::End { finish, usage: self.usage });
    }

    /// Reads one frame, or a whole completion.
    pub fn take(&mut self, data: &[u8], is_error: bool, out: &mut VecDeque<Delta>) -> Result<(), StreamFault> {
        let chunk: Value = match serde_json::from_slice(data) {
            Ok(chunk) => chunk,
            Err(_) if is_error => Value::String(String::from_utf8_lossy(data).into_owned()),
            Err(error) => return Err(StreamFault::Form(format!("what is not JSON: {error}"))),
        };
        if is_error || chunk.get("error").is_some_and(|e| !e.is_null()) || chunk.get("object") == Some(&"error".into())
        {
            return Err(StreamFault::Said(chunk));
        }
        if let Some(usage) = chunk.get("usage").and_then(usage) {
            self.usage = Some(usage);
            self.usage_told = chunk.get("usage").filter(|_| self.tells_all).cloned();
        }
        if self.tells_all {
            self.tell_answer(&chunk, out);
        }
        let choices = chunk.get("choices").and_then(Value::as_array).into_iter().flatten();
        for choice in choices.filter(|choice| choice.get("index").is_none_or(|index| index == 0)) {
            self.choice(choice, out)?;
        }
        Ok(())
    }

    /// Members that repeat in every frame are passed on once.
    fn tell_answer(&mut self, chunk: &Value, out: &mut VecDeque<Delta>) {
        let mut answer = More::of_answer(chunk);
        answer.retain(|name, value| self.told.get(name) != Some(value));
        if !answer.is_empty() {
            self.told.extend(answer.clone());
            out.push_back(Delta::More(Box::new(More { answer, ..More::default() })));
        }
    }

    fn tell_choice(&mut self, choice: &Value, said: &Value, out: &mut VecDeque<Delta>) -> Result<(), StreamFault> {
        let more = More { choice: More::of_choice(choice), message: More::of_message(said), ..More::default() };
        if !more.is_empty() {
            self.grow(more.bytes())?;
            out.push_back(Delta::More(Box::new(more)));
        }
        Ok(())
    }

    fn choice(&mut self, choice: &Value, out: &mut VecDeque<Delta>) -> Result<(), StreamFault> {
        let said = choice.get("delta").or_else(|| choice.get("message")).unwrap_or(&Value::Null);
        if self.tells_all {
            self.tell_choice(choice, said, out)?;
        }
        if let Some(text) = said.get("content").and_then(text) {
            self.grow(text.len())?;
            out.push_back(Delta::Text(text));
        }
        if let Some(text) = said.get("refusal").filter(|_| !self.tells_all).and_then(text) {
            self.grow(text.len())?;
            out.push_back(Delta::Refusal(text));
        }
        for call in said.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            let call = self.call(call)?;
            out.push_back(Delta::Call(call));
        }
        if let Some(finish) = choice.get("finish_reason").and_then(Value::as_str).filter(|finish| !finish.is_empty()) {
            self.finish = Some(finish.to_owned());
        }
        Ok(())
    }

    fn call(&mut self, call: &Value) -> Result<CallDelta, StreamFault> {
        let string = |value: Option<&Value>| value.and_then(Value::as_str).filter(|s| !s.is_empty()).map(str::to_owned);
        let function = call.get("function").unwrap_or(&Value::Null);
        let id = string(call.get("id"));
        let arguments = match function.get("arguments") {
            Some(Value::String(arguments)) => arguments.clone(),
            None | Some(Value::Null) => String::new(),
            Some(object) => object.to_string(),
        };
        let index = self.place(call.get("index").and_then(Value::as_u64), id.as_deref());
        let more = if self.tells_all { others(call) } else { Map::new() };
        let delta = CallDelta { index, id, name: string(function.get("name")), arguments, more };
        let bytes = [&delta.id, &delta.name].into_iter().flatten().map(String::len).sum::<usize>();
        let more = More { message: delta.more.clone(), ..More::default() }.bytes();
        self.grow(bytes + delta.arguments.len() + more)?;
        match self.calls.len() > MODEL_TOOL_CALLS_MAX {
            true => Err(StreamFault::Form(format!("more than MODEL_TOOL_CALLS_MAX, {MODEL_TOOL_CALLS_MAX} calls"))),
            false => Ok(delta),
        }
    }

    /// Which call a piece belongs to. A new id is a new call: some servers give all of them the index 0.
    fn place(&mut self, index: Option<u64>, id: Option<&str>) -> usize {
        let belongs = |(known_index, known_id): &(Option<u64>, String)| {
            let index_fits = index.is_none() || index == *known_index;
            index_fits && id.is_none_or(|id| known_id == id || (index.is_some() && known_id.is_empty()))
        };
        let at = self.calls.iter().rposition(belongs).unwrap_or_else(|| {
            self.calls.push((index, String::new()));
            self.calls.len() - 1
        });
        if let (Some(id), Some((_, known))) = (id, self.calls.get_mut(at)) {
            id.clone_into(known);
        }
        at
    }

    fn grow(&mut self, bytes: usize) -> Result<(), StreamFault> {
        self.bytes += bytes;
        match self.bytes > MODEL_ANSWER_BYTES_MAX {
            true => Err(StreamFault::Form(format!("more than MODEL_ANSWER_BYTES_MAX, {MODEL_ANSWER_BYTES_MAX} bytes"))),
            false => Ok(()),
        }
    }
}

/// What a call says beside its function, such as a signature that its answer must repeat.
fn others(call: &Value) -> Map<String, Value> {
    let members = call.as_object().into_iter().flatten();
    let is_other = |name: &str| !["index", "id", "type", "function"].contains(&name);
    let other = members.filter(|(name, value)| is_other(name) && !value.is_null());
    other.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// A content: a string, or the texts of its parts.
fn text(content: &Value) -> Option<String> {
    let text = match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part.get("text")?.as_str()).collect(),
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}

fn usage(usage: &Value) -> Option<Usage> {
    let count = |name: &str| usage.get(name).and_then(Value::as_u64);
    let prompt_tokens = count("prompt_tokens")?;
    Some(Usage { prompt_tokens, completion_tokens: count("completion_tokens").unwrap_or(0) })
}
