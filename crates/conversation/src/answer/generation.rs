//! An answer while a model generates it.
//!
//! Owns the text and its events: the first piece, the text, the end. What is in it outlives the call that
//! fills it, so that an answer that is cut short is kept.

use novelo_engine::{Message, Role};
use novelo_language::finish::{Block, Cleaner};
use serde_json::{Map, Value, json};

use super::event::{Event, Partial, SkillCall};
use super::log::EventLog;
use crate::error::Error;
use crate::model::{Delta, Failure, More, ToolCall, Usage};
use crate::thread::item::thought_piece;

/// What a model generated, and how that went.
#[derive(Debug, Default)]
pub struct Generated {
    /// The last message. Text before a call of a skill is stored with that call.
    pub text: String,
    /// The name of the model; none where it said nothing.
    pub model: Option<String>,
    /// The tokens that the model's server counted.
    pub usage: Option<Usage>,
    /// The skills that were called.
    pub calls: Vec<SkillCall>,
    /// Why the text is not complete.
    pub partial: Option<Partial>,
    /// The failure after which the model was asked again, with success.
    pub retried_after: Option<Failure>,
    /// What the reader should know, in words.
    pub notes: Vec<String>,
    /// Why the model ended, in its own word.
    pub finish: String,
    /// The tools that the client is to run.
    pub tool_calls: Vec<ToolCall>,
    /// Other members of the model server's response, for a client of that server.
    pub more: More,
    /// The error for such a client, where the model broke off.
    pub failure: Option<Error>,
    /// When the model ended, in seconds.
    pub ended_at: f64,
    /// Where the model's server cut the prompt without a word: the tokens that it read, and ours.
    pub cut_prompt: Option<(u64, u32)>,
}

#[derive(Debug, Default)]
pub struct Generation {
    pub generated: Generated,
    /// Whether the client was sent anything yet. Blanks do not count.
    pub has_begun: bool,
    /// The technical block that was found in the text.
    pub block: Option<Block>,
    filter: Option<TextFilter>,
    /// Whether `First` was sent.
    is_open: bool,
    /// When the first and the last piece of text were sent, in milliseconds since the reply began.
    shown_ms: Option<(f64, f64)>,
}

/// Removes the technical block and repeated greetings from a text, also piece by piece.
#[derive(Debug)]
pub struct TextFilter {
    /// Greetings to remove at the front, where the conversation is not new.
    greetings: Option<Vec<String>>,
    cleaner: Cleaner,
}

impl TextFilter {
    pub fn new(greetings: Option<Vec<String>>) -> Self {
        let cleaner = Cleaner::new(greetings.as_deref());
        Self { greetings, cleaner }
    }

    /// Starts a new text, and returns what the old one was cleaned with.
    fn restart(&mut self) -> Cleaner {
        std::mem::replace(&mut self.cleaner, Cleaner::new(self.greetings.as_deref()))
    }
}

impl Generation {
    pub fn new(filter: Option<TextFilter>) -> Self {
        Self { filter, ..Self::default() }
    }

    /// Starts a new message.
    pub fn restart(&mut self) {
        self.generated.text.clear();
        self.generated.more = More::default();
        if let Some(filter) = &mut self.filter {
            filter.restart();
        }
    }

    /// Adds a piece of a stream. With `relays` everything is passed on to a client of the model's server.
    pub fn add(&mut self, delta: &Delta, relays: bool, log: &EventLog) {
        match delta {
            Delta::Text(text) => {
                let text = match &mut self.filter {
                    Some(filter) => filter.cleaner.push(text),
                    None => text.clone(),
                };
                self.show(text, log);
            }
            // A guided answer never shows one: it fails.
            Delta::Refusal(text) if self.filter.is_none() => self.show(text.clone(), log),
            Delta::More(more) => self.add_more((**more).clone(), log),
            Delta::Call(_) if relays => self.open(log),
            Delta::Refusal(_) | Delta::Call(_) | Delta::End { .. } => {}
        }
    }

    /// Shows what the filter held back until the end of the stream.
    pub(crate) fn finish_stream(&mut self, log: &EventLog) {
        if let Some(filter) = &mut self.filter {
            let (rest, block) = filter.restart().finish();
            self.block = block;
            self.show(rest, log);
        }
    }

    /// Takes a text that came in one piece, in place of what there is so far. A guided client cannot take
    /// back what it was shown: it finds the new text in the last event. Other clients get an event to start
    /// over.
    pub fn replace(&mut self, text: String, log: &EventLog) -> Result<(), Failure> {
        let Some(filter) = &mut self.filter else {
            if !self.generated.text.is_empty() {
                self.generated.text.clear();
                log.push(Event::Anew);
            }
            self.show(text, log);
            return Ok(());
        };
        filter.restart();
        let mut clean = filter.cleaner.push(&text);
        let (rest, block) = filter.restart().finish();
        clean.push_str(&rest);
        if clean.trim().is_empty() {
            return Err(Failure::Empty);
        }
        self.block = block;
        match self.generated.text.is_empty() {
            true => self.show(clean, log),
            false => self.generated.text = clean,
        }
        Ok(())
    }

    /// Adds text to the answer, and sends it.
    pub fn show(&mut self, text: String, log: &EventLog) {
        self.generated.text.push_str(&text);
        self.send(text, log);
    }

    /// Sends text that is not a part of the answer.
    pub fn send(&mut self, text: String, log: &EventLog) {
        if text.is_empty() {
            return;
        }
        let now_ms = log.since_ms();
        if self.shown_ms.is_none() {
            log.options.tracer.first_token();
            self.open(log);
        }
        let (first_ms, _) = self.shown_ms.unwrap_or((now_ms, now_ms));
        self.shown_ms = Some((first_ms, now_ms));
        self.has_begun |= !text.trim().is_empty();
        log.push(Event::Text(text));
    }

    /// Sends `First`, once.
    fn open(&mut self, log: &EventLog) {
        if !std::mem::replace(&mut self.is_open, true) {
            log.push(Event::First);
        }
    }

    /// Passes on other members of the response. The head of the first frame holds for all frames.
    pub(crate) fn add_more(&mut self, mut more: More, log: &EventLog) {
        self.generated.more.add(more.clone());
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

    /// Adds the cost of one call.
    pub(crate) fn add_usage(&mut self, usage: Option<Usage>) {
        if let Some(more) = usage {
            let sum = self.generated.usage.get_or_insert_default();
            sum.prompt_tokens = sum.prompt_tokens.saturating_add(more.prompt_tokens);
            sum.completion_tokens = sum.completion_tokens.saturating_add(more.completion_tokens);
        }
    }

    /// Sends that the text is complete, where there is any.
    pub fn end(&self, log: &EventLog) {
        if let Some((first_ms, last_ms)) = self.shown_ms {
            log.push(Event::Spoken { first_ms, last_ms });
        }
    }
}

/// A prompt is cut if its server counts less than a third of our tokens: two tokenizers differ less.
const CUT_SHARE: u64 = 3;
/// Shorter prompts fit every window, and counts differ more there.
const CUT_TOKENS_MIN: u32 = 2_000;

impl Generated {
    /// Notes whether the server read far less than the prompt has. Returns whether it did.
    pub(super) fn note_cut(&mut self, prompt_tokens: u32) -> bool {
        let read = self.usage.map(|usage| usage.prompt_tokens).filter(|read| *read > 0);
        let is_cut = |read: &u64| prompt_tokens >= CUT_TOKENS_MIN && *read * CUT_SHARE < u64::from(prompt_tokens);
        self.cut_prompt = read.filter(is_cut).map(|read| (read, prompt_tokens));
        self.cut_prompt.is_some()
    }

    /// The turn of the answer; `None` where the model said nothing.
    pub fn turn(&self) -> Option<Message> {
        self.said().map(|message| Message::from_stored(message.to_string().into()))
    }

    /// The same as JSON.
    fn said(&self) -> Option<Value> {
        let says_something = !self.text.trim().is_empty() || !self.tool_calls.is_empty() || self.more.says_something();
        says_something.then(|| self.message())
    }

    /// What the model said, or else what it thought. A response may be of thoughts alone.
    pub fn said_or_thought(&self) -> Option<Value> {
        let thought = || thought_piece(&self.more.message).filter(|piece| !piece.is_empty());
        self.said().or_else(|| thought().map(|_| self.message()))
    }

    fn message(&self) -> Value {
        let mut message = message(&self.text, &self.tool_calls, &self.more.message);
        if let (Some(partial), Some(members)) = (self.partial, message.as_object_mut()) {
            members.insert("partial".to_owned(), json!(partial.name()));
        }
        message
    }
}

/// Text and calls as a message, with further members as the model's server gave them.
pub fn message(text: &str, calls: &[ToolCall], more: &Map<String, Value>) -> Value {
    let says_otherwise = !calls.is_empty() || more.contains_key("refusal") || more.contains_key("function_call");
    let content = (!says_otherwise || !text.trim().is_empty()).then_some(text);
    let mut message = json!({"role": Role::Assistant.name(), "content": content});
    if let Some(members) = message.as_object_mut() {
        if !calls.is_empty() {
            members.insert("tool_calls".to_owned(), calls.iter().map(ToolCall::message).collect());
        }
        members.extend(more.iter().map(|(name, value)| (name.clone(), value.clone())));
    }
    message
}
