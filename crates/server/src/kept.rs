//! A question and its answer, as they are stored.
//!
//! Invariant: once the question was forgotten, nothing more of its answer is stored.

use novelo_engine::path::DocumentPath;
use novelo_engine::{Message, scope};
use novelo_store::{Op, Range};

use crate::app::Shared;
use crate::http::error::{ApiError, Code, Result};
use crate::{pens, turns};

/// Where an answer is stored: behind its question, or nowhere.
pub struct Kept(Option<Place>);

struct Place {
    user: String,
    thread: String,
    /// What must still be there.
    question: DocumentPath,
    seq: u64,
    /// How often something had been forgotten when the question was stored.
    forgets: u64,
}

/// Others may add to the thread meanwhile this often before one more write is refused.
const TRIES_MAX: usize = 100;

impl Kept {
    /// Stores what is said, where there is a thread for it. Nothing said: it was stored by a call that failed.
    pub async fn begin(app: &Shared, place: Option<(&str, &str)>, said: Vec<Message>) -> Result<Self> {
        let Some((user, thread)) = place else { return Ok(Self(None)) };
        let forgets = app.forgets.writing().await;
        let bad_id = |e| ApiError::bad_id("user or thread", &e);
        let of = scope::turns(user, thread).map_err(bad_id)?;
        let first = match said.is_empty() {
            true => app.store.turns(&of, Range::Last(1)).await?.iter().next().map(|turn| (turn.id.clone(), turn.seq)),
            false => {
                let stamps = turns::append(app, user, thread, said.into_iter().map(Into::into), None).await?;
                stamps.first().map(|stamp| (stamp.id.clone(), stamp.seq))
            }
        };
        let Some((first, seq)) = first else { return Ok(Self(None)) };
        let question = of.document(&first).map_err(bad_id)?;
        let (user, thread) = (user.to_owned(), thread.to_owned());
        Ok(Self(Some(Place { user, thread, question, seq, forgets: *forgets })))
    }

    /// How many turns the thread had had with the question; none where nothing is kept.
    pub fn turns(&self) -> u64 {
        self.0.as_ref().map_or(0, |place| place.seq)
    }

    /// Adds one turn; its number, where it is kept.
    pub async fn add_one(&self, app: &Shared, message: Message) -> Result<Option<u64>> {
        let Some(place) = &self.0 else { return Ok(None) };
        let add = turns::append(app, &place.user, &place.thread, [message.into()], None);
        let stamps = self.unless_forgotten(app, add).await?;
        Ok(stamps.and_then(|stamps| stamps.first().map(|stamp| stamp.seq)))
    }

    /// Stores something that was made from the question; `None` where that was forgotten meanwhile.
    pub async fn unless_forgotten<T>(&self, app: &Shared, write: impl Future<Output = Result<T>>) -> Result<Option<T>> {
        let forgets = app.forgets.writing().await;
        match &self.0 {
            Some(place) if place.is_forgotten(app, *forgets).await? => Ok(None),
            _ => write.await.map(Some),
        }
    }

    /// Adds turns; whether they are kept as they should be.
    pub async fn add(&self, app: &Shared, messages: Vec<Message>) -> Result<bool> {
        let Some(place) = self.0.as_ref().filter(|_| !messages.is_empty()) else { return Ok(true) };
        let add = turns::append(app, &place.user, &place.thread, messages.into_iter().map(Into::into), None);
        Ok(self.unless_forgotten(app, add).await?.is_some())
    }

    /// Adds a turn and, in the same write, what is said of it by its number; whether they are kept as they should be.
    pub async fn add_with(&self, app: &Shared, message: Message, beside: impl Fn(u64) -> Option<Op>) -> Result<bool> {
        let Some(place) = &self.0 else { return Ok(true) };
        // Those who answer in one thread take turns: its end must not move meanwhile.
        let _pen = pens::hold([(&place.user, &place.thread)].into_iter()).await;
        let forgets = app.forgets.writing().await;
        if place.is_forgotten(app, *forgets).await? {
            return Ok(false);
        }
        let Place { user, thread, seq, .. } = place;
        let of = scope::turns(user, thread).map_err(|e| ApiError::bad_id("user or thread", &e))?;
        let mut last = *seq;
        for _ in 0..TRIES_MAX {
            let turn = [message.clone().into()];
            match turns::append_with(app, user, thread, turn, Some(last), beside(last + 1)).await {
                Err(error) if error.code == Code::Stale => {
                    last = app.store.turns(&of, Range::Last(1)).await?.iter().next().map_or(0, |turn| turn.seq);
                }
                written => return written.map(|_| true),
            }
        }
        Err(ApiError::new(Code::Busy, "too many others write to this conversation"))
    }
}

impl Place {
    /// Whether the question is gone, now that something was forgotten so often.
    async fn is_forgotten(&self, app: &Shared, forgets: u64) -> Result<bool> {
        Ok(forgets != self.forgets && app.store.get(&self.question).await?.is_none())
    }
}
