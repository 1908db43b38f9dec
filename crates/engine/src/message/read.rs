//! LevelScope a message, once, when it enters.
//!
//! Owns what makes a message acceptable, and where its fields stand. Text that is stored already is read
//! leniently.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::{Content, MessageError, Role, ToolAnswer, ToolCall, ToolUse};
use crate::json::{self, Span};
use crate::limits::{JSON_DEPTH_MAX, MESSAGE_BYTES_MAX};
use crate::payload::FilePayload;

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

pub(super) fn check_fields(text: &str) -> Result<(), MessageError> {
    let refuse = |field, problem| Err(MessageError::Field { field, problem });
    serde_json::from_str::<&RawValue>(text).map_err(|_| MessageError::NotObject)?;
    if !text.trim_start().starts_with('{') {
        return Err(MessageError::NotObject);
    }
    check_keys(text)?;
    let fields = MessageFields::read(text);
    let Some(role) = fields.role else { return refuse("role", "is missing") };
    if Role::from_name(&json::unescape(role.slice(text)).unwrap_or_default()).is_none() {
        return refuse("role", "must be system, developer, user, assistant or tool");
    }
    if !fields.content.is_none_or(|c| matches!(kind(c.slice(text)), Kind::String | Kind::Array | Kind::Null)) {
        return refuse("content", "must be a string, an array of parts or null");
    }
    if let Some(calls) = fields.calls.map(|c| c.slice(text)) {
        match kind(calls) {
            Kind::Null => {}
            Kind::Array if json::elements(calls).all(|c| call_id(c.slice(calls)).is_some()) => {}
            _ => return refuse("tool_calls", "must be an array of objects, each with a string id"),
        }
    }
    if !fields.answers.is_none_or(|(_, id)| matches!(kind(id.slice(text)), Kind::String | Kind::Null)) {
        return refuse("tool_call_id", "must be a string");
    }
    Ok(())
}

/// A key that stands twice would be read differently by different readers.
fn check_keys(text: &str) -> Result<(), MessageError> {
    let said = |key: Span| json::unescape(key.slice(text)).unwrap_or(Cow::Borrowed(key.slice(text)));
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
pub(super) struct MessageFields {
    role: Option<Span>,
    content: Option<Span>,
    calls: Option<Span>,
    /// The whole member, and the value.
    answers: Option<(Span, Span)>,
    pub(super) has_doc_id: bool,
    /// What a wrapper wraps.
    pub(super) value: Option<Span>,
}

impl MessageFields {
    pub(super) fn read(text: &str) -> Self {
        let mut fields = Self::default();
        for (key, value) in json::members(text) {
            match json::unescape(key.slice(text)).as_deref() {
                Some("role") => fields.role = Some(value),
                Some("content") => fields.content = Some(value),
                Some("tool_calls") => fields.calls = Some(value),
                Some("tool_call_id") => fields.answers = Some((Span { start: key.start, end: value.end }, value)),
                Some("docId") => fields.has_doc_id = true,
                Some("value") => fields.value = Some(value),
                _ => {}
            }
        }
        fields
    }

    /// Where the text begins that a framing precedes: in the content, or in its first part that has one.
    pub(super) fn text_start(&self, text: &str) -> Option<u32> {
        let content = self.content?;
        let said = |literal: Span| (kind(literal.slice(text)) == Kind::String).then_some(literal.start + 1);
        let parts = || json::elements(content.slice(text)).map(|part| part.shifted(content.start));
        said(content).or_else(|| parts().find_map(|part| member(text, part, "text").and_then(said)))
    }

    pub(super) fn role(&self, text: &str) -> Option<Role> {
        Role::from_name(&json::unescape(self.role?.slice(text))?)
    }

    pub(super) fn content(&self, text: &str) -> Option<Content> {
        let literal = self.content.filter(|c| kind(c.slice(text)) == Kind::String)?;
        Some(Content { literal, unescaped_units: json::unescaped_units(literal.slice(text)) })
    }

    pub(super) fn tools(&self, text: &str) -> Option<ToolUse> {
        match self.role(text)? {
            Role::Assistant => {
                let (calls, files) = read_calls(text, self.calls?);
                let has_any = !calls.is_empty() || !files.is_empty();
                has_any.then(|| ToolUse { calls, files, ..ToolUse::default() })
            }
            Role::Tool => Some(ToolUse {
                answer: Some(self.answer(text)?),
                files: self.content(text).and_then(|c| FilePayload::read(text, c.literal)).into_iter().collect(),
                ..ToolUse::default()
            }),
            _ => None,
        }
    }

    fn answer(&self, text: &str) -> Option<ToolAnswer> {
        Some(ToolAnswer {
            id: self.answers.and_then(|(_, id)| json::unescape(id.slice(text))).map(|id| id.into()),
            role: self.role?,
            id_member: self.answers.map(|(member, _)| with_comma(text, member)),
        })
    }
}

/// The calls that have an id, and the files of all calls.
fn read_calls(text: &str, calls: Span) -> (Vec<ToolCall>, Vec<FilePayload>) {
    let (mut named, mut files) = (Vec::new(), Vec::new());
    for call in json::elements(calls.slice(text)).map(|call| call.shifted(calls.start)) {
        let arguments = member(text, call, "function").and_then(|f| member(text, f, "arguments"));
        named.extend(call_id(call.slice(text)).map(|id| ToolCall { id }));
        files.extend(arguments.and_then(|a| FilePayload::read(text, a)));
    }
    (named, files)
}

fn call_id(call: &str) -> Option<Box<str>> {
    let id = json::member(call, "id")?;
    json::unescape(id.slice(call)).map(|id| id.into())
}

/// The value of `name` in the object that stands at `object`.
fn member(text: &str, object: Span, name: &str) -> Option<Span> {
    json::member(object.slice(text), name).map(|value| value.shifted(object.start))
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
