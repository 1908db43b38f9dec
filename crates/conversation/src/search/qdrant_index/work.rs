//! Keeping points in step with the documents, in the background.
//!
//! Owns what is put and what is removed. An index that is new here is compared with the points that are
//! there; from then on it says itself what it lacks. Invariant: what was put is looked at once more in the
//! store, so that a point of something that was forgotten meanwhile goes again, on whichever node that
//! happened.

use novelo_engine::Turn;
use novelo_engine::path::CollectionPath;
use novelo_engine::recall::RecallSource;
use novelo_recall::embed::quantise;
use novelo_recall::sparse;
use novelo_store::qdrant::{self, Collection, Point, Scope, Seen, Shape};
use novelo_store::{Error, Op, Range};
use tokio::sync::RwLock;

use super::super::embedder::EmbeddingFailure;
use super::super::find::current;
use super::super::sources::{PassageRef, passage_text};
use super::super::user_index::{Lacking, UserIndex, digest};
use super::super::vectors::{self, Vector};
use super::super::worker::{BATCH_DEADLINE, TEXT_CHARS_MAX};
use super::{QdrantAnswer, QdrantFault, QdrantIndex, WRITE_DEADLINE, lock};
use super::{point_kind, qdrant_collection_of, qdrant_collections};
use crate::error::Result;
use crate::search::Search;
use crate::text::cut;

/// QdrantIndex that are put at once, and passages that are embedded at once.
const BATCH: usize = 64;
const EMBEDDED_AT_ONCE: usize = 16;
/// QdrantIndex that are gone through at once.
const SCROLLED: usize = 1_000;

/// A passage on its way.
struct Taken {
    lacking: Lacking,
    turn: Turn,
    into: Collection,
    vector: Option<Vec<i8>>,
}

/// Puts all that one index lacks, and removes what it no longer holds; `false` when Qdrant or the embedder
/// failed.
pub async fn work(app: &Search, points: &QdrantIndex, user: &str, source: RecallSource) -> Result<bool> {
    while !app.indexes.waiting.is_closed() {
        let part = current(app, user, source).await?;
        if !part.read().await.is_settled() && !settle(app, points, user, source, &part).await? {
            return Ok(false);
        }
        let gone = part.write().await.take_gone();
        if !gone.is_empty() && !remove_gone(app, points, user, source, gone).await? {
            part.read().await.unsettle();
            return Ok(false);
        }
        let (lacking, left) = part.read().await.lacking(BATCH);
        app.indexes.waiting.left(left);
        if lacking.is_empty() {
            break;
        }
        if !put(app, points, user, source, &part, lacking).await? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether something was done; a failure is said once and tried again later.
fn done<T>(answer: QdrantAnswer<T>) -> Option<T> {
    match answer {
        Ok(value) => Some(value),
        Err(fault) => {
            tracing::warn!(%fault, "points were not changed");
            None
        }
    }
}

/// Compares an index with the points that are there: those that fit are not put again, those without a
/// document go.
async fn settle(
    app: &Search,
    points: &QdrantIndex,
    user: &str,
    source: RecallSource,
    part: &RwLock<UserIndex>,
) -> Result<bool> {
    let print = app.indexes.embedder.fingerprint();
    part.read().await.settling();
    for of in qdrant_collections(source) {
        let scope = Scope { user, kind: Some(point_kind(source)), parents: &[] };
        let mut from = None;
        loop {
            let Some((seen, next)) = done(points.scroll(*of, &scope, from.as_deref()).await) else {
                part.read().await.unsettle();
                return Ok(false);
            };
            let unknown = {
                let mut part = part.write().await;
                seen.into_iter().filter(|seen| !fits(&mut part, seen, print)).collect::<Vec<_>>()
            };
            let stale = stale(app, source, *of, unknown).await?;
            if done(points.remove(*of, user, &stale).await).is_none() {
                part.read().await.unsettle();
                return Ok(false);
            }
            match next {
                Some(next) => from = Some(next),
                None => break,
            }
        }
    }
    Ok(true)
}

/// Whether a point is what its passage would be put as, which then lacks nothing.
fn fits(part: &mut UserIndex, seen: &Seen, print: Option<&str>) -> bool {
    let is_of_model = print.is_none() || seen.model.as_deref() == print;
    seen.place.as_ref().is_some_and(|(of, seq, digest)| is_of_model && part.given(of, *seq, *digest))
}

/// The ids of those points whose document is gone, says nothing, or belongs into another collection. A point
/// that says nothing of itself is not one of ours.
pub async fn stale(app: &Search, source: RecallSource, in_: Collection, points: Vec<Seen>) -> Result<Vec<String>> {
    let mut stale = Vec::new();
    for Seen { id, place, .. } in points {
        let Some((of, seq, _)) = place else { continue };
        let stays = document(app, &of, seq).await?.is_some_and(|turn| belongs(source, in_, &turn));
        if !stays {
            stale.push(id);
        }
    }
    Ok(stale)
}

fn belongs(source: RecallSource, in_: Collection, turn: &Turn) -> bool {
    passage_text(source, turn).is_some() && qdrant_collection_of(source, turn) == in_
}

async fn document(app: &Search, of: &CollectionPath, seq: u64) -> Result<Option<Turn>> {
    let turns = app.store.turns(of, Range::Between { first: seq, last: seq }).await?;
    Ok(turns.iter().next().cloned())
}

/// Removes the points of passages that are no longer there, with their vectors.
async fn remove_gone(
    app: &Search,
    points: &QdrantIndex,
    user: &str,
    source: RecallSource,
    gone: Vec<(CollectionPath, u64)>,
) -> Result<bool> {
    let (mut ids, mut ops) = (Vec::new(), Vec::new());
    for (of, seq) in gone {
        let says_something = document(app, &of, seq).await?.is_some_and(|turn| passage_text(source, &turn).is_some());
        if !says_something {
            ids.push(qdrant::id(&of, seq));
            ops.extend(vectors::path(&of, seq).map(|at| Op::Delete { at, if_version: None }));
        }
    }
    if !ops.is_empty() && app.indexes.embedder.fingerprint().is_some() {
        app.store.write(ops).await?;
    }
    for of in qdrant_collections(source) {
        if done(points.remove(*of, user, &ids).await).is_none() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Puts some passages; `false` when that failed.
async fn put(
    app: &Search,
    points: &QdrantIndex,
    user: &str,
    source: RecallSource,
    part: &RwLock<UserIndex>,
    lacking: Vec<Lacking>,
) -> Result<bool> {
    let mut taken = Vec::new();
    for lacking in lacking {
        let turn = document(app, &lacking.of, lacking.seq).await?.filter(|turn| digest(turn) == lacking.digest);
        taken.extend(turn.map(|turn| {
            let into = qdrant_collection_of(source, &turn);
            Taken { lacking, turn, into, vector: None }
        }));
    }
    if let Some(print) = app.indexes.embedder.fingerprint()
        && !embed(app, source, print, &mut taken).await?
    {
        return Ok(false);
    }
    *lock(&points.busy) = Some(user.to_owned());
    let answer = points.put_all(app, user, source, &taken).await;
    let put = match done(answer) {
        Some(()) => remove_forgotten(app, points, user, source, &taken).await,
        None => Ok(false),
    };
    lock(&points.busy).take();
    if put? {
        let mut part = part.write().await;
        for Taken { lacking, .. } in &taken {
            part.given(&lacking.of, lacking.seq, lacking.digest);
        }
        app.indexes.waiting.did(taken.len() as u64);
        return Ok(true);
    }
    Ok(false)
}

/// Removes what was put just now and has no document any more.
async fn remove_forgotten(
    app: &Search,
    points: &QdrantIndex,
    user: &str,
    source: RecallSource,
    taken: &[Taken],
) -> Result<bool> {
    for into in qdrant_collections(source) {
        let mut forgotten = Vec::new();
        for Taken { lacking, .. } in taken.iter().filter(|taken| taken.into == *into) {
            if document(app, &lacking.of, lacking.seq).await?.is_none() {
                forgotten.push(qdrant::id(&lacking.of, lacking.seq));
            }
        }
        if done(points.remove(*into, user, &forgotten).await).is_none() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Gives passages their vectors: those that are stored, and new ones; `false` when the embedder failed. A
/// text that it refuses goes without.
async fn embed(app: &Search, source: RecallSource, print: &str, taken: &mut [Taken]) -> Result<bool> {
    for taken in taken.iter_mut() {
        let stored = vectors::get(&app.store, &taken.lacking.of, taken.lacking.seq).await?;
        let fits = |vector: &Vector| vector.model == print && vector.digest == taken.lacking.digest;
        taken.vector = stored.filter(fits).map(|vector| vector.values);
    }
    let mut missing: Vec<&mut Taken> = taken.iter_mut().filter(|taken| taken.vector.is_none()).collect();
    for some in missing.chunks_mut(EMBEDDED_AT_ONCE) {
        if !embed_some(app, source, print, some).await? {
            return Ok(false);
        }
    }
    Ok(true)
}

async fn embed_some(app: &Search, source: RecallSource, print: &str, some: &mut [&mut Taken]) -> Result<bool> {
    let text = |taken: &&mut Taken| cut(&passage_text(source, &taken.turn).unwrap_or_default(), TEXT_CHARS_MAX);
    match app.indexes.embedder.embed(some.iter().map(text).collect(), BATCH_DEADLINE).await {
        Ok(vectors) => {
            for (taken, vector) in some.iter_mut().zip(vectors) {
                taken.vector = Some(quantise(&vector));
            }
            keep(app, print, some).await
        }
        Err(EmbeddingFailure::Down(_)) => Ok(false),
        Err(EmbeddingFailure::Refused(said)) => match some {
            [_] => {
                tracing::warn!(said, "a passage is not embedded: its text is refused");
                Ok(true)
            }
            some => {
                for one in some.chunks_mut(1) {
                    if !Box::pin(embed_some(app, source, print, one)).await? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
        },
    }
}

/// Stores new vectors beside what they are of, so that none is made twice. Where one of the passages was
/// forgotten meanwhile, none is stored.
async fn keep(app: &Search, print: &str, some: &[&mut Taken]) -> Result<bool> {
    let mut ops = Vec::new();
    for Taken { lacking, turn, vector, .. } in some.iter().map(|taken| &**taken) {
        let (Ok(at), Some(values)) = (lacking.of.document(&turn.id), vector.clone()) else { continue };
        let vector = Vector { model: print.to_owned(), digest: lacking.digest, values };
        ops.push(Op::Expect { at });
        ops.extend(vectors::put(&lacking.of, lacking.seq, &vector));
    }
    match app.store.write(ops).await {
        Ok(_) | Err(Error::NotFound { .. }) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

impl QdrantIndex {
    /// A stretch of points; nothing where there is no collection.
    pub(super) async fn scroll(
        &self,
        of: Collection,
        scope: &Scope<'_>,
        from: Option<&str>,
    ) -> QdrantAnswer<(Vec<Seen>, Option<String>)> {
        let request = self.requests.scroll(of, scope, from, SCROLLED);
        match self.ask(of, request, WRITE_DEADLINE, qdrant::scrolled).await {
            Err(QdrantFault::Missing) => Ok((Vec::new(), None)),
            answer => answer,
        }
    }

    /// Removes points of a user by their ids, where there are any.
    pub(super) async fn remove(&self, of: Collection, user: &str, ids: &[String]) -> QdrantAnswer<()> {
        if ids.is_empty() {
            return Ok(());
        }
        match self.ask(of, self.requests.remove(of, user, ids), WRITE_DEADLINE, qdrant::done).await {
            Err(QdrantFault::Missing) => Ok(()),
            answer => answer,
        }
    }

    async fn put_all(&self, app: &Search, user: &str, source: RecallSource, taken: &[Taken]) -> QdrantAnswer<()> {
        for into in qdrant_collections(source) {
            let taken: Vec<&Taken> = taken.iter().filter(|taken| taken.into == *into).collect();
            let size = taken.iter().find_map(|taken| Some(taken.vector.as_ref()?.len()));
            if taken.is_empty() {
                continue;
            }
            if size.is_none() && app.indexes.embedder.fingerprint().is_some() && self.shape(*into).await?.is_none() {
                // Nobody knows how long embeddings are going to be.
                continue;
            }
            let shape = self.ensure(*into, size).await?;
            self.put_some(app, user, source, *into, shape, &taken).await?;
        }
        Ok(())
    }

    async fn put_some(
        &self,
        app: &Search,
        user: &str,
        source: RecallSource,
        into: Collection,
        shape: Shape,
        taken: &[&Taken],
    ) -> QdrantAnswer<()> {
        let print = app.indexes.embedder.fingerprint();
        let terms: Vec<Vec<(u32, f32)>> =
            taken.iter().map(|t| sparse::of_passage(&passage_text(source, &t.turn).unwrap_or_default())).collect();
        let points = taken.iter().zip(&terms).map(|(Taken { lacking, turn, vector, .. }, terms)| Point {
            user,
            kind: point_kind(source),
            of: &lacking.of,
            seq: lacking.seq,
            parent: PassageRef { of: &lacking.of, seq: lacking.seq }.parent(),
            digest: lacking.digest,
            create_time: turn.create_time,
            dense: print.zip(vector.as_deref()).filter(|(_, values)| shape.dimensions == Some(values.len())),
            sparse: terms,
        });
        let request = self.requests.upsert(into, &points.collect::<Vec<_>>());
        self.ask(into, request, WRITE_DEADLINE, qdrant::done).await
    }
}
