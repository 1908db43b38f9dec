//! Embedding in the background.
//!
//! Owns the list of indexes whose passages lack vectors, and the task that embeds them, a few at a time, so
//! that a question in between waits for a few only. What is on the list is lost with the process; the index
//! that lacks vectors puts itself on it again when it is next used, and after a change of the model all users
//! are gone through once. What another node has embedded is taken from the store.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use novelo_engine::path::{DocumentPath, Prefix};
use novelo_engine::recall::RecallSource;
use novelo_engine::scope::USERS;
use novelo_recall::embed::quantise;
use novelo_store::{Error, Op, PutTerms, Range, Store};
use rustc_hash::FxHashSet;
use tokio::sync::{MutexGuard, Notify, RwLock};

use super::embedder::{EmbeddingFailure, another_size};
use super::find::current;
use super::qdrant_index::{self, QdrantIndex};
use super::sources::{collection_name, passage_text};
use super::user_index::{Lacking, UserIndex};
use super::vectors::{self, Vector};
use crate::error::Result;
use crate::search::Search;
use crate::telemetry::now;
use crate::text::cut;

/// Passages that are embedded at once.
const BATCH: usize = 16;
/// Characters of one passage that are embedded: servers refuse what is longer than their models read.
pub(super) const TEXT_CHARS_MAX: usize = 8_000;
pub(super) const BATCH_DEADLINE: Duration = Duration::from_secs(60);
const AGAIN_AFTER: Duration = Duration::from_secs(10);
const PROGRESS_EVERY: Duration = Duration::from_secs(5);
const WAITING_MAX: usize = 100_000;
/// How often it is looked whether another node left points to erase.
const ERASE_EVERY: Duration = Duration::from_secs(60);

/// Who waits to be embedded. Any request adds, one task takes.
#[derive(Debug, Default)]
pub struct Waiting {
    list: Mutex<List>,
    wake: Notify,
    closed: AtomicBool,
    /// Held by the task from looking whether passages are there to having stored their vectors, and by a
    /// forget, so that none slips past it.
    pen: tokio::sync::Mutex<()>,
    /// Passages that were embedded since the start, and how many of the index at hand wait.
    done: AtomicU64,
    pending: AtomicU64,
}

/// In the order in which they came, each once.
#[derive(Debug, Default)]
struct List {
    order: VecDeque<(String, RecallSource)>,
    there: FxHashSet<(String, RecallSource)>,
}

impl Waiting {
    /// Puts an index on the list, unless it is there or the list is full.
    pub fn add(&self, user: &str, source: RecallSource) {
        let mut list = self.lock();
        let index = (user.to_owned(), source);
        if list.order.len() < WAITING_MAX && list.there.insert(index.clone()) {
            list.order.push_back(index);
            drop(list);
            self.wake.notify_one();
        }
    }

    /// What health says of it.
    pub fn progress(&self) -> serde_json::Value {
        let users = self.lock().order.len();
        let [done, pending] = [&self.done, &self.pending].map(|count| count.load(Ordering::Relaxed));
        serde_json::json!({"done": done, "pending": pending, "indexes_waiting": users})
    }

    /// Keeps the task from storing anything, once what it has in hand is stored.
    pub async fn pause(&self) -> MutexGuard<'_, ()> {
        self.pen.lock().await
    }

    /// Ends the work.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        self.wake.notify_one();
    }

    /// Waits before trying an embedder again that failed; the end comes at once.
    async fn rest(&self) {
        let until = Instant::now() + AGAIN_AFTER;
        while !self.is_closed() && Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Says that there is something to do that is not on the list.
    pub(crate) fn nudge(&self) {
        self.wake.notify_one();
    }

    /// Whether some indexes wait, or one is being embedded.
    pub(crate) fn is_at_work(&self) -> bool {
        !self.lock().order.is_empty() || self.pending.load(Ordering::Relaxed) > 0
    }

    /// How many passages of the index at hand wait.
    pub(super) fn left(&self, passages: usize) {
        self.pending.store(passages as u64, Ordering::Relaxed);
    }

    pub(super) fn did(&self, passages: u64) {
        self.done.fetch_add(passages, Ordering::Relaxed);
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    fn next(&self) -> Option<(String, RecallSource)> {
        let mut list = self.lock();
        let index = list.order.pop_front()?;
        list.there.remove(&index);
        Some(index)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, List> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Embeds what lacks vectors, and keeps points, until `close`. Without an embedder and without points there
/// is nothing to do.
pub async fn run(app: &Search) -> anyhow::Result<()> {
    if app.indexes.embedder.fingerprint().is_none() && app.indexes.points.is_none() {
        return Ok(());
    }
    let waiting = &app.indexes.waiting;
    let mut backlog = Backlog::read(app).await?;
    let mut said = Instant::now();
    while !waiting.is_closed() {
        let Some((user, source)) = waiting.next() else {
            if !backlog.advance(app).await {
                idle(app).await;
            }
            continue;
        };
        match embed(app, &user, source, &mut said).await {
            Ok(true) => {}
            Ok(false) => {
                waiting.add(&user, source);
                waiting.rest().await;
                if let Some(points) = &app.indexes.points {
                    erase(app, points).await;
                }
            }
            Err(error) => tracing::warn!(%error, "passages were not embedded"),
        }
    }
    Ok(())
}

/// Waits for something to do. What was forgotten while Qdrant was down is erased there meanwhile.
async fn idle(app: &Search) {
    let waiting = &app.indexes.waiting;
    let Some(points) = &app.indexes.points else { return waiting.wake.notified().await };
    erase(app, points).await;
    let pause = if points.left.is_known() { AGAIN_AFTER } else { ERASE_EVERY };
    if tokio::time::timeout(pause, waiting.wake.notified()).await.is_err() {
        points.left.suspect();
    }
}

/// Erases in Qdrant what was forgotten, as far as that is not done.
async fn erase(app: &Search, points: &QdrantIndex) {
    if !points.left.is_to_see() {
        return;
    }
    if let Err(error) = qdrant_index::erase::again(app, points).await {
        tracing::warn!(%error, "points of what was forgotten are not erased yet");
    }
}

/// Embeds all that one index lacks; `false` when the embedder failed.
async fn embed(app: &Search, user: &str, source: RecallSource, said: &mut Instant) -> Result<bool> {
    if let Some(points) = &app.indexes.points {
        return qdrant_index::work(app, points, user, source).await;
    }
    while !app.indexes.waiting.is_closed() {
        let part = current(app, user, source).await?;
        let orphans = part.write().await.take_orphans();
        if !orphans.is_empty() {
            app.store.write(orphans.into_iter().map(|at| Op::Delete { at, if_version: None }).collect()).await?;
        }
        let (lacking, left) = part.read().await.lacking(BATCH);
        app.indexes.waiting.pending.store(left as u64, Ordering::Relaxed);
        if lacking.is_empty() {
            break;
        }
        let lacking = unembedded(app, &part, lacking).await?;
        if !embed_batch(app, user, source, lacking).await? {
            return Ok(false);
        }
        if said.elapsed() > PROGRESS_EVERY {
            tracing::info!(user, source = collection_name(source), left, "embedding passages");
            *said = Instant::now();
        }
    }
    Ok(true)
}

/// Gives passages the vectors that are stored since, by another node, and tells which have none there either.
async fn unembedded(app: &Search, part: &RwLock<UserIndex>, lacking: Vec<Lacking>) -> Result<Vec<Lacking>> {
    let stored = join_all(lacking.iter().map(|Lacking { of, seq, .. }| vectors::get(&app.store, of, *seq))).await;
    let mut part = part.write().await;
    let mut left = Vec::new();
    for (lacking, stored) in lacking.into_iter().zip(stored) {
        let stored = stored?.filter(|vector| app.indexes.embedder.fingerprint() == Some(&*vector.model));
        if !stored.is_some_and(|vector| part.set_vector(&lacking.of, lacking.seq, &vector)) {
            left.push(lacking);
        }
    }
    Ok(left)
}

/// Embeds some passages; `false` when the embedder failed. Texts that it refuses are found one by one, and
/// left alone.
async fn embed_batch(app: &Search, user: &str, source: RecallSource, lacking: Vec<Lacking>) -> Result<bool> {
    let (mut texts, mut documents) = (Vec::new(), Vec::new());
    for Lacking { of, seq, .. } in &lacking {
        let turns = app.store.turns(of, Range::Between { first: *seq, last: *seq }).await?;
        let turn = turns.iter().next();
        let text = turn.and_then(|turn| passage_text(source, turn)).unwrap_or_default();
        texts.push(cut(&text, TEXT_CHARS_MAX));
        documents.push(turn.and_then(|turn| of.document(&turn.id).ok()));
    }
    if lacking.is_empty() {
        return Ok(true);
    }
    match app.indexes.embedder.embed(texts, BATCH_DEADLINE).await {
        Ok(vectors) => {
            let made = lacking.into_iter().zip(documents).zip(vectors);
            let made = made.filter_map(|((lacking, at), vector)| Some(Made { lacking, at: at?, vector }));
            store(app, user, source, made.collect()).await
        }
        Err(EmbeddingFailure::Down(_)) => Ok(false),
        Err(EmbeddingFailure::Refused(said)) if lacking.len() == 1 => {
            tracing::warn!(
                user,
                source = collection_name(source),
                said,
                "a passage is not embedded: its text is refused"
            );
            let part = current(app, user, source).await?;
            let mut part = part.write().await;
            lacking.iter().for_each(|lacking| part.give_up(lacking));
            Ok(true)
        }
        Err(EmbeddingFailure::Refused(_)) => {
            for one in lacking {
                if !Box::pin(embed_batch(app, user, source, vec![one])).await? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
    }
}

/// A vector, and the document that it was made from.
struct Made {
    lacking: Lacking,
    at: DocumentPath,
    vector: Vec<f32>,
}

/// Stores the vectors of those passages that are still what was embedded, and gives them to the index;
/// `false` when they are of another size than those it has.
async fn store(app: &Search, user: &str, source: RecallSource, made: Vec<Made>) -> Result<bool> {
    let Some(size) = made.first().map(|made| made.vector.len()) else { return Ok(true) };
    let _pen = app.indexes.waiting.pause().await;
    let part = current(app, user, source).await?;
    let mut part = part.write().await;
    if let Some(here) = part.index.dimensions().filter(|here| *here != size) {
        app.indexes.embedder.rest(another_size(size, here));
        return Ok(false);
    }
    let mut puts = Vec::new();
    for Made { lacking, at, vector } in made {
        let model = app.indexes.embedder.fingerprint().unwrap_or_default().to_owned();
        let vector = Vector { model, digest: lacking.digest, values: quantise(&vector) };
        if part.set_vector(&lacking.of, lacking.seq, &vector) {
            puts.extend(vectors::put(&lacking.of, lacking.seq, &vector).map(|put| [Op::Expect { at }, put]));
        }
    }
    drop(part);
    let count = write(&app.store, puts).await?;
    app.indexes.waiting.done.fetch_add(count, Ordering::Relaxed);
    Ok(true)
}

/// Stores vectors, each only while its document is there; how many that are. Where one is gone all are
/// refused, and each is stored for itself.
async fn write(store: &Store, puts: Vec<[Op; 2]>) -> Result<u64> {
    if puts.is_empty() {
        return Ok(0);
    }
    match store.write(puts.iter().flatten().cloned().collect()).await {
        Err(Error::NotFound { .. }) => {}
        written => return Ok(written.map(|_| puts.len() as u64)?),
    }
    let mut count = 0;
    for put in puts {
        match store.write(put.into()).await {
            Err(Error::NotFound { .. }) => {}
            written => count += u64::from(!written?.is_empty()),
        }
    }
    Ok(count)
}

/// Users to go through after a change of the model, behind those who wait.
struct Backlog {
    left: VecDeque<String>,
    users: usize,
    /// Where it is noted which model all users were gone through with, while it is not.
    mark: Option<DocumentPath>,
    value: String,
}

impl Backlog {
    /// Empty when all users were gone through with this model before.
    async fn read(app: &Search) -> anyhow::Result<Self> {
        let model = app.indexes.embedder.fingerprint();
        let (mark, value) = match &app.indexes.points {
            Some(points) => (DocumentPath::new(&["novelo", "index"])?, points.mark(model)),
            None => (DocumentPath::new(&["novelo", "embedder"])?, serde_json::json!({ "model": model })),
        };
        let value = value.to_string();
        let known = app.store.get(&mark).await?.is_some_and(|before| before.value == value.as_bytes());
        let left = match known {
            true => VecDeque::new(),
            false => users(&app.store).await?,
        };
        if !left.is_empty() {
            tracing::info!(users = left.len(), "the model or the index is new: going through what there is");
        }
        Ok(Self { users: left.len(), left, mark: (!known).then_some(mark), value })
    }

    /// Puts the next user on the list; `false` when all are done with, which is noted once.
    async fn advance(&mut self, app: &Search) -> bool {
        if let Some(user) = self.left.pop_front() {
            RecallSource::ALL.into_iter().for_each(|source| app.indexes.waiting.add(&user, source));
            let done = self.users - self.left.len();
            tracing::info!(done, users = self.users, "going through users for the new model or index");
            return true;
        }
        if let Some(mark) = self.mark.take() {
            let terms = PutTerms { now: now(), ..PutTerms::default() };
            if let Err(error) = app.store.put(&mark, self.value.clone().into(), terms).await {
                tracing::warn!(%error, "all users will be gone through again at the next start");
            }
        }
        false
    }
}

/// Everyone who has documents.
pub(super) async fn users(store: &Store) -> std::result::Result<VecDeque<String>, novelo_store::Error> {
    let mut users: VecDeque<String> = VecDeque::new();
    let mut export = store.export(&Prefix::all()).await?;
    while let Some(exported) = export.next().await {
        if let [root, user, ..] = exported?.path.segments()
            && &**root == USERS
            && users.back().is_none_or(|last| **last != **user)
        {
            users.push_back(user.to_string());
        }
    }
    Ok(users)
}
