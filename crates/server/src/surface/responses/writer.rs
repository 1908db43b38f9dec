//! Writes a response in OpenAI's form: whole, or event by event.
//!
//! Events are numbered by `sequence_number`. Frames depend on the logged events alone, so that a client that
//! resumes after a number gets the rest of the same stream.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value, json};

use novelo_conversation::answer::response::{ResponseEnd, ResponseStatus, ShownResponse};
use novelo_conversation::answer::{Event, EventReader, LoggedEvent, Reply, ResponseFormat};
use novelo_conversation::model::ToolCall;
use novelo_conversation::thread::compaction::Compaction;
use novelo_conversation::thread::item::{ItemId, show_compaction, show_message, thought_piece};

/// The member with the explanation of a response, where that is asked for.
const EXPLANATION: &str = "novelo_explain";

/// A response that waits to be made.
pub(super) fn queued(shown: &ShownResponse) -> Value {
    with_status(shown.members.clone(), ResponseStatus::Queued)
}

/// A response at its end.
pub(super) fn finished(shown: &ShownResponse, Reply { generated, prompted, .. }: &Reply) -> Value {
    let said =
        generated.said_or_thought().map(|said| show_message(&shown.thread, &shown.turn, &said)).unwrap_or_default();
    let compaction = prompted.compaction.as_ref().map(|compaction| show_compaction(&shown.thread, compaction));
    let mut members = shown.members.clone();
    members.extend(prompted.explanation.as_ref().map(|explanation| (EXPLANATION.to_owned(), (**explanation).clone())));
    ended(members, &ResponseEnd::of(generated), compaction.into_iter().chain(said).collect())
}

/// The members of a response that has not ended.
pub(super) fn with_status(mut members: Map<String, Value>, status: ResponseStatus) -> Value {
    members.insert("status".to_owned(), status.name().into());
    members.into()
}

/// The members of a response with how it ended, and its output.
pub(super) fn ended(mut members: Map<String, Value>, end: &ResponseEnd, output: Vec<Value>) -> Value {
    let error = end.error.as_ref().map(|(code, message)| json!({"code": code, "message": message}));
    let details = end.incomplete.as_ref().map(|reason| json!({"reason": reason}));
    let completed_at = (end.status == ResponseStatus::Completed).then_some(end.at as u64);
    for (name, value) in [
        ("completed_at", json!(completed_at)),
        ("error", json!(error)),
        ("incomplete_details", json!(details)),
        ("output", output.into()),
        ("usage", json!(end.usage)),
    ] {
        members.insert(name.to_owned(), value);
    }
    if let Some(warning) = &end.warning
        && let Some(metadata) = members.get_mut("metadata").and_then(Value::as_object_mut)
    {
        metadata.insert("novelo_warning".to_owned(), warning.clone().into());
    }
    if let Some(model) = &end.model {
        members.insert("model".to_owned(), model.clone().into());
    }
    with_status(members, end.status)
}

/// The events of one response, for one reader.
pub(super) struct ResponseWriter {
    shown: Arc<ShownResponse>,
    /// Events up to this number are not sent again.
    after: Option<u64>,
    state: Mutex<Written>,
}

/// What was written so far.
#[derive(Default)]
struct Written {
    /// The number of the next event.
    number: u64,
    /// The number of items that are done.
    output_index: usize,
    open: Option<OpenItem>,
    /// Blanks before the first word: a text of blanks is no message.
    blanks: String,
    frames: Vec<String>,
}

/// The item that is being written.
struct OpenItem {
    kind: ItemKind,
    text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ItemKind {
    Thought,
    Text,
    Refusal,
}

impl ResponseWriter {
    pub(super) fn for_reader(reader: &EventReader, after: Option<u64>) -> Self {
        let shown = match reader.format() {
            ResponseFormat::Response(shown) => shown.clone(),
            ResponseFormat::Assist | ResponseFormat::Relay { .. } | ResponseFormat::Guided { .. } => {
                Arc::new(ShownResponse { members: Map::new(), thread: String::new(), turn: String::new() })
            }
        };
        Self { shown, after, state: Mutex::default() }
    }

    /// The frames before the first event.
    pub(super) fn head(&self) -> String {
        self.write(|writer, written| {
            for kind in ["response.created", "response.in_progress"] {
                let response = with_status(writer.shown.members.clone(), ResponseStatus::InProgress);
                writer.push(written, kind, json!({"response": response}));
            }
        })
        .concat()
    }

    /// The frames of an event. The last one has the id, so that a stream resumed before it repeats them all.
    pub(super) fn write_event(&self, told: &LoggedEvent) -> String {
        let mut frames = self.write(|writer, written| writer.event(written, &told.event));
        if let Some(last) = frames.pop() {
            frames.push(format!("id: {}\n{last}", told.id));
        }
        frames.concat()
    }

    fn write(&self, write: impl FnOnce(&Self, &mut Written)) -> Vec<String> {
        let mut written = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        write(self, &mut written);
        std::mem::take(&mut written.frames)
    }

    fn event(&self, written: &mut Written, event: &Event) {
        match event {
            Event::Prompt(prompted) => {
                if let Some(compaction) = &prompted.compaction {
                    self.compaction(written, compaction);
                }
            }
            Event::Text(text) => self.text(written, text),
            Event::More(more) => {
                if let Some(piece) = thought_piece(&more.message) {
                    self.add(written, ItemKind::Thought, piece);
                }
                if let Some(piece) = more.message.get("refusal").and_then(Value::as_str) {
                    self.add(written, ItemKind::Refusal, piece);
                }
            }
            Event::Call(index, call) => self.call(written, *index, call),
            Event::Done(reply) => {
                self.close(written);
                let end = ResponseEnd::of(&reply.generated);
                self.end(written, end.status, finished(&self.shown, reply));
            }
            Event::Failed(error) => {
                self.close(written);
                let end = ResponseEnd::failed(error);
                self.end(written, end.status, ended(self.shown.members.clone(), &end, Vec::new()));
            }
            _ => {}
        }
    }

    fn end(&self, written: &mut Written, status: ResponseStatus, response: Value) {
        let kind = match status {
            ResponseStatus::Completed => "response.completed",
            ResponseStatus::Failed => "response.failed",
            _ => "response.incomplete",
        };
        self.push(written, kind, json!({"response": response}));
    }

    fn text(&self, written: &mut Written, text: &str) {
        let is_open = written.open.as_ref().is_some_and(|open| open.kind == ItemKind::Text);
        if !is_open && text.trim().is_empty() {
            written.blanks.push_str(text);
            return;
        }
        let text = std::mem::take(&mut written.blanks) + text;
        self.add(written, ItemKind::Text, &text);
    }

    /// Adds a piece to an item, which is opened where another one was being written.
    fn add(&self, written: &mut Written, kind: ItemKind, piece: &str) {
        if written.open.as_ref().is_none_or(|open| open.kind != kind) {
            self.close(written);
            self.open(written, kind);
        }
        if let Some(open) = &mut written.open {
            open.text.push_str(piece);
        }
        let delta = match kind {
            ItemKind::Text => json!({"delta": piece, "logprobs": []}),
            ItemKind::Thought | ItemKind::Refusal => json!({"delta": piece}),
        };
        self.push_part(written, kind, &format!("response.{}.delta", kind.event()), delta);
    }

    fn open(&self, written: &mut Written, kind: ItemKind) {
        let mut item = self.item(kind, None);
        if let Some(members) = item.as_object_mut() {
            members.insert("status".to_owned(), "in_progress".into());
        }
        let output_index = written.output_index;
        self.push(written, "response.output_item.added", json!({"output_index": output_index, "item": item}));
        self.push_part(written, kind, "response.content_part.added", json!({"part": kind.part("")}));
        written.open = Some(OpenItem { kind, text: String::new() });
    }

    /// Ends the item that is being written.
    fn close(&self, written: &mut Written) {
        let Some(OpenItem { kind, text }) = written.open.take() else { return };
        let done = match kind {
            ItemKind::Thought => json!({"text": text}),
            ItemKind::Text => json!({"text": text, "logprobs": []}),
            ItemKind::Refusal => json!({"refusal": text}),
        };
        self.push_part(written, kind, &format!("response.{}.done", kind.event()), done);
        self.push_part(written, kind, "response.content_part.done", json!({"part": kind.part(&text)}));
        let (output_index, item) = (written.output_index, self.item(kind, Some(&text)));
        self.push(written, "response.output_item.done", json!({"output_index": output_index, "item": item}));
        written.output_index += 1;
    }

    /// The item of what was compacted for the prompt.
    fn compaction(&self, written: &mut Written, compaction: &Compaction) {
        let (output_index, item) = (written.output_index, show_compaction(&self.shown.thread, compaction));
        for kind in ["response.output_item.added", "response.output_item.done"] {
            self.push(written, kind, json!({"output_index": output_index, "item": item}));
        }
        written.output_index += 1;
    }

    fn call(&self, written: &mut Written, index: usize, call: &ToolCall) {
        self.close(written);
        let id = ItemId::encode(&self.shown.thread, &self.shown.turn, "function_call", Some(index));
        let item = |status: &str, arguments: &str| {
            json!({
                "id": id, "type": "function_call", "status": status, "call_id": call.id, "name": call.name,
                "arguments": arguments,
            })
        };
        let output_index = written.output_index;
        let at = |rest: Value| {
            let mut members = json!({"item_id": id, "output_index": output_index});
            extend(&mut members, rest);
            members
        };
        let added = json!({"output_index": output_index, "item": item("in_progress", "")});
        self.push(written, "response.output_item.added", added);
        self.push(written, "response.function_call_arguments.delta", at(json!({"delta": call.arguments})));
        let done = at(json!({"arguments": call.arguments, "name": call.name}));
        self.push(written, "response.function_call_arguments.done", done);
        let done = json!({"output_index": output_index, "item": item("completed", &call.arguments)});
        self.push(written, "response.output_item.done", done);
        written.output_index += 1;
    }

    /// An item of one part; without its text, as it begins.
    fn item(&self, kind: ItemKind, text: Option<&str>) -> Value {
        let content: Vec<Value> = text.map(|text| kind.part(text)).into_iter().collect();
        let id = self.item_id(kind);
        match kind {
            ItemKind::Thought => json!({"id": id, "type": "reasoning", "summary": [], "content": content}),
            ItemKind::Text | ItemKind::Refusal => {
                let status = if text.is_some() { "completed" } else { "in_progress" };
                json!({"id": id, "type": "message", "status": status, "role": "assistant", "content": content})
            }
        }
    }

    fn item_id(&self, kind: ItemKind) -> String {
        let name = if kind == ItemKind::Thought { "reasoning" } else { "message" };
        ItemId::encode(&self.shown.thread, &self.shown.turn, name, None)
    }

    /// An event about the one part of the item that is being written.
    fn push_part(&self, written: &mut Written, kind: ItemKind, name: &str, rest: Value) {
        let output_index = written.output_index;
        let mut members = json!({"item_id": self.item_id(kind), "output_index": output_index, "content_index": 0});
        extend(&mut members, rest);
        self.push(written, name, members);
    }

    fn push(&self, written: &mut Written, kind: &str, rest: Value) {
        let number = written.number;
        written.number += 1;
        if self.after.is_some_and(|after| number <= after) {
            return;
        }
        let mut members = json!({"type": kind, "sequence_number": number});
        extend(&mut members, rest);
        written.frames.push(format!("event: {kind}\ndata: {members}\n\n"));
    }
}

impl ItemKind {
    /// How events about its text are called.
    fn event(self) -> &'static str {
        match self {
            Self::Thought => "reasoning_text",
            Self::Text => "output_text",
            Self::Refusal => "refusal",
        }
    }

    fn part(self, text: &str) -> Value {
        match self {
            Self::Thought => json!({"type": "reasoning_text", "text": text}),
            Self::Text => json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []}),
            Self::Refusal => json!({"type": "refusal", "refusal": text}),
        }
    }
}

fn extend(members: &mut Value, rest: Value) {
    if let (Some(members), Value::Object(rest)) = (members.as_object_mut(), rest) {
        members.extend(rest);
    }
}
