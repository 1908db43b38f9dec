//! One reply from beginning to end. Read this first.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::draft::Draft;
use super::generate::{Work, generate};
use super::history::History;
use super::log::Log;
use super::prompt::Room;
use super::{Asked, Event, Partial, Reply, Understood, prompt, rewrite};
use crate::app::Shared;
use crate::http::error::Result;
use crate::kept::Kept;
use crate::model::Job;

/// When a reply ends early: nobody reads it for so long, or the server closes.
pub struct Ends {
    pub patience: Duration,
    pub closing: watch::Receiver<bool>,
}

/// Answers, and tells the end of it.
pub async fn run(app: &Shared, asked: Asked, log: &Arc<Log>, ends: Ends) {
    let last = match answer(app, asked, log, ends).await {
        Ok(reply) => Event::Done(Box::new(reply)),
        Err(error) => Event::Failed(error),
    };
    log.push(last);
}

async fn answer(app: &Shared, asked: Asked, log: &Log, mut ends: Ends) -> Result<Reply> {
    let history = History::load(app, asked.place()).await?;
    let (rewritten, note) = rewrite::rewrite(app, &history, &asked).await;
    let understood = Understood { thread: asked.thread.clone(), rewritten };
    log.push(Event::Question(understood.clone()));
    let standalone = &understood.rewritten.question;
    let room = Room { tokens: room_tokens(app, asked.job()).await, is_stored: false };
    let prompt = prompt::make(app, &asked, standalone, room).await?;
    log.push(Event::Prompt(prompt.prompted.clone()));
    let kept = Kept::begin(app, asked.place(), asked.says.turns()).await?;
    let mut draft = Draft::new(prompt.prompted.clone(), note);
    let work = Work { app, asked: &asked, standalone, kept: &kept, log };
    let stopped = tokio::select! {
        // Who has left and then closes the server, as a command does, has left.
        biased;
        done = generate(&work, prompt, &mut draft) => done.map(|()| None)?,
        () = log.abandoned(ends.patience) => Some(Partial::ClientLeft),
        _ = ends.closing.wait_for(|closing| *closing) => Some(Partial::ServerStopped),
    };
    draft.partial = draft.partial.or(stopped);
    if !kept.add(app, draft.turn().into_iter().collect()).await? {
        draft.notes.push("the thread was forgotten meanwhile, and this was not kept".to_owned());
    }
    let Draft { text, prompted, answered_by, usage, calls, partial, notes, finish, to_run, .. } = draft;
    Ok(Reply { answer: text, understood, prompted, answered_by, usage, calls, partial, notes, finish, to_run })
}

/// The tokens that a prompt may have, where the model that answers says what it sees at once.
async fn room_tokens(app: &Shared, job: Job) -> Option<u32> {
    app.models.get(job)?.window_tokens().await.map(prompt::room_tokens)
}
