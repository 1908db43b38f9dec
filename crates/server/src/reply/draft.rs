//! An answer in the making. What is in it survives the end of whoever makes it.

use novelo_engine::json;
use novelo_engine::{Message, Role};

use super::log::Log;
use super::{Called, Event, Partial, Prompted};
use crate::model::Usage;

#[derive(Debug)]
pub struct Draft {
    /// The message that is being written; what came before a call of a skill is stored with it.
    pub text: String,
    /// Whether the client was told anything yet.
    pub has_begun: bool,
    pub prompted: Prompted,
    pub answered_by: String,
    pub usage: Option<Usage>,
    pub calls: Vec<Called>,
    pub partial: Option<Partial>,
    pub notes: Vec<String>,
}

/// Who answers where no model does.
const PASSAGES: &str = "passages";

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
            notes: note.into_iter().collect(),
        }
    }

    pub fn say(&mut self, text: String, log: &Log) {
        if !text.is_empty() {
            self.text.push_str(&text);
            self.has_begun = true;
            log.push(Event::Text(text));
        }
    }

    /// A call that cost so much was made for it.
    pub fn add(&mut self, usage: Option<Usage>) {
        if let Some(more) = usage {
            let sum = self.usage.get_or_insert_default();
            sum.prompt_tokens += more.prompt_tokens;
            sum.completion_tokens += more.completion_tokens;
        }
    }

    /// The turn that it becomes; `None` where nothing was said.
    pub fn turn(&self) -> Option<Message> {
        let mark = self.partial.map(|partial| format!(r#","partial":"{}""#, partial.name())).unwrap_or_default();
        let content = json::literal(&self.text);
        let raw = format!(r#"{{"role":"{}","content":{content}{mark}}}"#, Role::Assistant.name());
        (!self.text.trim().is_empty()).then(|| Message::from_stored(raw.into()))
    }
}

impl Partial {
    fn name(self) -> &'static str {
        match self {
            Self::ClientLeft => "client_left",
            Self::ModelFailed => "model_failed",
            Self::ServerStopped => "server_stopped",
        }
    }
}
