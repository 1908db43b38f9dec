//! What can be searched: where its passages are, and what each says.

use std::borrow::Cow;

use novelo_engine::path::{CollectionPath, PathError};
use novelo_engine::scope::{THREADS, TURNS, USERS};
use novelo_engine::{Message, Role, Turn, json};
use novelo_store::Store;
use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, Result};

/// A kind of passage. Each is a set of collections of one user, whose documents are the passages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Corpus {
    Memories,
    Turns,
    Documents,
}

/// Where a passage is.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    pub of: &'a CollectionPath,
    pub seq: u64,
}

impl<'a> Place<'a> {
    /// The thread of a turn, the document of a passage.
    pub fn parent(&self) -> &'a str {
        let segments = self.of.segments();
        segments.len().checked_sub(2).and_then(|at| segments.get(at)).map_or("", |id| id)
    }
}

pub const MEMORIES: &str = "memories";
pub const DOCUMENTS: &str = "documents";
pub const PASSAGES: &str = "passages";

const LIST_LIMIT: usize = 1_000;

impl Corpus {
    pub const ALL: [Self; 3] = [Self::Memories, Self::Turns, Self::Documents];

    /// The last segment of its collections.
    pub fn name(self) -> &'static str {
        match self {
            Self::Memories => MEMORIES,
            Self::Turns => TURNS,
            Self::Documents => PASSAGES,
        }
    }

    /// Changes with every write to one of its collections.
    pub async fn pulse(self, store: &Store, user: &str) -> Result<u64> {
        Ok(store.change_counter_of_kind(&[USERS, user], self.name()).await?)
    }

    /// The collections that hold it now.
    pub async fn collections(self, store: &Store, user: &str) -> Result<Vec<CollectionPath>> {
        let (under, child) = match self {
            Self::Memories => return Ok(vec![below(&[USERS, user, MEMORIES])?]),
            Self::Turns => (below(&[USERS, user, THREADS])?, TURNS),
            Self::Documents => (below(&[USERS, user, DOCUMENTS])?, PASSAGES),
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

    /// What a passage is a part of: a stretch of conversation, or a document, or a file of one. A memory stands alone.
    pub fn group(self, number: usize, stretch: u64, document: &Turn) -> u64 {
        let collection = (number as u64 + 1) << 32;
        match self {
            Self::Memories => 0,
            Self::Turns => collection | stretch,
            Self::Documents => {
                let file = member(&document.message, "file");
                collection | file.map_or(0, |file| xxh3_64(file.as_bytes()) >> 32)
            }
        }
    }

    /// What a document says, if that is worth finding. Answers of tools and instructions are not.
    pub fn text(self, document: &Turn) -> Option<Cow<'_, str>> {
        let text = match self {
            Self::Memories | Self::Documents => member(&document.message, "text"),
            Self::Turns => {
                let message = document.message.shown();
                matches!(message.role()?, Role::User | Role::Assistant).then(|| said(message)).flatten()
            }
        };
        text.filter(|text| !text.trim().is_empty())
    }
}

/// The words of a message, also where they stand in parts.
pub fn said(message: &Message) -> Option<Cow<'_, str>> {
    if let Some(text) = message.content_text() {
        return Some(text);
    }
    let raw = message.as_str();
    let parts: Vec<serde_json::Value> = serde_json::from_str(json::member(raw, "content")?.slice(raw)).ok()?;
    let texts: Vec<&str> = parts.iter().filter_map(|part| part.get("text")?.as_str()).collect();
    Some(texts.join("\n").into())
}

/// A text that stands in a member of a document.
pub fn member<'m>(document: &'m Message, name: &str) -> Option<Cow<'m, str>> {
    let raw = document.as_str();
    json::unescape(json::member(raw, name)?.slice(raw))
}

fn below(segments: &[&str]) -> Result<CollectionPath> {
    CollectionPath::new(segments).map_err(bad_id)
}

fn bad_id(error: PathError) -> Error {
    Error::bad_id("user", &error)
}
