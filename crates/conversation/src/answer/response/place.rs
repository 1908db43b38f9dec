//! Where a response is stored: in a new thread, behind the response that it continues, or in a conversation.
//!
//! A response that is continued a second time is forked from, at no copy: the thread of a chain holds one
//! branch. What a call that failed has stored is not stored again.

use std::time::Duration;

use novelo_engine::limits::CONTEXT_TURNS_MAX;
use novelo_engine::{Message, scope};
use novelo_store::Range;

use super::lock::ResponseLock;
use super::{ResponseState, StoredResponse, bad_id, shown_messages};
use crate::answer::Shared;
use crate::error::{Error, Result};
use crate::thread::item::{ItemTurn, ResponseId};
use crate::thread::refused::Refusals;
use crate::thread::{self, new_messages, repeats_unanswered};

/// The thread of a response, which is locked for it, and what of its input is to be stored there.
#[derive(Debug)]
pub struct ResponsePlace {
    /// No other response is made in the thread meanwhile.
    pub lock: ResponseLock,
    /// The turns of the input that the thread does not hold yet.
    pub turns: Vec<ItemTurn>,
    /// The last seq of the thread, where that must not have moved on.
    pub if_seq: Option<u64>,
    /// The first seq of the input, if the thread has it already.
    pub first_seq: Option<u64>,
    /// Whether the thread is a conversation that the request named.
    pub is_in_conversation: bool,
}

impl ResponsePlace {
    /// A new thread.
    pub async fn anew(app: &Shared, user: &str, turns: Vec<ItemTurn>) -> Result<Self> {
        let lock = ResponseLock::take(app, user, &crate::ids::fresh_text(), Duration::ZERO).await?;
        Ok(Self { lock, turns, if_seq: Some(0), first_seq: None, is_in_conversation: false })
    }

    /// Behind a response: in its thread while that ends with it and nobody else goes on there, else in a
    /// fork.
    pub async fn after(
        app: &Shared,
        user: &str,
        (id, previous): (&ResponseId, &StoredResponse),
        turns: Vec<ItemTurn>,
    ) -> Result<Self> {
        if !previous.is_in_conversation
            && let Ok(lock) = ResponseLock::try_take(app, user, &id.thread).await?
        {
            let of = scope::turns(user, &id.thread).map_err(bad_id)?;
            let range = Range::After { seq: previous.last_seq, limit: turns.len() + 1 };
            let behind = app.store.turns(&of, range).await?;
            if behind.is_empty() {
                let if_seq = Some(behind.last_seq);
                return Ok(Self { lock, turns, if_seq, first_seq: None, is_in_conversation: false });
            }
            if repeats_unanswered(&behind, turns.iter().map(|turn| &turn.message)) {
                let first_seq = behind.iter().next().map(|turn| turn.seq);
                return Ok(Self { lock, turns: Vec::new(), if_seq: None, first_seq, is_in_conversation: false });
            }
            lock.release().await;
        }
        let to = crate::ids::fresh_text();
        let lock = ResponseLock::take(app, user, &to, Duration::ZERO).await?;
        thread::fork(app, user, &id.thread, previous.last_seq, &to).await?;
        Ok(Self { lock, turns, if_seq: None, first_seq: None, is_in_conversation: false })
    }

    /// At the end of a conversation. While another response is made there, waits that long.
    pub async fn within(app: &Shared, user: &str, thread: &str, turns: Vec<ItemTurn>, wait: Duration) -> Result<Self> {
        let lock = ResponseLock::take(app, user, thread, wait).await?;
        let of = scope::turns(user, thread).map_err(bad_id)?;
        let tail = app.store.turns(&of, Range::Last(turns.len())).await?;
        let place = Self { lock, turns, if_seq: None, first_seq: None, is_in_conversation: true };
        if place.turns.is_empty() || !repeats_unanswered(&tail, place.turns.iter().map(|turn| &turn.message)) {
            return Ok(place);
        }
        let first_seq = tail.iter().next().map(|turn| turn.seq);
        Ok(Self { turns: Vec::new(), first_seq, ..place })
    }

    /// In a thread whose client may send the whole conversation again.
    pub async fn resent(app: &Shared, user: &str, thread: &str, turns: Vec<ItemTurn>, wait: Duration) -> Result<Self> {
        let lock = ResponseLock::take(app, user, thread, wait).await?;
        let said: Vec<Message> = turns.iter().map(|turn| turn.message.shown().clone()).collect();
        let new_messages = new_messages(app, user, thread, &said).await?;
        if new_messages.new.is_empty() && new_messages.is_answered {
            return Err(Error::invalid("input", "holds nothing to answer that the thread does not hold already"));
        }
        if !new_messages.asked_again.is_empty() {
            Refusals::lift(&app.store, user, thread, &new_messages.asked_again).await?;
        }
        let new = new_messages.new_places.iter().filter_map(|place| turns.get(*place).cloned()).collect();
        Ok(Self { lock, turns: new, if_seq: None, first_seq: None, is_in_conversation: true })
    }
}

impl StoredResponse {
    /// Refuses to continue a response that has no end to continue from.
    pub fn require_continuable(&self, app: &Shared, id: &ResponseId) -> Result<()> {
        use super::ResponseStatus::Failed;
        match self.state(app, id) {
            ResponseState::Ended(end) if end.status != Failed && self.last_seq > 0 => Ok(()),
            ResponseState::Ended(_) => Err(Error::invalid(PREVIOUS, "is of a response that failed")),
            ResponseState::Running => Err(Error::invalid(PREVIOUS, "is of a response that is still being made")),
        }
    }
}

const PREVIOUS: &str = "previous_response_id";

/// The messages of a thread up to a seq, the newest that a prompt looks at.
pub async fn messages_upto(app: &Shared, user: &str, thread: &str, last: Option<u64>) -> Result<Vec<Message>> {
    let of = scope::turns(user, thread).map_err(bad_id)?;
    let range = match last {
        Some(last) => Range::Between { first: last.saturating_sub(CONTEXT_TURNS_MAX as u64) + 1, last },
        None => Range::Last(CONTEXT_TURNS_MAX),
    };
    Ok(shown_messages(&app.store.turns(&of, range).await?))
}
