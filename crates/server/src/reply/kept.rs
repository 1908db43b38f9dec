//! The turns of a reply, as they are stored.
//!
//! Invariant: once the question was forgotten, nothing more of its reply is stored.

use novelo_engine::path::DocumentPath;
use novelo_engine::{Message, scope};

use super::Asked;
use crate::app::Shared;
use crate::http::error::{ApiError, Result};
use crate::turns::{self, NewTurn};

/// Where a reply is stored: behind its question, or nowhere.
pub struct Kept(Option<Place>);

struct Place {
    user: String,
    thread: String,
    /// What must still be there; `None` where what is answered was stored before.
    question: Option<DocumentPath>,
    /// How often something had been forgotten when the question was stored.
    forgets: u64,
}

impl Kept {
    /// Stores what is said, where there is a thread for it.
    pub async fn begin(app: &Shared, asked: &Asked) -> Result<Self> {
        let Some((user, thread)) = asked.place() else { return Ok(Self(None)) };
        let forgets = app.forgets.writing().await;
        let said = asked.says.turns().into_iter().map(Into::into);
        let said: Vec<NewTurn> = said.collect();
        let stamps = match said.is_empty() {
            true => Vec::new(),
            false => turns::append(app, user, thread, said, None).await?,
        };
        let of = scope::turns(user, thread);
        let question = stamps.first().map(|first| of.and_then(|of| of.document(&first.id))).transpose();
        let question = question.map_err(|e| ApiError::bad_id("user or thread", &e))?;
        let (user, thread) = (user.to_owned(), thread.to_owned());
        Ok(Self(Some(Place { user, thread, question, forgets: *forgets })))
    }

    /// Adds turns; whether they are kept as they should be.
    pub async fn add(&self, app: &Shared, messages: Vec<Message>) -> Result<bool> {
        let Some(place) = self.0.as_ref().filter(|_| !messages.is_empty()) else { return Ok(true) };
        let forgets = app.forgets.writing().await;
        if *forgets != place.forgets {
            let Some(question) = &place.question else { return Ok(false) };
            if app.store.get(question).await?.is_none() {
                return Ok(false);
            }
        }
        turns::append(app, &place.user, &place.thread, messages.into_iter().map(Into::into), None).await.map(|_| true)
    }
}
