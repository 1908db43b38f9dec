//! What calls to models came to: how many, how they ended, tokens and times.
//!
//! Owns the counters of one job and its last failure. Each call is counted once, however it ends; one that is
//! dropped before its end was cancelled.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::{Failure, Job, Usage};

const OUTCOMES: [&str; 7] = ["ok", "slow", "down", "refused", "too_long", "broke", "cancelled"];
const CANCELLED: usize = 6;

/// The counters of a job.
#[derive(Debug, Default)]
pub struct Tally {
    calls: [AtomicU64; OUTCOMES.len()],
    prompt_tokens: AtomicU64,
    completion_tokens: AtomicU64,
    first: Times,
    whole: Times,
    last_failure: Mutex<Option<Failure>>,
}

#[derive(Debug, Default)]
struct Times {
    count: AtomicU64,
    us: AtomicU64,
}

/// A call that runs.
#[derive(Debug)]
pub struct RunningCall {
    tally: Arc<Tally>,
    started: Instant,
    has_spoken: bool,
    has_ended: bool,
}

impl Tally {
    pub fn begin(self: &Arc<Self>) -> RunningCall {
        RunningCall { tally: self.clone(), started: Instant::now(), has_spoken: false, has_ended: false }
    }

    /// What went wrong with the last call that ended, if anything did.
    pub(crate) fn last_failure(&self) -> Option<Failure> {
        self.last_failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_failure(&self, failure: Option<Failure>) {
        *self.last_failure.lock().unwrap_or_else(PoisonError::into_inner) = failure;
    }
}

impl RunningCall {
    /// The first piece of the answer is there.
    pub fn speaks(&mut self) {
        if !std::mem::replace(&mut self.has_spoken, true) {
            self.tally.first.add(self.started.elapsed());
        }
    }

    pub(crate) fn succeeded(&mut self, usage: Option<Usage>) {
        self.ended(0);
        self.tally.set_failure(None);
        self.tally.whole.add(self.started.elapsed());
        let usage = usage.unwrap_or_default();
        add(&self.tally.prompt_tokens, usage.prompt_tokens);
        add(&self.tally.completion_tokens, usage.completion_tokens);
    }

    pub fn failed(&mut self, failure: &Failure) {
        self.ended(match failure {
            Failure::Slow(_) => 1,
            Failure::Down(_) => 2,
            Failure::Refused(_) => 3,
            Failure::TooLong { .. } => 4,
            Failure::Broke(_) | Failure::Empty => 5,
        });
        self.tally.set_failure(Some(failure.clone()));
        tracing::warn!(%failure, "a call to a model failed");
    }

    fn ended(&mut self, outcome: usize) {
        if !std::mem::replace(&mut self.has_ended, true)
            && let Some(count) = self.tally.calls.get(outcome)
        {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        self.ended(CANCELLED);
    }
}

/// Counts up to where a counter ends: what a server says is not to be trusted.
fn add(counter: &AtomicU64, more: u64) {
    let sum = |count: u64| Some(count.saturating_add(more));
    // It cannot fail: there is always a sum.
    let _before = counter.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum);
}

impl Times {
    fn add(&self, took: Duration) {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.us.fetch_add(took.as_micros() as u64, Ordering::Relaxed);
    }
}

/// The lines for Prometheus, of all jobs.
pub fn page<'a>(tallies: impl Iterator<Item = (Job, &'a Tally)>) -> String {
    let tallies: Vec<_> = tallies.map(|(job, tally)| (job.name(), tally)).collect();
    let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let mut out = String::from("# TYPE novelo_model_calls_total counter\n");
    for (job, tally) in &tallies {
        for (outcome, count) in OUTCOMES.iter().zip(&tally.calls) {
            line(&mut out, "calls_total", &format!("job=\"{job}\",outcome=\"{outcome}\""), read(count));
        }
    }
    out.push_str("# TYPE novelo_model_tokens_total counter\n");
    for (job, tally) in &tallies {
        let kinds = [("prompt", &tally.prompt_tokens), ("completion", &tally.completion_tokens)];
        for (kind, count) in kinds {
            line(&mut out, "tokens_total", &format!("job=\"{job}\",kind=\"{kind}\""), read(count));
        }
    }
    for (name, of) in [("first_token_seconds", (|t| &t.first) as fn(&Tally) -> &Times), ("seconds", |t| &t.whole)] {
        out.push_str(&format!("# TYPE novelo_model_{name} summary\n"));
        for (job, tally) in &tallies {
            let (times, labels) = (of(tally), format!("job=\"{job}\""));
            line(&mut out, &format!("{name}_sum"), &labels, read(&times.us) as f64 / 1e6);
            line(&mut out, &format!("{name}_count"), &labels, read(&times.count));
        }
    }
    out
}

fn line(out: &mut String, name: &str, labels: &str, value: impl std::fmt::Display) {
    writeln!(out, "novelo_model_{name}{{{labels}}} {value}").expect("writing to a string does not fail");
}
