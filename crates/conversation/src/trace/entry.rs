//! What the recorder takes: the trace of a prompt, or the trace of a request.
//!
//! Both live below their thread, under one kind of id. A stored request trace has a `surface`; a stored
//! prompt trace has none.

use std::sync::Arc;

use novelo_store::Store;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::record::Recorder;
use super::{Inputs, PromptTrace, RequestTrace, TraceId};
use crate::error::Result;

/// A trace of either kind.
#[derive(Debug, Clone)]
pub enum TraceEntry {
    /// The trace of a prompt.
    Prompt(Arc<PromptTrace>),
    /// The trace of a request.
    Request(Arc<RequestTrace>),
}

impl From<PromptTrace> for TraceEntry {
    fn from(trace: PromptTrace) -> Self {
        Self::Prompt(Arc::new(trace))
    }
}

impl From<RequestTrace> for TraceEntry {
    fn from(request_trace: RequestTrace) -> Self {
        Self::Request(Arc::new(request_trace))
    }
}

impl TraceEntry {
    /// Who may read it, beside an admin.
    pub fn user(&self) -> Option<&str> {
        match self {
            Self::Prompt(trace) => trace.user.as_deref(),
            Self::Request(request_trace) => request_trace.user.as_deref(),
        }
    }

    /// Whether it is about this thread, or any of this user.
    pub(crate) fn is_about(&self, user: &str, thread: Option<&str>) -> bool {
        let (subject, of) = match self {
            Self::Prompt(trace) => (&trace.subject, &trace.thread),
            Self::Request(request_trace) => (&request_trace.user, &request_trace.thread),
        };
        subject.as_deref() == Some(user) && (thread.is_none() || of.as_deref() == thread)
    }

    /// When it came about.
    pub fn at(&self) -> f64 {
        match self {
            Self::Prompt(trace) => trace.at,
            Self::Request(request_trace) => request_trace.started_at,
        }
    }

    /// About how many bytes it takes.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Prompt(trace) => trace.inputs.bytes(),
            Self::Request(request_trace) => request_trace.bytes(),
        }
    }

    pub(crate) fn to_json(&self) -> serde_json::Result<Vec<u8>> {
        match self {
            Self::Prompt(trace) => serde_json::to_vec(&**trace),
            Self::Request(request_trace) => serde_json::to_vec(&**request_trace),
        }
    }

    /// What a document holds; none where it is neither.
    fn from_json(json: &[u8]) -> Option<Self> {
        #[derive(Deserialize)]
        struct Member {
            surface: Option<IgnoredAny>,
        }
        let is_course = serde_json::from_slice::<Member>(json).ok()?.surface.is_some();
        match is_course {
            true => serde_json::from_slice::<RequestTrace>(json).ok().map(Self::from),
            false => serde_json::from_slice::<PromptTrace>(json).ok().map(Self::from),
        }
    }

    /// The same, speaking of the thread that it lies in and of no other: its document may have been written
    /// by its user.
    fn of(self, id: &TraceId) -> Self {
        let (user, thread) = id.thread.clone().unzip();
        match self {
            Self::Prompt(trace) => {
                let trace = Arc::unwrap_or_clone(trace);
                let inputs = Inputs { turns_in: None, ..trace.inputs };
                PromptTrace { user, thread, inputs, ..trace }.into()
            }
            Self::Request(request_trace) => {
                RequestTrace { id: id.encode(), user, thread, ..Arc::unwrap_or_clone(request_trace) }.into()
            }
        }
    }
}

/// What there is under an id: running, on its way to the store, in memory, or stored.
pub async fn find(store: &Store, recorder: &Recorder, id: &TraceId) -> Result<Option<TraceEntry>> {
    if let Some(entry) = recorder.find(id) {
        return Ok(Some(entry));
    }
    let Some(path) = id.path() else { return Ok(None) };
    let document = store.get(&path).await?;
    Ok(document.and_then(|document| TraceEntry::from_json(&document.value)).map(|entry| entry.of(id)))
}
