//! The turns of a reply, as they are stored.
//!
//! Invariant: once the question was forgotten, nothing more of its reply is stored.

use novelo_engine::path::DocumentPath;
use novelo_engine::{Message, scope};
use novelo_store::Range;

use super::Asked;
use crate::app::Shared;
use crate::http::error::{ApiError, Result};
use crate::turns;

/// Where a reply is stored: behind its question, or nowhere.
pub struct Kept(Option<Place>);

struct Place {
    user: String,
    thread: String,
    /// What must still be there.
    question: DocumentPath,
    /// How often something had been forgotten when the question was stored.
    forgets: u64,
}

impl Kept {
    /// Stores what is said, where there is a thread for it.
    pub async fn begin(app: &Shared, asked: &Asked) -> Result<Self> {
        let Some((user, thread)) = asked.place() else { return Ok(Self(None)) };
        let forgets = app.forgets.writing().await;
        let bad_id = |e| ApiError::bad_id("user or thread", &e);
        let of = scope::turns(user, thread).map_err(bad_id)?;
        let said = asked.says.turns();
        let first = match said.is_empty() {
            // What is answered now was stored by a call that failed.
            true => app.store.turns(&of, Range::Last(1)).await?.iter().next().map(|turn| turn.id.clone()),
            false => {
                let stamps = turns::append(app, user, thread, said.into_iter().map(Into::into), None).await?;
                stamps.first().map(|stamp| stamp.id.clone())
            }
        };
        let Some(first) = first else { return Ok(Self(None)) };
        let question = of.document(&first).map_err(bad_id)?;
        let (user, thread) = (user.to_owned(), thread.to_owned());
        Ok(Self(Some(Place { user, thread, question, forgets: *forgets })))
    }

    /// Adds turns; whether they are kept as they should be.
    pub async fn add(&self, app: &Shared, messages: Vec<Message>) -> Result<bool> {
        let Some(place) = self.0.as_ref().filter(|_| !messages.is_empty()) else { return Ok(true) };
        let forgets = app.forgets.writing().await;
        if *forgets != place.forgets && app.store.get(&place.question).await?.is_none() {
            return Ok(false);
        }
        turns::append(app, &place.user, &place.thread, messages.into_iter().map(Into::into), None).await.map(|_| true)
    }
}
