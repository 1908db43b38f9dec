//! Which threads are behind, and the task that brings their summaries up.

use std::collections::VecDeque;
use std::time::Duration;

use novelo_engine::component::summary_path;
use novelo_engine::scope;
use novelo_store::{Error, Range};
use rustc_hash::FxHashSet;
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;

use super::make::{self, Told};
use super::{Summary, Window, held, write};
use crate::app::{App, Shared};
use crate::remember::TRIES_MAX;
use crate::telemetry::now;
use crate::thread::refused::Refusals;

/// A user and a thread.
type Thread = (Box<str>, Box<str>);

#[derive(Debug, Default)]
struct State {
    /// In the order in which they came, each once.
    waiting: VecDeque<Thread>,
    known: FxHashSet<Thread>,
    /// Being summed up.
    in_hand: FxHashSet<Thread>,
}

/// Threads that may be behind. Requests add, the task takes, `close` ends it.
#[derive(Debug, Default)]
pub struct Due {
    state: std::sync::Mutex<State>,
    wake: Notify,
    closed: watch::Sender<bool>,
}

/// Threads that may wait. One too many is left out: its next turn tells again.
const THREADS_MAX: usize = 20_000;
/// How long the first thread waits, so that a burst of turns is summed up once.
const GATHER: Duration = Duration::from_millis(50);
/// Threads that are summed up at once: a model takes its time.
const THREADS_AT_ONCE: usize = 4;

impl Due {
    pub fn add(&self, user: &str, thread: &str) {
        let mut state = self.lock();
        let thread: Thread = (user.into(), thread.into());
        if state.waiting.len() < THREADS_MAX && state.known.insert(thread.clone()) {
            state.waiting.push_back(thread);
            drop(state);
            self.wake.notify_one();
        }
    }

    pub fn close(&self) {
        self.closed.send_replace(true);
        self.wake.notify_one();
    }

    /// The thread that has waited longest, unless it is in hand.
    fn next(&self) -> Option<Thread> {
        let mut state = self.lock();
        let at = state.waiting.iter().position(|thread| !state.in_hand.contains(thread))?;
        let thread = state.waiting.remove(at)?;
        state.known.remove(&thread);
        state.in_hand.insert(thread.clone());
        Some(thread)
    }

    /// Puts a thread out of hand.
    fn done(&self, thread: &Thread) {
        self.lock().in_hand.remove(thread);
    }

    fn is_closed(&self) -> bool {
        *self.closed.borrow()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Keeps summaries up until `close`. What is left undone then is done after the thread's next turn. A thread is done
/// round by round, so that a long one does not hold up the others.
pub async fn run(app: App) {
    let mut running = JoinSet::new();
    while !app.due.is_closed() {
        while running.len() < THREADS_AT_ONCE
            && let Some(thread) = app.due.next()
        {
            let app = app.clone();
            running.spawn(async move { catch_up(&app, thread).await });
        }
        tokio::select! {
            Some(ended) = running.join_next() => tell(ended),
            () = app.due.wake.notified() => tokio::time::sleep(GATHER).await,
        }
    }
    while let Some(ended) = running.join_next().await {
        tell(ended);
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
async fn catch_up(app: &Shared, thread: Thread) -> Result<(), Error> {
    let mut done = round(app, &thread.0, &thread.1).await;
    for _ in 1..TRIES_MAX {
        // Another node was faster, or what was summed up is gone.
        if !matches!(done, Err(Error::Stale { .. } | Error::NotFound { .. })) || app.due.is_closed() {
            break;
        }
        done = round(app, &thread.0, &thread.1).await;
    }
    app.due.done(&thread);
    if done? == Round::More {
        app.due.add(&thread.0, &thread.1);
    }
    Ok(())
}

#[derive(Debug, PartialEq, Eq)]
enum Round {
    More,
    Done,
}

/// Sums up some of what is not covered, if anything is.
async fn round(app: &Shared, user: &str, thread: &str) -> Result<Round, Error> {
    let invalid = |e: novelo_engine::path::PathError| Error::Invalid(e.to_string());
    let (at, of) = (summary_path(user, thread).map_err(invalid)?, scope::turns(user, thread).map_err(invalid)?);
    let last_seq = app.store.version(&of).await?.last_seq;
    let window = Window::of(&app.config);
    if last_seq <= window.threshold {
        return Ok(Round::Done);
    }
    let (before, version) = held(&app.store, &at).await?;
    let turns_max = make::turns_max(app);
    let Some((first, last)) = window.uncovered(last_seq, before.upto_seq, turns_max) else { return Ok(Round::Done) };
    let turns = app.store.turns(&of, Range::Between { first, last }).await?;
    // The last of them must still be there then. Where none is, they were trimmed, and nothing is made of them.
    let newest = turns.iter().next_back().map(|turn| of.document(&turn.id)).transpose().map_err(invalid)?;
    let refusals = Refusals::load(&app.store, user, thread).await.map_err(|e| Error::Invalid(e.message))?;
    let told = Told { turns, refusals };
    let mut closed = app.due.closed.subscribe();
    let summary = tokio::select! {
        made = make::continued(app, before, told) => made?,
        _ = closed.wait_for(|closed| *closed) => return Ok(Round::Done),
    };
    let summary = Summary { upto_seq: last, updated_at: now(), ..summary };
    write(&app.store, &at, &summary, Some(version), newest).await?;
    Ok(Round::More)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_wait_are_bounded_and_named_once() {
        let due = Due::default();
        for n in 0..THREADS_MAX + 5 {
            due.add("u", &n.to_string());
            due.add("u", "0");
        }
        assert_eq!(due.lock().waiting.len(), THREADS_MAX);
        let first = due.next().unwrap();
        assert_eq!(&*first.1, "0");
        due.add("u", "0");
        assert_eq!(due.lock().waiting.len(), THREADS_MAX);
        while due.next().is_some() {}
        assert_eq!(due.lock().waiting.len(), 1, "one that is in hand waits");
        due.done(&first);
        assert_eq!(due.next(), Some(first));
    }
}
