//! Which threads are behind, and the task that brings their summaries up.

use std::time::Duration;

use novelo_engine::component::summary_path;
use novelo_engine::scope;
use novelo_store::{Error, Range};
use rustc_hash::FxHashSet;
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;

use super::{Summary, Window, held, make, write};
use crate::app::{App, Shared};
use crate::memory::TRIES_MAX;
use crate::telemetry::now;

/// User and thread.
type Threads = FxHashSet<(Box<str>, Box<str>)>;

/// Threads that may be behind. Requests add, the task takes, `close` ends it.
#[derive(Debug, Default)]
pub struct Due {
    threads: std::sync::Mutex<Threads>,
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
        let mut threads = self.lock();
        if threads.len() < THREADS_MAX && threads.insert((user.into(), thread.into())) {
            drop(threads);
            self.wake.notify_one();
        }
    }

    pub fn close(&self) {
        self.closed.send_replace(true);
        self.wake.notify_one();
    }

    /// All that wait; `None` at the end.
    fn take(&self) -> Option<Threads> {
        (!self.is_closed()).then(|| std::mem::take(&mut *self.lock()))
    }

    fn is_closed(&self) -> bool {
        *self.closed.borrow()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Threads> {
        self.threads.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Keeps summaries up until `close`. What is left undone then is done after the thread's next turn.
pub async fn run(app: App) {
    while let Some(threads) = app.due.take() {
        if threads.is_empty() {
            app.due.wake.notified().await;
            tokio::time::sleep(GATHER).await;
        }
        let mut running = JoinSet::new();
        for (user, thread) in threads {
            if running.len() >= THREADS_AT_ONCE {
                tell(running.join_next().await);
            }
            let app = app.clone();
            running.spawn(async move { catch_up(&app, &user, &thread).await });
        }
        while let Some(ended) = running.join_next().await {
            tell(Some(ended));
        }
    }
}

fn tell(ended: Option<std::result::Result<Result<(), Error>, tokio::task::JoinError>>) {
    match ended {
        Some(Ok(Err(error))) => tracing::warn!(%error, "a summary was not made"),
        Some(Err(error)) => tracing::error!(%error, "summing up ended early"),
        _ => {}
    }
}

async fn catch_up(app: &Shared, user: &str, thread: &str) -> Result<(), Error> {
    let mut lost = 0;
    while !app.due.is_closed() {
        match round(app, user, thread).await {
            Ok(Round::More) => lost = 0,
            Ok(Round::Done) => return Ok(()),
            Ok(Round::Lost) | Err(Error::Stale { .. }) if lost < TRIES_MAX => lost += 1,
            Ok(Round::Lost) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[derive(Debug, PartialEq, Eq)]
enum Round {
    More,
    Done,
    /// Something was forgotten meanwhile, perhaps this.
    Lost,
}

/// Sums up some of what is not covered, if anything is.
async fn round(app: &Shared, user: &str, thread: &str) -> Result<Round, Error> {
    let invalid = |e: novelo_engine::path::PathError| Error::Invalid(e.to_string());
    let (at, of) = (summary_path(user, thread).map_err(invalid)?, scope::turns(user, thread).map_err(invalid)?);
    let pen = app.forgets.writing().await;
    let last_seq = app.store.version(&of).await?.last_seq;
    let window = Window::of(&app.config);
    if last_seq <= window.threshold {
        return Ok(Round::Done);
    }
    let (before, version) = held(&app.store, &at).await?;
    let turns_max = make::turns_max(app);
    let Some((first, last)) = window.uncovered(last_seq, before.upto_seq, turns_max) else { return Ok(Round::Done) };
    let turns = app.store.turns(&of, Range::Between { first, last }).await?;
    let forgets = *pen;
    drop(pen);
    let mut closed = app.due.closed.subscribe();
    let summary = tokio::select! {
        made = make::continued(app, before, turns) => made?,
        _ = closed.wait_for(|closed| *closed) => return Ok(Round::Done),
    };
    let pen = app.forgets.writing().await;
    if *pen != forgets {
        return Ok(Round::Lost);
    }
    let summary = Summary { upto_seq: last, updated_at: now(), ..summary };
    write(&app.store, &at, &summary, Some(version)).await?;
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
        assert_eq!(due.take().unwrap().len(), THREADS_MAX);
        assert!(due.take().unwrap().is_empty());
        due.close();
        assert!(due.take().is_none());
    }
}
