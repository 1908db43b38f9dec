//! Passages in Qdrant: what `index = qdrant` adds.
//!
//! Owns the connection to it, and what is known of its collections. It is an index that can be made again
//! from the documents, never where something is kept: a point has no text, and one whose document is gone is
//! no hit. Invariant: it never fails a search. One that failed is left alone for a while, so that a search
//! never waits for it twice.

mod check;
pub(crate) mod erase;
mod near;
pub mod rebuild;
mod work;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use hyper::Method;
use novelo_engine::recall::RecallSource;
use novelo_store::qdrant::{self, Collection, Nonsense, Request, Requests, Shape};
use rustc_hash::FxHashMap;

use crate::outbound::{Outbound, Unanswered};
use crate::settings::{IndexKind, Settings};
use crate::text::member;

pub use check::{expected, findings};
pub use near::{QdrantHits, near};
pub use work::work;

/// How long a server that failed is left alone.
const REST: Duration = Duration::from_secs(5);
/// How long a write may take, which nobody waits for.
const WRITE_DEADLINE: Duration = Duration::from_secs(30);

/// The connection. Any request searches, one task writes.
#[derive(Debug)]
pub struct QdrantIndex {
    server: Outbound,
    requests: Requests,
    /// How long a search, or a forget, waits for it.
    deadline: Duration,
    /// Until when it is left alone, and what it said.
    resting: Mutex<Option<(Instant, String)>>,
    /// What the collections are like that were looked at, and whether they have what filters need.
    shapes: Mutex<FxHashMap<Collection, (Shape, bool)>>,
    /// Whose points are being put, so that a forget knows that some may come after it.
    busy: Mutex<Option<String>>,
    /// What was forgotten and may still have points.
    pub left: erase::Left,
    rebuild: tokio::sync::Mutex<Option<rebuild::RebuildPlan>>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum QdrantFault {
    #[error("there is no such collection")]
    Missing,
    /// This request is refused, and would be again; others may do.
    #[error("{said}")]
    Refused { status: u16, said: String },
    /// The collection of that name is another program's. The server is well.
    #[error("{0}")]
    Foreign(String),
    /// It does not work at the moment.
    #[error("{0}")]
    Down(String),
}

impl From<Unanswered> for QdrantFault {
    fn from(error: Unanswered) -> Self {
        match error {
            Unanswered::Refused(_, 404, _) => Self::Missing,
            Unanswered::Refused(_, status @ (400 | 409 | 413 | 422), _) => {
                Self::Refused { status, said: error.to_string() }
            }
            error => Self::Down(error.to_string()),
        }
    }
}

type QdrantAnswer<T> = std::result::Result<T, QdrantFault>;

impl QdrantIndex {
    /// `None` where passages are searched in this process. An address that is none is an error at the start.
    pub fn open(settings: &Settings) -> anyhow::Result<Option<Box<Self>>> {
        if settings.index != IndexKind::Qdrant {
            return Ok(None);
        }
        let url = &*settings.qdrant.url;
        let server = Outbound::with_header(url, "api-key", &settings.qdrant.key);
        Ok(Some(Box::new(Self {
            server: server.map_err(|e| anyhow::anyhow!("qdrant.url {url:?}: {e}"))?,
            requests: Requests::new(&settings.qdrant.prefix),
            deadline: settings.qdrant.timeout,
            resting: Mutex::default(),
            shapes: Mutex::default(),
            busy: Mutex::default(),
            left: erase::Left::default(),
            rebuild: tokio::sync::Mutex::default(),
        })))
    }

    /// What health says of it.
    pub fn state(&self) -> String {
        self.rests().map_or_else(|| "ok".to_owned(), |said| format!("resting: {said}"))
    }

    /// What all users are gone through for once: where their points are, and how these are made.
    pub fn mark(&self, model: Option<&str>) -> serde_json::Value {
        let collections = self.requests.name(Collection::Conversation);
        let terms = novelo_recall::sparse::TERMS_VERSION;
        serde_json::json!({"qdrant": self.server.address(), "collection": collections, "terms": terms, "model": model})
    }

    /// What a collection is like; `None` where there is none.
    async fn shape(&self, of: Collection) -> QdrantAnswer<Option<Shape>> {
        if let Some((shape, _)) = lock(&self.shapes).get(&of) {
            return Ok(Some(*shape));
        }
        match self.ask(of, self.requests.look(of), self.deadline, qdrant::shape).await {
            Ok(shape) => {
                lock(&self.shapes).insert(of, (shape, false));
                Ok(Some(shape))
            }
            Err(QdrantFault::Missing) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// The same, made where there is none, for embeddings of so many dimensions; its fields too.
    async fn ensure(&self, of: Collection, dimensions: Option<usize>) -> QdrantAnswer<Shape> {
        if let Some((shape, true)) = lock(&self.shapes).get(&of) {
            return Ok(*shape);
        }
        if self.shape(of).await?.is_none() {
            let made = self.ask(of, self.requests.create(of, dimensions), WRITE_DEADLINE, qdrant::done).await;
            match made {
                // Another node was first.
                Ok(()) | Err(QdrantFault::Refused { status: 409, .. }) => {}
                Err(fault) => return Err(fault),
            }
        }
        for field in self.requests.fields(of) {
            self.ask(of, field, WRITE_DEADLINE, qdrant::done).await?;
        }
        let shape = self.shape(of).await?.ok_or(QdrantFault::Missing)?;
        lock(&self.shapes).insert(of, (shape, true));
        Ok(shape)
    }

    /// Sends a request and reads its answer. A server that fails, or that talks nonsense, rests from then on.
    async fn ask<T>(
        &self,
        of: Collection,
        request: Request,
        deadline: Duration,
        read: impl FnOnce(&[u8]) -> Result<T, Nonsense>,
    ) -> QdrantAnswer<T> {
        if let Some(said) = self.rests() {
            return Err(QdrantFault::Down(said));
        }
        let answered = match self.send(request, deadline).await {
            Ok(bytes) => read(&bytes).map_err(|nonsense| {
                let said = format!("{}: {nonsense}", self.requests.name(of));
                match nonsense {
                    Nonsense::Foreign(_) => QdrantFault::Foreign(said),
                    Nonsense::Unreadable(_) => QdrantFault::Down(said),
                }
            }),
            Err(error) => Err(error.into()),
        };
        match &answered {
            Err(QdrantFault::Down(said)) => self.rest(said),
            Err(QdrantFault::Missing | QdrantFault::Refused { .. } | QdrantFault::Foreign(_)) => {
                lock(&self.shapes).remove(&of);
            }
            Ok(_) => {}
        }
        answered
    }

    async fn send(&self, request: Request, deadline: Duration) -> Result<Bytes, Unanswered> {
        let method = match request.method {
            "GET" => Method::GET,
            "PUT" => Method::PUT,
            "DELETE" => Method::DELETE,
            _ => Method::POST,
        };
        self.server.call(method, &request.path, request.body.unwrap_or_default(), deadline).await
    }

    /// Leaves it alone for a while.
    fn rest(&self, said: &str) {
        tracing::warn!(said, "Qdrant failed");
        *lock(&self.resting) = Some((Instant::now() + REST, said.to_owned()));
        // What it is like may have changed when it comes back.
        lock(&self.shapes).clear();
    }

    /// What it said when it failed, if that was a moment ago.
    fn rests(&self) -> Option<String> {
        lock(&self.resting).as_ref().filter(|(until, _)| Instant::now() < *until).map(|(_, said)| said.clone())
    }

    fn is_busy_with(&self, user: &str) -> bool {
        lock(&self.busy).as_deref() == Some(user)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The kind that the points of a source have in Qdrant.
fn point_kind(source: RecallSource) -> qdrant::Kind {
    match source {
        RecallSource::Memories => qdrant::Kind::Memory,
        RecallSource::Turns => qdrant::Kind::Turn,
        RecallSource::Documents => qdrant::Kind::Passage,
    }
}

/// The Qdrant collections that hold the points of a source.
fn qdrant_collections(source: RecallSource) -> &'static [Collection] {
    match source {
        RecallSource::Memories | RecallSource::Turns => &[Collection::Conversation],
        RecallSource::Documents => &[Collection::Documents, Collection::Repositories],
    }
}

/// The Qdrant collection of one passage: a passage from a file belongs to a repository.
fn qdrant_collection_of(source: RecallSource, document: &novelo_engine::Turn) -> Collection {
    match source {
        RecallSource::Memories | RecallSource::Turns => Collection::Conversation,
        RecallSource::Documents if member(&document.message, "file").is_some() => Collection::Repositories,
        RecallSource::Documents => Collection::Documents,
    }
}
