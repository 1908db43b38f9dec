//! Answers: one path, and the kinds of answer on it.
//!
//! `reply` answers questions from documents, assists with skills and relays to a named model; `guide` answers
//! guided conversations; `data` answers from a database. The first two make a prompt (`prompt`), let a model
//! answer (`generate`) and log events (`log`) that clients read at their own pace. Invariants: the question
//! is stored before the model that answers is asked; an answer is stored whole, or marked as partial; the
//! last event is `Done`, `Guided` or `Failed`, and there is exactly one.

pub mod data;
mod ended;
mod event;
mod generate;
mod generation;
pub mod guide;
mod guided_answer;
mod log;
mod options;
mod path;
mod prompt;
mod replies;
pub mod reply;
pub mod response;
mod shared;
mod skills;

pub use event::{Event, LoggedEvent, Partial, Prompted, Reply, Rewritten, RewrittenBy, SkillCall, UnderstoodQuestion};
pub use generation::{Generated, message};
pub use guided_answer::{GuidedAnswer, GuidedMeta, MessageSense};
pub use log::{EventLog, EventReader};
pub use options::{Patience, RepeatKey, ReplyOptions, ReplyOwner, ResponseFormat};
pub use path::{AnswerRequest, begin};
pub use prompt::PromptRecording;
pub use replies::Replies;
pub use shared::{App, Shared};
pub use skills::Skills;
