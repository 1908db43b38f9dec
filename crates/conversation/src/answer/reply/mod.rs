//! Replies: from a question to an answer, and to the turns that both become.
//!
//! Owns the one path of a conversation: rewrite → retrieve → generate → record. A reply runs in a task of its own and
//! tells what happens as events; whoever asked reads them at their own pace. Invariants: the question is stored before
//! the model that answers is asked; what was answered is stored whole, or marked as partial; the last event is `Done`, `Guided` or
//! `Failed`, and there is exactly one.

mod draft;
mod ended;
mod generate;
mod history;
mod log;
mod offline;
mod prompt;
mod relay;
mod replies;
pub mod rewrite;
mod run;
mod speak;

use std::borrow::Cow;
use std::sync::Arc;

use novelo_engine::{Message, Role};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::answer::guide::Answer;
use crate::app::Shared;
use crate::caller::Caller;
use crate::error::Error;
use crate::model::{Job, Model, More, ToolCall, Usage};
use crate::policy::Preset;
use crate::search::said;
use crate::trace::Tracer;
pub use draft::{message, turn};
pub use log::{Log, Reader};
pub use prompt::{Source, room_tokens};
pub use replies::{Form, Owner, Patience, Replies, Terms};
pub use run::Ends;
pub use speak::{speak, speak_again, speak_whole};

/// Something that is said to a model, and that it should answer.
#[derive(Debug)]
pub struct Asked {
    pub user: Option<String>,
    /// Where it is said, and what was said before; without one nothing is kept.
    pub thread: Option<String>,
    pub says: Says,
    /// The recipe of the prompt.
    pub preset: Arc<Preset>,
    pub manner: Manner,
    /// Writes down how it goes.
    pub tracer: Tracer,
}

/// What is said.
#[derive(Debug)]
pub enum Says {
    Question(String),
    /// Messages as they are, such as what a tool answered.
    Messages(Vec<Message>),
}

/// How it is answered.
#[derive(Debug)]
pub enum Manner {
    /// By the model that answers, or else from the passages.
    Assist(Option<Skills>),
    /// By the model that a caller names and by nobody else; its tools are the caller's to run.
    Relay(Box<RelayRequest>),
}

/// A request that is passed on to a model.
#[derive(Debug)]
pub struct RelayRequest {
    pub job: Job,
    /// None where the job has no model.
    pub model: Option<Model>,
    /// The options of the caller.
    pub options: Map<String, Value>,
}

/// What the model may do by itself. Skills run for whoever asks, and what they answer is kept with the task.
#[derive(Debug)]
pub struct Skills {
    pub caller: Caller,
    pub task: Option<String>,
}

impl Asked {
    /// The usual terms: whoever asks for a stream may lose it and come back.
    pub fn terms(&self, streams: bool) -> Terms {
        Terms {
            owner: Owner { user: self.user.clone(), thread: self.thread.clone() },
            form: Form::Assist,
            patience: if streams { Patience::Page } else { Patience::None },
            tracer: self.tracer.clone(),
        }
    }

    /// The thread and its user, where it is kept.
    fn place(&self) -> Option<(&str, &str)> {
        self.user.as_deref().zip(self.thread.as_deref())
    }

    fn job(&self) -> Job {
        match &self.manner {
            Manner::Assist(_) => Job::Answer,
            Manner::Relay(request) => request.job,
        }
    }

    /// Who is to answer, if there is one.
    fn model<'m>(&'m self, app: &'m Shared) -> Option<&'m Model> {
        match &self.manner {
            Manner::Assist(_) => app.models.get(Job::Answer),
            Manner::Relay(request) => request.model.as_ref(),
        }
    }

    fn is_relayed(&self) -> bool {
        matches!(self.manner, Manner::Relay(_))
    }

    fn skills(&self) -> Option<&Skills> {
        match &self.manner {
            Manner::Assist(skills) => skills.as_ref(),
            Manner::Relay(_) => None,
        }
    }
}

impl Says {
    /// The question in it: what a user said last.
    fn question(&self) -> Cow<'_, str> {
        match self {
            Self::Question(question) => question.into(),
            Self::Messages(messages) => {
                let last = messages.iter().rev().find(|message| message.is(Role::User));
                last.and_then(said).unwrap_or_default()
            }
        }
    }

    /// The turns that it becomes; instructions are the caller's to say each time.
    fn turns(&self) -> Vec<Message> {
        match self {
            Self::Question(question) => vec![Message::text(Role::User, question)],
            Self::Messages(messages) => {
                let instructs = |message: &&Message| message.role().is_some_and(Role::instructs);
                messages.iter().filter(|message| !instructs(message)).cloned().collect()
            }
        }
    }
}

/// What happens while a question is answered, in this order.
#[derive(Debug)]
pub enum Event {
    Question(Understood),
    /// The prompt is made.
    Prompt(Prompted),
    /// The prompt is ready, or is said to be.
    Ready,
    /// The first word is there.
    First,
    Text(String),
    /// What was said so far is void: the answer begins anew.
    Anew,
    /// The model called a skill, which answered this.
    Skill(Called),
    /// The model calls a tool that is the caller's to run: which of its calls it is, and the call.
    Call(usize, ToolCall),
    /// What else the server of a model says, for a client of that server.
    More(Box<More>),
    /// All words are there: milliseconds from the beginning to the first and to the last.
    Spoken {
        first_ms: f64,
        last_ms: f64,
    },
    /// What comes of the words is still being worked on.
    Pending,
    Done(Box<Reply>),
    Guided(Box<Answer>),
    Failed(Error),
}

/// An event as a reader is told of it.
#[derive(Debug, Clone)]
pub struct Told {
    /// The name of the reply and the number of the event: what `Last-Event-ID` says to come back behind it.
    pub id: String,
    /// From 1 on.
    pub number: usize,
    /// How many events before this one can no longer be read.
    pub missed: usize,
    /// When it happened, in seconds since 1970, and in milliseconds since the reply began.
    pub at: f64,
    pub since_ms: f64,
    pub event: Arc<Event>,
}

/// Which thread was asked, and what.
#[derive(Debug, Clone, Serialize)]
pub struct Understood {
    #[serde(rename = "thread_id", skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
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

impl Told {
    /// The id of the event before it.
    pub fn before(&self) -> String {
        let name = self.id.rsplit_once('.').map_or("", |(name, _)| name);
        format!("{name}.{}", self.number.saturating_sub(1))
    }
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
    /// Whether the model failed at first and was asked again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fallback: bool,
    /// What the reader should know, in words.
    pub notes: Vec<String>,
    /// Why the model ended, in its own word, and the tools that the caller is to run.
    #[serde(skip)]
    pub finish: String,
    #[serde(skip)]
    pub to_run: Vec<ToolCall>,
    /// What else the server of the model said, and why it broke off.
    #[serde(skip)]
    pub more: More,
    #[serde(skip)]
    pub failure: Option<Error>,
}

/// Why an answer ended early. It is stored with the turn, under this name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Partial {
    ClientLeft,
    ModelFailed,
    ServerStopped,
}

impl RewrittenBy {
    pub fn name(self) -> &'static str {
        match self {
            Self::Nobody => "nobody",
            Self::Rules => "rules",
            Self::Model => "model",
        }
    }
}

fn write_sources<S: serde::Serializer>(sources: &[Source], to: S) -> Result<S::Ok, S::Error> {
    sources.serialize(to)
}

impl Partial {
    /// Why there is no more, for the reader.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::ClientLeft => "nobody was there to read the rest",
            Self::ModelFailed => "the model broke off",
            Self::ServerStopped => "the server was stopped",
        }
    }
}

impl Event {
    pub fn is_last(&self) -> bool {
        matches!(self, Self::Done(_) | Self::Guided(_) | Self::Failed(_))
    }
}
