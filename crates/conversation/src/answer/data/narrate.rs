//! Rows in the words of a model, where there is one and the entity allows it. The plain answer stands by.

use novelo_engine::path::DocumentPath;
use novelo_language::generated::{NarrationFacts, accept_narration};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::DataQuestion;
use crate::answer::Shared;
use crate::context::work_prompt::WorkPrompt;
use crate::data::database::Rows;
use crate::data::entity::Entity;
use crate::model::{Ask, Model};
use crate::policy::Prompt;
use crate::text::cut;
use crate::trace::RequestTracer;

/// Rows in the prompt of a model; it would not put more into words.
const ROWS_MAX: usize = 50;
const ANSWER_CHARS_MAX: usize = 8_000;

/// What the prompt contains beside the question.
pub(crate) struct Told<'a> {
    pub intent: &'a str,
    pub entity: &'a Entity,
    pub aggregation: &'a str,
    pub rows: &'a Rows,
    /// The rows in plain words.
    pub answer: &'a str,
    /// What else was asked for, in plain words. It is shown below the narration.
    pub apart: Vec<&'a str>,
    /// `history` and `last_reference`, where the policy allows them.
    pub past: Option<Value>,
    /// Whether the conversation is stored, and its traces with it.
    pub is_stored: bool,
    /// The turn of the question.
    pub made_from: Option<DocumentPath>,
    pub tracer: &'a RequestTracer,
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
pub(crate) async fn narrate(
    app: &Shared,
    model: &Model,
    asked: &DataQuestion,
    told: Told<'_>,
) -> (Option<String>, Narration) {
    let deadline = app.settings.models.narrate.timeout;
    let narrated = tokio::time::timeout(deadline, narrated_by(app, model, asked, &told)).await;
    let name = Some(model.name().to_owned());
    match narrated.unwrap_or(Err("the model took too long")) {
        Ok(said) => (Some(said), Narration { used: true, model: name, reason: None }),
        Err(reason) => (None, Narration { used: false, model: name, reason: Some(reason) }),
    }
}

async fn narrated_by(
    app: &Shared,
    model: &Model,
    asked: &DataQuestion,
    told: &Told<'_>,
) -> Result<String, &'static str> {
    let instruction = app.policies.prompt(Prompt::Narrate);
    let thread = told.is_stored.then_some((asked.user.as_str(), asked.thread.as_str()));
    let prompt = WorkPrompt { instruction: &instruction, model, thread, made_from: told.made_from.clone() };
    let prompt = prompt.make(app, |share| meta(asked, told, share).to_string()).await.map_err(|error| {
        tracing::warn!(error = %error.message, "a narration has no prompt, the plain answer stands");
        "the prompt was too long"
    })?;
    told.tracer.prompt(&prompt.trace.encode());
    told.tracer.prompt_ready();
    let said = model.complete(&Ask { messages: prompt.messages(), options: Map::new() }).await.map_err(|failure| {
        tracing::warn!(%failure, "a narration failed, the plain answer stands");
        failure.in_words()
    })?;
    told.judge(asked, said.said())
}

impl Told<'_> {
    /// What a model said, if the rows say it too.
    fn judge(&self, asked: &DataQuestion, said: &str) -> Result<String, &'static str> {
        let (columns, rows) = self.entity.facts(self.rows, self.aggregation);
        let texts = [self.entity.about.as_str(), &self.entity.name, self.intent, &asked.nickname];
        let facts = NarrationFacts { question: &asked.question, answer: self.answer, texts: &texts, columns, rows };
        accept_narration(said, &facts).inspect_err(|reason| tracing::info!(reason, "the plain answer stands"))
    }
}

/// The text of the prompt: fewer rows and less of the plain answer where it is to be shorter.
fn meta(asked: &DataQuestion, told: &Told<'_>, share: usize) -> Value {
    let columns = told.rows.columns.clone();
    let rows = told.rows.rows.iter().take(ROWS_MAX / share).cloned().collect();
    let mut meta = json!({
        "question": asked.question,
        "nickname": asked.nickname,
        "intent": told.intent,
        "entity": told.entity.name,
        "about": told.entity.about,
        "rows": Rows { columns, rows, is_cut: false },
        "answer": cut(told.answer, ANSWER_CHARS_MAX / share),
    });
    if let (Some(meta), false) = (meta.as_object_mut(), told.apart.is_empty()) {
        meta.insert("apart".to_owned(), json!(told.apart));
    }
    // The earlier conversation is the first thing to leave out.
    if let (Some(meta), Some(Value::Object(past)), 1) = (meta.as_object_mut(), &told.past, share) {
        meta.extend(past.clone());
    }
    meta
}
