//! Traces on their way to the store: of prompts and, from their first mark on, of requests.
//!
//! Owns what was recorded and is not stored yet. A request leaves its trace here and goes on; one task writes
//! what has gathered, so that many traces share one flush. A trace can be read here from the moment it is
//! recorded, the trace of a request from the moment it begins. Traces of stateless assemblies, and request
//! traces whose user is not known, stay here, the newest of them, and are never stored. Invariant: a trace is
//! not stored after the turn was forgotten that it was made from, on whichever node that was.

use std::collections::VecDeque;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use novelo_engine::limits::MESSAGE_BYTES_MAX;
use novelo_engine::path::DocumentPath;
use novelo_store::{Error, Op, PutTerms, Store};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use tokio::sync::Notify;
use uuid::Uuid;

use crate::telemetry::Metrics;
use crate::trace::{EndedRequest, PromptTrace, Running, TraceEntry, TraceId};

const WAITING_MAX: usize = 20_000;
const WRITE_MAX: usize = 2_000;
/// Writes at once, each of one user, and traces in one of them.
const WRITES_AT_ONCE: usize = 256;
const TRACES_AT_ONCE: usize = 64;
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
    state: Mutex<RecorderState>,
    wake: Notify,
    /// Held by the writer from taking traces to having stored them, and by a forget, so that none slips past
    /// it.
    pen: tokio::sync::Mutex<()>,
    metrics: Arc<Metrics>,
}

#[derive(Debug, Default)]
struct RecorderState {
    /// Requests that are not over. A tracer puts its own in and takes it out, however it ends.
    running: FxHashMap<Uuid, Arc<Running>>,
    waiting: VecDeque<WaitingTrace>,
    /// What the writer has taken and not yet stored.
    writing: FxHashMap<TraceId, TraceEntry>,
    stateless: Ring<STATELESS_BYTES_MAX>,
    request_traces: Ring<COURSES_BYTES_MAX>,
    /// What was recorded lately: a prompt made again is the same trace. Begun anew when full or old.
    recent: RecentIds,
    since: Option<Instant>,
    closed: bool,
}

/// Ids in little memory: each with the fingerprint of its thread, and that of its user beside it.
#[derive(Debug, Default)]
struct RecentIds(FxHashMap<(Uuid, u64), u64>);

impl RecentIds {
    fn key(id: &TraceId) -> (Uuid, u64) {
        (id.uuid, FxBuildHasher.hash_one(&id.thread))
    }

    /// Returns whether it is new.
    fn insert(&mut self, id: &TraceId) -> bool {
        let user = FxBuildHasher.hash_one(id.thread.as_ref().map(|(user, _)| user.as_str()));
        self.0.insert(Self::key(id), user).is_none()
    }

    fn contains(&self, id: &TraceId) -> bool {
        self.0.contains_key(&Self::key(id))
    }

    fn remove(&mut self, id: &TraceId) {
        self.0.remove(&Self::key(id));
    }

    /// Lets go of all ids of a user.
    fn forget(&mut self, user: &str) {
        let user = FxBuildHasher.hash_one(Some(user));
        self.0.retain(|_, of| *of != user);
    }
}

/// What is to be stored.
#[derive(Debug, Clone)]
struct WaitingTrace {
    id: TraceId,
    entry: TraceEntry,
    /// The turn that it was made from, where there was one.
    of: Option<DocumentPath>,
}

impl Recorder {
    /// A recorder that counts lost traces here.
    pub fn new(metrics: Arc<Metrics>) -> Self {
        Self { metrics, ..Self::default() }
    }

    /// Whether this prompt was not recorded lately; asking makes it so.
    pub(crate) fn is_news(&self, id: &TraceId) -> bool {
        self.lock().is_news(id)
    }

    /// Whether this prompt was recorded lately.
    pub(crate) fn is_recent(&self, id: &TraceId) -> bool {
        let state = self.lock();
        !state.is_old() && state.recent.contains(id)
    }

    /// Takes a trace, and what it was made from, and says whether it is kept. One too many or too large is
    /// counted as lost.
    pub fn record(&self, id: &TraceId, trace: PromptTrace, of: Option<DocumentPath>) -> bool {
        let in_memory = id.thread.is_none();
        let is_kept = self.lock().keep(id, trace.into(), of, in_memory);
        self.took_in(is_kept, in_memory);
        is_kept
    }

    /// A request has begun: its trace can be read.
    pub fn begin(&self, running: &Arc<Running>) {
        self.lock().running.insert(running.uuid, running.clone());
    }

    /// A request is over: its trace is recorded as a trace is, unless that was done, or it was forgotten. A
    /// forget comes before all of this or after it.
    pub fn end(&self, running: &Running) {
        let mut state = self.lock();
        state.running.remove(&running.uuid);
        let Some(EndedRequest { id, request_trace, of, in_memory }) = running.end() else { return };
        let in_memory = in_memory || id.thread.is_none();
        let is_kept = state.keep(&id, request_trace.into(), of, in_memory);
        drop(state);
        self.took_in(is_kept, in_memory);
    }

    /// Says what these prompts go with that still wait, where they were made from no turn: they are of a
    /// question that was stored since.
    pub fn made_from(&self, prompts: &[String], of: &DocumentPath) {
        let mut state = self.lock();
        let of_none = state.waiting.iter_mut().filter(|waiting| waiting.of.is_none());
        for waiting in of_none.filter(|waiting| prompts.contains(&waiting.id.encode())) {
            waiting.of = Some(of.clone());
        }
    }

    fn took_in(&self, is_kept: bool, in_memory: bool) {
        if !is_kept {
            self.metrics.traces_lost.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        } else if !in_memory {
            self.wake.notify_one();
        }
    }

    /// A trace that is not in the store, or not yet.
    pub fn find(&self, id: &TraceId) -> Option<TraceEntry> {
        let state = self.lock();
        let running = state.running.get(&id.uuid).and_then(|running| running.read(id)).map(TraceEntry::from);
        let waiting = || state.waiting.iter().find(|waiting| waiting.id == *id).map(|waiting| &waiting.entry);
        let kept = || state.stateless.find(id).or_else(|| state.request_traces.find(id));
        running.or_else(|| waiting().or_else(|| state.writing.get(id)).or_else(kept).cloned())
    }

    /// Whether no request runs, and nothing is on its way to the store.
    pub fn is_idle(&self) -> bool {
        let state = self.lock();
        state.running.is_empty() && state.waiting.is_empty() && state.writing.is_empty()
    }

    /// Keeps the writer from storing anything, once what it has in hand is stored.
    pub async fn pause(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.pen.lock().await
    }

    /// Forgets what is on its way to documents that are being forgotten, and what was to become of requests
    /// that still run.
    pub fn forget(&self, user: &str, thread: Option<&str>) -> u64 {
        let mut state = self.lock();
        let before = state.count();
        let other = |id: &TraceId| {
            let of = |(u, t): &(String, String)| u == user && thread.is_none_or(|thread| t == thread);
            !id.thread.as_ref().is_some_and(of)
        };
        state.running.retain(|_, running| !running.forget(user, thread));
        state.waiting.retain(|waiting| other(&waiting.id));
        state.recent.forget(user);
        state.stateless.retain(|entry| !entry.is_about(user, thread));
        state.request_traces.retain(|entry| !entry.is_about(user, thread));
        (before - state.count()) as u64
    }

    /// Stores traces until `close`. Errors are logged; the traces in hand are then lost, and counted.
    pub async fn run(&self, store: &Store, ttl: Option<Duration>) {
        loop {
            let pen = self.pen.lock().await;
            let (batch, closed) = self.take();
            if !batch.is_empty() {
                let writing = futures_util::stream::iter(by_user(batch)).map(|of_one| write(store, of_one, ttl));
                let ended: Vec<Unstored> = writing.buffer_unordered(WRITES_AT_ONCE).collect().await;
                let mut state = self.lock();
                state.writing.clear();
                for Unstored { lost, forgotten } in ended {
                    self.metrics.traces_lost.fetch_add(lost, std::sync::atomic::Ordering::Relaxed);
                    for id in forgotten {
                        state.recent.remove(&id);
                    }
                }
            } else if closed {
                return;
            } else {
                drop(pen);
                self.wake.notified().await;
                tokio::time::sleep(GATHER).await;
            }
        }
    }

    /// Ends the work; what waits is written.
    pub fn close(&self) {
        self.lock().closed = true;
        self.wake.notify_one();
    }

    fn take(&self) -> (Vec<WaitingTrace>, bool) {
        let mut state = self.lock();
        let count = state.waiting.len().min(WRITE_MAX);
        let batch: Vec<WaitingTrace> = state.waiting.drain(..count).collect();
        state.writing.extend(batch.iter().map(|waiting| (waiting.id.clone(), waiting.entry.clone())));
        (batch, state.closed)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, RecorderState> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl RecorderState {
    /// Whether what was recorded lately is no longer that.
    fn is_old(&self) -> bool {
        self.since.is_none_or(|since| since.elapsed() > RECENT_FOR)
    }

    fn is_news(&mut self, id: &TraceId) -> bool {
        if self.is_old() || self.recent.0.len() >= RECENT_MAX {
            self.recent.0.clear();
            self.since = Some(Instant::now());
        }
        self.recent.insert(id)
    }

    fn count(&self) -> usize {
        self.running.len() + self.waiting.len() + self.stateless.kept.len() + self.request_traces.kept.len()
    }

    /// Takes a trace in, to be stored or not; whether there is room for it.
    fn keep(&mut self, id: &TraceId, entry: TraceEntry, of: Option<DocumentPath>, in_memory: bool) -> bool {
        let bytes = entry.bytes();
        let is_kept = match (in_memory, &entry) {
            (true, TraceEntry::Prompt(_)) => {
                let RecorderState { stateless, recent, .. } = self;
                stateless.push(id.clone(), entry, bytes, |gone| {
                    recent.remove(gone);
                })
            }
            (true, TraceEntry::Request(_)) => self.request_traces.push(id.clone(), entry, bytes, |_| ()),
            (false, _) if bytes <= MESSAGE_BYTES_MAX && self.waiting.len() < WAITING_MAX => {
                self.waiting.push_back(WaitingTrace { id: id.clone(), entry, of });
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
    kept: VecDeque<(TraceId, TraceEntry, usize)>,
    bytes: usize,
}

impl<const BYTES_MAX: usize> Ring<BYTES_MAX> {
    /// Whether there is room for it; the oldest make room, and are named.
    fn push(&mut self, id: TraceId, entry: TraceEntry, bytes: usize, mut gone: impl FnMut(&TraceId)) -> bool {
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

    fn find(&self, id: &TraceId) -> Option<&TraceEntry> {
        self.kept.iter().find(|(kept, ..)| kept == id).map(|(_, entry, _)| entry)
    }

    fn retain(&mut self, stays: impl Fn(&TraceEntry) -> bool) {
        self.kept.retain(|(_, entry, _)| stays(entry));
        self.bytes = self.kept.iter().map(|(.., bytes)| bytes).sum();
    }
}

/// What of a write is not in the store.
#[derive(Debug, Default)]
struct Unstored {
    /// Traces that should be.
    lost: u64,
    /// Those whose turn is gone.
    forgotten: Vec<TraceId>,
}

/// Traces of one user each, as many as go into one write.
fn by_user(batch: Vec<WaitingTrace>) -> Vec<Vec<WaitingTrace>> {
    let mut users: Vec<Vec<WaitingTrace>> = Vec::new();
    let mut numbers: FxHashMap<Option<String>, usize> = FxHashMap::default();
    for waiting in batch {
        let user = waiting.id.thread.as_ref().map(|(user, _)| user.clone());
        match numbers.get(&user).and_then(|number| users.get_mut(*number)).filter(|of| of.len() < TRACES_AT_ONCE) {
            Some(of_one) => of_one.push(waiting),
            None => {
                numbers.insert(user, users.len());
                users.push(vec![waiting]);
            }
        }
    }
    users
}

/// Stores traces of one user. Where the turn of one is gone all are refused, and each is stored for itself.
async fn write(store: &Store, traces: Vec<WaitingTrace>, ttl: Option<Duration>) -> Unstored {
    let made: Vec<(TraceId, Vec<Op>)> =
        traces.iter().filter_map(|waiting| Some((waiting.id.clone(), ops(waiting, ttl)?))).collect();
    let mut unstored = Unstored { lost: (traces.len() - made.len()) as u64, ..Unstored::default() };
    // Many are of one turn, which is looked for once.
    let mut expected = FxHashSet::default();
    let is_new = |op: &&Op| if let Op::Expect { at } = op { expected.insert(at.clone()) } else { true };
    let all = made.iter().flat_map(|(_, ops)| ops).filter(is_new).cloned().collect();
    match store.write(all).await {
        Ok(_) => {}
        Err(Error::NotFound { .. }) => {
            for (id, ops) in made {
                match store.write(ops).await {
                    Ok(_) => {}
                    Err(Error::NotFound { .. }) => unstored.forgotten.push(id),
                    Err(error) => unstored.lose(1, &error),
                }
            }
        }
        Err(error) => unstored.lose(made.len() as u64, &error),
    }
    unstored
}

impl Unstored {
    fn lose(&mut self, traces: u64, error: &Error) {
        tracing::warn!(%error, traces, "traces were not stored");
        self.lost += traces;
    }
}

/// What stores a trace. It is put, not appended: what is appended is read as a turn and kept hot. None for
/// one that is larger than a document may be.
fn ops(waiting: &WaitingTrace, ttl: Option<Duration>) -> Option<Vec<Op>> {
    let WaitingTrace { id, entry, of } = waiting;
    let at = entry.at();
    let terms = PutTerms {
        create_time: Some(at),
        now: at,
        expires_at: ttl.map(|ttl| at + ttl.as_secs_f64()),
        ..PutTerms::default()
    };
    let value = entry.to_json().ok().filter(|value| value.len() <= MESSAGE_BYTES_MAX)?;
    let put = Op::Put { at: id.path()?, value: value.into(), terms };
    Some(of.clone().map(|at| Op::Expect { at }).into_iter().chain([put]).collect())
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
