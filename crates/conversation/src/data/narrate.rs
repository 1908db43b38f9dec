//! Rows in the words of a model, where there is one and the entity allows it. The plain answer stands by.

use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::Asked;
use super::database::Rows;
use super::entity::Entity;
use crate::app::Shared;
use crate::model::{Ask, Job};
use crate::policy::Prompt;
use crate::text::cut;

/// Rows that a model is told; more would not be put into words.
const ROWS_MAX: usize = 50;
const ANSWER_CHARS_MAX: usize = 8_000;

/// What a model is told, beside the question.
pub struct Told<'a> {
    pub intent: &'a str,
    pub entity: &'a Entity,
    pub rows: &'a Rows,
    /// The rows in plain words.
    pub answer: &'a str,
    /// `history` and `last_reference`, where the policy allows them.
    pub past: Option<Value>,
}

/// What became of it.
#[derive(Debug, Clone, Serialize)]
pub struct Narration {
    pub used: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Why the plain answer stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
}

impl Narration {
    pub fn none(reason: &'static str) -> Self {
        Self { used: false, model: None, reason: Some(reason) }
    }
}

/// The answer in a model's words, or why there is none.
pub async fn narrate(app: &Shared, asked: &Asked, told: Told<'_>) -> (Option<String>, Narration) {
    let Some(model) = app.models.get(Job::Narrate) else { return (None, Narration::none("no_model")) };
    let prompt = app.policies.prompt(Prompt::Narrate);
    let messages = json!([
        {"role": "system", "content": &*prompt},
        {"role": "user", "content": meta(asked, &told).to_string()},
    ]);
    let ask = Ask { messages: messages.to_string().into(), options: Map::new() };
    let told = Some(model.name().to_owned());
    let most = Duration::from_millis(app.config.number("models.narrate.timeout_ms"));
    let Ok(completed) = tokio::time::timeout(most, model.complete(&ask)).await else {
        return (None, Narration { used: false, model: told, reason: Some("the model took too long") });
    };
    match completed {
        Ok(said) if !said.said().trim().is_empty() => {
            (Some(said.said().trim().to_owned()), Narration { used: true, model: told, reason: None })
        }
        Ok(_) => (None, Narration { used: false, model: told, reason: Some("the model said nothing") }),
        Err(failure) => {
            tracing::warn!(%failure, "a narration failed, the plain answer stands");
            (None, Narration { used: false, model: told, reason: Some(failure.in_words()) })
        }
    }
}

fn meta(asked: &Asked, told: &Told<'_>) -> Value {
    let columns = told.rows.columns.clone();
    let rows = Rows { columns, rows: told.rows.rows.iter().take(ROWS_MAX).cloned().collect(), is_cut: false };
    let mut meta = json!({
        "question": asked.question,
        "nickname": asked.nickname,
        "intent": told.intent,
        "entity": told.entity.name,
        "about": told.entity.about,
        "rows": rows,
        "answer": cut(told.answer, ANSWER_CHARS_MAX),
    });
    if let (Some(meta), Some(Value::Object(past))) = (meta.as_object_mut(), &told.past) {
        meta.extend(past.clone());
    }
    meta
}
