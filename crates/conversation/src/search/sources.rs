//! The sources of a search: where the passages of each are, and what they say.

use std::borrow::Cow;

use novelo_engine::path::{CollectionPath, PathError};
use novelo_engine::recall::RecallSource;
use novelo_engine::scope::{THREADS, TURNS, USERS};
use novelo_engine::{Role, Turn};
use novelo_store::Store;
use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, Result};
use crate::text::{member, said};

/// Where a passage is.
#[derive(Debug, Clone, Copy)]
pub struct PassageRef<'a> {
    /// The collection.
    pub of: &'a CollectionPath,
    /// The seq in it.
    pub seq: u64,
}

impl<'a> PassageRef<'a> {
    /// The thread of a turn, the document of a passage.
    pub fn parent(&self) -> &'a str {
        let segments = self.of.segments();
        segments.len().checked_sub(2).and_then(|at| segments.get(at)).map_or("", |id| id)
    }
}

/// The last segment of a collection of memories.
pub const MEMORIES: &str = "memories";
/// The last segment of a collection of documents.
pub const DOCUMENTS: &str = "documents";
/// The last segment of a collection of passages.
pub const PASSAGES: &str = "passages";

const LIST_LIMIT: usize = 1_000;

/// The last segment of the collections of a source.
pub(crate) fn collection_name(source: RecallSource) -> &'static str {
    match source {
        RecallSource::Memories => MEMORIES,
        RecallSource::Turns => TURNS,
        RecallSource::Documents => PASSAGES,
    }
}

/// A counter that changes with every write to a collection of the source.
pub(crate) async fn change_counter(source: RecallSource, store: &Store, user: &str) -> Result<u64> {
    Ok(store.change_counter_of_kind(&[USERS, user], collection_name(source)).await?)
}

/// The collections of a user that hold passages of the source.
pub async fn collections(source: RecallSource, store: &Store, user: &str) -> Result<Vec<CollectionPath>> {
    let (under, child) = match source {
        RecallSource::Memories => return Ok(vec![below(&[USERS, user, MEMORIES])?]),
        RecallSource::Turns => (below(&[USERS, user, THREADS])?, TURNS),
        RecallSource::Documents => (below(&[USERS, user, DOCUMENTS])?, PASSAGES),
    };
    let mut found = Vec::new();
    let mut after: Option<Box<str>> = None;
    loop {
        let page = store.threads(&under, child, after.as_deref(), LIST_LIMIT).await?;
        for row in &page.items {
            found.push(under.document(&row.id).and_then(|at| at.child(child)).map_err(bad_id)?);
        }
        match page.items.last().filter(|_| page.has_more) {
            Some(last) => after = Some(last.id.clone()),
            None => return Ok(found),
        }
    }
}

/// The group that a passage belongs to: a stretch of conversation, a document, or a file of one. A memory has
/// none.
pub(crate) fn passage_group(source: RecallSource, number: usize, stretch: u64, document: &Turn) -> u64 {
    let collection = (number as u64 + 1) << 32;
    match source {
        RecallSource::Memories => 0,
        RecallSource::Turns => collection | stretch,
        RecallSource::Documents => {
            let file = member(&document.message, "file");
            collection | file.map_or(0, |file| xxh3_64(file.as_bytes()) >> 32)
        }
    }
}

/// The text of a document that is worth finding. Answers of tools and instructions have none.
pub(crate) fn passage_text(source: RecallSource, document: &Turn) -> Option<Cow<'_, str>> {
    let text = match source {
        RecallSource::Memories | RecallSource::Documents => member(&document.message, "text"),
        RecallSource::Turns => {
            let message = document.message.shown();
            matches!(message.role()?, Role::User | Role::Assistant).then(|| said(message)).flatten()
        }
    };
    text.filter(|text| !text.trim().is_empty())
}

fn below(segments: &[&str]) -> Result<CollectionPath> {
    CollectionPath::new(segments).map_err(bad_id)
}

fn bad_id(error: PathError) -> Error {
    Error::bad_id("user", &error)
}
