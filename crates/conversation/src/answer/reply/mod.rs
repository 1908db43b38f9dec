//! Replies: questions from documents, an assistant with skills, and a relay for clients of OpenAI's form.
//!
//! A question is rewritten to be self-contained, answered by a model or else from the passages, and stored.

mod history;
mod offline;
mod relay;
pub mod rewrite;
mod run;

use std::borrow::Cow;
use std::sync::Arc;

use novelo_engine::{Message, Role};
use serde_json::{Map, Value, json};

use super::event::{Rewritten, RewrittenBy};
use super::options::{Patience, ReplyOptions, ReplyOwner, ResponseFormat};
use super::prompt::{PromptRecording, PromptRequest};
use super::response::ResponseDraft;
use super::skills::{self, Skills};
use crate::answer::Shared;
use crate::error::Result;
use crate::model::{Job, Model};
use crate::policy::Preset;
use crate::remember::span_tools;
use crate::text::said;
use crate::thread::NewTurn;
use crate::thread::item::ItemTurn;
use crate::thread::kept::StoredQuestion;
use crate::trace::RequestTracer;
pub(super) use run::answer;

/// A question, or messages, for a model to answer.
#[derive(Debug)]
pub struct ReplyRequest {
    /// The user who asks, if there is one.
    pub user: Option<String>,
    /// The thread; without one nothing is stored.
    pub thread: Option<String>,
    /// What is to be answered.
    pub input: ReplyInput,
    /// The recipe of the prompt.
    pub preset: Arc<Preset>,
    /// How it is answered.
    pub kind: ReplyKind,
    /// The trace of the request.
    pub tracer: RequestTracer,
    /// The response that is stored with the answer.
    pub response: Option<ResponseDraft>,
    /// What is recorded of its prompts.
    pub recording: PromptRecording,
}

/// What is to be answered.
#[derive(Debug)]
pub enum ReplyInput {
    /// A question of a user.
    Question(String),
    /// Messages as they are, such as the result of a tool.
    Messages(Vec<Message>),
    /// Turns with their ids. All of them are stored.
    Items(Vec<ItemTurn>),
}

/// How it is answered.
#[derive(Debug)]
pub enum ReplyKind {
    /// By the model of the job `answer`, or else from the passages.
    Assist(Option<Skills>),
    /// By the model that the caller names and no other. The caller runs the tools.
    Relay(Box<RelayRequest>),
}

/// A request that is passed on to a model.
#[derive(Debug)]
pub struct RelayRequest {
    /// The job whose model answers.
    pub job: Job,
    /// None where the job has no model.
    pub model: Option<Model>,
    /// The options of the caller.
    pub options: Map<String, Value>,
    /// Whether a prompt that is too long for the model is shortened, or else refused.
    pub shortens: bool,
    /// Whether the model may compact the thread and have spans back by tools that run here.
    pub has_span_tools: bool,
}

impl ReplyRequest {
    /// The usual options: a stream can be resumed.
    pub fn reply_options(&self, streams: bool) -> ReplyOptions {
        ReplyOptions {
            owner: ReplyOwner { user: self.user.clone(), thread: self.thread.clone() },
            format: ResponseFormat::Assist,
            patience: if streams { Patience::Page } else { Patience::None },
            tracer: self.tracer.clone(),
            repeat: None,
            response: self.response.as_ref().map(|response| response.id.clone()),
        }
    }

    /// The user and the thread, where the answer is stored.
    fn place(&self) -> Option<(&str, &str)> {
        self.user.as_deref().zip(self.thread.as_deref())
    }

    /// The question as it is stored, with the response that has begun.
    fn stored_question(&self) -> Result<StoredQuestion> {
        let turns = self.input.turns();
        let Some(response) = &self.response else { return Ok(StoredQuestion { turns, ..StoredQuestion::default() }) };
        let beside = vec![response.begun(&self.tracer.id().encode())?];
        Ok(StoredQuestion { turns, beside, if_seq: response.if_seq })
    }

    fn job(&self) -> Job {
        match &self.kind {
            ReplyKind::Assist(_) => Job::Answer,
            ReplyKind::Relay(request) => request.job,
        }
    }

    /// The model that answers, if there is one.
    fn model<'m>(&'m self, app: &'m Shared) -> Option<&'m Model> {
        match &self.kind {
            ReplyKind::Assist(_) => app.models.get(Job::Answer),
            ReplyKind::Relay(request) => request.model.as_ref(),
        }
    }

    /// Whether a prompt that is too long is shortened.
    fn shortens(&self) -> bool {
        match &self.kind {
            ReplyKind::Assist(_) => true,
            ReplyKind::Relay(request) => request.shortens,
        }
    }

    fn is_relayed(&self) -> bool {
        matches!(self.kind, ReplyKind::Relay(_))
    }

    /// The skills that the model may call, and their user.
    fn skills(&self) -> Option<(&Skills, &str)> {
        match &self.kind {
            ReplyKind::Assist(skills) => skills.as_ref().zip(self.user.as_deref()),
            ReplyKind::Relay(_) => None,
        }
    }

    /// The user and the thread that the model may compact and restore.
    fn span_tools(&self) -> Option<(&str, &str)> {
        match &self.kind {
            ReplyKind::Relay(request) if request.has_span_tools => self.user.as_deref().zip(self.thread.as_deref()),
            _ => None,
        }
    }

    /// Further members of the request to the model.
    fn options(&self) -> Map<String, Value> {
        match &self.kind {
            ReplyKind::Relay(request) => {
                let mut options = request.options.clone();
                if self.span_tools().is_some()
                    && let Some(tools) = options.entry("tools").or_insert_with(|| json!([])).as_array_mut()
                {
                    tools.extend(span_tools::definitions());
                }
                options
            }
            ReplyKind::Assist(None) => Map::new(),
            ReplyKind::Assist(Some(_)) => Map::from_iter([("tools".to_owned(), skills::definitions())]),
        }
    }

    /// What the prompt is made from, for a question that was understood as `query`.
    fn prompt_request(&self, query: &str) -> PromptRequest {
        let (question, messages) = match &self.input {
            ReplyInput::Question(question) => (Some(question.clone()), Vec::new()),
            ReplyInput::Messages(messages) => (None, messages.clone()),
            ReplyInput::Items(turns) => (None, turns.iter().map(|turn| turn.message.shown().clone()).collect()),
        };
        PromptRequest {
            user: self.user.clone(),
            thread: self.thread.clone(),
            query: (!query.is_empty() && question.as_deref() != Some(query)).then(|| query.to_owned()),
            question,
            messages,
            preset: self.preset.clone(),
            budget_tokens: self.preset.recipe().budget_tokens,
            recalled: Vec::new(),
            recording: self.recording,
            omits_what_cannot_fit: self.response.is_some() && self.shortens(),
        }
    }
}

impl ReplyInput {
    /// The question: what the user said last.
    fn question(&self) -> Cow<'_, str> {
        match self {
            Self::Question(question) => question.into(),
            Self::Messages(messages) => last_of_user(messages.iter()),
            Self::Items(turns) => last_of_user(turns.iter().map(|turn| turn.message.shown())),
        }
    }

    /// The turns to store. Instructions are not stored: the caller sends them each time.
    fn turns(&self) -> Vec<NewTurn> {
        match self {
            Self::Question(question) => vec![Message::text(Role::User, question).into()],
            Self::Messages(messages) => {
                let instructs = |message: &&Message| message.role().is_some_and(Role::instructs);
                messages.iter().filter(|message| !instructs(message)).cloned().map(Into::into).collect()
            }
            Self::Items(turns) => turns.iter().map(Into::into).collect(),
        }
    }
}

/// The text of the last message of a user.
fn last_of_user<'m>(messages: impl DoubleEndedIterator<Item = &'m Message>) -> Cow<'m, str> {
    messages.rev().find(|message| message.is(Role::User)).and_then(said).unwrap_or_default()
}
