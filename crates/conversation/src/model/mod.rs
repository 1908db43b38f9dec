//! Models: servers that speak OpenAI's chat completions.
//!
//! Owns the one client for them, and which model does which job. Addresses come from the operator's settings
//! only. A call that is dropped is cancelled. Bytes become frames (`sse`), frames pieces of an answer
//! (`delta`), both by `reading`, which is pure; `client` waits, tries again and gives up.

mod client;
mod delta;
mod failure;
mod more;
mod names;
mod provider;
mod reading;
mod refusal;
mod server;
pub mod sse;
mod tally;
mod window;
mod wire;

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use novelo_engine::limits::MODEL_CALLS_MAX;
use serde_json::{Map, Value, json};
use tokio::sync::Semaphore;

pub use client::Deltas;
pub use failure::{Failure, FailureText, UpstreamError};
pub use more::More;
pub use names::UnknownModel;

use crate::settings::Settings;
use provider::Provider;
use server::Server;
use tally::Tally;
pub(crate) use window::room_tokens;

/// What a model is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Job {
    /// Answers to users.
    Answer,
    /// Questions that stand alone.
    Rewrite,
    /// Summaries of threads.
    Summary,
    /// Words for rows of data.
    Narrate,
}

impl Job {
    /// All jobs.
    pub const ALL: [Self; 4] = [Self::Answer, Self::Rewrite, Self::Summary, Self::Narrate];

    /// The name in settings and on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::Rewrite => "rewrite",
            Self::Summary => "summary",
            Self::Narrate => "narrate",
        }
    }

    /// Whether its time is for the whole answer; else it is for each silence.
    fn has_whole_deadline(self) -> bool {
        matches!(self, Self::Rewrite | Self::Summary)
    }
}

/// How much of the state is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// To every caller of the health routes.
    Public,
    /// To admins.
    Full,
}

/// The models in force, one per job.
#[derive(Debug, Default)]
pub struct Models(Vec<Model>);

/// A model on a server.
#[derive(Debug, Clone)]
pub struct Model {
    job: Job,
    server: Arc<Server>,
    /// Empty: the first that the server lists.
    named: String,
    /// 0: what the server says.
    window_tokens: u32,
    /// Whether the settings or its server name it; else a caller does, and nothing is known of it.
    is_listed: bool,
    timeout: Duration,
    tally: Arc<Tally>,
    /// Shared by all of them: the calls that may run at once.
    places: Arc<Semaphore>,
}

/// What a model is asked.
#[derive(Debug, Clone)]
pub struct Ask {
    /// A JSON array of messages. What models do not take of them is left out on the way.
    pub messages: Bytes,
    /// Further members of the request as they are: tools, temperature, max_tokens and the like.
    pub options: Map<String, Value>,
}

/// Reads an answer that comes in pieces: its deltas, and how it ended, as text. For the fuzz target alone.
#[doc(hidden)]
pub fn read_answer<'p>(pieces: impl Iterator<Item = &'p [u8]>) -> String {
    let (mut reading, mut deltas) = (reading::Reading::default(), std::collections::VecDeque::new());
    let fed = pieces.into_iter().try_for_each(|piece| reading.feed(piece, &mut deltas));
    let ended = fed.and_then(|()| reading.end(&mut deltas));
    format!("{deltas:?} {ended:?}")
}

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Delta {
    /// Text.
    Text(String),
    /// The model says that it will not answer.
    Refusal(String),
    /// A part of a call.
    Call(CallDelta),
    /// What else the server says; only where all is to be passed on.
    More(Box<More>),
    /// The last one, always.
    End {
        /// Why the model stopped.
        finish: String,
        /// The tokens that the server counted.
        usage: Option<Usage>,
    },
}

/// A piece of a tool call; those of one index belong together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallDelta {
    /// The place of the call among those of the answer.
    pub index: usize,
    /// The id of the call, in its first piece.
    pub id: Option<String>,
    /// The name of the tool, in its first piece.
    pub name: Option<String>,
    /// A piece of the arguments.
    pub arguments: String,
    /// Other members of it.
    pub more: Map<String, Value>,
}

/// The tokens that a model's server counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Usage {
    /// Tokens of the prompt.
    pub prompt_tokens: u64,
    /// Tokens of the answer.
    pub completion_tokens: u64,
}

/// A whole answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Completion {
    /// The text.
    pub text: String,
    /// What the model says instead where it will not answer.
    pub refusal: String,
    /// The calls.
    pub calls: Vec<ToolCall>,
    /// Why the model stopped.
    pub finish: String,
    /// The tokens that the server counted.
    pub usage: Option<Usage>,
    /// What else the server said; only where all is to be passed on.
    pub more: More,
}

/// A call of a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolCall {
    /// The id, which the result repeats.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// Its arguments as JSON.
    pub arguments: String,
    /// Other members of it, such as a signature.
    pub more: Map<String, Value>,
}

impl Models {
    /// Reads the settings; what is wrong with them is named. Calls nobody.
    pub fn open(settings: &Settings) -> anyhow::Result<Self> {
        let places = Arc::new(Semaphore::new(MODEL_CALLS_MAX));
        let mut models: Vec<Model> = Vec::new();
        for job in Job::ALL {
            let Some(provider) = Provider::of(job, settings)? else { continue };
            let known = models.iter().map(|model| &model.server).find(|server| server.is(&provider)).cloned();
            let server = match known {
                Some(server) => server,
                None => Arc::new(Server::new(&provider)?),
            };
            models.push(Model {
                job,
                server,
                named: provider.model,
                window_tokens: provider.window_tokens,
                is_listed: true,
                timeout: provider.timeout,
                tally: Arc::default(),
                places: places.clone(),
            });
        }
        Ok(Self(models))
    }

    /// The model of a job, if one is configured.
    pub fn get(&self, job: Job) -> Option<&Model> {
        self.0.iter().find(|model| model.job == job)
    }

    /// All configured models.
    pub fn all(&self) -> &[Model] {
        &self.0
    }

    /// What is known of them, by job; `null` for a job without one. All of it is the operator's to know.
    pub fn state(&self, by: Detail) -> Value {
        let of = |job: Job| (job.name().to_owned(), self.get(job).map_or(Value::Null, |model| model.state(by)));
        Value::Object(Job::ALL.into_iter().map(of).collect())
    }

    /// Their lines for Prometheus.
    pub fn metrics(&self) -> String {
        tally::page(self.0.iter().map(|model| (model.job, &*model.tally)))
    }

    /// Asks each server whether it is there, and those that are for their windows; the setting and what is
    /// wrong, for those that are not.
    pub async fn check(&self) -> Vec<(&'static str, Failure)> {
        let mut findings = Vec::new();
        for (index, model) in self.0.iter().enumerate() {
            let is_same = |other: &Model| Arc::ptr_eq(&other.server, &model.server);
            if self.0.iter().take(index).any(is_same) {
                continue;
            }
            if let Err(failure) = model.server.is_there().await {
                findings.push((model.server.setting, failure));
                continue;
            }
            for same in self.0.iter().filter(|other| is_same(other)) {
                same.window_tokens().await;
            }
        }
        findings
    }
}

impl Model {
    /// The job that it does.
    pub fn job(&self) -> Job {
        self.job
    }

    /// What the server calls it; empty until its server has been asked for it.
    pub fn name(&self) -> &str {
        match self.named.as_str() {
            "" => self.server.first_known().unwrap_or_default(),
            name => name,
        }
    }

    /// Where its server is: host and port.
    pub fn host(&self) -> &str {
        self.server.host()
    }

    /// The tokens it sees at once, where that is known. Asked of the server once, for at most two seconds.
    pub async fn window_tokens(&self) -> Option<u32> {
        if self.window_tokens > 0 || self.server.is_openai || !self.is_listed {
            return (self.window_tokens > 0).then_some(self.window_tokens);
        }
        let name = tokio::time::timeout(window::PATIENCE, self.resolve(window::PATIENCE)).await.ok()?.ok()?;
        self.server.windows.of(&self.server, name, Instant::now()).await
    }

    /// The tokens that a prompt may have, if the size of its window is known.
    pub(crate) async fn room_tokens(&self) -> Option<u32> {
        self.window_tokens().await.map(room_tokens)
    }

    /// Its name, asked of the server where the settings do not tell.
    async fn resolve(&self, patience: Duration) -> Result<&str, Failure> {
        match self.named.as_str() {
            "" => self.server.first(patience).await,
            name => Ok(name),
        }
    }

    /// What is known of it without asking.
    fn state(&self, by: Detail) -> Value {
        let name = self.name();
        let window = Some(self.window_tokens).filter(|set| *set > 0).or_else(|| self.server.windows.known(name));
        let (failure, model) = (self.tally.last_failure(), (!name.is_empty()).then_some(name));
        match by {
            Detail::Public => json!({"model": model, "last_failure": failure.map(|failure| failure.in_words())}),
            Detail::Full => {
                let failure = failure.map(|failure| failure.to_string());
                json!({"server": self.host(), "model": model, "window_tokens": window, "last_failure": failure})
            }
        }
    }
}

impl Delta {
    /// Whether it is a part of the answer itself.
    pub fn is_answer(&self) -> bool {
        !matches!(self, Self::More(_))
    }
}

impl ToolCall {
    /// As it stands in a message.
    pub fn message(&self) -> Value {
        let function = json!({"name": self.name, "arguments": self.arguments});
        let mut call = match self.more.contains_key("custom") && self.name.is_empty() {
            true => Map::from_iter([("id".to_owned(), json!(self.id)), ("type".to_owned(), json!("custom"))]),
            false => Map::from_iter([
                ("id".to_owned(), json!(self.id)),
                ("type".to_owned(), json!("function")),
                ("function".to_owned(), function),
            ]),
        };
        call.extend(self.more.clone());
        Value::Object(call)
    }
}

impl Completion {
    /// Whether it says or calls nothing.
    pub fn is_empty(&self) -> bool {
        self.text.trim().is_empty() && self.refusal.trim().is_empty() && self.calls.is_empty()
    }

    /// Whether the model would not answer, or its server took the answer back.
    pub fn is_refused(&self) -> bool {
        !self.refusal.trim().is_empty() || self.finish == "content_filter"
    }

    /// What it says, without what some models think aloud before.
    pub fn said(&self) -> &str {
        self.text.rsplit_once("</think>").map_or(self.text.as_str(), |(_, after)| after).trim()
    }

    /// Adds the next piece.
    pub fn add(&mut self, delta: Delta) {
        match delta {
            Delta::Text(text) => self.text.push_str(&text),
            Delta::Refusal(text) => self.refusal.push_str(&text),
            Delta::Call(piece) => self.add_call(piece),
            Delta::More(more) => self.more.add(*more),
            Delta::End { finish, usage } => (self.finish, self.usage) = (finish, usage),
        }
    }

    /// A call without an id gets one, since its answer must name it.
    fn add_call(&mut self, piece: CallDelta) {
        while self.calls.len() <= piece.index {
            let id = format!("call_{}", self.calls.len());
            self.calls.push(ToolCall { id, ..ToolCall::default() });
        }
        let Some(call) = self.calls.get_mut(piece.index) else { return };
        call.arguments.push_str(&piece.arguments);
        more::merge(&mut call.more, piece.more);
        if let Some(id) = piece.id {
            call.id = id;
        }
        if let Some(name) = piece.name {
            call.name = name;
        }
    }
}
