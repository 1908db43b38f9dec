//! What is kept of a request: how it went, from its first byte to its last.
//!
//! Owns the trace of a request as a document, and its caps. Whatever a surface does (caches, heuristics,
//! modules, embeddings, what it remembers, how long each part took, what went wrong) stands here and nowhere
//! else. Refuses what was said: a trace names and counts, and quotes no message.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::text::cut;

/// Marks of one kind that a trace holds; how many were left out beyond it is said among its errors.
pub(crate) const MARKS_MAX: usize = 200;
/// Characters of one text in a mark.
pub(crate) const TEXT_CHARS_MAX: usize = 1_000;

/// How a request went.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct RequestTrace {
    /// The id of the trace.
    pub id: String,
    /// Which surface it came in by.
    pub surface: String,
    /// The user, if there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user: Option<String>,
    /// The thread, if there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub thread: Option<String>,
    /// When the request began, in seconds since 1970.
    pub started_at: f64,
    /// When it ended; none while it runs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub finished_at: Option<f64>,
    /// The model that answered.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub model: Option<String>,
    /// The traces of the prompts that were made for it, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub prompts: Vec<String>,
    /// Which caches were asked, and what they had.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub caches: Vec<CacheMark>,
    /// What rules decided, and why.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub heuristics: Vec<HeuristicMark>,
    /// Texts that were put into the prompt.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub modules: Vec<ModuleMark>,
    /// Searches by embedding.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub embeddings: Vec<EmbeddingMark>,
    /// Whether the message was remembered.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub memory: Option<MemoryMark>,
    /// How long each stage took.
    #[serde(default)]
    pub latency: Latency,
    /// What went wrong.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub errors: Vec<ErrorMark>,
}

/// Milliseconds from the first byte of the request on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    pub prompt_ready_ms: Option<f64>,
    pub first_token_ms: Option<f64>,
    pub total_ms: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CacheMark {
    /// `response`, `context`, `rows` and the like.
    pub cache: String,
    pub is_hit: bool,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub key: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeuristicMark {
    pub name: String,
    /// What it came to: a number, a word, a flag.
    pub value: Value,
    /// What made it so.
    pub why: String,
}

/// A text that was put into the prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModuleMark {
    /// The name of the text.
    pub name: String,
    /// `kept`, `cut` or `cached`.
    pub status: String,
    /// Why it was chosen.
    pub why: String,
    /// What it costs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tokens: Option<u32>,
    /// How many tokens more there would have had to be.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub missing_tokens: Option<u32>,
}

/// A search by embedding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EmbeddingMark {
    /// `conversation`: made for this message; `warm`: found in the cache.
    pub kind: String,
    /// What it was compared with.
    pub against: String,
    /// The similarity of the best hit.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub similarity: Option<f64>,
    /// How many hits there were.
    pub hits: usize,
    /// Milliseconds.
    pub took_ms: f64,
}

/// Whether a message was remembered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemoryMark {
    /// Whether it was.
    pub saves: bool,
    /// How intense the message was.
    pub intensity: f64,
    /// Why.
    pub why: String,
    /// The memory that it became.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub id: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ErrorMark {
    /// `validation`, `auth`, `rate_limit`, `stream`, `cache`, `memory`, or the source that failed.
    pub stage: String,
    pub message: String,
    pub at_ms: f64,
}

impl RequestTrace {
    /// About how many bytes it takes.
    pub fn bytes(&self) -> usize {
        const MARK: usize = 128;
        let of = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let caches = self.caches.iter().map(|m| MARK + m.cache.len() + of(&m.key));
        let heuristics = self.heuristics.iter().map(|m| MARK + m.name.len() + m.why.len() + size(&m.value));
        let modules = self.modules.iter().map(|m| MARK + m.name.len() + m.status.len() + m.why.len());
        let embeddings = self.embeddings.iter().map(|m| MARK + m.kind.len() + m.against.len());
        let errors = self.errors.iter().map(|m| MARK + m.stage.len() + m.message.len());
        let prompts = self.prompts.iter().map(|id| MARK + id.len());
        let marks = caches.chain(heuristics).chain(modules).chain(embeddings).chain(errors).chain(prompts);
        let named = self.id.len() + self.surface.len() + of(&self.user) + of(&self.thread) + of(&self.model);
        1_024 + named + self.memory.as_ref().map_or(0, |m| m.why.len() + of(&m.id)) + marks.sum::<usize>()
    }
}

fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(_) | Value::Object(_) => TEXT_CHARS_MAX,
        _ => 0,
    }
}

/// A text within its cap.
pub(crate) fn capped(text: impl Into<String>) -> String {
    let text = text.into();
    // Bytes are never fewer than characters, so that most texts are not walked.
    if text.len() <= TEXT_CHARS_MAX { text } else { cut(&text, TEXT_CHARS_MAX) }
}

/// A value within its cap: one that is not becomes the beginning of its text.
pub(crate) fn capped_value(value: Value) -> Value {
    match value {
        Value::String(text) => capped(text).into(),
        Value::Array(_) | Value::Object(_) => {
            let text = value.to_string();
            if text.len() <= TEXT_CHARS_MAX { value } else { capped(text).into() }
        }
        other => other,
    }
}
