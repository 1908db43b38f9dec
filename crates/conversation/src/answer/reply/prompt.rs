//! What the model is given for one question: the messages, and the passages among them.

use std::sync::Arc;

use bytes::Bytes;
use novelo_engine::time_scope::TimeScope;

use super::{Asked, Prompted, Says};
use crate::app::Shared;
use crate::context;
use crate::context::answer::Answer;
use crate::context::request::{RecipeChoice, Request};
use crate::error::{Code, Result};
pub use crate::model::room_tokens;
use crate::remember::search::name_documents;
use crate::search::FoundPassage;
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
    let own = asked.preset.recipe().budget_tokens;
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

/// The passages of a prompt, with the names of their documents.
async fn sources(app: &Shared, user: Option<&str>, used: &[FoundPassage]) -> Result<Arc<[FoundPassage]>> {
    let Some(user) = user else { return Ok(Arc::default()) };
    let mut sources = used.to_vec();
    name_documents(app, user, &mut sources).await?;
    Ok(sources.into())
}
