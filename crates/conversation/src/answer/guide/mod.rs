//! Guided replies: a message is weighed, routed and answered with what the moment calls for.
//!
//! Owns the path of one surface: cache → shortcut → decision → route → load → prompt → model → finish → record. What weighs, and what a model is
//! told, is data (`policies/eco`). Invariants: an answer that fell back is neither cached nor remembered; the prompt of a cached context
//! is the one that would be made anew.

mod cached;
mod compose;
mod finish;
pub mod load;
mod run;
mod shortcut;
mod voice;

use std::borrow::Cow;

use novelo_engine::Message;
use novelo_language::decide::Step;
use novelo_language::finish::Block;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use run::run;

use crate::cache::Cache;
use crate::model::Usage;
use crate::trace::Tracer;
use compose::Contexts;
use load::Examples;

/// A conversation as its client tells it, checked.
#[derive(Debug)]
pub struct Asked {
    pub user: String,
    pub thread: String,
    pub is_guest: bool,
    /// All that the client sent; the last one is the user's, and says something.
    pub messages: Vec<Message>,
    /// What the user said last.
    pub text: String,
    pub streams: bool,
    /// Whether the prompt is said to be ready before it is.
    pub is_ready_at_once: bool,
    pub forced: bool,
    /// What the model is told instead of the modules.
    pub instructions: Option<String>,
    /// What the user is called, where the client says so.
    pub name: Option<String>,
    /// The level that the client suggests.
    pub opening: Option<u8>,
    /// What stands for the block that would be found.
    pub block: Option<Block>,
    /// Whether the answer shows how it came about.
    pub wants_trace: bool,
    pub tracer: Tracer,
}

/// What is answered.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Answer {
    pub message: String,
    #[serde(rename = "modelo")]
    pub model: Option<String>,
    #[serde(flatten)]
    pub sense: Sense,
    pub usage: Option<Usage>,
    /// Whether it was answered before.
    pub cache: bool,
    /// Whether it stands in for an answer that did not come as it should.
    pub fallback: bool,
    pub meta: Meta,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub trace: Option<Value>,
}

/// What a message and its answer are about.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sense {
    #[serde(rename = "intensidade")]
    pub intensity: f64,
    #[serde(rename = "resumo")]
    pub summary: Option<String>,
    pub tags: Vec<String>,
    #[serde(rename = "categoria")]
    pub category: Option<String>,
    #[serde(rename = "emocao")]
    pub emotion: Option<String>,
}

/// How it was answered.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Meta {
    /// `fast`, `stream` or `full`; `shortcut` where no model was needed.
    pub mode: Cow<'static, str>,
    /// Why it is not what a model said when it was asked: `timeout`, `error`, `length`, `no_model`, `safety`, `greeting`, `client_left`, `server_stopped`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<Cow<'static, str>>,
    #[serde(rename = "nivel")]
    pub level: u8,
    #[serde(rename = "vivaSteps")]
    pub steps: Vec<Cow<'static, str>>,
    #[serde(rename = "vivaAtivo")]
    pub guided: bool,
    #[serde(rename = "lowComplexity")]
    pub simple: bool,
    pub save_memory: bool,
}

/// What this process keeps between requests, and could make again. All of it is bounded.
#[derive(Debug)]
pub struct Guides {
    contexts: Contexts,
    examples: Examples,
}

const CONTEXTS_BYTES_MAX: usize = 16 * 1024 * 1024;

impl Default for Guides {
    fn default() -> Self {
        Self { contexts: Cache::new(CONTEXTS_BYTES_MAX), examples: Examples::default() }
    }
}

impl Guides {
    /// Lets go of a user's contexts.
    pub fn forget(&self, user: &str) {
        self.contexts.retain(|key| key.user != user);
    }
}

/// The names of steps, as the wire and the modules have them.
fn names(steps: &[Step]) -> Vec<&'static str> {
    steps.iter().map(|step| step.name()).collect()
}

/// An intensity as it is told: to the tenth.
fn tenths(intensity: f32) -> f64 {
    (f64::from(intensity) * 10.0).round() / 10.0
}

/// What the wire calls a mode that took no model.
const SHORTCUT: &str = "shortcut";
