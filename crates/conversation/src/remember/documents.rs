//! Documents and repositories that can be searched.
//!
//! Owns `documents/{id}`, what is known of each, and `documents/{id}/passages`, what it says. Invariant: a
//! document is replaced in one write, passages and all, so that no reader sees half of the old and half of
//! the new; what did not change is not written.

use std::collections::BTreeSet;
use std::path::Path;

use bytes::Bytes;
use novelo_engine::path::CollectionPath;
use novelo_store::{Cursor, Error as StoreError, Op, PutTerms, Range, Window};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::passage::{self, Passage};
use super::repo::{self, Caps, Skipped};
use super::{TRIES_MAX, check, place};
use crate::caller::Caller;
use crate::error::{Code, Error, Result};
use crate::ids;
use crate::locks;
use crate::remember::UserMemory;
use crate::remember::forget::{self, Traces};
use crate::search::RecallSource;
use crate::telemetry::now;

/// What a document was made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DocumentKind {
    /// A text that was sent.
    Document,
    /// Files of the server's disk.
    Repo,
}

/// What is known of a document, as it is stored.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StoredDocument {
    /// The name that people see.
    pub name: String,
    /// What it was made from.
    pub kind: DocumentKind,
    /// How many passages it has.
    pub passages: usize,
    /// How many bytes of text it has.
    pub bytes: u64,
    /// What the caller stored with it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub meta: Option<Box<RawValue>>,
    /// How many files it has.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub files: Option<usize>,
    /// The files that were left out.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub skipped: Option<Skipped>,
    /// When it was last indexed, in seconds since 1970.
    pub updated_at: f64,
}

/// The same with its id, as it is listed.
#[derive(Debug, Serialize)]
pub struct ListedDocument {
    /// The id.
    pub id: Box<str>,
    /// What is stored.
    #[serde(flatten)]
    pub stored: StoredDocument,
}

/// A page of documents.
#[derive(Debug, Serialize)]
pub struct DocumentPage {
    /// The documents.
    pub documents: Vec<ListedDocument>,
    /// Whether more follow.
    pub has_more: bool,
}

/// What indexing did.
#[derive(Debug, Serialize)]
pub struct IndexedDocument {
    /// The id.
    pub id: String,
    /// How many passages were made.
    pub passages: usize,
    /// How many files were read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<usize>,
    /// The files that were left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<Skipped>,
}

/// A text to index. One of the same id is replaced.
#[derive(Debug, Clone, Copy)]
pub struct NewText<'d> {
    /// The id; one is made without it.
    pub id: Option<&'d str>,
    /// The name that people see.
    pub name: &'d str,
    /// The text.
    pub text: &'d str,
    /// What is stored with it.
    pub meta: Option<&'d RawValue>,
}

/// Files to index. Without an id the path is what they are known by.
#[derive(Debug, Clone, Copy)]
pub struct NewFiles<'d> {
    /// The id.
    pub id: Option<&'d str>,
    /// The name that people see.
    pub name: Option<&'d str>,
    /// The directory or file.
    pub path: &'d str,
}

impl StoredDocument {
    /// `None` for a document that was put there as something else.
    pub fn read(value: &[u8]) -> Option<Self> {
        serde_json::from_slice(value).ok()
    }
}

/// Indexes a text.
pub async fn index_text(app: &UserMemory, user: &str, new: NewText<'_>) -> Result<IndexedDocument> {
    check::text("name", new.name, check::NAME)?;
    check::meta(new.meta)?;
    if new.text.trim().is_empty() {
        return Err(Error::invalid("text", "is empty"));
    }
    let id = new.id.map_or_else(ids::fresh_text, str::to_owned);
    place::passages(user, &id)?;
    let text = new.text.to_owned();
    let passages = blocking(move || passage::of_text(&text)).await?;
    passage::check_count(passages.len()).map_err(|problem| Error::invalid("text", problem))?;
    let head = StoredDocument {
        name: new.name.to_owned(),
        kind: DocumentKind::Document,
        passages: passages.len(),
        bytes: new.text.len() as u64,
        meta: new.meta.map(RawValue::to_owned),
        files: None,
        skipped: None,
        updated_at: now(),
    };
    replace(app, user, id, head, passages).await
}

/// Indexes files of the server's disk, which is for admins only.
pub async fn index_files(app: &UserMemory, caller: &Caller, user: &str, new: NewFiles<'_>) -> Result<IndexedDocument> {
    caller.require_admin()?;
    if let Some(name) = new.name {
        check::text("name", name, check::NAME)?;
    }
    if !Path::new(new.path).is_absolute() {
        return Err(Error::invalid("path", "must be absolute: it is looked up on the server's disk"));
    }
    let path = new.path.to_owned();
    let read = move || {
        let root = Path::new(&path).canonicalize().map_err(|error| format!("cannot be read: {error}"))?;
        repo::read(&root, Caps::default()).map(|repo| (root, repo))
    };
    let (root, repo) = blocking(read).await?.map_err(|problem| Error::invalid("path", problem))?;
    let root = root.to_string_lossy();
    let id = new.id.map_or_else(|| format!("path-{:032x}", xxh3_128(root.as_bytes())), str::to_owned);
    place::passages(user, &id)?;
    let last = root.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("/");
    let head = StoredDocument {
        name: new.name.unwrap_or(last).to_owned(),
        kind: DocumentKind::Repo,
        passages: repo.passages.len(),
        bytes: repo.bytes,
        meta: None,
        files: Some(repo.files),
        skipped: Some(repo.skipped),
        updated_at: now(),
    };
    replace(app, user, id, head, repo.passages).await
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    let ended = |e| Error::new(Code::Internal, format!("reading a document ended early: {e}"));
    tokio::task::spawn_blocking(work).await.map_err(ended)
}

/// Stores a document in place of the one that has its id.
async fn replace(
    app: &UserMemory,
    user: &str,
    id: String,
    head: StoredDocument,
    passages: Vec<Passage>,
) -> Result<IndexedDocument> {
    let at = place::at(&place::documents(user)?, "id", &id)?;
    let of = place::passages(user, &id)?;
    let new = blocking(move || written(passages)).await??;
    let value = Bytes::from(serde_json::to_vec(&head).map_err(unwritten)?);
    let _lock = locks::hold([&of].into_iter()).await;
    for _ in 0..TRIES_MAX {
        // The version is read before the passages: a replacement in between changes it.
        let if_version = Some(app.store.get(&at).await?.map_or(0, |document| document.version));
        let terms = PutTerms { if_version, now: head.updated_at, ..PutTerms::default() };
        let mut ops = vec![Op::Put { at: at.clone(), value: value.clone(), terms }];
        ops.extend(changes(&of, &new, &stored(app, &of).await?, head.updated_at)?);
        match app.store.write(ops).await {
            Ok(_) => {
                app.indexes.touched(user, RecallSource::Documents);
                return Ok(IndexedDocument { id, passages: head.passages, files: head.files, skipped: head.skipped });
            }
            Err(StoreError::Stale { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Error::new(Code::Busy, "this document is being replaced by others again and again"))
}

/// Passages by id, as they are stored.
fn written(passages: Vec<Passage>) -> Result<Vec<(String, Bytes)>> {
    let write = |(id, passage)| Ok((id, serde_json::to_vec(&passage).map_err(unwritten)?.into()));
    passage::with_ids(passages).map(write).collect()
}

fn unwritten(error: serde_json::Error) -> Error {
    Error::new(Code::Internal, format!("a document cannot be written: {error}"))
}

const READ_LIMIT: usize = 1_000;

/// The passages that are there, by id, with a digest of each.
async fn stored(app: &UserMemory, of: &CollectionPath) -> Result<FxHashMap<Box<str>, u64>> {
    let mut stored = FxHashMap::default();
    let mut seq = 0;
    loop {
        let turns = app.store.turns(of, Range::After { seq, limit: READ_LIMIT }).await?;
        stored.extend(turns.iter().map(|turn| (turn.id.clone(), xxh3_64(turn.message.raw()))));
        match turns.iter().next_back().filter(|_| turns.has_more) {
            Some(last) => seq = last.seq,
            None => return Ok(stored),
        }
    }
}

/// What makes the stored passages the new ones.
fn changes(of: &CollectionPath, new: &[(String, Bytes)], old: &FxHashMap<Box<str>, u64>, now: f64) -> Result<Vec<Op>> {
    let mut ops = Vec::new();
    for (id, value) in new.iter().filter(|(id, value)| old.get(id.as_str()) != Some(&xxh3_64(value))) {
        let terms = PutTerms { now, ..PutTerms::default() };
        ops.push(Op::Put { at: place::at(of, "id", id)?, value: value.clone(), terms });
    }
    let kept: BTreeSet<&str> = new.iter().map(|(id, _)| id.as_str()).collect();
    for id in old.keys().filter(|id| !kept.contains(&***id)) {
        ops.push(Op::Delete { at: place::at(of, "id", id)?, if_version: None });
    }
    Ok(ops)
}

/// The document of this id.
pub async fn get(app: &UserMemory, user: &str, id: &str) -> Result<Option<ListedDocument>> {
    let document = app.store.get(&place::at(&place::documents(user)?, "id", id)?).await?;
    Ok(document.and_then(|document| listed(document.id, &document.value)))
}

/// Documents in the order in which they came, from the one after `after` on.
pub async fn list(app: &UserMemory, user: &str, after: Option<&str>, limit: usize) -> Result<DocumentPage> {
    let of = place::documents(user)?;
    let after = match after {
        Some(id) => {
            let last = app.store.get(&place::at(&of, "after", id)?).await?;
            let last = last.ok_or_else(|| Error::invalid("after", "names no document"))?;
            Some(Cursor { create_time: last.create_time, seq: last.seq })
        }
        None => None,
    };
    let page = app.store.scan(&of, Window { after, limit, ..Window::default() }).await?;
    let documents = page.items.into_iter().filter_map(|document| listed(document.id, &document.value));
    Ok(DocumentPage { documents: documents.collect(), has_more: page.has_more })
}

fn listed(id: Box<str>, value: &[u8]) -> Option<ListedDocument> {
    StoredDocument::read(value).map(|stored| ListedDocument { id, stored })
}

/// Forgets a document with its passages; how many these were, if there was one.
pub async fn remove(app: &UserMemory, user: &str, id: &str) -> Result<Option<u64>> {
    let at = place::at(&place::documents(user)?, "id", id)?;
    let was_there = app.store.get(&at).await?.is_some();
    // Also where it is gone: another node may have forgotten it, and this one may have answers that quote it.
    let forgotten = forget::forget(app, user, &[at.prefix()], Traces::Stay).await?;
    Ok(was_there.then_some(forgotten.passages))
}

/// The ids of the documents of a kind, or of the documents with this id or name.
pub async fn among(
    app: &UserMemory,
    user: &str,
    kind: Option<DocumentKind>,
    named: Option<&str>,
) -> Result<BTreeSet<String>> {
    let mut among = BTreeSet::new();
    let mut after: Option<String> = None;
    loop {
        let page = list(app, user, after.as_deref(), READ_LIMIT).await?;
        let of_kind = page.documents.iter().filter(|row| kind.is_none_or(|kind| row.stored.kind == kind));
        let wanted = of_kind.filter(|row| named.is_none_or(|named| &*row.id == named || row.stored.name == named));
        among.extend(wanted.map(|row| row.id.to_string()));
        match page.documents.last().filter(|_| page.has_more) {
            Some(last) => after = Some(last.id.to_string()),
            None => break,
        }
    }
    match named {
        Some(named) if among.is_empty() => Err(Error::not_found(format_args!("document {named}"))),
        _ => Ok(among),
    }
}
