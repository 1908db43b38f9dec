//! Traces on their way to the store: of prompts and, from their first mark on, of requests.
//!
//! Owns what was recorded and is not stored yet. A request leaves its trace here and goes on; one task writes what has
//! gathered, so that many traces share one flush. A trace can be read from the moment it is recorded, the course of a
//! request from the moment it begins. Traces of stateless assemblies, and courses of which it is not known whose they are, stay
//! here, the newest of them, and are never stored.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use novelo_engine::limits::MESSAGE_BYTES_MAX;
use novelo_store::{Op, PutTerms, Store};
use rustc_hash::{FxHashMap, FxHashSet};
use tokio::sync::Notify;
use uuid::Uuid;

use crate::telemetry::Metrics;
use crate::trace::{Ended, Entry, Running, TraceId};

const WAITING_MAX: usize = 20_000;
const WRITE_MAX: usize = 2_000;
/// How long the first trace waits for others to share its flush.
const GATHER: Duration = Duration::from_millis(20);
const RECENT_MAX: usize = 100_000;
const RECENT_FOR: Duration = Duration::from_secs(3_600);
const STATELESS_BYTES_MAX: usize = 32 * 1024 * 1024;
/// They have room of their own, so that refused requests of strangers push out no prompt.
const COURSES_BYTES_MAX: usize = 8 * 1024 * 1024;

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
    /// Requests that are not over. A tracer puts its own in and takes it out, however it ends.
    running: FxHashMap<Uuid, Arc<Running>>,
    waiting: VecDeque<(TraceId, Entry)>,
    /// What the writer has taken and not yet stored.
    writing: FxHashMap<TraceId, Entry>,
    stateless: Ring<STATELESS_BYTES_MAX>,
    courses: Ring<COURSES_BYTES_MAX>,
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
    pub fn record(&self, id: &TraceId, entry: impl Into<Entry>, metrics: &Metrics) -> bool {
        let in_memory = id.thread.is_none();
        let is_kept = self.lock().keep(id, entry.into(), in_memory);
        self.took_in(is_kept, in_memory, metrics);
        is_kept
    }

    /// A request has begun: its course can be read.
    pub fn begin(&self, running: &Arc<Running>) {
        self.lock().running.insert(running.uuid, running.clone());
    }

    /// A request is over: its course is recorded as a trace is, unless that was done, or it was forgotten. A forget comes
    /// before all of this or after it.
    pub fn end(&self, running: &Running, metrics: &Metrics) {
        let mut state = self.lock();
        state.running.remove(&running.uuid);
        let Some(Ended { id, course, in_memory }) = running.end() else { return };
        let in_memory = in_memory || id.thread.is_none();
        let is_kept = state.keep(&id, course.into(), in_memory);
        drop(state);
        self.took_in(is_kept, in_memory, metrics);
    }

    fn took_in(&self, is_kept: bool, in_memory: bool, metrics: &Metrics) {
        if !is_kept {
            metrics.traces_lost.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        } else if !in_memory {
            self.wake.notify_one();
        }
    }

    /// A trace that is not in the store, or not yet.
    pub fn find(&self, id: &TraceId) -> Option<Entry> {
        let state = self.lock();
        let running = state.running.get(&id.uuid).and_then(|running| running.read(id)).map(Entry::from);
        let waiting = || state.waiting.iter().find(|(waiting, _)| waiting == id).map(|(_, entry)| entry);
        let kept = || state.stateless.find(id).or_else(|| state.courses.find(id));
        running.or_else(|| waiting().or_else(|| state.writing.get(id)).or_else(kept).cloned())
    }

    /// Keeps the writer from storing anything, once what it has in hand is stored.
    pub async fn pause(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.pen.lock().await
    }

    /// Forgets what is on its way to documents that are being forgotten, and what was to become of requests that still run.
    pub fn forget(&self, user: &str, thread: Option<&str>) -> u64 {
        let mut state = self.lock();
        let before = state.count();
        let other = |id: &TraceId| {
            let of = |(u, t): &(String, String)| u == user && thread.is_none_or(|thread| t == thread);
            !id.thread.as_ref().is_some_and(of)
        };
        state.running.retain(|_, running| !running.forget(user, thread));
        state.waiting.retain(|(id, _)| other(id));
        state.recent.retain(other);
        state.stateless.retain(|entry| !entry.is_about(user, thread));
        state.courses.retain(|entry| !entry.is_about(user, thread));
        (before - state.count()) as u64
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

    fn take(&self) -> (Vec<(TraceId, Entry)>, bool) {
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

    fn count(&self) -> usize {
        self.running.len() + self.waiting.len() + self.stateless.kept.len() + self.courses.kept.len()
    }

    /// Takes a trace in, to be stored or not; whether there is room for it.
    fn keep(&mut self, id: &TraceId, entry: Entry, in_memory: bool) -> bool {
        let bytes = entry.bytes();
        let is_kept = match (in_memory, &entry) {
            (true, Entry::Prompt(_)) => {
                let State { stateless, recent, .. } = self;
                stateless.push(id.clone(), entry, bytes, |gone| {
                    recent.remove(gone);
                })
            }
            (true, Entry::Course(_)) => self.courses.push(id.clone(), entry, bytes, |_| ()),
            (false, _) if bytes <= MESSAGE_BYTES_MAX && self.waiting.len() < WAITING_MAX => {
                self.waiting.push_back((id.clone(), entry));
                true
            }
            (false, _) => false,
        };
        if !is_kept {
            self.recent.remove(id);
        }
        is_kept
    }
}

/// The newest of what is never stored, within so many bytes.
#[derive(Debug, Default)]
struct Ring<const BYTES_MAX: usize> {
    kept: VecDeque<(TraceId, Entry, usize)>,
    bytes: usize,
}

impl<const BYTES_MAX: usize> Ring<BYTES_MAX> {
    /// Whether there is room for it; the oldest make room, and are named.
    fn push(&mut self, id: TraceId, entry: Entry, bytes: usize, mut gone: impl FnMut(&TraceId)) -> bool {
        if bytes > BYTES_MAX {
            return false;
        }
        self.bytes += bytes;
        self.kept.push_back((id, entry, bytes));
        while self.bytes > BYTES_MAX {
            let Some((id, _, bytes)) = self.kept.pop_front() else { break };
            gone(&id);
            self.bytes -= bytes;
        }
        true
    }

    fn find(&self, id: &TraceId) -> Option<&Entry> {
        self.kept.iter().find(|(kept, ..)| kept == id).map(|(_, entry, _)| entry)
    }

    fn retain(&mut self, stays: impl Fn(&Entry) -> bool) {
        self.kept.retain(|(_, entry, _)| stays(entry));
        self.bytes = self.kept.iter().map(|(.., bytes)| bytes).sum();
    }
}

/// Traces are put, not appended: what is appended is read as a turn and kept hot. One that is larger than a document
/// may be is left out.
fn ops(batch: &[(TraceId, Entry)], ttl_seconds: u64) -> Vec<Op> {
    let put = |(id, entry): &(TraceId, Entry)| {
        let at = entry.at();
        let terms = PutTerms {
            create_time: Some(at),
            now: at,
            expires_at: (ttl_seconds > 0).then_some(at + ttl_seconds as f64),
            ..PutTerms::default()
        };
        let value = entry.to_json().ok().filter(|value| value.len() <= MESSAGE_BYTES_MAX)?;
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
    use crate::trace::{CollectionInput, Inputs, Trace};

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
