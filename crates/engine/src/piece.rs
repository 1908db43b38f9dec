//! Candidates for the prompt.
//!
//! Owns [`Piece`]: a message with where it comes from, what it costs and what became of it. A piece cannot be built
//! without origin, cost and reason, and none is ever thrown away: one that is out stays in the draft, marked dropped,
//! so that the explanation partitions the input. Changes are splices over the original bytes, written at the end.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;

use crate::json::{self, Span};
use crate::message::{Answer, Message, Role};
use crate::payload::{FilePayload, Placeholder};
use crate::tokens::{self, OVERHEAD_TOKENS, Tokenizer};

/// One candidate.
#[derive(Debug, Clone)]
pub struct Piece<'a> {
    pub origin: Origin<'a>,
    pub tokens: u32,
    pub fate: Fate,
    /// The component or filter that decided.
    pub by: &'static str,
    pub why: Why<'a>,
    body: Body<'a>,
}

/// Where a piece comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Origin<'a> {
    Turn { seq: u64, id: &'a str },
    Inline { index: usize },
    /// A component that is not the log: its name, and the document's id where there is one.
    Component { name: &'a str, id: Option<&'a str> },
    /// Made by a filter, to stand after another piece.
    Made,
}

/// What became of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Fate {
    Kept,
    Cut,
    Redacted,
    Moved,
    Made,
    Collapsed,
    Dropped,
}

/// Why it became so.
#[derive(Debug, Clone, PartialEq)]
pub enum Why<'a> {
    Emitted,
    Leads,
    NewestUser,
    InWindow,
    Fits { room_tokens: u32 },
    OutsideWindow { window: &'static str, size: u64 },
    NoRoom { tokens: u32, room_tokens: u32 },
    AfterGap,
    TooLarge { tokens: u32, room_tokens: u32 },
    OnlySystem,
    Evicted { max_tokens: u32, keep_tokens: u32 },
    ContentCut { from_units: u32, to_units: u32 },
    FileHidden { path: &'a str, limit: &'static str },
    Unanswered { call: &'a str },
    Orphan { call: Option<&'a str>, role: &'a str },
    FollowsCall { call: &'a str },
    Repeats,
}

#[derive(Debug, Clone)]
enum Body<'a> {
    Stored(&'a Message),
    Edited(Box<Edited<'a>>),
    Made(Box<Message>),
}

/// A stored message with splices, in the order of their spans.
#[derive(Debug, Clone)]
struct Edited<'a> {
    base: &'a Message,
    role: Option<Role>,
    units: i64,
    splices: Vec<(Span, Splice<'a>)>,
}

#[derive(Debug, Clone)]
enum Splice<'a> {
    Hidden(&'a FilePayload, &'a Placeholder),
    Text(String),
}

impl<'a> Piece<'a> {
    pub fn stored(origin: Origin<'a>, by: &'static str, message: &'a Message, tokenizer: Tokenizer) -> Self {
        let tokens = message.tokens(tokenizer);
        Self { origin, tokens, fate: Fate::Kept, by, why: Why::Emitted, body: Body::Stored(message) }
    }

    pub fn made(
        origin: Origin<'a>,
        by: &'static str,
        why: Why<'a>,
        message: Message,
        tokenizer: Tokenizer,
    ) -> Self {
        let tokens = message.tokens(tokenizer);
        Self { origin, tokens, fate: Fate::Made, by, why, body: Body::Made(Box::new(message)) }
    }

    pub fn is_out(&self) -> bool {
        self.fate == Fate::Dropped
    }

    /// Whether it belongs to the conversation, rather than to what stands around it.
    pub fn is_log(&self) -> bool {
        matches!(self.origin, Origin::Turn { .. } | Origin::Inline { .. } | Origin::Made)
    }

    pub fn role(&self) -> Option<Role> {
        match &self.body {
            Body::Stored(message) => message.role(),
            Body::Made(message) => message.role(),
            Body::Edited(edited) => edited.role,
        }
    }

    pub fn is(&self, role: Role) -> bool {
        self.role() == Some(role)
    }

    pub fn instructs(&self) -> bool {
        self.role().is_some_and(Role::instructs)
    }

    /// The message that its bytes come from.
    pub fn base(&self) -> &Message {
        match &self.body {
            Body::Stored(message) => message,
            Body::Made(message) => message,
            Body::Edited(edited) => edited.base,
        }
    }

    /// The message it was stored as, for as long as the documents live; `None` for one that was made here.
    pub fn source(&self) -> Option<&'a Message> {
        match &self.body {
            Body::Stored(message) => Some(message),
            Body::Edited(edited) => Some(edited.base),
            Body::Made(_) => None,
        }
    }

    /// Whether its bytes are those of a stored message.
    pub fn is_verbatim(&self) -> bool {
        matches!(self.body, Body::Stored(_))
    }

    pub fn drop(&mut self, by: &'static str, why: Why<'a>) {
        self.mark(Fate::Dropped, by, why);
    }

    /// Says what became of it, without changing it.
    pub fn mark(&mut self, fate: Fate, by: &'static str, why: Why<'a>) {
        self.fate = fate;
        self.by = by;
        self.why = why;
    }

    /// Hides the content of a file it carries.
    pub fn hide(&mut self, file: &'a FilePayload, placeholder: &'a Placeholder, tokenizer: Tokenizer) {
        self.splice(file.literal, Splice::Hidden(file, placeholder), file.units_gained(placeholder), tokenizer);
    }

    /// UTF-16 code units of its text, where the content is one string.
    pub fn content_units(&self) -> Option<u32> {
        let content = self.base().content()?;
        match self.spliced(content.literal) {
            Some(Splice::Hidden(file, placeholder)) => Some(file.said_units_hidden(placeholder)),
            Some(Splice::Text(literal)) => Some(json::said_units(literal)),
            None => Some(content.said_units),
        }
    }

    /// Cuts its text to the first `units_max` UTF-16 code units.
    pub fn cut(&mut self, units_max: u32, tokenizer: Tokenizer) {
        let Some(content) = self.base().content() else { return };
        let literal = match self.spliced(content.literal) {
            Some(splice) => splice.text(),
            None => Cow::Borrowed(content.literal.of(self.base().as_str())),
        };
        let shorter = json::truncate(&literal, units_max);
        let gained = i64::from(json::compact_units(&shorter)) - i64::from(json::compact_units(&literal));
        self.splice(content.literal, Splice::Text(shorter), gained, tokenizer);
    }

    /// Puts a text before its own, where the content is one string.
    pub fn frame(&mut self, framing: &str, tokenizer: Tokenizer) {
        let Some(content) = self.base().content() else { return };
        let mut literal = String::from("\"");
        json::escape_into(framing, &mut literal);
        let gained = i64::from(json::utf16_units(&literal)) - 1;
        literal.push_str(content.literal.of(self.base().as_str()).get(1..).unwrap_or("\""));
        self.splice(content.literal, Splice::Text(literal), gained, tokenizer);
    }

    /// Turns an answer nobody asked for into a message of another role.
    pub fn recast(&mut self, answer: &'a Answer, role: &str, strip_id: bool, tokenizer: Tokenizer) {
        let text = self.base().as_str();
        let written = json::literal(role);
        let units = |span: Span| i64::from(json::compact_units(span.of(text)));
        let gained = i64::from(json::utf16_units(&written)) - units(answer.role);
        let stripped = answer.id_member.filter(|_| strip_id).map(|member| (member, -units(member)));
        self.splice(answer.role, Splice::Text(written), gained, tokenizer);
        if let Some((member, gained)) = stripped {
            self.splice(member, Splice::Text(String::new()), gained, tokenizer);
        }
        if let Body::Edited(edited) = &mut self.body {
            edited.role = Role::from_name(role);
        }
    }

    /// Writes the message as the model will see it.
    pub fn write(&self, out: &mut Vec<u8>) {
        match &self.body {
            Body::Stored(message) => out.extend_from_slice(message.raw()),
            Body::Made(message) => out.extend_from_slice(message.raw()),
            Body::Edited(edited) => edited.write(out),
        }
    }

    /// Tokens of its text by another tokenizer than the one its cost was counted with.
    pub fn text_tokens(&self, tokenizer: Tokenizer) -> u32 {
        match &self.body {
            Body::Stored(message) => message.text_tokens(tokenizer),
            Body::Made(message) => message.text_tokens(tokenizer),
            Body::Edited(edited) => edited.tokens(tokenizer) - OVERHEAD_TOKENS,
        }
    }

    fn spliced(&self, span: Span) -> Option<&Splice<'a>> {
        match &self.body {
            Body::Edited(edited) => edited.splices.iter().find(|(at, _)| *at == span).map(|(_, splice)| splice),
            _ => None,
        }
    }

    fn splice(&mut self, at: Span, splice: Splice<'a>, units_gained: i64, tokenizer: Tokenizer) {
        if let Body::Made(message) = &mut self.body {
            let mut edited = Edited::of(message);
            edited.put(at, splice, units_gained);
            let mut raw = Vec::new();
            edited.write(&mut raw);
            **message = Message::from_stored(raw.into());
            self.tokens = message.tokens(tokenizer);
            return;
        }
        if let Body::Stored(message) = self.body {
            self.body = Body::Edited(Box::new(Edited::of(message)));
        }
        if let Body::Edited(edited) = &mut self.body {
            edited.put(at, splice, units_gained);
            self.tokens = edited.tokens(tokenizer);
        }
    }
}

impl<'a> Edited<'a> {
    fn of(base: &'a Message) -> Self {
        Self { base, role: base.role(), units: i64::from(base.units()), splices: Vec::new() }
    }

    fn put(&mut self, at: Span, splice: Splice<'a>, units_gained: i64) {
        self.units += units_gained;
        match self.splices.binary_search_by_key(&at, |(span, _)| *span) {
            Ok(found) => {
                if let Some(entry) = self.splices.get_mut(found) {
                    entry.1 = splice;
                }
            }
            Err(place) => self.splices.insert(place, (at, splice)),
        }
    }

    fn tokens(&self, tokenizer: Tokenizer) -> u32 {
        let text = match tokenizer {
            Tokenizer::Approx => tokens::approx(self.units.max(0) as u32),
            exact => {
                let mut raw = Vec::new();
                self.write(&mut raw);
                exact.count(&json::compact(&String::from_utf8_lossy(&raw)))
            }
        };
        text + OVERHEAD_TOKENS
    }

    fn write(&self, out: &mut Vec<u8>) {
        let raw = self.base.raw();
        let mut copied = 0;
        for (span, splice) in &self.splices {
            out.extend_from_slice(raw.get(copied..span.start as usize).unwrap_or_default());
            splice.write(out);
            copied = span.end as usize;
        }
        out.extend_from_slice(raw.get(copied..).unwrap_or_default());
    }
}

impl Splice<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Hidden(file, placeholder) => file.write_hidden(placeholder, out),
            Self::Text(text) => out.extend_from_slice(text.as_bytes()),
        }
    }

    fn text(&self) -> Cow<'_, str> {
        let mut bytes = Vec::new();
        self.write(&mut bytes);
        Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl Fate {
    pub fn name(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Cut => "cut",
            Self::Redacted => "redacted",
            Self::Moved => "moved",
            Self::Made => "made",
            Self::Collapsed => "collapsed",
            Self::Dropped => "dropped",
        }
    }
}

impl fmt::Display for Why<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Emitted => write!(f, "as stored"),
            Self::Leads => write!(f, "leads the thread, always stays"),
            Self::NewestUser => write!(f, "newest user turn, always stays"),
            Self::InWindow => write!(f, "inside the window"),
            Self::Fits { room_tokens } => write!(f, "fits, {room_tokens} tokens were left"),
            Self::OutsideWindow { window, size } => write!(f, "before the last {size} {window}"),
            Self::NoRoom { tokens, room_tokens } => write!(f, "needs {tokens} tokens, {room_tokens} were left"),
            Self::AfterGap => write!(f, "older than the first turn that did not fit"),
            Self::TooLarge { tokens, room_tokens } => {
                write!(f, "needs {tokens} tokens, more than the {room_tokens} that all turns share")
            }
            Self::OnlySystem => write!(f, "over the cap, but the one system message that is preserved"),
            Self::Evicted { max_tokens, keep_tokens } => {
                write!(f, "evicted in a block: past {max_tokens} tokens the window falls back to {keep_tokens}")
            }
            Self::ContentCut { from_units, to_units } => {
                write!(f, "content cut from {from_units} to {to_units} characters")
            }
            Self::FileHidden { path, limit } => write!(f, "contents of {path} hidden, beyond {limit}"),
            Self::Unanswered { call } => write!(f, "answers call {call}, which had no answer"),
            Self::Orphan { call: Some(call), role } => write!(f, "no call {call} in the window, now a {role} message"),
            Self::Orphan { call: None, role } => write!(f, "names no call, now a {role} message"),
            Self::FollowsCall { call } => write!(f, "moved to follow its call {call}"),
            Self::Repeats => write!(f, "repeats the message before it"),
        }
    }
}
