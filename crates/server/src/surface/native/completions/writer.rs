//! Writes an answer in OpenAI's form: whole, or chunk by chunk.
//!
//! `id`, which names the reply, and `created` are ours; the rest is what the model server says. Chunks depend
//! on events alone, so that a resumed stream has the same chunks.

use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value, json};

use novelo_conversation::answer::{self, Event, EventReader, Generated, LoggedEvent, Reply, ResponseFormat};
use novelo_conversation::error::{Code, Error};
use novelo_conversation::model::{More, ToolCall};

/// Members that all parts of one answer share, also after a resume.
pub(crate) struct CompletionWriter {
    id: String,
    created: u64,
    /// The name in the request, used if the server does not report its own.
    model: String,
    wants_usage: bool,
    /// What the server says about the whole answer, once it does.
    head: Arc<OnceLock<Map<String, Value>>>,
}

/// Members of an answer that the server does not set.
const OURS: [&str; 5] = ["id", "object", "created", "choices", "usage"];

impl CompletionWriter {
    pub(crate) fn for_reader(reader: &EventReader) -> Self {
        let (model, wants_usage) = match reader.format() {
            ResponseFormat::Relay { model, wants_usage } => (model.clone(), *wants_usage),
            ResponseFormat::Assist | ResponseFormat::Response(_) | ResponseFormat::Guided { .. } => {
                (String::new(), false)
            }
        };
        let id = format!("chatcmpl-{}", reader.name());
        Self { id, created: reader.started_at() as u64, model, wants_usage, head: reader.head() }
    }

    /// The frames of an event. The last one has the id, so that a stream resumed before it repeats all of
    /// them.
    pub(crate) fn write_event(&self, told: &LoggedEvent) -> String {
        let missed = match told.missed {
            0 => String::new(),
            missed => format!(": missed {missed} events\n\n"),
        };
        let mut frames = self.frames(&told.event);
        if let Some(last) = frames.pop() {
            frames.push(format!("id: {}\n{last}", told.id));
        }
        missed + &frames.concat()
    }

    fn frames(&self, event: &Event) -> Vec<String> {
        let none = Map::new();
        match event {
            Event::First => vec![self.chunk(&json!({"role": "assistant", "content": ""}), None, (&none, &none))],
            Event::Text(text) => vec![self.chunk(&json!({"content": text}), None, (&none, &none))],
            // One call per chunk and event: some clients read only the first call of a chunk, and a stream
            // that is resumed between two calls must not repeat the first.
            Event::Call(index, call) => {
                vec![self.chunk(&json!({"tool_calls": [indexed(*index, call)]}), None, (&none, &none))]
            }
            Event::More(more) => vec![self.more(more)],
            Event::Done(reply) => self.end(reply),
            Event::Failed(error) => vec![failed(error), data("[DONE]")],
            _ => Vec::new(),
        }
    }

    /// A chunk with further members from the server.
    fn more(&self, more: &More) -> String {
        match more.choice.is_empty() && more.message.is_empty() {
            true => data(self.with("chat.completion.chunk", json!({"choices": []}), &more.answer)),
            false => self.chunk(&Value::Object(more.message.clone()), None, (&more.answer, &more.choice)),
        }
    }

    fn end(&self, reply: &Reply) -> Vec<String> {
        let none = Map::new();
        let end = match broken(reply) {
            Some(error) => failed(&error),
            None => self.chunk(&json!({}), Some(&reply.generated.finish), (&none, &none)),
        };
        let usage = usage(reply).filter(|_| self.wants_usage).map(|usage| {
            let usage = json!({"choices": [], "usage": usage});
            data(self.with("chat.completion.chunk", usage, &none))
        });
        [Some(end), usage, Some(data("[DONE]"))].into_iter().flatten().collect()
    }

    /// A chunk of the one choice, with further members of the answer and of the choice.
    fn chunk(&self, delta: &Value, finish: Option<&str>, more: (&Map<String, Value>, &Map<String, Value>)) -> String {
        let (of_answer, of_choice) = more;
        let mut choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        extend(&mut choice, of_choice);
        let choices = json!({"choices": [choice]});
        data(self.with("chat.completion.chunk", choices, of_answer))
    }

    pub(crate) fn whole(&self, reply: &Reply) -> Value {
        let Generated { text, tool_calls, more, finish, .. } = &reply.generated;
        let More { answer, choice: of_choice, message } = more;
        let message = answer::message(text, tool_calls, message);
        let mut choice = json!({"index": 0, "message": message, "finish_reason": finish});
        extend(&mut choice, of_choice);
        let mut rest = json!({"choices": [choice]});
        if let (Some(usage), Some(members)) = (usage(reply), rest.as_object_mut()) {
            members.insert("usage".to_owned(), usage);
        }
        self.with("chat.completion", rest, answer)
    }

    /// The members of an answer or a chunk. If usage is wanted, chunks without it have `null`.
    fn with(&self, object: &str, mut rest: Value, more: &Map<String, Value>) -> Value {
        let mut value = json!({"id": self.id, "object": object, "created": self.created, "model": self.model});
        let others =
            self.head.get().into_iter().flatten().chain(more).filter(|(name, _)| !OURS.contains(&name.as_str()));
        if let (Some(members), Some(rest)) = (value.as_object_mut(), rest.as_object_mut()) {
            members.extend(others.map(|(name, value)| (name.clone(), value.clone())));
            members.append(rest);
            if self.wants_usage && object == "chat.completion.chunk" {
                members.entry("usage").or_insert(Value::Null);
            }
        }
        value
    }
}

fn extend(value: &mut Value, more: &Map<String, Value>) {
    if let Some(members) = value.as_object_mut() {
        members.extend(more.iter().map(|(name, value)| (name.clone(), value.clone())));
    }
}

fn data(data: impl std::fmt::Display) -> String {
    format!("data: {data}\n\n")
}

fn failed(error: &Error) -> String {
    data(String::from_utf8_lossy(&error.clone().for_openai().body()))
}

/// The error that ended an answer early.
pub(crate) fn broken(reply: &Reply) -> Option<Error> {
    let partial = reply.generated.partial?;
    Some(reply.generated.failure.clone().unwrap_or_else(|| Error::new(Code::ModelFailed, partial.in_words())))
}

/// The usage as the server reports it, else as far as it was counted; none if the server does not report it.
fn usage(reply: &Reply) -> Option<Value> {
    if let Some(told) = reply.generated.more.answer.get("usage") {
        return Some(told.clone());
    }
    let usage = reply.generated.usage?;
    let total = usage.prompt_tokens.saturating_add(usage.completion_tokens);
    let (prompt, completion) = (usage.prompt_tokens, usage.completion_tokens);
    Some(json!({"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": total}))
}

fn indexed(index: usize, call: &ToolCall) -> Value {
    let mut call = call.message();
    if let Some(members) = call.as_object_mut() {
        members.insert("index".to_owned(), index.into());
    }
    call
}
