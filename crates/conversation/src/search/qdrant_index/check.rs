//! Whether what is in Qdrant is what the documents say, for `doctor` and at the end of a rebuild.

use std::collections::BTreeMap;

use novelo_engine::recall::RecallSource;
use novelo_store::Range;
use novelo_store::qdrant::{self, Collection, Scope};
use serde_json::{Value, json};

use super::super::sources::{collections, passage_text};
use super::super::worker::users;
use super::near::another_size;
use super::qdrant_collection_of;
use super::{QdrantAnswer, QdrantFault, QdrantIndex};
use crate::error::Result;
use crate::search::Search;

const READ_LIMIT: usize = 1_000;
/// Asked of an embedder to learn how long its embeddings are.
const PROBE: &str = "?";

/// How many points there should be of a user, by the names of collections.
pub async fn expected(app: &Search, user: &str) -> Result<BTreeMap<&'static str, u64>> {
    let mut counts: BTreeMap<&'static str, u64> = Collection::ALL.map(|of| (of.name(), 0)).into();
    for source in RecallSource::ALL {
        for of in collections(source, &app.store, user).await? {
            let mut seq = 0;
            loop {
                let turns = app.store.turns(&of, Range::After { seq, limit: READ_LIMIT }).await?;
                for turn in turns.iter().filter(|turn| passage_text(source, turn).is_some()) {
                    *counts.entry(qdrant_collection_of(source, turn).name()).or_default() += 1;
                }
                match turns.iter().next_back().filter(|_| turns.has_more) {
                    Some(last) => seq = last.seq,
                    None => break,
                }
            }
        }
    }
    Ok(counts)
}

impl QdrantIndex {
    /// How many points there are of a user, by the names of collections.
    pub(super) async fn counted(&self, user: &str) -> QdrantAnswer<BTreeMap<&'static str, u64>> {
        let mut counts = BTreeMap::new();
        for of in Collection::ALL {
            counts.insert(of.name(), self.count(of, self.requests.count(of, &Scope::user(user))).await?);
        }
        Ok(counts)
    }

    async fn count(&self, of: Collection, request: qdrant::Request) -> QdrantAnswer<u64> {
        match self.ask(of, request, super::WRITE_DEADLINE, qdrant::counted).await {
            Err(QdrantFault::Missing) => Ok(0),
            answer => answer,
        }
    }
}

/// What is wrong, for `doctor`.
pub async fn findings(app: &Search) -> Result<Vec<Value>> {
    let Some(points) = &app.indexes.points else { return Ok(Vec::new()) };
    let mut findings = Vec::new();
    if let Err(fault) = look(app, points, &mut findings).await {
        let advice = "start that server, or mend qdrant.url and qdrant.key; until then searches are lexical";
        findings.push(json!({"place": "qdrant", "what": fault.to_string(), "advice": advice}));
        return Ok(findings);
    }
    // What waits is on its way, and would be counted as missing.
    if !findings.is_empty() || app.indexes.waiting.is_at_work() {
        return Ok(findings);
    }
    let mut should: BTreeMap<&'static str, u64> = BTreeMap::new();
    for user in users(&app.store).await? {
        expected(app, &user).await?.into_iter().for_each(|(of, count)| *should.entry(of).or_default() += count);
    }
    for of in Collection::ALL {
        let should = should.get(of.name()).copied().unwrap_or(0);
        let Ok(there) = points.count(of, points.requests.count_all(of)).await else { continue };
        if there != should {
            let what =
                format!("{} has {there} points, and the documents have {should} passages", points.requests.name(of));
            let advice = "`novelo index --rebuild` makes it anew; a node that is still indexing needs none";
            findings.push(json!({"place": "qdrant", "what": what, "advice": advice}));
        }
    }
    Ok(findings)
}

/// Looks at each collection that is there.
async fn look(app: &Search, points: &QdrantIndex, findings: &mut Vec<Value>) -> QdrantAnswer<()> {
    let size = match app.indexes.embedder.fingerprint() {
        // One that fails says so itself.
        Some(_) => app.indexes.embedder.query(PROBE).await.ok().map(|vector| vector.len()),
        None => None,
    };
    for of in Collection::ALL {
        let shape = match points.shape(of).await {
            Err(QdrantFault::Foreign(what)) => {
                let advice = "do that; until then searches of it are lexical";
                findings.push(json!({"place": "qdrant", "what": what, "advice": advice}));
                continue;
            }
            shape => shape?,
        };
        if let (Some(shape), Some(size)) = (shape, size)
            && shape.dimensions != Some(size)
        {
            let what = another_size(&points.requests.name(of), shape.dimensions, size);
            let advice = "run that, or set embed to what the collection was made for; until then searches are lexical";
            findings.push(json!({"place": "qdrant", "what": what, "advice": advice}));
        }
    }
    Ok(())
}
