//! Making all points anew from the documents, one user at a time.
//!
//! Owns how far that is (`novelo/rebuild`): an interrupted rebuild continues with the next step that
//! any client asks for. Invariant: a user is done with when the points that are there are as many as the
//! documents say.

use std::collections::{BTreeMap, VecDeque};

use novelo_engine::path::DocumentPath;
use novelo_engine::recall::RecallSource;
use novelo_store::PutTerms;
use novelo_store::qdrant::{self, Collection};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::super::worker::users;
use super::{QdrantFault, QdrantIndex, WRITE_DEADLINE, expected, lock, work};
use crate::error::{Code, Error, Result};
use crate::search::Search;
use crate::telemetry::now;

/// Who is left, and what was done.
#[derive(Debug)]
pub struct RebuildPlan {
    left: VecDeque<String>,
    users: usize,
    done: Done,
}

/// What is stored of it.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Done {
    /// The last user that is done with, in the order of their names.
    after: Option<String>,
    points: BTreeMap<String, u64>,
    passages: BTreeMap<String, u64>,
}

fn place() -> Result<DocumentPath> {
    DocumentPath::new(&["novelo", "rebuild"]).map_err(|e| Error::new(Code::Internal, e.to_string()))
}

fn failed(fault: &QdrantFault) -> Error {
    Error::new(Code::Unavailable, format!("Qdrant failed: {fault}"))
}

/// Rebuilds one user, or the next of all; `anew` begins with dropping the collections, as does a rebuild that
/// was not begun.
pub async fn step(app: &Search, points: &QdrantIndex, user: Option<&str>, anew: bool) -> Result<Value> {
    if let Some(user) = user {
        points.remove_user(user).await.map_err(|fault| failed(&fault))?;
        let mut done = Done::default();
        rebuild(app, points, user, &mut done).await?;
        return Ok(told(&done, 1, 1, true));
    }
    let mut plan = points.rebuild.lock().await;
    if anew || plan.is_none() {
        *plan = Some(begin(app, points, anew).await?);
    }
    let Some(at_hand) = plan.as_mut() else { return Err(Error::new(Code::Internal, "a rebuild has no plan")) };
    if let Some(user) = at_hand.left.front().cloned() {
        rebuild(app, points, &user, &mut at_hand.done).await?;
        at_hand.left.pop_front();
        at_hand.done.after = Some(user);
        let value = serde_json::to_vec(&at_hand.done).map_err(|e| Error::new(Code::Internal, e.to_string()))?;
        app.store.put(&place()?, value.into(), PutTerms { now: now(), ..PutTerms::default() }).await?;
    }
    let finished = at_hand.left.is_empty();
    let answer = told(&at_hand.done, at_hand.users - at_hand.left.len(), at_hand.users, finished);
    if finished {
        app.store.delete(&place()?, None).await?;
        *plan = None;
    }
    Ok(answer)
}

/// The answer if there is no Qdrant.
pub fn nothing() -> Value {
    told(&Done::default(), 0, 0, true)
}

fn told(done: &Done, count: usize, users: usize, finished: bool) -> Value {
    let rows = done.passages.iter().map(|(name, passages)| {
        json!({"name": name, "points": done.points.get(name).copied().unwrap_or(0), "passages": passages})
    });
    json!({"done": count, "users": users, "finished": finished, "collections": rows.collect::<Vec<_>>()})
}

async fn begin(app: &Search, points: &QdrantIndex, anew: bool) -> Result<RebuildPlan> {
    let kept = app.store.get(&place()?).await?.filter(|_| !anew);
    let done: Option<Done> = kept.and_then(|kept| serde_json::from_slice(&kept.value).ok());
    let is_new = done.is_none();
    let done = done.unwrap_or_default();
    if is_new {
        for of in Collection::ALL {
            points.drop_collection(of).await.map_err(|fault| failed(&fault))?;
        }
        app.indexes.forget_all();
        let value = serde_json::to_vec(&done).map_err(|e| Error::new(Code::Internal, e.to_string()))?;
        app.store.put(&place()?, value.into(), PutTerms { now: now(), ..PutTerms::default() }).await?;
    }
    let mut all: Vec<String> = users(&app.store).await?.into();
    all.sort_unstable();
    all.dedup();
    let count = all.len();
    let left = all.into_iter().filter(|user| done.after.as_ref().is_none_or(|after| user > after)).collect();
    Ok(RebuildPlan { left, users: count, done })
}

/// Puts all points of a user, and counts them.
async fn rebuild(app: &Search, points: &QdrantIndex, user: &str, done: &mut Done) -> Result<()> {
    app.indexes.forget(user);
    for source in RecallSource::ALL {
        if !work(app, points, user, source).await? {
            let said = points.rests().unwrap_or_else(|| format!("the embedder is {}", app.indexes.embedder.state()));
            return Err(Error::new(Code::Unavailable, format!("points were not put: {said}")));
        }
    }
    let there = points.counted(user).await.map_err(|fault| failed(&fault))?;
    for (counts, sum) in [(there, &mut done.points), (expected(app, user).await?, &mut done.passages)] {
        counts.into_iter().for_each(|(of, count)| *sum.entry(of.to_owned()).or_default() += count);
    }
    Ok(())
}

impl QdrantIndex {
    async fn drop_collection(&self, of: Collection) -> super::QdrantAnswer<()> {
        lock(&self.shapes).remove(&of);
        match self.ask(of, self.requests.drop(of), WRITE_DEADLINE, qdrant::dropped).await {
            Ok(_) | Err(QdrantFault::Missing) => Ok(()),
            Err(fault) => Err(fault),
        }
    }
}
