//! Models: servers that speak OpenAI's chat completions.
//!
//! Owns the one client for them, and which model does which job. Addresses come from the operator's settings only. A
//! call that is dropped is cancelled.

use bytes::Bytes;
use serde_json::{Map, Value};

use crate::config::Config;

/// What a model is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Job {
    Answer,
    Rewrite,
    Summary,
    Narrate,
}

/// The models in force, one per job.
#[derive(Debug, Default)]
pub struct Models {}

/// A model on a server.
#[derive(Debug)]
pub struct Model {}

/// What a model is asked.
#[derive(Debug, Clone)]
pub struct Ask {
    /// A JSON array of messages. What models do not take of them is left out on the way.
    pub messages: Bytes,
    /// Further members of the request as they are: tools, temperature, max_tokens and the like.
    pub options: Map<String, Value>,
}

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Delta {
    Text(String),
    Call(CallDelta),
    /// The last one, always.
    End {
        finish: String,
        usage: Option<Usage>,
    },
}

/// A piece of a tool call; those of one index belong together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallDelta {
    pub index: usize,
    pub id: Option<String>,
    pub name: Option<String>,
    pub arguments: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Usage {
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
}

/// A whole answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Completion {
    pub text: String,
    pub calls: Vec<ToolCall>,
    pub finish: String,
    pub usage: Option<Usage>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolCall {
    pub id: String,
    pub name: String,
    pub arguments: String,
}

/// Why there is no answer, or no more of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    #[error("{0}")]
    Slow(String),
    #[error("{0}")]
    Down(String),
    /// The server answers that it will not.
    #[error("{0}")]
    Refused(String),
    /// The prompt is longer than the window of the model: of so many tokens, where the server says so.
    #[error("{message}")]
    TooLong { message: String, prompt_tokens: Option<u32>, window_tokens: Option<u32> },
    /// It broke off in the middle.
    #[error("{0}")]
    Broke(String),
}

/// An answer as it comes. Dropping it ends the call.
#[derive(Debug)]
pub struct Deltas {}

impl Models {
    /// Reads the settings; what is wrong with them is named.
    pub fn open(_config: &Config) -> anyhow::Result<Self> {
        Ok(Self {})
    }

    pub fn get(&self, _job: Job) -> Option<&Model> {
        None
    }
}

impl Model {
    /// What the server calls it.
    pub fn name(&self) -> &str {
        ""
    }

    /// The tokens it sees at once, where that is known.
    pub async fn window_tokens(&self) -> Option<u32> {
        None
    }

    /// Begins an answer: resolves with its first byte. Tries again before that, never after.
    pub async fn stream(&self, _ask: &Ask) -> Result<Deltas, Failure> {
        Err(Failure::Down("there is no model".to_owned()))
    }

    /// The whole answer, within the deadline of the job.
    pub async fn complete(&self, _ask: &Ask) -> Result<Completion, Failure> {
        Err(Failure::Down("there is no model".to_owned()))
    }
}

impl Deltas {
    /// The next piece; `None` after the last.
    pub async fn next(&mut self) -> Option<Result<Delta, Failure>> {
        None
    }
}

/// Tool calls as their pieces come.
#[derive(Debug, Default)]
pub struct ToolCalls(Vec<ToolCall>);

impl ToolCalls {
    pub fn add(&mut self, delta: CallDelta) {
        let _ = delta;
    }

    pub fn done(self) -> Vec<ToolCall> {
        self.0
    }
}
