//! Why there is no answer of a model, or no more of it.
//!
//! Owns two tellings of each failure: one for the log, which names the setting and the address, and what the
//! model's server itself said, without secrets, for the client whose request it was.

use std::fmt;
use std::ops::Deref;

use super::refusal::Lengths;

/// Why there is no answer, or no more of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// It took too long.
    #[error("{0}")]
    Slow(String),
    /// The server cannot be reached or answered with an error.
    #[error("{0}")]
    Down(FailureText),
    /// The server answers that it will not.
    #[error("{0}")]
    Refused(FailureText),
    /// The prompt is longer than the model's window.
    #[error("{message}")]
    TooLong {
        /// What the server said.
        message: FailureText,
        /// The tokens of the prompt, if the server said them.
        prompt_tokens: Option<u32>,
        /// The tokens of the window, if the server said them.
        window_tokens: Option<u32>,
    },
    /// It broke off in the middle.
    #[error("{0}")]
    Broke(FailureText),
    /// It ended without saying anything.
    #[error("the model answered with nothing")]
    Empty,
}

/// The text for the log, and the words of the server where there were any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailureText {
    log: String,
    /// What the server answered.
    pub upstream: Option<Box<UpstreamError>>,
}

/// What a model's server said instead of an answer. It holds no secret and no address of the operator's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UpstreamError {
    /// The status of its answer, or the one that its error names; none within a stream.
    pub status: Option<u16>,
    /// What is wrong, for people.
    pub message: String,
    /// The type of the error.
    pub kind: Option<String>,
    /// The code of the error.
    pub code: Option<String>,
    /// The field that is wrong.
    pub param: Option<String>,
    /// Headers that say when to try again.
    pub headers: Vec<(&'static str, String)>,
}

impl Failure {
    /// The public description; the rest is for the operator.
    pub fn in_words(&self) -> &'static str {
        match self {
            Self::Slow(_) => "it took too long",
            Self::Down(_) => "its server cannot be reached, or failed",
            Self::Refused(_) => "its server refused",
            Self::TooLong { .. } => "the prompt is too long for it",
            Self::Broke(_) => "the connection broke, or its server failed",
            Self::Empty => "it answered with nothing",
        }
    }

    /// The cause for a trace, with the status of the server but without its words.
    pub fn cause(&self) -> String {
        let (kind, words) = match (self, self.upstream().and_then(|said| said.status)) {
            (Self::Slow(_), _) => ("timeout".to_owned(), self.in_words()),
            (Self::Down(_), None) => ("unreachable".to_owned(), "its server cannot be reached"),
            (Self::Down(_) | Self::Refused(_), Some(429)) => {
                ("status 429".to_owned(), "its server takes no more requests")
            }
            (Self::Down(_), Some(status)) => (format!("status {status}"), "its server failed"),
            (Self::Refused(_), Some(status)) => (format!("status {status}"), self.in_words()),
            (Self::Refused(_), None) => ("refused".to_owned(), "it would not answer"),
            (Self::TooLong { .. }, _) => ("too long".to_owned(), self.in_words()),
            (Self::Broke(_), _) => ("broken off".to_owned(), "the stream ended before the answer did"),
            (Self::Empty, _) => ("empty".to_owned(), self.in_words()),
        };
        format!("{kind}: {words}")
    }

    /// Whether asking once more may help: not where the answer is that there will be none.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(self, Self::Slow(_) | Self::Down(_) | Self::Broke(_) | Self::Empty)
    }

    /// What the server itself said, where it said something.
    pub(crate) fn upstream(&self) -> Option<&UpstreamError> {
        match self {
            Self::Slow(_) | Self::Empty => None,
            Self::Down(text) | Self::Refused(text) | Self::Broke(text) => text.upstream.as_deref(),
            Self::TooLong { message, .. } => message.upstream.as_deref(),
        }
    }

    pub(super) fn too_long(message: FailureText, lengths: Lengths) -> Self {
        Self::TooLong { message, prompt_tokens: lengths.prompt_tokens, window_tokens: lengths.window_tokens }
    }
}

impl UpstreamError {
    /// Whether it is about what a message says: the same message would be refused again. Not where the server
    /// blames another part of the request, or the caller's means.
    pub(crate) fn refuses_content(&self) -> bool {
        let is_about_messages =
            |param: &str| ["messages", "input", "content", "prompt"].iter().any(|p| param.starts_with(p));
        matches!(self.status, Some(400 | 413 | 422)) && self.param.as_deref().is_none_or(is_about_messages)
    }
}

impl UpstreamError {
    /// Whether it says itself that a message is the reason.
    pub(crate) fn blames_messages(&self) -> bool {
        self.param.is_some() || self.code.as_deref().is_some_and(|code| code.contains("content"))
    }
}

impl FailureText {
    /// A failure for which the server gave a reason.
    pub fn said(log: String, upstream: UpstreamError) -> Self {
        Self { log, upstream: Some(Box::new(upstream)) }
    }
}

impl From<String> for FailureText {
    fn from(log: String) -> Self {
        Self { log, upstream: None }
    }
}

impl From<&str> for FailureText {
    fn from(log: &str) -> Self {
        log.to_owned().into()
    }
}

impl Deref for FailureText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.log
    }
}

impl fmt::Display for FailureText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.log)
    }
}
