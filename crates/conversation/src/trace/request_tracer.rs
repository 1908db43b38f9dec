//! The hand that writes the trace of a request.
//!
//! Owns the request traces of requests that are still running. Invariants: a trace is recorded once, when its
//! request ends, however it ends; one whose thread was forgotten meanwhile is not recorded at all.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use novelo_engine::path::DocumentPath;
use serde_json::Value;
use uuid::Uuid;

use super::TraceId;
use super::record::Recorder;
use super::request_trace::{
    CacheMark, EmbeddingMark, ErrorMark, HeuristicMark, MARKS_MAX, MemoryMark, ModuleMark, RequestTrace, capped,
    capped_value,
};
use crate::error::{Code, Error};
use crate::telemetry::now;

/// Writes the trace of one request; clones write the same one. With the last clone the trace ends, if
/// nobody ended it.
#[derive(Debug, Clone)]
pub struct RequestTracer(Arc<Inner>);

struct Inner {
    recorder: Arc<Recorder>,
    running: Arc<Running>,
}

/// A trace in the making. Tracers write it; the recorder reads it while it runs, ends it, and may forget it.
#[derive(Debug)]
pub struct Running {
    /// Its own id.
    pub uuid: Uuid,
    started: Instant,
    marks: Mutex<Marks>,
}

#[derive(Debug, Default)]
struct Marks {
    request_trace: RequestTrace,
    /// How many marks were left out, by their kind.
    left_out: BTreeMap<&'static str, usize>,
    /// The turn that it goes with, once there is one.
    of: Option<DocumentPath>,
    in_memory: bool,
    is_over: bool,
    is_forgotten: bool,
}

/// A trace that is over.
#[derive(Debug)]
pub struct EndedRequest {
    /// The id.
    pub id: TraceId,
    /// How it went.
    pub request_trace: RequestTrace,
    /// The turn that it goes with: once that is forgotten it is not stored.
    pub of: Option<DocumentPath>,
    /// Whether it is not to be stored.
    pub in_memory: bool,
}

impl RequestTracer {
    /// The trace of a request that came in by a surface. It can be read from here on.
    pub fn begin(recorder: &Arc<Recorder>, surface: &str) -> Self {
        let uuid = crate::ids::fresh();
        let id = TraceId { uuid, thread: None }.encode();
        let request_trace = RequestTrace { id, surface: capped(surface), started_at: now(), ..RequestTrace::default() };
        let marks = Mutex::new(Marks { request_trace, ..Marks::default() });
        let running = Arc::new(Running { uuid, started: Instant::now(), marks });
        recorder.begin(&running);
        Self(Arc::new(Inner { recorder: recorder.clone(), running }))
    }

    /// Sets the owner of the request, once the caller is known to be allowed to act for them and before the
    /// id is returned: the id contains the owner.
    pub fn about(&self, user: &str, thread: &str) {
        let thread = (user.to_owned(), thread.to_owned());
        let id = TraceId { uuid: self.0.running.uuid, thread: Some(thread.clone()) };
        self.mark("about", |marks| {
            marks.request_trace.id = id.encode();
            (marks.request_trace.user, marks.request_trace.thread) = (Some(thread.0), Some(thread.1));
        });
    }

    /// Nothing of this conversation is stored, and its trace is not either: it stays in memory for a while.
    pub fn in_memory(&self) {
        self.mark("in_memory", |marks| marks.in_memory = true);
    }

    /// Nothing of this request is recorded.
    pub fn off_record(&self) {
        self.mark("off_record", |marks| marks.is_forgotten = true);
    }

    /// The request read or stored this turn of its thread. Once the turn is forgotten, neither this trace nor
    /// those of its prompts are stored. The first one counts.
    pub fn made_from(&self, turn: &DocumentPath) {
        self.mark("made_from", |marks| {
            marks.of.get_or_insert_with(|| turn.clone());
        });
        let prompts = self.look(|request_trace| request_trace.prompts.clone());
        if !prompts.is_empty() {
            self.0.recorder.made_from(&prompts, turn);
        }
    }

    /// What it can be asked for by.
    pub fn id(&self) -> TraceId {
        self.0.running.id()
    }

    /// The request is answered by the reply to the same request, which has this trace.
    pub fn joined(&self, trace: &str) {
        self.heuristic("joined", trace, "the same request is being answered");
        self.end();
    }

    /// The request is over: what it came to is recorded, once.
    pub fn end(&self) {
        self.0.recorder.end(&self.0.running);
    }

    /// Milliseconds since the request came.
    pub fn since_ms(&self) -> f64 {
        self.0.running.since_ms()
    }

    /// When the request began, in seconds since 1970.
    pub fn started_at(&self) -> f64 {
        self.look(|request_trace| request_trace.started_at)
    }

    /// A cache was asked.
    pub fn cache(&self, cache: &str, is_hit: bool, key: Option<&str>) {
        let mark = CacheMark { cache: capped(cache), is_hit, key: key.map(capped) };
        self.mark(cache, |marks| marks.push("caches", |request_trace| &mut request_trace.caches, mark));
    }

    /// A rule decided something.
    pub fn heuristic(&self, name: &str, value: impl Into<Value>, why: impl Into<String>) {
        let mark = HeuristicMark { name: capped(name), value: capped_value(value.into()), why: capped(why) };
        self.mark(name, |marks| marks.push("heuristics", |request_trace| &mut request_trace.heuristics, mark));
    }

    /// A text was put into the prompt.
    pub fn module(&self, mark: ModuleMark) {
        let ModuleMark { name, status, why, .. } = mark;
        let mark = ModuleMark { name: capped(name), status: capped(status), why: capped(why), ..mark };
        self.mark("module", |marks| marks.push("modules", |request_trace| &mut request_trace.modules, mark));
    }

    /// Embeddings were searched.
    pub fn embedding(&self, mark: EmbeddingMark) {
        let mark = EmbeddingMark { kind: capped(mark.kind), against: capped(mark.against), ..mark };
        self.mark("embedding", |marks| marks.push("embeddings", |request_trace| &mut request_trace.embeddings, mark));
    }

    /// The last one counts.
    pub fn memory(&self, mark: MemoryMark) {
        let mark = MemoryMark { why: capped(mark.why), id: mark.id.map(capped), ..mark };
        self.mark("memory", |marks| marks.request_trace.memory = Some(mark));
    }

    /// The prompt of this trace was made for it.
    pub fn prompt(&self, trace: &str) {
        let trace = capped(trace);
        self.mark("prompt", |marks| marks.push("prompts", |request_trace| &mut request_trace.prompts, trace));
    }

    /// An empty name is that of a model whose server has not said it yet.
    pub fn model(&self, name: &str) {
        let name = Some(capped(name)).filter(|name| !name.is_empty());
        self.mark("model", |marks| marks.request_trace.model = name);
    }

    /// The first one counts.
    pub(crate) fn prompt_ready(&self) {
        let since = self.since_ms();
        self.mark("prompt_ready", |marks| {
            marks.request_trace.latency.prompt_ready_ms.get_or_insert(since);
        });
    }

    /// The first one counts.
    pub fn first_token(&self) {
        let since = self.since_ms();
        self.mark("first_token", |marks| {
            marks.request_trace.latency.first_token_ms.get_or_insert(since);
        });
    }

    /// Something went wrong.
    pub fn error(&self, stage: &str, message: impl Into<String>) {
        let mark = ErrorMark { stage: capped(stage), message: capped(message), at_ms: self.since_ms() };
        self.mark(stage, |marks| marks.push("errors", |request_trace| &mut request_trace.errors, mark));
    }

    /// What the request is refused with, by the stage at which such a thing happens.
    pub fn refused(&self, error: &Error) {
        self.error(stage(error.code), error.message.as_str());
    }

    /// A look at what was marked so far.
    pub fn look<T>(&self, at: impl FnOnce(&RequestTrace) -> T) -> T {
        at(&self.0.running.lock().request_trace)
    }

    fn mark(&self, what: &str, write: impl FnOnce(&mut Marks)) {
        let mut marks = self.0.running.lock();
        match marks.is_over {
            false => write(&mut marks),
            true => tracing::debug!(
                what,
                request_trace = marks.request_trace.id,
                "a mark came after the end of its request"
            ),
        }
    }
}

fn stage(code: Code) -> &'static str {
    match code {
        Code::Unauthorized | Code::Forbidden => "auth",
        Code::RateLimited => "rate_limit",
        Code::NoData | Code::DataFailed => "data",
        Code::NoModel | Code::ModelFailed => "model",
        Code::ModelRefused | Code::ModelBusy | Code::UpstreamAuth => "model",
        Code::Conflict | Code::Stale | Code::Busy | Code::Unavailable | Code::DiskFull | Code::ReadOnly => "store",
        Code::Internal => "internal",
        Code::MalformedJson | Code::InvalidField | Code::OverBudget | Code::TooLarge => "validation",
        Code::NotFound | Code::MethodNotAllowed | Code::Timeout | Code::Contradiction => "validation",
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if self.running.is_cut_short() {
            self.recorder.end(&self.running);
        }
    }
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inner").field("running", &self.running).finish_non_exhaustive()
    }
}

impl Running {
    /// The trace so far, if this is its id.
    pub fn read(&self, id: &TraceId) -> Option<RequestTrace> {
        let marks = self.lock();
        (marks.id(self.uuid) == *id).then(|| marks.request_trace.clone())
    }

    /// Ends it; none where it was ended before, or was forgotten.
    pub fn end(&self) -> Option<EndedRequest> {
        let total_ms = self.since_ms();
        let mut marks = self.lock();
        if std::mem::replace(&mut marks.is_over, true) {
            return None;
        }
        marks.tell_left_out(total_ms);
        let Marks { request_trace, of, in_memory, is_forgotten, .. } = &mut *marks;
        (request_trace.finished_at, request_trace.latency.total_ms) = (Some(now()), Some(total_ms));
        let (request_trace, of, in_memory) = (request_trace.clone(), of.take(), *in_memory);
        (!*is_forgotten).then(|| EndedRequest { id: marks.id(self.uuid), request_trace, of, in_memory })
    }

    /// Forgets it, if it is about this thread, or any of this user; whether it is.
    pub fn forget(&self, user: &str, thread: Option<&str>) -> bool {
        let mut marks = self.lock();
        let RequestTrace { user: of, thread: in_thread, .. } = &marks.request_trace;
        let is_about = of.as_deref() == Some(user) && (thread.is_none() || in_thread.as_deref() == thread);
        marks.is_forgotten |= is_about;
        is_about
    }

    /// Whether it is not over, now that nobody is left who could end it; if so, it says so itself.
    fn is_cut_short(&self) -> bool {
        let at_ms = self.since_ms();
        let mut marks = self.lock();
        if !marks.is_over {
            marks.request_trace.errors.push(ErrorMark {
                stage: "request".into(),
                message: "ended early".into(),
                at_ms,
            });
        }
        !marks.is_over
    }

    fn id(&self) -> TraceId {
        self.lock().id(self.uuid)
    }

    fn since_ms(&self) -> f64 {
        (self.started.elapsed().as_secs_f64() * 1e6).round() / 1e3
    }

    fn lock(&self) -> MutexGuard<'_, Marks> {
        self.marks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Marks {
    fn id(&self, uuid: Uuid) -> TraceId {
        TraceId { uuid, thread: self.request_trace.user.clone().zip(self.request_trace.thread.clone()) }
    }

    fn push<T>(&mut self, kind: &'static str, of: impl FnOnce(&mut RequestTrace) -> &mut Vec<T>, mark: T) {
        let list = of(&mut self.request_trace);
        match list.len() < MARKS_MAX {
            true => list.push(mark),
            false => *self.left_out.entry(kind).or_default() += 1,
        }
    }

    fn tell_left_out(&mut self, at_ms: f64) {
        let left_out = std::mem::take(&mut self.left_out);
        self.request_trace.errors.extend(left_out.into_iter().map(|(kind, count)| {
            let message = format!("{count} {kind} were left out; a trace holds {MARKS_MAX}");
            ErrorMark { stage: "trace".into(), message, at_ms }
        }));
    }
}

#[cfg(test)]
#[path = "tracer_tests.rs"]
mod tests;
