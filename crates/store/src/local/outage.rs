//! Why the store does not write, and when it tries to again.
//!
//! Owns the state between a failed commit and the moment when the database was reopened. Written by the
//! committer, read by anyone. Refuses to say the same thing twice in the log. Invariant: while there is an
//! outage nothing is acknowledged.

use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::Error;
use crate::lock::lock;

/// Between two tries, growing from the first to the second.
const PAUSE_MIN: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(5);

#[derive(Debug, Default)]
pub(super) struct Outage(Mutex<Option<OutageState>>);

#[derive(Debug)]
struct OutageState {
    why: String,
    since: Instant,
    last_try: Instant,
    pause: Duration,
}

impl Outage {
    /// After a write that failed.
    pub fn begin(&self, why: String) {
        let mut failure = self.lock();
        if failure.is_none() {
            tracing::error!(%why, "the store stopped writing; it tries to recover by itself");
            let now = Instant::now();
            *failure = Some(OutageState { why, since: now, last_try: now, pause: PAUSE_MIN });
        }
    }

    /// After a try to recover that failed.
    pub(crate) fn continues(&self, error: &Error) {
        let mut failure = self.lock();
        let Some(failure) = failure.as_mut() else { return };
        let why = error.to_string();
        if failure.why != why {
            tracing::warn!(%why, "the store cannot recover yet");
            failure.why = why;
        }
        failure.last_try = Instant::now();
        failure.pause = (failure.pause * 2).min(PAUSE_MAX);
    }

    pub fn end(&self) {
        if let Some(failure) = self.lock().take() {
            let seconds = failure.since.elapsed().as_secs_f64();
            tracing::info!(seconds, "the store recovered and writes again");
        }
    }

    pub(crate) fn is_on(&self) -> bool {
        self.lock().is_some()
    }

    pub fn why(&self) -> Option<String> {
        self.lock().as_ref().map(|failure| format!("{}; it tries again by itself", failure.why))
    }

    /// How long until the next try; a write that waits makes it earlier. `None` without an outage.
    pub(crate) fn next_try_in(&self, for_a_write: bool) -> Option<Duration> {
        let failure = self.lock();
        let failure = failure.as_ref()?;
        let pause = if for_a_write { PAUSE_MIN } else { failure.pause };
        Some(pause.saturating_sub(failure.last_try.elapsed()))
    }

    fn lock(&self) -> MutexGuard<'_, Option<OutageState>> {
        lock(&self.0)
    }
}
