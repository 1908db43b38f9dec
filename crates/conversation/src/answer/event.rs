//! The events of an answer, in the order in which they happen, and the reply at the end.

use std::sync::Arc;

use serde_json::Value;

use super::generation::Generated;
use super::guided_answer::GuidedAnswer;
use crate::error::Error;
use crate::model::{More, ToolCall};
use crate::search::FoundPassage;
use crate::thread::compaction::Compaction;

/// What happens while a question is answered, in this order.
#[derive(Debug)]
pub enum Event {
    /// The question was understood.
    Question(UnderstoodQuestion),
    /// The prompt is made. Comes again when it had to be shortened.
    Prompt(Prompted),
    /// The prompt of a guided answer is ready, or will be.
    Ready,
    /// The first word follows.
    First,
    /// A piece of the answer's text.
    Text(String),
    /// The text so far is void: the answer starts over.
    Anew,
    /// The model called a skill, with this result.
    Skill(SkillCall),
    /// The model calls a tool that the client runs: the index of the call, and the call.
    Call(usize, ToolCall),
    /// Other members of the model server's response, for a client of that server.
    More(Box<More>),
    /// The text is complete: milliseconds from the start to its first and to its last piece.
    Spoken {
        /// Milliseconds until the first piece.
        first_ms: f64,
        /// Milliseconds until the last piece.
        last_ms: f64,
    },
    /// The text is complete, but the answer is still being processed.
    Pending,
    /// The whole answer.
    Done(Box<Reply>),
    /// The whole answer of a guided conversation.
    Guided(Box<GuidedAnswer>),
    /// There is no answer, or no more of it.
    Failed(Error),
}

impl Event {
    /// Whether no event follows.
    pub fn is_last(&self) -> bool {
        matches!(self, Self::Done(_) | Self::Guided(_) | Self::Failed(_))
    }
}

/// An event as a reader gets it.
#[derive(Debug, Clone)]
pub struct LoggedEvent {
    /// The name of the reply and the number of the event. A client resumes after it with `Last-Event-ID`.
    pub id: String,
    /// From 1 on.
    pub number: usize,
    /// How many events before this one can no longer be read.
    pub missed: usize,
    /// When it happened, in seconds since 1970, and in milliseconds since the reply began.
    pub at: f64,
    /// Milliseconds since the answer began.
    pub since_ms: f64,
    /// The event.
    pub event: Arc<Event>,
}

impl LoggedEvent {
    /// The id of the event before it.
    pub fn before(&self) -> String {
        let name = self.id.rsplit_once('.').map_or("", |(name, _)| name);
        format!("{name}.{}", self.number.saturating_sub(1))
    }
}

/// The thread of a question, and the question as it was understood.
#[derive(Debug, Clone)]
pub struct UnderstoodQuestion {
    /// The thread, unless nothing is stored.
    pub thread: Option<String>,
    /// The question as it was searched for.
    pub rewritten: Rewritten,
}

/// A self-contained form of the question.
#[derive(Debug, Clone)]
pub struct Rewritten {
    /// The self-contained question.
    pub question: String,
    /// Who rewrote it.
    pub by: RewrittenBy,
}

/// Who rewrote a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RewrittenBy {
    /// It is used as it was asked.
    Nobody,
    /// The rules of `novelo-language`.
    Rules,
    /// The model of the job `rewrite`.
    Model,
}

impl RewrittenBy {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nobody => "nobody",
            Self::Rules => "rules",
            Self::Model => "model",
        }
    }
}

/// What the model is given.
#[derive(Debug, Clone)]
pub struct Prompted {
    /// The passages in the prompt, best first.
    pub sources: Arc<[FoundPassage]>,
    /// The tokens of the prompt.
    pub tokens: u32,
    /// The budget of the prompt, if it had one.
    pub budget_tokens: Option<u32>,
    /// The id of the prompt's trace.
    pub trace_id: String,
    /// What was compacted for it.
    pub compaction: Option<Arc<Compaction>>,
    /// What the prompt holds of its inputs and why, where that was asked for.
    pub explanation: Option<Arc<Value>>,
}

/// A skill that the model called.
#[derive(Debug, Clone)]
pub struct SkillCall {
    /// The name of the skill.
    pub name: String,
    /// Its arguments as JSON.
    pub arguments: String,
    /// JSON: the result, or the error.
    pub result: Box<serde_json::value::RawValue>,
}

/// The whole answer to a question.
#[derive(Debug)]
pub struct Reply {
    /// The question.
    pub understood: UnderstoodQuestion,
    /// The prompt.
    pub prompted: Prompted,
    /// The text and how it was made.
    pub generated: Generated,
}

/// Why an answer ended early. It is stored with the turn, under this name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Partial {
    /// The client left.
    ClientLeft,
    /// The model failed.
    ModelFailed,
    /// The server stopped.
    ServerStopped,
}

impl Partial {
    /// The name under which it is stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::ClientLeft => "client_left",
            Self::ModelFailed => "model_failed",
            Self::ServerStopped => "server_stopped",
        }
    }

    /// The reason in words, for the reader.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::ClientLeft => "nobody was there to read the rest",
            Self::ModelFailed => "the model broke off",
            Self::ServerStopped => "the server was stopped",
        }
    }
}
