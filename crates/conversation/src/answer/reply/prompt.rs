//! What the model is given for one question: the messages, and the passages among them.

use std::sync::Arc;

use bytes::Bytes;
use novelo_engine::recall;
use novelo_engine::time_scope::TimeScope;
use serde::Serialize;

use super::{Asked, Prompted, Says};
use crate::app::Shared;
use crate::context;
use crate::context::answer::Answer;
use crate::context::load;
use crate::context::request::{RecipeChoice, Request};
use crate::error::{Code, Result};
use crate::remember::search::heads;
use crate::telemetry::now;

/// A prompt, made.
#[derive(Debug)]
pub struct Prompt {
    /// A JSON array.
    pub messages: Bytes,
    /// Whether it keeps to the room that it was to have.
    pub fits: bool,
    pub prompted: Prompted,
}

/// A passage of the prompt, as a caller is told of it.
#[derive(Debug, Clone, Serialize)]
pub struct Source {
    pub from: recall::RecallSource,
    pub id: Box<str>,
    /// What it is a part of: the name of the document, the thread of a turn.
    pub name: String,
    pub text: Box<str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    pub score: f32,
}

/// Of a window this share is left for the answer, but not more tokens than these.
const ANSWER_SHARE: u32 = 4;
const ANSWER_TOKENS_MAX: u32 = 2_048;

/// What there is room for.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    /// Beside the budget of the recipe.
    pub tokens: Option<u32>,
    /// Whether what is said is among the turns already.
    pub is_stored: bool,
}

/// Makes the prompt for a question that was understood as `query`. What does not fit the room of the model is made
/// without it, for its passages.
pub async fn make(app: &Shared, asked: &Asked, query: &str, room: Room) -> Result<Prompt> {
    match made(app, asked, query, room).await {
        Err(error) if error.code == Code::OverBudget && room.tokens.is_some() => {
            let prompt = made(app, asked, query, Room { tokens: None, ..room }).await?;
            Ok(Prompt { fits: false, ..prompt })
        }
        made => made,
    }
}

async fn made(app: &Shared, asked: &Asked, query: &str, room: Room) -> Result<Prompt> {
    let own = asked.preset.recipe.budget_tokens;
    let (question, messages) = match &asked.says {
        Says::Question(question) => (Some(question.clone()), Vec::new()),
        Says::Messages(_) if room.is_stored && asked.thread.is_some() => (None, Vec::new()),
        Says::Messages(messages) => (None, messages.clone()),
    };
    let request = Request {
        user: asked.user.clone(),
        reach: asked.thread.as_deref().map(|thread| TimeScope::thread(thread, now())).unwrap_or_default(),
        query: (!query.is_empty() && question.as_deref() != Some(query)).then(|| query.to_owned()),
        question,
        messages,
        recipe: RecipeChoice::Decoded(asked.preset.clone()),
        budget_tokens: own.into_iter().chain(room.tokens).min(),
        answer: Answer::Messages("messages"),
        ..Request::default()
    };
    let made = context::context(app, request).await?;
    let sources = sources(app, asked.user.as_deref(), &made.sources).await?;
    let (tokens, budget_tokens, trace_id) = (made.tokens, made.budget_tokens, made.trace.encode());
    Ok(Prompt {
        messages: made.messages(),
        fits: true,
        prompted: Prompted { sources, tokens, budget_tokens, trace_id },
    })
}

/// The tokens that a prompt may have in a window: some are for the answer, and counts of other tokenizers are a guess.
pub fn room_tokens(window_tokens: u32) -> u32 {
    (window_tokens - (window_tokens / ANSWER_SHARE).min(ANSWER_TOKENS_MAX)) / 10 * 9
}

async fn sources(app: &Shared, user: Option<&str>, used: &[load::Source]) -> Result<Arc<[Source]>> {
    let Some(user) = user else { return Ok(Arc::default()) };
    let documents = used.iter().filter(|source| source.from == recall::RecallSource::Documents);
    let heads = heads(app, user, documents.map(|source| &*source.parent)).await?;
    let shown = used.iter().map(|used| {
        let load::Source { from, parent, id, text, file, line, score } = used.clone();
        let name = heads.get(&*parent).map_or_else(|| parent.to_string(), |head| head.name.clone());
        Source { from, id, name, text, file, line, score }
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
