//! Messages that keep every byte they came with.
//!
//! Owns the header beside the bytes: role, cost, tool ids and file payloads, read once when a message enters.
//! From then on nothing parses it again: filters read headers, and a prompt is the bytes put one after the
//! other. [`scanned`] tells how many messages were read, so that a test can prove that warm work reads none.

mod exact;
mod read;

use std::borrow::Cow;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use serde::Serialize;

use crate::json::{self, Span};
use crate::limits::{JSON_DEPTH_MAX, MESSAGE_BYTES_MAX};
use crate::payload::FilePayload;
use crate::tokens::{self, OVERHEAD_TOKENS, Tokenizer};
use exact::{EditedCount, Exact};
use read::{MessageFields, check_fields};

pub use read::check_size;

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions.
    System,
    /// Instructions, in the newer spelling of some providers.
    Developer,
    /// The person.
    User,
    /// The model.
    Assistant,
    /// The answer of a tool.
    Tool,
}

/// One message: its JSON as it came, and what was read from it.
///
/// The bytes are kept: spacing, the order of keys and unknown fields reach the model as they came.
///
/// ```
/// use novelo_engine::{Message, Role, Tokenizer};
///
/// let message = Message::accept(r#"{ "content": "Hi", "role": "user", "name": "ana" }"#.into())?;
/// assert_eq!(message.role(), Some(Role::User));
/// assert_eq!(message.content_text().as_deref(), Some("Hi"));
/// assert_eq!(message.as_str(), r#"{ "content": "Hi", "role": "user", "name": "ana" }"#);
/// assert_eq!(message.tokens(Tokenizer::Approx), 19);
///
/// let refused = Message::accept(r#"{"role": "parrot", "content": "Hi"}"#.into());
/// assert_eq!(refused.unwrap_err().field(), Some("role"));
/// # Ok::<(), novelo_engine::message::MessageError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Message {
    raw: Bytes,
    role: Option<Role>,
    units: u32,
    content: Option<Content>,
    text_start: Option<NonZeroU32>,
    has_doc_id: bool,
    tools: Option<Arc<ToolUse>>,
    /// The message that this document wraps, where it is none itself.
    wrapped: Option<Arc<Message>>,
    exact: Exact,
    edited: EditedCount,
}

/// The same bytes.
impl PartialEq for Message {
    fn eq(&self, other: &Self) -> bool {
        self.raw == other.raw
    }
}

/// A stored message: its place in a thread.
#[derive(Debug, Clone)]
pub struct Turn {
    /// Its place in the thread, from 1.
    pub seq: u64,
    /// The id of its document.
    pub id: Box<str>,
    /// When it was stored, in seconds since 1970.
    pub create_time: f64,
    /// The message.
    pub message: Message,
}

/// The text of a message, where it is one string.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Content {
    pub(crate) literal: Span,
    /// UTF-16 code units of what the literal says.
    pub(crate) unescaped_units: u32,
}

/// What ties a message to tools.
#[derive(Debug, Default)]
pub(crate) struct ToolUse {
    pub(crate) calls: Vec<ToolCall>,
    pub(crate) answer: Option<ToolAnswer>,
    /// The files in the arguments of its calls, in their order, or in the content of its answer. A call need
    /// not have an id for that.
    pub(crate) files: Vec<FilePayload>,
}

#[derive(Debug)]
pub(crate) struct ToolCall {
    pub id: Box<str>,
}

#[derive(Debug)]
pub(crate) struct ToolAnswer {
    /// The id of the call it answers, if it names one.
    pub id: Option<Box<str>>,
    pub role: Span,
    /// `"tool_call_id": …` with the comma that goes when it goes.
    pub(crate) id_member: Option<Span>,
}

/// Why a message was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// It is not a JSON object in UTF-8.
    #[error("is not a JSON object")]
    NotObject,
    /// It has this many bytes, which is more than `MESSAGE_BYTES_MAX`.
    #[error("has {0} bytes; the cap MESSAGE_BYTES_MAX is {MESSAGE_BYTES_MAX}")]
    TooLarge(usize),
    /// It nests this deep, which is deeper than `JSON_DEPTH_MAX`.
    #[error("nests {0} deep; the cap JSON_DEPTH_MAX is {JSON_DEPTH_MAX}")]
    TooDeep(usize),
    /// A key stands in it twice.
    #[error("has the key {0} twice")]
    Twice(String),
    /// A field has a value that no message can have.
    #[error("{field} {problem}")]
    Field {
        /// The name of the field.
        field: &'static str,
        /// What is wrong with it.
        problem: &'static str,
    },
}

impl MessageError {
    /// The field at fault, where it is one.
    pub fn field(&self) -> Option<&'static str> {
        match self {
            Self::Field { field, .. } => Some(field),
            _ => None,
        }
    }
}

impl Role {
    /// All roles.
    pub const ALL: [Self; 5] = [Self::System, Self::Developer, Self::User, Self::Assistant, Self::Tool];

    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Developer => "developer",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }

    /// The role of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|r| r.name() == name)
    }

    /// Whether it instructs rather than converses.
    pub fn instructs(self) -> bool {
        matches!(self, Self::System | Self::Developer)
    }
}

impl Message {
    /// Takes a message from outside, or says what is wrong with it.
    pub fn accept(raw: Bytes) -> Result<Self, MessageError> {
        check_size(&raw)?;
        let text = std::str::from_utf8(&raw).map_err(|_| MessageError::NotObject)?;
        check_fields(text)?;
        Ok(Self::from_stored(raw))
    }

    /// Takes a document that was stored, whatever it holds. One without a role can still be shown, as data.
    pub fn from_stored(raw: Bytes) -> Self {
        SCANNED.fetch_add(1, Ordering::Relaxed);
        let text = std::str::from_utf8(&raw).unwrap_or("");
        let fields = MessageFields::read(text);
        let role = fields.role(text);
        Self {
            role,
            units: json::compact_units(text),
            content: fields.content(text),
            text_start: fields.text_start(text).and_then(NonZeroU32::new),
            has_doc_id: fields.has_doc_id,
            tools: fields.tools(text).map(Arc::new),
            wrapped: fields.value.filter(|_| role.is_none()).and_then(|value| unwrap(&raw, value)).map(Arc::new),
            exact: Exact::default(),
            edited: EditedCount::default(),
            raw,
        }
    }

    /// A message of plain text, made here.
    pub fn text(role: Role, content: &str) -> Self {
        Self::from_stored(format!(r#"{{"role":"{}","content":{}}}"#, role.name(), json::literal(content)).into())
    }

    /// Its JSON.
    pub fn raw(&self) -> &Bytes {
        &self.raw
    }

    /// Its JSON as text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.raw).unwrap_or("")
    }

    /// Who speaks; `None` for a document that is no message.
    pub fn role(&self) -> Option<Role> {
        self.role
    }

    /// Whether this role speaks.
    pub fn is(&self, role: Role) -> bool {
        self.role == Some(role)
    }

    /// The message to be shown: itself, or the one that it wraps.
    pub fn shown(&self) -> &Self {
        self.wrapped.as_deref().unwrap_or(self)
    }

    /// Where the text begins that a framing precedes.
    pub(crate) fn text_start(&self) -> Option<u32> {
        self.text_start.map(NonZeroU32::get)
    }

    /// The value of a `docId` that it came with.
    pub(crate) fn doc_id(&self) -> Option<Span> {
        if self.has_doc_id { json::member(self.as_str(), "docId") } else { None }
    }

    /// UTF-16 code units of its compact JSON.
    pub(crate) fn units(&self) -> u32 {
        self.units
    }

    pub(crate) fn content(&self) -> Option<Content> {
        self.content
    }

    /// What the content says, where it is one string.
    pub fn content_text(&self) -> Option<Cow<'_, str>> {
        json::unescape(self.content?.literal.slice(self.as_str()))
    }

    /// The ids of the tool calls that it makes.
    pub fn call_ids(&self) -> impl Iterator<Item = &str> {
        self.calls().iter().map(|call| &*call.id)
    }

    /// The id of the tool call that it answers, where it names one.
    pub fn answered_call_id(&self) -> Option<&str> {
        self.tools()?.answer.as_ref()?.id.as_deref()
    }

    pub(crate) fn tools(&self) -> Option<&ToolUse> {
        self.tools.as_deref()
    }

    pub(crate) fn calls(&self) -> &[ToolCall] {
        self.tools().map(|t| t.calls.as_slice()).unwrap_or_default()
    }

    /// Tokens of the text alone, without the overhead. An exact count is made once and kept.
    #[inline]
    pub(crate) fn text_tokens(&self, tokenizer: Tokenizer) -> u32 {
        match tokenizer {
            Tokenizer::Approx => tokens::approx(self.units),
            exact => self.exact.get_or_count(exact, || exact.count(&json::compact(self.as_str()))),
        }
    }

    /// Tokens of an edited form of this message, known by its fingerprint. The exact count of the newest one
    /// is kept.
    pub(crate) fn edited_tokens(&self, tokenizer: Tokenizer, fingerprint: u64, count: impl FnOnce() -> u32) -> u32 {
        self.edited.get_or_count(tokenizer, fingerprint, count)
    }

    /// What it costs in a prompt.
    #[inline]
    pub fn tokens(&self, tokenizer: Tokenizer) -> u32 {
        self.text_tokens(tokenizer) + OVERHEAD_TOKENS
    }

    /// Bytes it takes in memory, more or less.
    pub fn weight(&self) -> usize {
        let files = |t: &ToolUse| t.files.iter().map(FilePayload::weight).sum::<usize>();
        let tools: usize = self.tools().map(|t| 96 + t.calls.len() * 64 + files(t)).unwrap_or(0);
        let wrapped = self.wrapped.as_ref().map_or(0, |inner| inner.weight() - inner.raw.len());
        self.raw.len() + std::mem::size_of::<Self>() + tools + wrapped
    }
}

/// The message at `value`, if one stands there. It shares the bytes of the whole.
fn unwrap(raw: &Bytes, value: Span) -> Option<Message> {
    let text = value.slice(std::str::from_utf8(raw).unwrap_or(""));
    MessageFields::read(text).role(text)?;
    Some(Message::from_stored(raw.slice_ref(text.as_bytes())))
}

/// How many messages have been read since the process began.
pub fn scanned() -> u64 {
    SCANNED.load(Ordering::Relaxed)
}

static SCANNED: AtomicU64 = AtomicU64::new(0);

#[cfg(test)]
mod tests;
