//! Searches, as every surface answers them.
//!
//! Owns what is said of a hit. What is found, and in which order, is for `recall` to say.

use std::collections::BTreeMap;

use novelo_engine::Message;
use novelo_recall::Why;
use serde::Serialize;
use serde_json::value::RawValue;

use super::documents::{self, Kind, Stored};
use super::memories::{self, Ages};
use super::{check, place};
use crate::error::Result;
use crate::remember::UserMemory;
use crate::search::levels::Level;
use crate::search::{Ask, Corpus, Found, Passage, Place, search};

/// What is looked for.
#[derive(Debug, Clone, Copy)]
pub struct Query<'q> {
    pub text: &'q str,
    pub k: Option<u64>,
    pub explain: bool,
}

#[derive(Debug, Serialize)]
pub struct Hits<H> {
    pub hits: Vec<H>,
    /// What nearly was among them, where it was asked why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub near: Option<Vec<NearHit>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

#[derive(Debug, Serialize)]
pub struct NearHit {
    pub id: Box<str>,
    pub text: String,
    pub score: f32,
}

#[derive(Debug, Serialize)]
pub struct MemoryHit {
    pub id: Box<str>,
    pub text: String,
    pub score: f32,
    pub level: Level,
    pub meta: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<Why>,
}

#[derive(Debug, Serialize)]
pub struct TurnHit {
    pub id: Box<str>,
    pub thread: String,
    pub seq: u64,
    pub role: &'static str,
    pub text: String,
    pub score: f32,
    pub create_time: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<Why>,
}

#[derive(Debug, Serialize)]
pub struct PassageHit {
    pub id: Box<str>,
    pub document: String,
    pub name: String,
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    pub score: f32,
    pub meta: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<Why>,
}

pub async fn memories(app: &UserMemory, user: &str, query: Query<'_>) -> Result<Hits<MemoryHit>> {
    let found = find(app, user, Corpus::Memories, query, &[], |_| true).await?;
    let ages = Ages::of(app, user).await?;
    Ok(found.hits(query, |passage| {
        let stored = serde_json::from_slice::<memories::Stored<'_>>(&passage.document);
        let meta = stored.ok().and_then(|stored| stored.meta.map(RawValue::to_owned));
        let Passage { id, text, score, why, .. } = passage;
        MemoryHit { id, text, score, level: ages.level(passage.seq), meta, why }
    }))
}

/// Looks through what was said in all threads of a user, or in one.
pub async fn turns(app: &UserMemory, user: &str, query: Query<'_>, thread: Option<&str>) -> Result<Hits<TurnHit>> {
    let within = |place: Place<'_>| thread.is_none_or(|thread| place.parent() == thread);
    let found = find(app, user, Corpus::Turns, query, thread.as_slice(), within).await?;
    Ok(found.hits(query, |passage| {
        let message = Message::from_stored(passage.document.clone());
        let role = message.shown().role().map_or("", |role| role.name());
        let thread = passage.parent().to_owned();
        let Passage { id, seq, text, score, create_time, why, .. } = passage;
        TurnHit { id, thread, seq, role, text, score, create_time, why }
    }))
}

/// Looks through all documents of a user, through those of one kind, or through one, by its id or its name.
pub async fn passages(
    app: &UserMemory,
    user: &str,
    query: Query<'_>,
    kind: Option<Kind>,
    document: Option<&str>,
) -> Result<Hits<PassageHit>> {
    check::text("query", query.text, check::QUERY)?;
    let among = match (kind, document) {
        (None, None) => None,
        _ => Some(documents::among(app, user, kind, document).await?),
    };
    let parents: Vec<&str> = among.iter().flatten().map(String::as_str).take(PARENTS_MAX).collect();
    let parents = if parents.len() < PARENTS_MAX { parents } else { Vec::new() };
    let within = |place: Place<'_>| among.as_ref().is_none_or(|among| among.contains(place.parent()));
    let found = find(app, user, Corpus::Documents, query, &parents, within).await?;
    let heads = heads(app, user, found.0.hits.iter().map(Passage::parent)).await?;
    Ok(found.hits(query, |passage| {
        let document = passage.parent().to_owned();
        let head = heads.get(&document);
        let name = head.map_or_else(|| document.clone(), |head| head.name.clone());
        let meta = head.and_then(|head| head.meta.clone());
        let (file, line) = passage.place_in_file();
        let Passage { id, text, score, why, .. } = passage;
        PassageHit { id, document, name, text, file, line, score, meta, why }
    }))
}

/// An index elsewhere is told of fewer documents than these; among more, it looks through all.
const PARENTS_MAX: usize = 100;

/// What a search found, for one answer to be made of.
struct Answer(Found);

async fn find(
    app: &UserMemory,
    user: &str,
    corpus: Corpus,
    query: Query<'_>,
    parents: &[&str],
    within: impl Fn(Place<'_>) -> bool,
) -> Result<Answer> {
    check::text("query", query.text, check::QUERY)?;
    let k = check::hits(query.k)?;
    let ask = Ask { user, corpus, query: query.text, parents, explain: query.explain };
    search(app, ask, |ranking| ranking.pick(k, within)).await.map(Answer)
}

impl Answer {
    fn hits<H>(self, query: Query<'_>, hit: impl FnMut(Passage) -> H) -> Hits<H> {
        let near = |passage: Passage| NearHit { id: passage.id, text: passage.text, score: passage.score };
        Hits {
            hits: self.0.hits.into_iter().map(hit).collect(),
            near: query.explain.then(|| self.0.near.into_iter().map(near).collect()),
            notes: self.0.notes,
        }
    }
}

/// The documents that passages are of, each read once.
pub async fn heads<'p>(
    app: &UserMemory,
    user: &str,
    ids: impl Iterator<Item = &'p str>,
) -> Result<BTreeMap<String, Stored>> {
    let of = place::documents(user)?;
    let mut heads = BTreeMap::new();
    for id in ids {
        if !heads.contains_key(id) {
            let document = app.store.get(&place::at(&of, "document", id)?).await?;
            heads.extend(document.and_then(|d| Stored::read(&d.value)).map(|head| (id.to_owned(), head)));
        }
    }
    Ok(heads)
}
