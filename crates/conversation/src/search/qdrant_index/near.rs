//! A question to Qdrant: what is near it, as far as that is still there.

use novelo_recall::ExternalHits;
use novelo_store::qdrant::{Collection, Dense, Hit, Scope, found};
use tokio::sync::RwLock;

use super::super::find::PassageQuery;
use super::super::user_index::UserIndex;
use super::{QdrantAnswer, QdrantFault, QdrantIndex};
use super::{point_kind, qdrant_collections};
use crate::search::Search;

/// Hits of each kind that are asked for. All passages of most users; of the others, more than any prompt
/// shows.
const HITS: usize = 200;

/// What came back, by the keys of an index.
#[derive(Debug, Default)]
pub struct QdrantHits {
    dense: Vec<(u64, f32)>,
    dense_of: Option<usize>,
    sparse: Vec<(u64, f32)>,
}

impl QdrantHits {
    /// The search in Qdrant.
    pub fn near(&self) -> ExternalHits<'_> {
        ExternalHits { dense: &self.dense, dense_of: self.dense_of, sparse: &self.sparse }
    }
}

/// A question, as it is asked.
struct Question<'q> {
    scope: Scope<'q>,
    dense: Option<Dense<'q>>,
    sparse: Vec<(u32, f32)>,
}

/// The hits of one collection, and what kept it from giving more.
#[derive(Default)]
struct Lists {
    dense: Vec<Hit>,
    sparse: Vec<Hit>,
    note: Option<String>,
}

/// What Qdrant finds for a question. It always gives something, if only a note.
pub async fn near(
    app: &Search,
    points: &QdrantIndex,
    part: &RwLock<UserIndex>,
    ask: &PassageQuery<'_>,
) -> (QdrantHits, Vec<String>) {
    let (to_embed, sparse, of) = {
        let part = part.read().await;
        if part.index.is_empty() {
            return Default::default();
        }
        (part.index.to_embed(ask.query), part.index.to_sparse(ask.query), part.count_of(ask.parents))
    };
    let mut notes = Vec::new();
    let vector = match app.indexes.embedder.fingerprint() {
        Some(model) if points.rests().is_none() => match app.indexes.embedder.query(&to_embed).await {
            Ok(vector) => Some((model, vector)),
            Err(failure) => {
                notes.push(format!("lexical results only, the embedder failed: {failure}"));
                None
            }
        },
        _ => None,
    };
    let dense = vector.as_ref().map(|(model, vector)| Dense { model, vector });
    let scope = Scope { user: ask.user, kind: Some(point_kind(ask.source)), parents: ask.parents };
    let lists = match points.lists(qdrant_collections(ask.source), &Question { scope, dense, sparse }).await {
        Ok(lists) => lists,
        Err(fault) => {
            notes.push(format!("lexical results only, Qdrant failed: {fault}"));
            return (QdrantHits::default(), notes);
        }
    };
    let part = part.read().await;
    let mut here = QdrantHits::default();
    let mut is_stale = false;
    for list in lists {
        notes.extend(list.note);
        here.dense_of = here.dense_of.or((list.dense.len() >= HITS).then_some(of));
        for (hits, out) in [(list.dense, &mut here.dense), (list.sparse, &mut here.sparse)] {
            for hit in hits {
                match part.key_of(&hit.of, hit.seq, hit.digest) {
                    Some(key) => out.push((key, hit.score)),
                    None => is_stale = true,
                }
            }
        }
    }
    if is_stale {
        // What has no document here is no hit; the task finds out whether it is to be removed.
        part.unsettle();
        app.indexes.waiting.add(ask.user, ask.source);
    }
    (here, notes)
}

impl QdrantIndex {
    /// The hits of these collections, within the time that a search has.
    async fn lists(&self, of: &[Collection], question: &Question<'_>) -> QdrantAnswer<Vec<Lists>> {
        let work = async {
            match of {
                [first, second] => {
                    let (first, second) = tokio::join!(self.list(*first, question), self.list(*second, question));
                    Ok(vec![first?, second?])
                }
                [one, ..] => Ok(vec![self.list(*one, question).await?]),
                [] => Ok(Vec::new()),
            }
        };
        match tokio::time::timeout(self.deadline, work).await {
            Ok(lists) => lists,
            Err(_) => {
                let said = format!("it did not answer within {:?}", self.deadline);
                self.rest(&said);
                Err(QdrantFault::Down(said))
            }
        }
    }

    async fn list(&self, of: Collection, question: &Question<'_>) -> QdrantAnswer<Lists> {
        let Some(shape) = self.shape(of).await? else { return Ok(Lists::default()) };
        let dense = question.dense.filter(|dense| shape.dimensions == Some(dense.vector.len()));
        let note = question.dense.filter(|_| dense.is_none()).map(|wanted| {
            let said = another_size(&self.requests.name(of), shape.dimensions, wanted.vector.len());
            format!("lexical results only: {said}")
        });
        if dense.is_none() && question.sparse.is_empty() {
            return Ok(Lists { note, ..Lists::default() });
        }
        let request = self.requests.query(of, &question.scope, dense, &question.sparse, HITS);
        let mut lists = match self.ask(of, request, self.deadline, found).await {
            Ok(lists) => lists.into_iter(),
            // Dropped since it was looked at: it is made again.
            Err(QdrantFault::Missing) => return Ok(Lists { note, ..Lists::default() }),
            Err(fault) => return Err(fault),
        };
        let mut next = |is_asked: bool| if is_asked { lists.next().unwrap_or_default() } else { Vec::new() };
        Ok(Lists { dense: next(dense.is_some()), sparse: next(!question.sparse.is_empty()), note })
    }
}

/// What is said of a collection that was made for other embeddings.
pub(crate) fn another_size(name: &str, there: Option<usize>, here: usize) -> String {
    let there = there.map_or_else(|| "none".to_owned(), |size| format!("those of {size} dimensions"));
    format!(
        "collection {name} takes no embeddings of {here} dimensions but {there}; `novelo index --rebuild` makes it anew"
    )
}
