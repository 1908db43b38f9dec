//! The prompt of an answer: what it is made from, and the messages and passages that it comes to.

use std::sync::Arc;

use bytes::Bytes;
use novelo_engine::Message;
use novelo_engine::recall::{self, Recalled};
use novelo_engine::time_scope::TimeScope;

use super::event::{PassageSource, Prompted};
use crate::app::Shared;
use crate::context::answer::Answer;
use crate::context::request::{RecipeChoice, Request};
use crate::context::{self, load};
use crate::error::Result;
use crate::model::Model;
use crate::policy::Preset;
use crate::remember::search::heads;
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
    /// What was found already, for recalls of the recipe that are the same as these.
    pub recalled: Vec<(Recalled, Vec<load::Source>)>,
}

#[derive(Debug)]
pub struct AnswerPrompt {
    /// A JSON array.
    pub messages: Bytes,
    pub prompted: Prompted,
}

/// This share of a window is left for the answer, but not more tokens than these.
const ANSWER_SHARE: u32 = 4;
const ANSWER_TOKENS_MAX: u32 = 2_048;

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
            answer: Answer::Messages("messages"),
            recalled: self.recalled.clone(),
            ..Request::default()
        };
        let made = context::context(app, request).await?;
        let sources = sources(app, self.user.as_deref(), &made.sources).await?;
        let (tokens, budget_tokens, trace_id) = (made.tokens, made.budget_tokens, made.trace.encode());
        Ok(AnswerPrompt { messages: made.messages(), prompted: Prompted { sources, tokens, budget_tokens, trace_id } })
    }
}

/// The tokens that a prompt may have, where the size of the model's window is known.
pub async fn model_room_tokens(model: Option<&Model>) -> Option<u32> {
    model?.window_tokens().await.map(room_tokens)
}

/// The tokens that a prompt may have in a window: some are for the answer, and counts of other tokenizers are
/// a guess.
pub fn room_tokens(window_tokens: u32) -> u32 {
    (window_tokens - (window_tokens / ANSWER_SHARE).min(ANSWER_TOKENS_MAX)) / 10 * 9
}

async fn sources(app: &Shared, user: Option<&str>, used: &[load::Source]) -> Result<Arc<[PassageSource]>> {
    let Some(user) = user else { return Ok(Arc::default()) };
    let documents = used.iter().filter(|source| source.from == recall::RecallSource::Documents);
    let heads = heads(app, user, documents.map(|source| &*source.parent)).await?;
    let shown = used.iter().map(|used| {
        let load::Source { from, parent, id, text, file, line, score } = used.clone();
        let name = heads.get(&*parent).map_or_else(|| parent.to_string(), |head| head.name.clone());
        PassageSource { from, id, name, text, file, line, score }
    });
    Ok(shown.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_leaves_room_for_the_answer() {
        assert_eq!([0, 10, 4_096, 131_072].map(room_tokens), [0, 0, 2_763, 116_118]);
        assert_eq!(room_tokens(u32::MAX), (u32::MAX - ANSWER_TOKENS_MAX) / 10 * 9);
    }
}
