//! Traces on their way to the store.
//!
//! Owns what was recorded and is not stored yet. A request leaves its trace here and goes on; one task writes what has
//! gathered, so that many traces share one flush. A trace can be read from the moment it is recorded. Traces of
//! stateless assemblies stay here, the newest of them, and are never stored.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use novelo_engine::path::CollectionPath;
use novelo_store::{AppendTerms, NewDocument, NewId, Op, Store};
use rustc_hash::FxHashMap;
use tokio::sync::Notify;

use crate::telemetry::Metrics;
use crate::trace::{Trace, TraceId};

const WAITING_MAX: usize = 20_000;
const WRITE_MAX: usize = 2_000;
const STATELESS_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Recorded traces. Requests add, the writer task drains, `close` ends it.
#[derive(Debug, Default)]
pub struct Recorder {
    state: Mutex<State>,
    wake: Notify,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<(TraceId, Arc<Trace>)>,
    /// What the writer has taken and not yet stored.
    writing: FxHashMap<TraceId, Arc<Trace>>,
    stateless: VecDeque<(TraceId, Arc<Trace>, usize)>,
    stateless_bytes: usize,
    closed: bool,
}

impl Recorder {
    /// Takes a trace. One too many is counted as lost.
    pub fn record(&self, id: TraceId, trace: Trace, metrics: &Metrics) {
        let mut state = self.lock();
        if id.thread.is_none() {
            state.keep_stateless(id, trace);
        } else if state.waiting.len() < WAITING_MAX {
            state.waiting.push_back((id, Arc::new(trace)));
            drop(state);
            self.wake.notify_one();
        } else {
            metrics.traces_lost.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
    }

    /// A trace that is not in the store, or not yet.
    pub fn find(&self, id: &TraceId) -> Option<Arc<Trace>> {
        let state = self.lock();
        let waiting = state.waiting.iter().find(|(waiting, _)| waiting == id).map(|(_, trace)| trace);
        let stateless = state.stateless.iter().find(|(kept, ..)| kept == id).map(|(_, trace, _)| trace);
        waiting.or(state.writing.get(id)).or(stateless).cloned()
    }

    /// Forgets what is on its way to documents that are being forgotten.
    pub fn forget(&self, user: &str, thread: Option<&str>) -> u64 {
        let mut state = self.lock();
        let before = state.waiting.len();
        state.waiting.retain(|(id, _)| {
            !id.thread.as_ref().is_some_and(|(u, t)| u == user && thread.is_none_or(|thread| t == thread))
        });
        (before - state.waiting.len()) as u64
    }

    /// Stores traces until `close`. Errors are logged; the traces in hand are then lost, and counted.
    pub async fn run(&self, store: &Store, ttl_seconds: u64, metrics: &Metrics) {
        loop {
            let (batch, closed) = self.take();
            if !batch.is_empty() {
                let lost = batch.len() as u64;
                if let Err(error) = store.write(ops(batch, ttl_seconds)).await {
                    tracing::warn!(%error, traces = lost, "traces were not stored");
                    metrics.traces_lost.fetch_add(lost, std::sync::atomic::Ordering::Relaxed);
                }
                self.lock().writing.clear();
            } else if closed {
                return;
            } else {
                self.wake.notified().await;
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
    fn keep_stateless(&mut self, id: TraceId, trace: Trace) {
        let bytes = 512 + trace.inputs.messages.iter().map(|m| m.get().len()).sum::<usize>();
        self.stateless_bytes += bytes;
        self.stateless.push_back((id, Arc::new(trace), bytes));
        while self.stateless_bytes > STATELESS_BYTES_MAX {
            let Some((.., bytes)) = self.stateless.pop_front() else { return };
            self.stateless_bytes -= bytes;
        }
    }
}

/// One append per thread.
fn ops(batch: Vec<(TraceId, Arc<Trace>)>, ttl_seconds: u64) -> Vec<Op> {
    let mut by_thread: FxHashMap<CollectionPath, Vec<NewDocument>> = FxHashMap::default();
    for (id, trace) in batch {
        let Some(path) = id.path() else { continue };
        let Ok(value) = serde_json::to_vec(&*trace) else { continue };
        by_thread.entry(path.collection()).or_default().push(NewDocument {
            id: NewId::Fresh(path.id().into()),
            create_time: trace.at,
            value: Bytes::from(value),
            expires_at: (ttl_seconds > 0).then(|| trace.at + ttl_seconds as f64),
        });
    }
    let op = |(to, documents)| Op::Append { to, documents, terms: AppendTerms::default() };
    by_thread.into_iter().map(op).collect()
}
