//! One reply from beginning to end. Read this first.

use std::time::Duration;

use tokio::sync::watch;

use super::draft::{Draft, PASSAGES};
use super::generate::{Work, generate};
use super::history::History;
use super::log::Log;
use super::prompt::Room;
use super::{Asked, Event, Partial, Reply, Rewritten, RewrittenBy, Understood, prompt, rewrite};
use crate::app::Shared;
use crate::error::Result;
use crate::thread::kept::Kept;

/// When a reply ends early: nobody reads it for so long, or the server closes.
pub struct Ends {
    pub patience: Duration,
    pub closing: watch::Receiver<bool>,
}

/// Answers, and tells the end of it. How it went is recorded before.
pub async fn run(app: &Shared, asked: Asked, log: &Log, ends: Ends) {
    let tracer = asked.tracer.clone();
    let last = match answer(app, asked, log, ends).await {
        Ok(reply) => Event::Done(Box::new(reply)),
        Err(error) => {
            tracer.error("reply", &*error.message);
            Event::Failed(error)
        }
    };
    tracer.end();
    log.push(last);
}

async fn answer(app: &Shared, asked: Asked, log: &Log, mut ends: Ends) -> Result<Reply> {
    let history = History::load(app, asked.place()).await?;
    let (rewritten, note) = rewrite::rewrite(app, &history, &asked).await;
    mark_rewrite(&asked, &rewritten, note.as_deref());
    let understood = Understood { thread: asked.thread.clone(), rewritten };
    log.push(Event::Question(understood.clone()));
    let standalone = &understood.rewritten.question;
    let room = Room { tokens: room_tokens(app, &asked).await, is_stored: false };
    let prompt = prompt::make(app, &asked, standalone, room).await?;
    asked.tracer.prompt(&prompt.prompted.trace_id);
    asked.tracer.prompt_ready();
    log.push(Event::Prompt(prompt.prompted.clone()));
    let kept = Kept::begin(app, &asked.tracer, asked.place(), asked.says.turns(), Vec::new()).await?;
    let mut draft = Draft::new(prompt.prompted.clone(), note);
    let work = Work { app, asked: &asked, standalone, kept: &kept, log };
    let stopped = tokio::select! {
        biased;
        done = generate(&work, prompt, &mut draft) => done.map(|()| None)?,
        () = log.abandoned(ends.patience) => Some(Partial::ClientLeft),
        // Who has left and then closes the server, as a command does, has left.
        _ = ends.closing.wait_for(|closing| *closing) => match log.is_read() {
            true => Some(Partial::ServerStopped),
            false => Some(Partial::ClientLeft),
        },
    };
    draft.end(log);
    if draft.answered_by != PASSAGES {
        asked.tracer.model(&draft.answered_by);
    }
    draft.partial = draft.partial.or(stopped);
    let is_kept = match draft.turn() {
        Some(turn) if asked.is_relayed() => {
            kept.add_relayed(app, turn, draft.partial == Some(Partial::ClientLeft)).await?
        }
        turn => kept.add(app, turn.into_iter().collect()).await?,
    };
    if !is_kept {
        draft.notes.push("the thread was forgotten meanwhile, and this was not kept".to_owned());
    }
    let Draft {
        text,
        prompted,
        answered_by,
        usage,
        calls,
        partial,
        fallback,
        notes,
        finish,
        to_run,
        more,
        failure,
        ..
    } = draft;
    Ok(Reply {
        answer: text,
        understood,
        prompted,
        answered_by,
        usage,
        calls,
        partial,
        fallback,
        notes,
        finish,
        to_run,
        more,
        failure,
    })
}

/// Marks how the question was understood, and what kept it from being understood better.
fn mark_rewrite(asked: &Asked, rewritten: &Rewritten, note: Option<&str>) {
    let why = if rewritten.by == RewrittenBy::Nobody { "" } else { &*rewritten.question };
    asked.tracer.heuristic("rewrite", rewritten.by.name(), why);
    if let Some(note) = note {
        asked.tracer.error("rewrite", note);
    }
}

/// The tokens that a prompt may have, where the model that answers says what it sees at once.
async fn room_tokens(app: &Shared, asked: &Asked) -> Option<u32> {
    asked.model(app)?.window_tokens().await.map(prompt::room_tokens)
}
