//! What holds for a reply from its start on: its owner, its response format, and how long it waits for
//! readers.

use std::sync::Arc;
use std::time::Duration;

use super::response::ShownResponse;
use crate::answer::Shared;
use crate::caller::Caller;
use crate::error::{Code, Error};
use crate::thread::item::ResponseId;
use crate::trace::RequestTracer;

/// How a reply is delivered, and to whom.
#[derive(Debug)]
pub struct ReplyOptions {
    /// Who may read it.
    pub owner: ReplyOwner,
    /// The format of its events.
    pub format: ResponseFormat,
    /// How long it goes on without a reader.
    pub patience: Patience,
    /// The trace of the request. It ends with the reply.
    pub tracer: RequestTracer,
    /// What makes another request of the owner the same: it joins this reply.
    pub repeat: Option<RepeatKey>,
    /// The response that this reply makes. There is one at a time in a thread.
    pub response: Option<ResponseId>,
}

/// The id under which a client sends a request, also again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepeatKey {
    /// The id as the client sent it.
    pub id: String,
    /// A fingerprint of what is sent under it. Other requests under the same id are refused.
    pub print: String,
    /// The header or field that has the id.
    pub param: &'static str,
}

impl RepeatKey {
    /// The error for another request under the same id.
    pub(crate) fn conflict(&self) -> Error {
        let message = format!("{} was sent before with another request", self.param);
        Error { param: Some(self.param.to_owned()), ..Error::new(Code::Conflict, message) }
    }
}

/// The owner of a reply. Without a user only admins may read it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReplyOwner {
    /// The user, if it has one.
    pub user: Option<String>,
    /// The thread, if it has one.
    pub thread: Option<String>,
}

/// The response format. A reply is resumed at the address where it began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResponseFormat {
    /// That of `/api/ask`.
    Assist,
    /// OpenAI's, under the name that the caller has for the model.
    Relay {
        /// The name of the model.
        model: String,
        /// Whether the last event says how many tokens were used.
        wants_usage: bool,
    },
    /// OpenAI's form of a response.
    Response(Arc<ShownResponse>),
    /// For a guest, where its id is here.
    Guided {
        /// The id of the guest.
        guest: Option<String>,
    },
}

/// How long a reply goes on without a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// It ends when its reader leaves.
    None,
    /// A reader of a stream may lose its connection and resume: `replies.patience_ms`.
    Page,
    /// It goes on until its end.
    Background,
}

impl ReplyOptions {
    /// Whether a caller may read the reply: its owner, or with a guest key a guest that knows the name, which
    /// cannot be guessed.
    pub(super) fn admit(&self, caller: &Caller) -> bool {
        let is_of_a_guest = matches!(&self.format, ResponseFormat::Guided { guest: Some(_) });
        self.owner.is_covered_by(caller) || (caller.is_guest() && is_of_a_guest)
    }
}

impl ReplyOwner {
    /// Whether it is this user, in this thread or in any.
    pub fn is(&self, user: &str, thread: Option<&str>) -> bool {
        self.user.as_deref() == Some(user) && (thread.is_none() || self.thread.as_deref() == thread)
    }

    fn is_covered_by(&self, caller: &Caller) -> bool {
        self.user.as_deref().map_or(caller.is_admin(), |user| caller.scope.covers_user(user))
    }
}

/// Longer than any model may take, and short enough to be added to a clock.
const BACKGROUND_MAX: Duration = Duration::from_secs(7 * 24 * 60 * 60);

impl Patience {
    pub(super) fn duration(self, app: &Shared) -> Duration {
        match self {
            Self::None => Duration::ZERO,
            Self::Page => app.settings.replies.patience,
            Self::Background => BACKGROUND_MAX,
        }
    }
}
