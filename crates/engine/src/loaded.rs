//! What the loader answers to a recipe's needs.
//!
//! Owns the documents that a prompt is made from, how summaries, user data and other documents are shown, and
//! where they are stored. Nothing here loads anything.

use std::borrow::Cow;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::compact::Compactions;
use crate::decode::UnknownField;
use crate::group::{Groups, Membership};
use crate::json;
use crate::message::{Message, Role, Turn};
use crate::path::{DocumentPath, PathError};
use crate::recall::Recalled;
use crate::scope;
use crate::time_scope::Level;

/// What the loader answered.
#[derive(Debug, Default)]
pub struct Loaded<'a> {
    /// The newest turns, oldest first.
    pub turns: Vec<&'a Turn>,
    /// How many turns of the thread are older than these.
    pub turns_before: u64,
    /// The summary of the thread.
    pub summary: Option<&'a Message>,
    /// The last turn that the summary covers, where it was made from the turns themselves.
    pub summary_upto: Option<u64>,
    /// What is known about the user.
    pub user_data: Option<&'a Message>,
    /// Documents of other collections, in the order in which they are shown.
    pub collections: Vec<LoadedCollection<'a>>,
    /// The collapsed groups of the thread.
    pub groups: Option<&'a Groups>,
    /// The spans that were compacted, and the pinned turns.
    pub compactions: Option<&'a Compactions>,
    /// The turns that a model refused, by seq: they stay out.
    pub refused: &'a [RefusedTurn],
    /// The groups of the turns, where they are known.
    pub membership: Option<&'a Membership>,
    /// What searches found, in the order of the components that asked.
    pub recalled: &'a [Recalled],
    /// What stands before the first of these: that they are data.
    pub recall_notice: Option<&'a Message>,
    /// Messages given with the request.
    pub inline: &'a [Message],
    /// What is being asked now, where it is not the newest turn already.
    pub question: Option<&'a Message>,
    /// Fields of the request that nobody knows, and that were ignored.
    pub unknown_fields: &'a [UnknownField],
}

/// A turn that a model refused.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RefusedTurn {
    /// Its place in the thread.
    pub seq: u64,
    /// The words of the model's server.
    pub why: String,
}

/// What was read for one collection at one level.
#[derive(Debug, Clone, Copy)]
pub struct LoadedCollection<'a> {
    /// The name of the collection.
    pub name: &'a str,
    /// How its documents are shown.
    pub shape: Shape,
    /// The level at which it was read.
    pub level: Level,
    /// The documents.
    pub items: &'a [CollectionItem],
    /// How many documents of the same range are older than these.
    pub before: u64,
}

/// A document of a collection, ready to be shown.
#[derive(Debug, Clone)]
pub struct CollectionItem {
    /// The id of the document.
    pub id: Box<str>,
    /// How the prompt shows it.
    pub message: Message,
}

/// What a document of a collection is shown as.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// A message where it is one, else a system message of its JSON.
    #[default]
    Message,
    /// A system message of its JSON, with a label of where it was read.
    Data,
}

impl<'a> Loaded<'a> {
    /// What was read for a collection, level by level.
    pub(crate) fn collection(&self, name: &str, shape: Shape) -> impl Iterator<Item = &LoadedCollection<'a>> {
        self.collections.iter().filter(move |read| read.name == name && read.shape == shape)
    }
}

impl CollectionItem {
    /// A document as a prompt shows it: a message where it is one, or wraps one; else data.
    pub fn from_document(id: &str, raw: Bytes, shape: Shape) -> Self {
        let document = Message::from_stored(raw);
        let message = document.shown();
        let message = match message.role().filter(|_| shape == Shape::Message) {
            Some(_) => message.clone(),
            None => show_as_data(document.as_str()),
        };
        Self { id: id.into(), message }
    }
}

/// A document as a system message of its JSON. One that wraps a value, and is no message itself, is shown as
/// that value.
pub(crate) fn show_as_data(document: &str) -> Message {
    Message::text(Role::System, &json::compact(wrapped(document)))
}

/// The value that a document wraps, else the document itself.
fn wrapped(text: &str) -> &str {
    match (json::member(text, "role"), json::member(text, "value")) {
        (None, Some(value)) => value.slice(text),
        _ => text,
    }
}

/// What stands before the text of a summary.
pub(crate) const SUMMARY_LABEL: &str = "Previous context summary: ";

/// A thread's summary document, as the prompt shows it; `None` when it says nothing.
pub fn show_summary(raw: &[u8]) -> Option<Message> {
    let value: serde_json::Value = serde_json::from_slice(raw).ok()?;
    let text = value.get("text")?.as_str()?.trim();
    (!text.is_empty()).then(|| Message::text(Role::System, &format!("{SUMMARY_LABEL}{text}")))
}

/// The last turn that a summary covers, where it was made from the turns and not by a caller.
pub fn summary_upto(raw: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(raw).ok()?;
    json::member(text, "by").filter(|by| matches!(by.slice(text), r#""extract""# | r#""model""#))?;
    json::member(text, "upto_seq")?.slice(text).parse().ok()
}

/// A user's data, as the prompt shows it; `None` when there is none.
pub fn show_user_data(raw: &[u8]) -> Option<Message> {
    let text = String::from_utf8_lossy(raw);
    let pairs: Vec<String> = json::members(&text)
        .filter_map(|(key, value)| {
            let pair = format!("{}: {}", json::unescape(key.slice(&text))?, show_value(value.slice(&text))?);
            Some(pair.replace(|c: char| c.is_control(), " "))
        })
        .collect();
    (!pairs.is_empty()).then(|| Message::text(Role::System, &format!("User data: {}", pairs.join(" "))))
}

/// A JSON value as a prompt shows it: a string as it is, anything else as compact JSON; `None` when it is
/// null or holds nothing.
pub fn show_value(value: &str) -> Option<Cow<'_, str>> {
    let has_content = json::has_content(value);
    has_content.then(|| json::unescape(value).unwrap_or_else(|| json::compact(value).into()))
}

/// Where a thread's summary is kept.
pub fn summary_path(user: &str, thread: &str) -> Result<DocumentPath, PathError> {
    DocumentPath::new(&[scope::USERS, user, scope::THREADS, thread, "memory", "summary"])
}

/// Where the marks of a thread's refused turns are kept.
pub fn refused_path(user: &str, thread: &str) -> Result<DocumentPath, PathError> {
    DocumentPath::new(&[scope::USERS, user, scope::THREADS, thread, "memory", "refused"])
}

/// Where a user's data is kept.
pub fn user_data_path(user: &str) -> Result<DocumentPath, PathError> {
    DocumentPath::new(&[scope::USERS, user, "memory", "data"])
}
