//! Traces on their way to the store.
//!
//! Owns what was recorded and is not stored yet. A request leaves its trace here and goes on; one task writes what has
//! gathered, so that many traces share one flush. A trace can be read from the moment it is recorded. Traces of
//! stateless assemblies stay here, the newest of them, and are never stored.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use novelo_engine::limits::MESSAGE_BYTES_MAX;
use novelo_store::{Op, PutTerms, Store};
use rustc_hash::{FxHashMap, FxHashSet};
use tokio::sync::Notify;

use crate::telemetry::Metrics;
use crate::trace::{Trace, TraceId};

const WAITING_MAX: usize = 20_000;
const WRITE_MAX: usize = 2_000;
/// How long the first trace waits for others to share its flush.
const GATHER: Duration = Duration::from_millis(20);
const RECENT_MAX: usize = 100_000;
const RECENT_FOR: Duration = Duration::from_secs(3_600);
const STATELESS_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Recorded traces. Requests add, the writer task drains, `close` ends it.
#[derive(Debug, Default)]
pub struct Recorder {
    state: Mutex<State>,
    wake: Notify,
    /// Held by the writer from taking traces to having stored them, and by a forget, so that none slips past it.
    pen: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<(TraceId, Arc<Trace>)>,
    /// What the writer has taken and not yet stored.
    writing: FxHashMap<TraceId, Arc<Trace>>,
    stateless: VecDeque<(TraceId, Arc<Trace>, usize)>,
    stateless_bytes: usize,
    /// What was recorded lately: a prompt made again is the same trace. Begun anew when full or old.
    recent: FxHashSet<TraceId>,
    since: Option<Instant>,
    closed: bool,
}

impl Recorder {
    /// Whether this prompt was not recorded lately; asking makes it so.
    pub fn is_news(&self, id: &TraceId) -> bool {
        self.lock().is_news(id)
    }

    /// Whether this prompt was recorded lately.
    pub fn is_recent(&self, id: &TraceId) -> bool {
        let state = self.lock();
        !state.is_old() && state.recent.contains(id)
    }

    /// Takes a trace, and says whether it is kept. One too many or too large is counted as lost.
    pub fn record(&self, id: &TraceId, trace: Trace, metrics: &Metrics) -> bool {
        let mut state = self.lock();
        let (id, bytes) = (id.clone(), trace.inputs.bytes());
        if id.thread.is_none() && bytes <= STATELESS_BYTES_MAX {
            state.keep_stateless(id, trace, bytes);
        } else if id.thread.is_some() && bytes <= MESSAGE_BYTES_MAX && state.waiting.len() < WAITING_MAX {
            state.waiting.push_back((id, Arc::new(trace)));
            drop(state);
            self.wake.notify_one();
        } else {
            state.recent.remove(&id);
            metrics.traces_lost.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            return false;
        }
        true
    }

    /// A trace that is not in the store, or not yet.
    pub fn find(&self, id: &TraceId) -> Option<Arc<Trace>> {
        let state = self.lock();
        let waiting = state.waiting.iter().find(|(waiting, _)| waiting == id).map(|(_, trace)| trace);
        let stateless = state.stateless.iter().find(|(kept, ..)| kept == id).map(|(_, trace, _)| trace);
        waiting.or(state.writing.get(id)).or(stateless).cloned()
    }

    /// Keeps the writer from storing anything, once what it has in hand is stored.
    pub async fn pause(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.pen.lock().await
    }

    /// Forgets what is on its way to documents that are being forgotten.
    pub fn forget(&self, user: &str, thread: Option<&str>) -> u64 {
        let mut state = self.lock();
        let before = state.waiting.len() + state.stateless.len();
        let other = |id: &TraceId| {
            let of = |(u, t): &(String, String)| u == user && thread.is_none_or(|thread| t == thread);
            !id.thread.as_ref().is_some_and(of)
        };
        state.waiting.retain(|(id, _)| other(id));
        state.recent.retain(other);
        let about = |trace: &Trace| {
            trace.subject.as_deref() == Some(user)
                && thread.is_none_or(|thread| trace.thread.as_deref() == Some(thread))
        };
        state.stateless.retain(|(_, trace, _)| !about(trace));
        state.stateless_bytes = state.stateless.iter().map(|(.., bytes)| bytes).sum();
        (before - state.waiting.len() - state.stateless.len()) as u64
    }

    /// Stores traces until `close`. Errors are logged; the traces in hand are then lost, and counted.
    pub async fn run(&self, store: &Store, ttl_seconds: u64, metrics: &Metrics) {
        loop {
            let pen = self.pen.lock().await;
            let (batch, closed) = self.take();
            if !batch.is_empty() {
                let ops = ops(&batch, ttl_seconds);
                let mut lost = batch.len() - ops.len();
                if let Err(error) = store.write(ops).await {
                    tracing::warn!(%error, "traces were not stored");
                    lost = batch.len();
                }
                metrics.traces_lost.fetch_add(lost as u64, std::sync::atomic::Ordering::Relaxed);
                self.lock().writing.clear();
            } else if closed {
                return;
            } else {
                drop(pen);
                self.wake.notified().await;
                tokio::time::sleep(GATHER).await;
            }
        }
    }

    pub fn close(&self) {
        self.lock().closed = true;
        self.wake.notify_one();
    }

    fn take(&self) -> (Vec<(TraceId, Arc<Trace>)>, bool) {
        let mut state = self.lock();
        let count = state.waiting.len().min(WRITE_MAX);
        let batch: Vec<_> = state.waiting.drain(..count).collect();
        state.writing.extend(batch.iter().cloned());
        (batch, state.closed)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl State {
    /// Whether what was recorded lately is no longer that.
    fn is_old(&self) -> bool {
        self.since.is_none_or(|since| since.elapsed() > RECENT_FOR)
    }

    fn is_news(&mut self, id: &TraceId) -> bool {
        if self.is_old() || self.recent.len() >= RECENT_MAX {
            self.recent.clear();
            self.since = Some(Instant::now());
        }
        self.recent.insert(id.clone())
    }

    fn keep_stateless(&mut self, id: TraceId, trace: Trace, bytes: usize) {
        self.stateless_bytes += bytes;
        self.stateless.push_back((id, Arc::new(trace), bytes));
        while self.stateless_bytes > STATELESS_BYTES_MAX {
            let Some((id, _, bytes)) = self.stateless.pop_front() else { return };
            self.recent.remove(&id);
            self.stateless_bytes -= bytes;
        }
    }
}

/// Traces are put, not appended: what is appended is read as a turn and kept hot. One that is larger than a document
/// may be is left out.
fn ops(batch: &[(TraceId, Arc<Trace>)], ttl_seconds: u64) -> Vec<Op> {
    let put = |(id, trace): &(TraceId, Arc<Trace>)| {
        let terms = PutTerms {
            create_time: Some(trace.at),
            now: trace.at,
            expires_at: (ttl_seconds > 0).then(|| trace.at + ttl_seconds as f64),
            ..PutTerms::default()
        };
        let value = serde_json::to_vec(&**trace).ok().filter(|value| value.len() <= MESSAGE_BYTES_MAX)?;
        Some(Op::Put { at: id.path()?, value: value.into(), terms })
    };
    batch.iter().filter_map(put).collect()
}

#[cfg(test)]
mod tests {
    use novelo_engine::reach::Level;
    use novelo_engine::recipe::Shape;
    use serde_json::value::RawValue;

    use super::*;
    use crate::trace::{CollectionInput, Inputs};

    /// A trace that no thread keeps, of a user's document of so many bytes.
    fn record(recorder: &Recorder, n: usize, bytes: usize) -> (TraceId, bool) {
        let raw = |text: String| RawValue::from_string(text).unwrap();
        let documents = vec![("d".to_owned(), raw(format!("\"{}\"", "x".repeat(bytes))))];
        let (shape, level) = (Shape::Data, Level::Week);
        let collections = vec![CollectionInput { name: "summaries".into(), shape, level, documents }];
        let id = TraceId::of(None, &n);
        let trace = Trace {
            id: id.encode(),
            at: 0.0,
            user: None,
            subject: Some("u".into()),
            thread: None,
            preset: None,
            recipe: raw("{}".into()),
            question: None,
            query: None,
            budget_tokens: None,
            inputs: Inputs { collections, ..Inputs::default() },
            messages: 1,
            tokens: 1,
            unchanged_tokens: None,
            digest: String::new(),
            took_us: 0,
        };
        assert!(recorder.is_news(&id));
        let kept = recorder.record(&id, trace, &Metrics::default());
        (id, kept)
    }

    #[test]
    fn traces_in_memory_are_bounded_by_all_that_they_hold() {
        let recorder = Recorder::default();
        let ids: Vec<TraceId> = (0..40).map(|n| record(&recorder, n, 1024 * 1024).0).collect();
        let held = ids.iter().filter(|id| recorder.find(id).is_some()).count();
        assert!((25..=32).contains(&held), "{held} of 1 MB each");
        assert!(recorder.find(&ids[39]).is_some() && recorder.find(&ids[0]).is_none());
        assert_eq!([0, 39].map(|n| recorder.is_recent(&ids[n])), [false, true]);
        let (large, kept) = record(&recorder, 40, STATELESS_BYTES_MAX);
        assert_eq!((kept, recorder.is_recent(&large)), (false, false));
        assert_eq!(recorder.forget("u", None), held as u64);
        assert_eq!(recorder.forget("u", None), 0);
    }
}
