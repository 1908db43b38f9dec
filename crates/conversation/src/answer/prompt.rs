//! The prompt of an answer: what it is made from, and the messages and passages that it comes to.

use std::sync::Arc;

use bytes::Bytes;
use novelo_engine::Message;
use novelo_engine::time_scope::TimeScope;
use serde::Deserialize;
use serde_json::Value;

use super::event::Prompted;
use crate::answer::Shared;
use crate::context;
use crate::context::answer::{Answer, Explain};
use crate::context::load::RecalledPassages;
use crate::context::request::{RecipeChoice, Request};
use crate::error::{Code, Error, Result};
use crate::model::Model;
use crate::policy::Preset;
use crate::telemetry::now;

/// What a prompt is made from. It can be made again, and shorter.
#[derive(Debug)]
pub struct PromptRequest {
    pub user: Option<String>,
    pub thread: Option<String>,
    pub question: Option<String>,
    /// Messages that the thread does not hold before the answer begins.
    pub messages: Vec<Message>,
    /// What is searched for, where that is not the question.
    pub query: Option<String>,
    pub preset: Arc<Preset>,
    pub budget_tokens: Option<u32>,
    /// Results of searches that were made before, for the recalls of the recipe that are equal to theirs.
    pub recalled: Vec<RecalledPassages>,
    pub recording: PromptRecording,
    /// Whether turns that cannot fit into the budget are not looked at.
    pub omits_what_cannot_fit: bool,
}

/// What stays of a prompt, and what is returned with it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PromptRecording {
    /// Whether neither the prompt nor its trace may stay anywhere.
    pub is_off_record: bool,
    /// Whether its explanation is returned.
    pub explains: bool,
}

#[derive(Debug)]
pub struct AnswerPrompt {
    /// A JSON array.
    pub messages: Bytes,
    pub prompted: Prompted,
}

impl PromptRequest {
    /// Makes the prompt within its budget and the room of the model. Once the messages are stored, they are
    /// read from the thread.
    pub async fn make(&self, app: &Shared, room_tokens: Option<u32>, is_stored: bool) -> Result<AnswerPrompt> {
        let messages = if is_stored && self.thread.is_some() { Vec::new() } else { self.messages.clone() };
        let request = Request {
            user: self.user.clone(),
            reach: self.thread.as_deref().map(|thread| TimeScope::thread(thread, now())).unwrap_or_default(),
            query: self.query.clone(),
            question: self.question.clone(),
            messages,
            recipe: RecipeChoice::Decoded(self.preset.clone()),
            budget_tokens: self.budget_tokens.into_iter().chain(room_tokens).min(),
            answer: if self.recording.explains { Answer::Context(Explain::Rows) } else { Answer::Messages("messages") },
            recalled: self.recalled.clone(),
            omits_what_cannot_fit: self.omits_what_cannot_fit,
            is_off_record: self.recording.is_off_record,
            ..Request::default()
        };
        let made = context::context(app, request).await?;
        let sources = made.sources.clone();
        let (tokens, budget_tokens, trace_id) = (made.tokens, made.budget_tokens, made.trace.encode());
        let compaction = made.compaction.clone();
        let explanation = if self.recording.explains { Some(Arc::new(explanation(&made.body)?)) } else { None };
        let prompted = Prompted { sources, tokens, budget_tokens, trace_id, compaction, explanation };
        Ok(AnswerPrompt { messages: made.messages(), prompted })
    }
}

/// The explanation in the answer to a request for a context.
fn explanation(answer: &[u8]) -> Result<Value> {
    #[derive(Deserialize)]
    struct Explained {
        explain: Value,
    }
    let explained: serde_json::Result<Explained> = serde_json::from_slice(answer);
    let unread = |error| Error::new(Code::Internal, format!("the explanation cannot be read: {error}"));
    Ok(explained.map_err(unread)?.explain)
}

/// The tokens that a prompt may have, where the size of the model's window is known.
pub(crate) async fn model_room_tokens(model: Option<&Model>) -> Option<u32> {
    model?.room_tokens().await
}
