//! The answer of a guided conversation. Its JSON is also stored, in the cache of answers.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::Usage;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GuidedAnswer {
    pub message: String,
    #[serde(rename = "modelo")]
    pub model: Option<String>,
    #[serde(flatten)]
    pub sense: MessageSense,
    pub usage: Option<Usage>,
    /// Whether it comes from the cache.
    pub cache: bool,
    /// Whether the model failed, and this is its second answer or a fixed sentence.
    pub fallback: bool,
    pub meta: GuidedMeta,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub trace: Option<Value>,
}

/// What a message and its answer are about.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MessageSense {
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
    #[serde(rename = "nivel")]
    pub level: u8,
    #[serde(rename = "vivaSteps")]
    pub steps: Vec<Cow<'static, str>>,
    #[serde(rename = "vivaAtivo")]
    pub guided: bool,
    #[serde(rename = "lowComplexity")]
    pub simple: bool,
    pub save_memory: bool,
    /// Whether danger is voiced in the message, or was before and is not over.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub crisis: bool,
}
