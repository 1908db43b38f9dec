//! Answers from data: a question in words becomes a query, and its rows become words again.
//!
//! Owns the path of `/ask`; `run` is its order. The catalogue and the database are in `crate::data`.
//! Invariant: an answer contains nothing of earlier turns except what the question inherits by policy.

mod also;
mod decide;
mod lookup;
mod narrate;
mod past;
mod run;
mod tell;

use serde::Serialize;

pub use run::ask;

/// A question about data, checked.
#[derive(Debug)]
pub struct DataQuestion {
    /// The question as it was asked.
    pub question: String,
    /// The user who asks.
    pub user: String,
    /// The thread of the question.
    pub thread: String,
    /// What the user is called in the answer.
    pub nickname: String,
    /// The id of the request, which the answer repeats.
    pub request_id: String,
}

/// How a question ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DataStatus {
    /// It was answered.
    Ok,
    /// No intent wins clearly.
    Unroutable,
    /// A parameter is missing, and neither the question nor the conversation gives it.
    Incomplete,
}
