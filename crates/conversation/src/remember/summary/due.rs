//! The task that brings summaries up to date.

use std::sync::Arc;
use std::time::Instant;

use novelo_engine::loaded::summary_path;
use novelo_engine::scope;
use novelo_store::{Error, Range};
use tokio::task::JoinSet;

use super::make;
use super::{Summary, Window, held, write};
use crate::remember::TRIES_MAX;
use crate::remember::UserMemory;
use crate::telemetry::now;
use crate::thread::due::{NextDue, ThreadName};
use crate::thread::tail::Tail;

/// Threads that are summed up at once: a model takes its time.
const THREADS_AT_ONCE: usize = 4;

/// Keeps summaries up until `close`. What is left undone then is done after the thread's next turn. A thread
/// is done round by round, so that a long one does not hold up the others.
pub async fn run(app: Arc<UserMemory>) {
    let mut running = JoinSet::new();
    while !app.due.is_closed() {
        let mut next_at = None;
        while running.len() < THREADS_AT_ONCE {
            match app.due.next(Instant::now()) {
                NextDue::Thread(thread) => {
                    let app = app.clone();
                    running.spawn(async move { catch_up(&app, thread).await });
                }
                NextDue::At(at) => {
                    next_at = Some(at);
                    break;
                }
                NextDue::Nothing => break,
            }
        }
        tokio::select! {
            Some(ended) = running.join_next() => tell(ended),
            () = app.due.woken() => {}
            () = reached(next_at) => {}
        }
    }
    while let Some(ended) = running.join_next().await {
        tell(ended);
    }
}

/// Resolves at a time, if there is one.
async fn reached(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time.into()).await,
        None => std::future::pending().await,
    }
}

fn tell(ended: Result<Result<(), Error>, tokio::task::JoinError>) {
    match ended {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(%error, "a summary was not made"),
        Err(error) => tracing::error!(%error, "summing up ended early"),
    }
}

/// Does one round of a thread, and puts it behind the others if there is more.
async fn catch_up(app: &UserMemory, thread: ThreadName) -> Result<(), Error> {
    let mut done = round(app, &thread.0, &thread.1).await;
    for _ in 1..TRIES_MAX {
        // Another node was faster, or what was summed up is gone.
        if !matches!(done, Err(Error::Stale { .. } | Error::NotFound { .. })) || app.due.is_closed() {
            break;
        }
        done = round(app, &thread.0, &thread.1).await;
    }
    if matches!(done, Ok(Round::More)) {
        app.due.add_again(thread.clone());
    }
    app.due.done(&thread);
    done.map(|_| ())
}

#[derive(Debug, PartialEq, Eq)]
enum Round {
    More,
    Done,
}

/// Sums up some of what is not covered, if anything is.
async fn round(app: &UserMemory, user: &str, thread: &str) -> Result<Round, Error> {
    let invalid = |e: novelo_engine::path::PathError| Error::Invalid(e.to_string());
    let (at, of) = (summary_path(user, thread).map_err(invalid)?, scope::turns(user, thread).map_err(invalid)?);
    let last_seq = app.store.version(&of).await?.last_seq;
    let window = Window::of(&app.settings);
    if last_seq <= window.threshold {
        return Ok(Round::Done);
    }
    let (before, version) = held(&app.store, &at).await?;
    let before = before.begun(version > 0);
    let turns_max = make::turns_max(app);
    let Some((first, last)) = window.uncovered(last_seq, before.upto_seq, turns_max) else { return Ok(Round::Done) };
    let tail = Tail::load(app, user, thread, Range::Between { first, last }).await;
    let tail = tail.map_err(|e| Error::Invalid(e.message))?;
    // The newest turn must still be stored when the summary is. If all were trimmed, there is none.
    let newest = tail.newest();
    let mut closed = app.due.closing();
    let summary = tokio::select! {
        made = make::continued(app, (user, thread), before, tail, last) => made?,
        _ = closed.wait_for(|closed| *closed) => return Ok(Round::Done),
    };
    let summary = Summary { upto_seq: last, updated_at: now(), ..summary };
    write(&app.store, &at, &summary, Some(version), newest).await?;
    // Turns that came meanwhile are for the next time, unless many are left.
    Ok(if window.uncovered(last_seq, last, turns_max).is_some() { Round::More } else { Round::Done })
}
