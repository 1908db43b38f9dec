//! Prompts for the background work of a model: rewriting, narrating and summing up.
//!
//! Such a prompt is an instruction and one text. It is a recipe like any other: it has a trace, it can be
//! explained, and it stays within the window of its model.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use novelo_engine::assemble::assemble;
use novelo_engine::path::DocumentPath;
use novelo_engine::recipe::{ComponentSpec, RecipeBuilder, RecipeDocument};
use novelo_engine::time_scope::TimeScope;
use novelo_engine::{Loaded, Message, Role};

use super::answer::{Answer, ContextResponse};
use super::context;
use super::request::{RecipeChoice, Request};
use crate::context::Contexts;
use crate::error::{Code, Result};
use crate::model::Model;
use crate::policy::Preset;
use crate::telemetry::now;

/// The instruction for a model, and the conversation that it works on.
pub(crate) struct WorkPrompt<'p> {
    pub instruction: &'p str,
    pub model: &'p Model,
    /// The user and the thread. The trace is stored there, and forgotten with it.
    pub thread: Option<(&'p str, &'p str)>,
    /// The newest turn that the text was made from. The trace is not stored once that turn is forgotten.
    pub made_from: Option<DocumentPath>,
}

/// Tokens of a prompt whose model does not say how large its window is.
const BUDGET_TOKENS: u32 = 24_000;
/// How long the model's server may take to say how large the window is. A slow one must not delay a rewrite.
const WINDOW_WAIT: Duration = Duration::from_millis(500);
/// The text is shortened to a 256th at most.
const HALVINGS_MAX: u32 = 8;

impl WorkPrompt<'_> {
    /// Makes the prompt. `text` writes its text with all its caps divided by a number: 1 first, then 2, 4 and
    /// so on until the prompt fits.
    pub async fn make(self, app: &Contexts, text: impl Fn(usize) -> String) -> Result<ContextResponse> {
        let room_tokens = tokio::time::timeout(WINDOW_WAIT, self.model.room_tokens()).await.ok().flatten();
        let room_tokens = room_tokens.unwrap_or(BUDGET_TOKENS).min(BUDGET_TOKENS);
        let preset = Arc::new(Preset::from(recipe(self.instruction)?));
        let mut halvings = 0;
        loop {
            let request = Request {
                user: self.thread.map(|(user, _)| user.to_owned()),
                reach: self.thread.map(|(_, thread)| TimeScope::thread(thread, now())).unwrap_or_default(),
                recipe: RecipeChoice::Decoded(preset.clone()),
                messages: vec![Message::text(Role::User, &text(1 << halvings))],
                budget_tokens: Some(room_tokens),
                made_from: self.made_from.clone(),
                answer: Answer::Messages("messages"),
                ..Request::default()
            };
            match context(app, request).await {
                Err(error) if error.code == Code::OverBudget && halvings < HALVINGS_MAX => halvings += 1,
                made => return made,
            }
        }
    }
}

/// The messages of such a prompt without a store or a trace, for measuring models.
pub(crate) fn untraced_messages(instruction: &str, text: &str) -> Result<Bytes> {
    let inline = [Message::text(Role::User, text)];
    let recipe = recipe(instruction)?;
    let loaded = Loaded { inline: &inline, ..Loaded::default() };
    let assembly = assemble(recipe.recipe(), &loaded, None)?;
    let mut messages = Vec::new();
    assembly.write(&mut messages);
    Ok(messages.into())
}

fn recipe(instruction: &str) -> Result<RecipeDocument> {
    Ok(RecipeBuilder::new().component(ComponentSpec::system(instruction)).build()?)
}

#[cfg(test)]
#[path = "work_prompt_tests.rs"]
mod tests;
