//! Messages that a model refused.
//!
//! They stay stored as they came and are left out of later prompts. Owns the marks: one document of a thread,
//! `…/memory/refused`, which names the turns by their seqs and says why. The marks go when the thread is
//! forgotten.

use novelo_engine::loaded::{RefusedTurn, refused_path};
use novelo_engine::path::{DocumentPath, PathError};
use novelo_store::{Error as StoreError, Op, PutTerms, Store};
use serde::{Deserialize, Serialize};

use crate::error::{Code, Error, Result};
use crate::telemetry::now;

/// Marks of one thread; the oldest go first.
const TURNS_MAX: usize = 1_000;
/// Writes by others that are waited for.
const TRIES_MAX: usize = 20;

/// The marks of a thread, by seq.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Refusals {
    /// The marked turns.
    pub turns: Vec<RefusedTurn>,
}

impl Refusals {
    /// The marks of a thread. Callers may write documents: what cannot be read is no mark.
    pub async fn load(store: &Store, user: &str, thread: &str) -> Result<Self> {
        Ok(read(store, user, thread).await?.0)
    }

    /// Whether the turn of this seq is marked.
    pub fn holds(&self, seq: u64) -> bool {
        self.turns.binary_search_by_key(&seq, |turn| turn.seq).is_ok()
    }

    /// Marks turns as refused, unless the newest of them is gone.
    pub async fn add(
        store: &Store,
        user: &str,
        thread: &str,
        (seqs, newest): (&[u64], DocumentPath),
        why: &str,
    ) -> Result<()> {
        let mark = |seq: &u64| RefusedTurn { seq: *seq, why: why.to_owned() };
        let edit = |marks: &mut Vec<RefusedTurn>| {
            marks.retain(|turn| !seqs.contains(&turn.seq));
            marks.extend(seqs.iter().map(mark));
        };
        change(store, user, thread, Some(newest), edit).await
    }

    /// Takes marks away, since the messages are asked again.
    pub async fn lift(store: &Store, user: &str, thread: &str, seqs: &[u64]) -> Result<()> {
        change(store, user, thread, None, |marks| marks.retain(|turn| !seqs.contains(&turn.seq))).await
    }

    /// Gives a fork the marks of the turns that it has.
    pub async fn fork(store: &Store, user: &str, thread: &str, at_seq: u64, to: &str) -> Result<()> {
        let mut marks = Self::load(store, user, thread).await?;
        marks.turns.retain(|turn| turn.seq <= at_seq);
        if marks.turns.is_empty() {
            return Ok(());
        }
        let at = refused_path(user, to).map_err(bad_id)?;
        store.put(&at, marks.write()?, PutTerms { now: now(), ..PutTerms::default() }).await?;
        Ok(())
    }

    fn write(&self) -> Result<bytes::Bytes> {
        let unwritten = |e: serde_json::Error| Error::new(Code::Internal, e.to_string());
        Ok(serde_json::to_vec(self).map_err(unwritten)?.into())
    }
}

async fn read(store: &Store, user: &str, thread: &str) -> Result<(Refusals, u64)> {
    let at = refused_path(user, thread).map_err(bad_id)?;
    let Some(document) = store.get(&at).await? else { return Ok((Refusals::default(), 0)) };
    let mut marks: Refusals = serde_json::from_slice(&document.value).unwrap_or_default();
    marks.turns.sort_by_key(|turn| turn.seq);
    Ok((marks, document.version))
}

/// Reads the marks, changes them, and writes them unless another request did meanwhile; then it begins anew.
async fn change(
    store: &Store,
    user: &str,
    thread: &str,
    expects: Option<DocumentPath>,
    edit: impl Fn(&mut Vec<RefusedTurn>),
) -> Result<()> {
    let at = refused_path(user, thread).map_err(bad_id)?;
    for _ in 0..TRIES_MAX {
        let (before, version) = read(store, user, thread).await?;
        let mut marks = before.clone();
        edit(&mut marks.turns);
        marks.turns.sort_by_key(|turn| turn.seq);
        marks.turns.drain(..marks.turns.len().saturating_sub(TURNS_MAX));
        if marks == before {
            return Ok(());
        }
        let terms = PutTerms { if_version: Some(version), now: now(), ..PutTerms::default() };
        let expect = expects.clone().map(|at| Op::Expect { at });
        let put = Op::Put { at: at.clone(), value: marks.write()?, terms };
        match store.write(expect.into_iter().chain([put]).collect()).await {
            Err(StoreError::Stale { .. }) => {}
            written => return written.map(|_| ()).map_err(Into::into),
        }
    }
    Err(Error::new(Code::Busy, "too many others write to this conversation"))
}

fn bad_id(error: PathError) -> Error {
    Error::bad_id("user or thread", &error)
}

#[cfg(test)]
mod tests {
    use novelo_engine::scope;

    use super::*;

    #[tokio::test]
    async fn marks_are_added_and_lifted_and_bounded() {
        let store = Store::memory();
        let marks = async || Refusals::load(&store, "u", "t").await.unwrap();
        let newest = scope::turns("u", "t").unwrap().document("m").unwrap();
        let add = async |seqs: &[u64], why: &str| Refusals::add(&store, "u", "t", (seqs, newest.clone()), why).await;
        assert_eq!(add(&[7], "no images").await.unwrap_err().code, Code::NotFound, "what is forgotten has no marks");
        store.put(&newest, "{}".into(), PutTerms::default()).await.unwrap();
        add(&[7, 3], "no images").await.unwrap();
        add(&[3], "none at all").await.unwrap();
        let expected = [(3, "none at all"), (7, "no images")];
        assert_eq!(marks().await.turns.iter().map(|t| (t.seq, &*t.why)).collect::<Vec<_>>(), expected);
        Refusals::fork(&store, "u", "t", 5, "f").await.unwrap();
        assert_eq!(Refusals::load(&store, "u", "f").await.unwrap().turns.len(), 1);
        Refusals::lift(&store, "u", "t", &[3]).await.unwrap();
        assert!(!marks().await.holds(3) && marks().await.holds(7));
        let many: Vec<u64> = (10..10 + TURNS_MAX as u64).collect();
        add(&many, "no").await.unwrap();
        assert_eq!((marks().await.turns.len(), marks().await.holds(7)), (TURNS_MAX, false));
    }
}
