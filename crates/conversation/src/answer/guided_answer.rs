//! The answer of a guided conversation. Its JSON is also stored, in the cache of answers.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::Usage;

/// The whole answer of a guided conversation.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GuidedAnswer {
    /// The text that is shown.
    pub message: String,
    /// The model that wrote it; none for a fixed answer.
    #[serde(rename = "modelo")]
    pub model: Option<String>,
    /// What the message and its answer are about.
    #[serde(flatten)]
    pub sense: MessageSense,
    /// The tokens that the model's server counted.
    pub usage: Option<Usage>,
    /// Whether it comes from the cache.
    pub cache: bool,
    /// Whether the model failed, and this is its second answer or a fixed sentence.
    pub fallback: bool,
    /// How the message was answered.
    pub meta: GuidedMeta,
    /// The trace of the request, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub trace: Option<Value>,
}

/// What a message and its answer are about.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MessageSense {
    /// How intense the message is, from 0 to 10.
    #[serde(rename = "intensidade")]
    pub intensity: f64,
    /// A summary of the message.
    #[serde(rename = "resumo")]
    pub summary: Option<String>,
    /// What it is about, in words.
    pub tags: Vec<String>,
    /// The kind of message.
    #[serde(rename = "categoria")]
    pub category: Option<String>,
    /// The main emotion.
    #[serde(rename = "emocao")]
    pub emotion: Option<String>,
}

/// How the message was answered.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GuidedMeta {
    /// `fast`, `stream` or `full`; `shortcut` where no model was needed.
    pub mode: Cow<'static, str>,
    /// Why it is not the model's first and complete answer: `timeout`, `error`, `length`, `no_model`,
    /// `safety`, `greeting`, `client_left`, `server_stopped`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<Cow<'static, str>>,
    /// How open the user is, from 1 to 3.
    #[serde(rename = "nivel")]
    pub level: u8,
    /// The steps that were taken.
    #[serde(rename = "vivaSteps")]
    pub steps: Vec<Cow<'static, str>>,
    /// Whether rules answered instead of a model.
    #[serde(rename = "vivaAtivo")]
    pub guided: bool,
    /// Whether the message was simple.
    #[serde(rename = "lowComplexity")]
    pub simple: bool,
    /// Whether the message is remembered.
    pub save_memory: bool,
    /// Whether danger is voiced in the message, or was before and is not over.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub crisis: bool,
}
