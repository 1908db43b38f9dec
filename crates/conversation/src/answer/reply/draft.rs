//! An answer in the making. What is in it survives the end of whoever makes it.

use novelo_engine::{Message, Role};
use serde_json::{Map, Value, json};

use super::log::Log;
use super::{Called, Event, Partial, Prompted};
use crate::error::Error;
use crate::model::{Delta, More, ToolCall, Usage};

#[derive(Debug)]
pub struct Draft {
    /// The message that is being written; what came before a call of a skill is stored with it.
    pub text: String,
    /// Whether the client was told anything yet; blanks are nothing.
    pub has_begun: bool,
    pub prompted: Prompted,
    pub answered_by: String,
    pub usage: Option<Usage>,
    pub calls: Vec<Called>,
    pub partial: Option<Partial>,
    /// Whether the model was asked again.
    pub fallback: bool,
    pub notes: Vec<String>,
    pub finish: String,
    pub to_run: Vec<ToolCall>,
    /// What else the server of the model said, for a client of that server.
    pub more: More,
    /// Why the model broke off, for such a client.
    pub failure: Option<Error>,
    /// Whether the beginning was told.
    is_open: bool,
    /// When the first and the last piece of text were told, in milliseconds since the reply began.
    spoken_ms: Option<(f64, f64)>,
}

/// Who answers where no model does.
pub const PASSAGES: &str = "passages";

impl Draft {
    pub fn new(prompted: Prompted, note: Option<String>) -> Self {
        Self {
            text: String::new(),
            has_begun: false,
            prompted,
            answered_by: PASSAGES.to_owned(),
            usage: None,
            calls: Vec::new(),
            partial: None,
            fallback: false,
            notes: note.into_iter().collect(),
            finish: String::new(),
            to_run: Vec::new(),
            more: More::default(),
            failure: None,
            is_open: false,
            spoken_ms: None,
        }
    }

    pub fn say(&mut self, text: String, log: &Log) {
        if text.is_empty() {
            return;
        }
        let now_ms = log.since_ms();
        if self.spoken_ms.is_none() {
            log.terms.tracer.first_token();
            self.open(log);
        }
        let (first_ms, _) = self.spoken_ms.unwrap_or((now_ms, now_ms));
        self.spoken_ms = Some((first_ms, now_ms));
        self.has_begun |= !text.trim().is_empty();
        self.text.push_str(&text);
        log.push(Event::Text(text));
    }

    /// Tells that the answer begins, once.
    fn open(&mut self, log: &Log) {
        if !std::mem::replace(&mut self.is_open, true) {
            log.push(Event::First);
        }
    }

    /// Tells a client of the model's server what that says, as it comes.
    pub fn relay(&mut self, delta: &Delta, log: &Log) {
        match delta {
            Delta::Text(text) => self.say(text.clone(), log),
            Delta::More(more) => self.relay_more((**more).clone(), log),
            Delta::Call(_) => self.open(log),
            Delta::End { .. } => {}
        }
    }

    /// What stands in the first frame stands in all of them.
    pub fn relay_more(&mut self, mut more: More, log: &Log) {
        self.more.add(more.clone());
        self.has_begun |= more.says_something();
        if !self.is_open && log.head.get().is_none() {
            let is_head = |name: &String| name != "usage";
            let (head, rest): (Map<_, _>, Map<_, _>) = more.answer.into_iter().partition(|(name, _)| is_head(name));
            more.answer = rest;
            // Only this task sets it, and it was not set.
            let _set = log.head.set(head);
        }
        self.open(log);
        more.answer.remove("usage");
        if !more.is_empty() {
            log.push(Event::More(Box::new(more)));
        }
    }

    /// Takes back what this message says so far, in favour of a whole one.
    pub fn say_anew(&mut self, text: String, log: &Log) {
        if !self.text.is_empty() {
            self.text.clear();
            log.push(Event::Anew);
        }
        self.say(text, log);
    }

    /// There are no more words, if there were any.
    pub fn end(&self, log: &Log) {
        if let Some((first_ms, last_ms)) = self.spoken_ms {
            log.push(Event::Spoken { first_ms, last_ms });
        }
    }

    /// A call that cost so much was made for it.
    pub fn add(&mut self, usage: Option<Usage>) {
        if let Some(more) = usage {
            let sum = self.usage.get_or_insert_default();
            sum.prompt_tokens = sum.prompt_tokens.saturating_add(more.prompt_tokens);
            sum.completion_tokens = sum.completion_tokens.saturating_add(more.completion_tokens);
        }
    }

    /// The turn that it becomes; `None` where nothing was said.
    pub fn turn(&self) -> Option<Message> {
        let said = message(&self.text, &self.to_run, &self.more.message);
        let says_something = !self.text.trim().is_empty() || !self.to_run.is_empty() || self.more.says_something();
        says_something.then(|| stored(said, self.partial))
    }
}

/// An answer as a turn, and why there is no more of it; `None` where nothing was said.
pub fn turn(text: &str, calls: &[ToolCall], partial: Option<Partial>) -> Option<Message> {
    let says_something = !text.trim().is_empty() || !calls.is_empty();
    says_something.then(|| stored(said(text, calls), partial))
}

fn stored(mut message: Value, partial: Option<Partial>) -> Message {
    if let (Some(partial), Some(members)) = (partial, message.as_object_mut()) {
        members.insert("partial".to_owned(), json!(partial));
    }
    Message::from_stored(message.to_string().into())
}

/// What a model said and called, as a message.
pub fn said(text: &str, calls: &[ToolCall]) -> Value {
    message(text, calls, &Map::new())
}

/// The same with further members of the message, as the server of the model gave them.
pub fn message(text: &str, calls: &[ToolCall], more: &Map<String, Value>) -> Value {
    let says_otherwise = !calls.is_empty() || more.contains_key("refusal") || more.contains_key("function_call");
    let content = (!says_otherwise || !text.trim().is_empty()).then_some(text);
    let mut message = json!({"role": Role::Assistant.name(), "content": content});
    if let (false, Some(members)) = (calls.is_empty(), message.as_object_mut()) {
        members.insert("tool_calls".to_owned(), calls.iter().map(ToolCall::message).collect());
    }
    if let Some(members) = message.as_object_mut() {
        members.extend(more.iter().map(|(name, value)| (name.clone(), value.clone())));
    }
    message
}
