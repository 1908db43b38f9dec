//! Searches, as every surface answers them.
//!
//! Owns the wire form of a hit. Finding and ranking are in `search`.

use std::collections::BTreeMap;

use novelo_engine::Message;
use novelo_recall::Why;
use serde::Serialize;
use serde_json::value::RawValue;

use super::documents::{self, DocumentKind, StoredDocument};
use super::memories::{self, Ages};
use super::{check, place};
use crate::error::Result;
use crate::remember::UserMemory;
use crate::search::levels::Level;
use crate::search::validity::MemorySource;
use crate::search::{Found, FoundPassage, PassagePlace, PassageQuery, PassageRef, RecallSource, search};

/// What is looked for.
#[derive(Debug, Clone, Copy)]
pub struct MemoryQuery<'q> {
    /// The words that are searched for.
    pub text: &'q str,
    /// The most hits.
    pub k: Option<u64>,
    /// Whether the hits have their reasons.
    pub explain: bool,
    /// The time in the past, in seconds, as of which is searched.
    pub as_of: Option<f64>,
}

/// What a search found.
#[derive(Debug, Serialize)]
pub struct Hits {
    /// The hits, best first.
    pub hits: Vec<HitRow>,
    /// The passages that were nearly among them, if the search was to explain its scores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub near: Option<Vec<HitRow>>,
    /// What the caller should know about the search.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A found passage as an answer to a search shows it. Each source fills the fields that it has; the order is
/// the wire's.
#[derive(Debug, Default, Serialize)]
pub struct HitRow {
    /// The id of the memory or passage.
    pub id: Box<str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    document: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thread: Option<String>,
    /// Of a turn, its place in the thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// The text.
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<u64>,
    score: f32,
    #[serde(skip_serializing_if = "Option::is_none")]
    create_time: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    level: Option<Level>,
    #[serde(skip_serializing_if = "Option::is_none")]
    valid_from: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    valid_to: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<MemorySource>,
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    superseded_by: Option<SupersededBy>,
    /// `null` on the wire if the source has metadata and this passage does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    meta: Option<Option<Box<RawValue>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<Why>,
}

/// What replaced a hit.
#[derive(Debug, Serialize)]
struct SupersededBy {
    id: String,
    /// Why; missing if a caller said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl From<FoundPassage> for HitRow {
    fn from(passage: FoundPassage) -> Self {
        let FoundPassage { id, text, score, why, standing, .. } = passage;
        let (valid_from, valid_to) = (standing.as_ref().map(|it| it.since), standing.as_ref().and_then(|it| it.until));
        let superseded_by = standing.and_then(|it| Some(SupersededBy { id: it.superseded_by?, reason: it.reason }));
        Self { id, text, score, why, valid_from, valid_to, superseded_by, ..Self::default() }
    }
}

/// Searches the memories of a user.
pub async fn memories(app: &UserMemory, user: &str, query: MemoryQuery<'_>) -> Result<Hits> {
    let found = find(app, user, RecallSource::Memories, query, &[], |_| true).await?;
    let ages = Ages::of(app, user).await?;
    Ok(hits(found, query, |passage| {
        let document = passage.document.clone();
        let stored = serde_json::from_slice::<memories::StoredMemory<'_>>(&document).ok();
        let meta = stored.as_ref().and_then(|stored| stored.meta.map(RawValue::to_owned));
        let level = Some(ages.level(passage.seq));
        let row = HitRow { level, meta: Some(meta), ..passage.into() };
        let Some(stored) = stored else { return row };
        HitRow {
            valid_from: stored.valid_from.or(row.valid_from),
            valid_to: stored.valid_to.or(row.valid_to),
            source: stored.source,
            confidence: stored.confidence,
            ..row
        }
    }))
}

/// Searches the turns of all threads of a user, or of one.
pub async fn turns(app: &UserMemory, user: &str, query: MemoryQuery<'_>, thread: Option<&str>) -> Result<Hits> {
    let within = |place: PassageRef<'_>| thread.is_none_or(|thread| place.parent() == thread);
    let found = find(app, user, RecallSource::Turns, query, thread.as_slice(), within).await?;
    Ok(hits(found, query, |passage| {
        let message = Message::from_stored(passage.document.clone());
        HitRow {
            thread: Some(passage.parent().to_owned()),
            seq: Some(passage.seq),
            role: Some(message.shown().role().map_or("", |role| role.name())),
            create_time: Some(passage.create_time),
            ..passage.into()
        }
    }))
}

/// Searches all documents of a user, those of one kind, or one document by its id or its name.
pub async fn passages(
    app: &UserMemory,
    user: &str,
    query: MemoryQuery<'_>,
    kind: Option<DocumentKind>,
    document: Option<&str>,
) -> Result<Hits> {
    check::text("query", query.text, check::QUERY)?;
    let among = match (kind, document) {
        (None, None) => None,
        _ => Some(documents::among(app, user, kind, document).await?),
    };
    let parents: Vec<&str> = among.iter().flatten().map(String::as_str).take(PARENTS_MAX).collect();
    let parents = if parents.len() < PARENTS_MAX { parents } else { Vec::new() };
    let within = |place: PassageRef<'_>| among.as_ref().is_none_or(|among| among.contains(place.parent()));
    let found = find(app, user, RecallSource::Documents, query, &parents, within).await?;
    let heads = heads(app, user, &found.hits).await?;
    Ok(hits(found, query, |passage| {
        let head = heads.get(passage.parent());
        let PassagePlace { file, line, page, .. } = passage.place.clone();
        HitRow {
            document: Some(passage.parent().to_owned()),
            name: Some(head.map_or_else(|| passage.parent().to_owned(), |head| head.name.clone())),
            meta: Some(head.and_then(|head| head.meta.clone())),
            line: line.filter(|_| file.is_some()),
            file,
            page,
            ..passage.into()
        }
    }))
}

/// Qdrant gets a filter of fewer documents than these; with more, it searches all.
const PARENTS_MAX: usize = 100;

async fn find(
    app: &UserMemory,
    user: &str,
    source: RecallSource,
    query: MemoryQuery<'_>,
    parents: &[&str],
    within: impl Fn(PassageRef<'_>) -> bool,
) -> Result<Found> {
    check::text("query", query.text, check::QUERY)?;
    let k = check::hits(query.k)?;
    let MemoryQuery { text: query, explain, as_of, .. } = query;
    let ask = PassageQuery { user, source, query, parents, explain, hits_max: k, as_of, valid_at: as_of };
    search(app, ask, |ranking| ranking.pick(k, within)).await
}

fn hits(found: Found, query: MemoryQuery<'_>, row: impl FnMut(FoundPassage) -> HitRow) -> Hits {
    Hits {
        hits: found.hits.into_iter().map(row).collect(),
        near: query.explain.then(|| found.near.into_iter().map(near_row).collect()),
        notes: found.notes,
    }
}

fn near_row(passage: FoundPassage) -> HitRow {
    HitRow { why: None, ..passage.into() }
}

/// The documents that passages are parts of, each read once.
async fn heads(app: &UserMemory, user: &str, passages: &[FoundPassage]) -> Result<BTreeMap<String, StoredDocument>> {
    let of = place::documents(user)?;
    let mut heads = BTreeMap::new();
    for passage in passages.iter().filter(|passage| passage.source == RecallSource::Documents) {
        let id = passage.parent();
        if !heads.contains_key(id) {
            let document = app.store.get(&place::at(&of, "document", id)?).await?;
            heads.extend(document.and_then(|d| StoredDocument::read(&d.value)).map(|head| (id.to_owned(), head)));
        }
    }
    Ok(heads)
}
