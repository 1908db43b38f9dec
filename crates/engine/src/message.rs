//! Messages that keep every byte they came with.
//!
//! Owns the header beside the bytes: role, cost, tool ids and file payloads, read once when a message enters. From
//! then on nothing parses it again: filters read headers, and a prompt is the bytes put one after the other.
//! [`scanned`] tells how many messages were read, so that a test can prove that warm work reads none.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use bytes::Bytes;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::json::{self, Span};
use crate::limits::{JSON_DEPTH_MAX, MESSAGE_BYTES_MAX};
use crate::payload::FilePayload;
use crate::tokens::{self, OVERHEAD_TOKENS, Tokenizer};

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    System,
    Developer,
    User,
    Assistant,
    Tool,
}

/// One message: its JSON as it came, and what was read from it.
#[derive(Debug, Clone)]
pub struct Message {
    raw: Bytes,
    role: Option<Role>,
    units: u32,
    content: Option<Content>,
    tools: Option<Arc<Tools>>,
    exact: Exact,
    edited: Edited,
}

/// A stored message: its place in a thread.
#[derive(Debug, Clone)]
pub struct Turn {
    pub seq: u64,
    pub id: Box<str>,
    pub create_time: f64,
    pub message: Message,
}

/// The text of a message, where it is one string.
#[derive(Debug, Clone, Copy)]
pub struct Content {
    pub literal: Span,
    /// UTF-16 code units of what the literal says.
    pub said_units: u32,
}

/// What ties a message to tools.
#[derive(Debug, Default)]
pub struct Tools {
    pub calls: Vec<Call>,
    pub answer: Option<Answer>,
    /// A file in the content of a tool's answer.
    pub file: Option<FilePayload>,
}

#[derive(Debug)]
pub struct Call {
    pub id: Box<str>,
    /// A file in the arguments.
    pub file: Option<FilePayload>,
}

#[derive(Debug)]
pub struct Answer {
    /// The id of the call it answers, if it names one.
    pub id: Option<Box<str>>,
    pub role: Span,
    /// `"tool_call_id": …` with the comma that goes when it goes.
    pub id_member: Option<Span>,
}

/// Why a message was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    #[error("is not a JSON object")]
    NotObject,
    #[error("has {0} bytes; the cap MESSAGE_BYTES_MAX is {MESSAGE_BYTES_MAX}")]
    TooLarge(usize),
    #[error("nests {0} deep; the cap JSON_DEPTH_MAX is {JSON_DEPTH_MAX}")]
    TooDeep(usize),
    #[error("has the key {0} twice")]
    Twice(String),
    #[error("{field} {problem}")]
    Field { field: &'static str, problem: &'static str },
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
    pub const ALL: [Self; 5] = [Self::System, Self::Developer, Self::User, Self::Assistant, Self::Tool];

    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Developer => "developer",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }

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
        let fields = Fields::read(text);
        Self {
            role: fields.role(text),
            units: json::compact_units(text),
            content: fields.content(text),
            tools: fields.tools(text).map(Arc::new),
            exact: Exact::default(),
            edited: Edited::default(),
            raw,
        }
    }

    /// A message of plain text, made here.
    pub fn text(role: Role, content: &str) -> Self {
        Self::from_stored(format!(r#"{{"role":"{}","content":{}}}"#, role.name(), json::literal(content)).into())
    }

    pub fn raw(&self) -> &Bytes {
        &self.raw
    }

    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.raw).unwrap_or("")
    }

    pub fn role(&self) -> Option<Role> {
        self.role
    }

    pub fn is(&self, role: Role) -> bool {
        self.role == Some(role)
    }

    /// UTF-16 code units of its compact JSON.
    pub fn units(&self) -> u32 {
        self.units
    }

    pub fn content(&self) -> Option<Content> {
        self.content
    }

    /// What the content says, where it is one string.
    pub fn said(&self) -> Option<Cow<'_, str>> {
        json::unescape(self.content?.literal.of(self.as_str()))
    }

    pub fn tools(&self) -> Option<&Tools> {
        self.tools.as_deref()
    }

    pub fn calls(&self) -> &[Call] {
        self.tools().map(|t| t.calls.as_slice()).unwrap_or_default()
    }

    /// Tokens of the text alone, without the overhead. An exact count is made once and kept.
    pub fn text_tokens(&self, tokenizer: Tokenizer) -> u32 {
        match tokenizer {
            Tokenizer::Approx => tokens::approx(self.units),
            exact => self.exact.get_or_count(exact, || exact.count(&json::compact(self.as_str()))),
        }
    }

    /// Tokens of an edited form of this message, known by its print. The exact count of the newest one is kept.
    pub fn edited_tokens(&self, tokenizer: Tokenizer, print: u64, count: impl FnOnce() -> u32) -> u32 {
        let kept = self.edited.of(tokenizer);
        let (print, known) = (print & !TOKENS_MASK, kept.load(Ordering::Relaxed));
        if known != 0 && known & !TOKENS_MASK == print {
            return (known & TOKENS_MASK) as u32;
        }
        let tokens = count();
        if u64::from(tokens) <= TOKENS_MASK {
            kept.store(print | u64::from(tokens), Ordering::Relaxed);
        }
        tokens
    }

    /// What it costs in a prompt.
    #[inline]
    pub fn tokens(&self, tokenizer: Tokenizer) -> u32 {
        self.text_tokens(tokenizer) + OVERHEAD_TOKENS
    }

    /// Bytes it takes in memory, more or less.
    pub fn weight(&self) -> usize {
        let files = |t: &Tools| {
            t.calls.iter().filter_map(|c| c.file.as_ref()).chain(&t.file).map(FilePayload::weight).sum::<usize>()
        };
        let tools: usize = self.tools().map(|t| 96 + t.calls.len() * 64 + files(t)).unwrap_or(0);
        self.raw.len() + std::mem::size_of::<Self>() + tools
    }
}

/// How many messages have been read since the process began.
pub fn scanned() -> u64 {
    SCANNED.load(Ordering::Relaxed)
}

static SCANNED: AtomicU64 = AtomicU64::new(0);

/// Exact counts, each made on first use; 0 is "not yet". Any thread may fill one, all would write the same number.
#[derive(Debug, Default)]
struct Exact([AtomicU32; 2]);

impl Exact {
    fn get_or_count(&self, tokenizer: Tokenizer, count: impl FnOnce() -> u32) -> u32 {
        let [o200k, cl100k] = &self.0;
        let kept = if tokenizer == Tokenizer::O200kBase { o200k } else { cl100k };
        match kept.load(Ordering::Relaxed) {
            0 => {
                let tokens = count();
                kept.store(tokens, Ordering::Relaxed);
                tokens
            }
            tokens => tokens,
        }
    }
}

impl Clone for Exact {
    fn clone(&self) -> Self {
        Self(self.0.each_ref().map(|n| AtomicU32::new(n.load(Ordering::Relaxed))))
    }
}

/// The exact count of the newest edited form: the print above, the tokens below the mask, so that they change together.
#[derive(Debug, Default)]
struct Edited([AtomicU64; 2]);

/// Wide enough for the tokens of any message within `MESSAGE_BYTES_MAX`; a larger count is not kept.
const TOKENS_MASK: u64 = (1 << 24) - 1;

impl Edited {
    fn of(&self, tokenizer: Tokenizer) -> &AtomicU64 {
        let [o200k, cl100k] = &self.0;
        if tokenizer == Tokenizer::O200kBase { o200k } else { cl100k }
    }
}

impl Clone for Edited {
    fn clone(&self) -> Self {
        Self(self.0.each_ref().map(|n| AtomicU64::new(n.load(Ordering::Relaxed))))
    }
}

/// Accepts the bytes of a document: small enough, and not nested without end.
pub fn check_size(raw: &[u8]) -> Result<(), MessageError> {
    if raw.len() > MESSAGE_BYTES_MAX {
        return Err(MessageError::TooLarge(raw.len()));
    }
    match json::depth(std::str::from_utf8(raw).unwrap_or("")) {
        deep if deep > JSON_DEPTH_MAX => Err(MessageError::TooDeep(deep)),
        _ => Ok(()),
    }
}

fn check_fields(text: &str) -> Result<(), MessageError> {
    let refuse = |field, problem| Err(MessageError::Field { field, problem });
    serde_json::from_str::<&RawValue>(text).map_err(|_| MessageError::NotObject)?;
    if !text.trim_start().starts_with('{') {
        return Err(MessageError::NotObject);
    }
    check_keys(text)?;
    let fields = Fields::read(text);
    let Some(role) = fields.role else { return refuse("role", "is missing") };
    if Role::from_name(&json::unescape(role.of(text)).unwrap_or_default()).is_none() {
        return refuse("role", "must be system, developer, user, assistant or tool");
    }
    if !fields.content.is_none_or(|c| matches!(kind(c.of(text)), Kind::String | Kind::Array | Kind::Null)) {
        return refuse("content", "must be a string, an array of parts or null");
    }
    if let Some(calls) = fields.calls.map(|c| c.of(text)) {
        match kind(calls) {
            Kind::Null => {}
            Kind::Array if json::elements(calls).all(|c| call_id(c.of(calls)).is_some()) => {}
            _ => return refuse("tool_calls", "must be an array of objects, each with a string id"),
        }
    }
    if !fields.answers.is_none_or(|(_, id)| matches!(kind(id.of(text)), Kind::String | Kind::Null)) {
        return refuse("tool_call_id", "must be a string");
    }
    Ok(())
}

/// A key that stands twice would be read differently by different readers.
fn check_keys(text: &str) -> Result<(), MessageError> {
    let said = |key: Span| json::unescape(key.of(text)).unwrap_or(Cow::Borrowed(key.of(text)));
    let mut keys: Vec<Cow<'_, str>> = json::members(text).map(|(key, _)| said(key)).collect();
    keys.sort_unstable();
    let twice = keys.windows(2).find_map(|pair| match pair {
        [one, other] if one == other => Some(json::literal(one)),
        _ => None,
    });
    twice.map_or(Ok(()), |key| Err(MessageError::Twice(key)))
}

#[derive(PartialEq)]
enum Kind {
    String,
    Array,
    Null,
    Other,
}

fn kind(value: &str) -> Kind {
    match value.as_bytes().first() {
        Some(b'"') => Kind::String,
        Some(b'[') => Kind::Array,
        Some(b'n') => Kind::Null,
        _ => Kind::Other,
    }
}

/// Where the fields that matter stand in the text.
#[derive(Default)]
struct Fields {
    role: Option<Span>,
    content: Option<Span>,
    calls: Option<Span>,
    /// The whole member, and the value.
    answers: Option<(Span, Span)>,
}

impl Fields {
    fn read(text: &str) -> Self {
        let mut fields = Self::default();
        for (key, value) in json::members(text) {
            match json::unescape(key.of(text)).as_deref() {
                Some("role") => fields.role = Some(value),
                Some("content") => fields.content = Some(value),
                Some("tool_calls") => fields.calls = Some(value),
                Some("tool_call_id") => fields.answers = Some((Span { start: key.start, end: value.end }, value)),
                _ => {}
            }
        }
        fields
    }

    fn role(&self, text: &str) -> Option<Role> {
        Role::from_name(&json::unescape(self.role?.of(text))?)
    }

    fn content(&self, text: &str) -> Option<Content> {
        let literal = self.content.filter(|c| kind(c.of(text)) == Kind::String)?;
        Some(Content { literal, said_units: json::said_units(literal.of(text)) })
    }

    fn tools(&self, text: &str) -> Option<Tools> {
        match self.role(text)? {
            Role::Assistant => {
                let calls = read_calls(text, self.calls?);
                (!calls.is_empty()).then(|| Tools { calls, ..Tools::default() })
            }
            Role::Tool => Some(Tools {
                answer: Some(self.answer(text)?),
                file: self.content(text).and_then(|c| FilePayload::read(text, c.literal)),
                ..Tools::default()
            }),
            _ => None,
        }
    }

    fn answer(&self, text: &str) -> Option<Answer> {
        Some(Answer {
            id: self.answers.and_then(|(_, id)| json::unescape(id.of(text))).map(|id| id.into()),
            role: self.role?,
            id_member: self.answers.map(|(member, _)| with_comma(text, member)),
        })
    }
}

fn read_calls(text: &str, calls: Span) -> Vec<Call> {
    let list = calls.of(text);
    json::elements(list)
        .filter_map(|call| {
            let call = call.shifted(calls.start);
            let arguments = member(text, call, "function").and_then(|f| member(text, f, "arguments"));
            Some(Call { id: call_id(call.of(text))?, file: arguments.and_then(|a| FilePayload::read(text, a)) })
        })
        .collect()
}

fn call_id(call: &str) -> Option<Box<str>> {
    let id = member(call, Span { start: 0, end: call.len() as u32 }, "id")?;
    json::unescape(id.of(call)).map(|id| id.into())
}

/// The value of `name` in the object that stands at `object`; the last, as most readers take it, where there are two.
fn member(text: &str, object: Span, name: &str) -> Option<Span> {
    let inner = object.of(text);
    json::members(inner)
        .filter(|(key, _)| json::unescape(key.of(inner)).as_deref() == Some(name))
        .last()
        .map(|(_, value)| value.shifted(object.start))
}

/// Widens a member to the comma that must go with it.
fn with_comma(text: &str, member: Span) -> Span {
    let before = text.get(..member.start as usize).unwrap_or("").trim_end();
    let after = text.get(member.end as usize..).unwrap_or("");
    let gap = after.len() - after.trim_start().len();
    if before.ends_with(',') {
        Span { start: before.len() as u32 - 1, end: member.end }
    } else if after.trim_start().starts_with(',') {
        Span { start: member.start, end: member.end + gap as u32 + 1 }
    } else {
        member
    }
}

#[cfg(test)]
#[path = "message_tests.rs"]
mod tests;
