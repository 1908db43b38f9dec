//! Replies: from a question to an answer, and to the turns that both become.
//!
//! Owns the one path of a conversation: rewrite → retrieve → generate → record. A reply runs in a task of its own and
//! tells what happens as events; whoever asked reads them at their own pace. Invariants: the question is stored before
//! a model is asked; what was answered is stored whole, or marked as partial; the last event is `Done` or `Failed`, and
//! there is exactly one.

mod draft;
mod generate;
mod history;
mod log;
mod offline;
mod prompt;
mod replies;
mod rewrite;
mod run;

use std::sync::Arc;

use serde::Serialize;

use crate::auth::Caller;
use crate::http::error::ApiError;
use crate::model::Usage;
use crate::policy::Preset;
pub use log::Reader;
pub use prompt::Source;
pub use replies::{Patience, Replies};

/// A question to a thread.
#[derive(Debug)]
pub struct Asked {
    pub user: String,
    pub thread: String,
    pub question: String,
    /// The recipe of the prompt.
    pub preset: Arc<Preset>,
    /// What the model may do by itself.
    pub skills: Option<Skills>,
}

/// Skills run for whoever asks, and what they answer is kept with the task.
#[derive(Debug)]
pub struct Skills {
    pub caller: Caller,
    pub task: Option<String>,
}

/// What happens while a question is answered, in this order.
#[derive(Debug)]
pub enum Event {
    Question(Understood),
    /// The prompt is made.
    Prompt(Prompted),
    Text(String),
    /// The model called a skill, which answered this.
    Skill(Called),
    Done(Box<Reply>),
    Failed(ApiError),
}

/// Which thread was asked, and what.
#[derive(Debug, Clone, Serialize)]
pub struct Understood {
    #[serde(rename = "thread_id")]
    pub thread: String,
    #[serde(flatten)]
    pub rewritten: Rewritten,
}

/// The question as it was understood.
#[derive(Debug, Clone, Serialize)]
pub struct Rewritten {
    #[serde(rename = "standalone_question")]
    pub question: String,
    #[serde(rename = "rewritten_by")]
    pub by: RewrittenBy,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RewrittenBy {
    /// It stands as it was asked.
    Nobody,
    Rules,
    Model,
}

/// What the model is given.
#[derive(Debug, Clone, Serialize)]
pub struct Prompted {
    #[serde(serialize_with = "write_sources")]
    pub sources: Arc<[Source]>,
    pub tokens: u32,
    pub budget_tokens: Option<u32>,
    pub trace_id: String,
}

#[derive(Debug, Clone, Serialize)]
pub struct Called {
    pub name: String,
    pub arguments: String,
    /// JSON of what came of it: the result, or the error.
    pub result: Box<serde_json::value::RawValue>,
}

/// The whole of it.
#[derive(Debug, Serialize)]
pub struct Reply {
    pub answer: String,
    #[serde(flatten)]
    pub understood: Understood,
    #[serde(flatten)]
    pub prompted: Prompted,
    /// A model by its name, or `passages`.
    pub answered_by: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<Called>,
    /// Why there is no more of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partial: Option<Partial>,
    /// What the reader should know, in words.
    pub notes: Vec<String>,
}

/// Why an answer ended early. It is stored with the turn, under this name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Partial {
    ClientLeft,
    ModelFailed,
    ServerStopped,
}

fn write_sources<S: serde::Serializer>(sources: &[Source], to: S) -> Result<S::Ok, S::Error> {
    sources.serialize(to)
}

impl Event {
    pub fn is_last(&self) -> bool {
        matches!(self, Self::Done(_) | Self::Failed(_))
    }
}
