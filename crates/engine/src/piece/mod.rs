//! Candidates for the prompt.
//!
//! Owns [`Piece`]: a message with where it comes from, what it costs and what became of it. A piece cannot be built
//! without origin, cost and reason, and none is ever thrown away: one that is out stays in the draft, marked dropped,
//! so that the explanation partitions the input. Changes are splices over the original bytes, written at the end.

mod edit;
mod why;

use std::borrow::Cow;

use crate::component::Item;
use crate::json::{self, Span};
use crate::message::{Message, Role};
use crate::payload::{FilePayload, Placeholder};
use crate::tokens::{self, OVERHEAD_TOKENS, Tokenizer};
use edit::{Edit, Edited, Splice};

pub use why::{Fate, FileLimit, Why};

/// One candidate.
#[derive(Debug, Clone)]
pub struct Piece<'a> {
    pub origin: Origin<'a>,
    pub tokens: u32,
    pub fate: Fate,
    /// The component or filter that decided.
    pub by: &'static str,
    pub why: Why<'a>,
    /// What else was done to it before that.
    earlier: Option<Box<Earlier<'a>>>,
    body: Body<'a>,
}

/// What was done to a piece before its last fate, oldest first. A list: hostile input makes it long.
#[derive(Debug, Clone, Default)]
struct Earlier<'a> {
    done: Vec<(Fate, Why<'a>)>,
}

/// Where a piece comes from.
#[derive(Debug, Clone, Copy)]
pub enum Origin<'a> {
    Turn {
        seq: u64,
        id: &'a str,
    },
    Inline {
        index: usize,
    },
    /// What is being asked now.
    Question,
    /// A component that is not the log: its name, and the document where there is one.
    Component {
        name: &'a str,
        item: Option<&'a Item>,
    },
    /// Made by a filter, to stand after another piece.
    Made,
}

#[derive(Debug, Clone)]
enum Body<'a> {
    Stored(&'a Message),
    /// One file hidden and nothing else: by far the most frequent edit, so it costs no allocation.
    Hidden {
        base: &'a Message,
        file: &'a FilePayload,
        placeholder: &'a Placeholder,
    },
    Edited(Box<Edited<'a>>),
    Made(Box<Message>),
}

impl<'a> Piece<'a> {
    #[inline(always)]
    pub fn stored(origin: Origin<'a>, by: &'static str, message: &'a Message, tokenizer: Tokenizer) -> Self {
        let tokens = message.tokens(tokenizer);
        Self { origin, tokens, fate: Fate::Kept, by, why: Why::Emitted, earlier: None, body: Body::Stored(message) }
    }

    pub fn made(origin: Origin<'a>, by: &'static str, why: Why<'a>, message: Message, tokenizer: Tokenizer) -> Self {
        let tokens = message.tokens(tokenizer);
        Self { origin, tokens, fate: Fate::Made, by, why, earlier: None, body: Body::Made(Box::new(message)) }
    }

    pub fn is_out(&self) -> bool {
        self.fate == Fate::Dropped
    }

    /// Whether it belongs to the conversation, rather than to what stands around it.
    pub fn is_log(&self) -> bool {
        !matches!(self.origin, Origin::Component { .. })
    }

    fn is_made(&self) -> bool {
        matches!(self.origin, Origin::Made)
    }

    /// Whether a user said it, rather than a component or a filter in a user's name.
    pub fn is_user_turn(&self) -> bool {
        self.is_log() && !self.is_made() && self.base().is(Role::User)
    }

    pub fn role(&self) -> Option<Role> {
        match &self.body {
            Body::Stored(message) => message.role(),
            Body::Hidden { base, .. } => base.role(),
            Body::Made(message) => message.role(),
            Body::Edited(edited) => edited.role,
        }
    }

    pub fn is(&self, role: Role) -> bool {
        self.role() == Some(role)
    }

    /// Whether it came as an instruction; an answer that a filter recast did not.
    pub fn instructs(&self) -> bool {
        !self.is_made() && self.base().role().is_some_and(Role::instructs)
    }

    /// The message that its bytes come from.
    pub fn base(&self) -> &Message {
        match &self.body {
            Body::Stored(message) => message,
            Body::Hidden { base, .. } => base,
            Body::Made(message) => message,
            Body::Edited(edited) => edited.base,
        }
    }

    /// The message it was stored as, for as long as the documents live; `None` for one that was made here.
    pub fn source(&self) -> Option<&'a Message> {
        match &self.body {
            Body::Stored(message) => Some(message),
            Body::Hidden { base, .. } => Some(base),
            Body::Edited(edited) => Some(edited.base),
            Body::Made(_) => None,
        }
    }

    /// Whether its bytes are those of a stored message.
    pub fn is_verbatim(&self) -> bool {
        matches!(self.body, Body::Stored(_))
    }

    /// Puts it out, for good. What was done to it before no longer matters.
    pub fn drop(&mut self, by: &'static str, why: Why<'a>) {
        self.earlier = None;
        (self.fate, self.by, self.why) = (Fate::Dropped, by, why);
    }

    /// Says what became of it, without changing it. What was done to it before is remembered.
    pub fn mark(&mut self, fate: Fate, by: &'static str, why: Why<'a>) {
        let last = std::mem::replace(&mut self.why, why);
        if matches!(self.fate, Fate::Cut | Fate::Redacted | Fate::Moved) || last == Why::Framed {
            self.earlier.get_or_insert_default().done.push((self.fate, last));
        }
        self.fate = fate;
        self.by = by;
    }

    /// Says why it stays, unless more than that has become of it already.
    pub fn keep(&mut self, by: &'static str, why: Why<'a>) {
        if self.fate == Fate::Kept {
            self.mark(Fate::Kept, by, why);
        }
    }

    /// Whether this has become of it, now or on the way.
    pub fn was(&self, fate: Fate) -> bool {
        self.fate == fate || self.earlier().any(|(earlier, _)| *earlier == fate)
    }

    /// All that became of it, in words, the last first.
    pub fn reasons(&self) -> String {
        let earlier = self.earlier().map(|(_, why)| why);
        std::iter::once(&self.why).chain(earlier).map(Why::to_string).collect::<Vec<_>>().join("; ")
    }

    /// What was done to it before, the last first.
    fn earlier(&self) -> impl Iterator<Item = &(Fate, Why<'a>)> {
        self.earlier.iter().flat_map(|earlier| earlier.done.iter().rev())
    }

    /// Hides the contents of a file it carries. It costs what it did until it is counted again, once for all its files.
    pub fn hide(&mut self, file: &'a FilePayload, placeholder: &'a Placeholder) {
        match &mut self.body {
            Body::Stored(base) => self.body = Body::Hidden { base, file, placeholder },
            Body::Edited(edited) => edited.put(Edit::hidden(file, placeholder)),
            Body::Hidden { base, file: first, placeholder: with } => {
                let edited = Edited::of(base).with(Edit::hidden(first, with));
                self.body = Body::Edited(Box::new(edited.with(Edit::hidden(file, placeholder))));
            }
            Body::Made(_) => {}
        }
    }

    pub fn count_again(&mut self, tokenizer: Tokenizer) {
        self.tokens = self.text_tokens(tokenizer) + OVERHEAD_TOKENS;
    }

    /// Whether its text was cut or framed, so that it is no longer the JSON that it came as.
    pub fn is_rewritten(&self, literal: Span) -> bool {
        matches!(self.spliced(literal).as_deref(), Some(Splice::Text(_)))
    }

    /// UTF-16 code units of its text, where the content is one string.
    pub fn content_units(&self) -> Option<u32> {
        let content = self.base().content()?;
        if self.is_verbatim() {
            return Some(content.said_units);
        }
        match self.spliced(content.literal).as_deref() {
            Some(Splice::Hidden(file, placeholder)) => Some(file.said_units_hidden(placeholder)),
            Some(Splice::Text(literal)) => Some(json::said_units(literal)),
            None => Some(content.said_units),
        }
    }

    /// Cuts its text to the first `units_max` UTF-16 code units.
    pub fn cut(&mut self, units_max: u32, tokenizer: Tokenizer) {
        let Some(content) = self.base().content() else { return };
        let original = content.literal.of(self.base().as_str());
        let shorter = match self.spliced(content.literal) {
            Some(splice) => json::truncate(&splice.text(), units_max),
            None => json::truncate(original, units_max),
        };
        let edit = Edit::text(content.literal, shorter, original);
        self.edit(vec![edit], tokenizer);
    }

    /// Puts a text before its own, where the content is one string.
    pub fn frame(&mut self, framing: &str, tokenizer: Tokenizer) {
        let Some(content) = self.base().content() else { return };
        let mut literal = String::from("\"");
        json::escape_into(framing, &mut literal);
        let units_gained = i64::from(json::utf16_units(&literal)) - 1;
        literal.push_str(content.literal.of(self.base().as_str()).get(1..).unwrap_or("\""));
        self.edit(vec![Edit { at: content.literal, splice: Splice::Text(literal), units_gained }], tokenizer);
        self.why = Why::Framed;
    }

    /// Turns an answer nobody asked for into a message of another role.
    pub fn recast(&mut self, role: Role, strip_id: bool, tokenizer: Tokenizer) {
        let text = self.base().as_str();
        let Some(answer) = self.base().tools().and_then(|t| t.answer.as_ref()) else { return };
        let edit = |at: Span, instead| Edit::text(at, instead, at.of(text));
        let mut edits = vec![edit(answer.role, json::literal(role.name()))];
        edits.extend(answer.id_member.filter(|_| strip_id).map(|member| edit(member, String::new())));
        self.edit(edits, tokenizer);
        if let Body::Edited(edited) = &mut self.body {
            edited.role = Some(role);
        }
    }

    /// Writes the message as the model will see it.
    pub fn write(&self, out: &mut Vec<u8>) {
        match &self.body {
            Body::Stored(message) => out.extend_from_slice(message.raw()),
            Body::Hidden { base, file, placeholder } => {
                Edited::of(base).with(Edit::hidden(file, placeholder)).write(out)
            }
            Body::Made(message) => out.extend_from_slice(message.raw()),
            Body::Edited(edited) => edited.write(out),
        }
    }

    /// Tokens of its text.
    pub fn text_tokens(&self, tokenizer: Tokenizer) -> u32 {
        match &self.body {
            Body::Stored(message) => message.text_tokens(tokenizer),
            Body::Hidden { base, file, placeholder } if tokenizer == Tokenizer::Approx => {
                let units = i64::from(base.units()) + file.units_gained(placeholder);
                tokens::approx(units.max(0) as u32)
            }
            Body::Hidden { base, file, placeholder } => {
                Edited::of(base).with(Edit::hidden(file, placeholder)).text_tokens(tokenizer)
            }
            Body::Made(message) => message.text_tokens(tokenizer),
            Body::Edited(edited) => edited.text_tokens(tokenizer),
        }
    }

    fn spliced(&self, span: Span) -> Option<Cow<'_, Splice<'a>>> {
        match &self.body {
            Body::Hidden { file, placeholder, .. } if file.literal == span => {
                Some(Cow::Owned(Splice::Hidden(file, placeholder)))
            }
            Body::Edited(edited) => {
                let found = edited.edits.binary_search_by_key(&span, |edit| edit.at).ok()?;
                edited.edits.get(found).map(|edit| Cow::Borrowed(&edit.splice))
            }
            _ => None,
        }
    }

    fn edit(&mut self, edits: Vec<Edit<'a>>, tokenizer: Tokenizer) {
        match &self.body {
            Body::Made(message) => {
                let mut raw = Vec::new();
                edits.into_iter().fold(Edited::of(message), Edited::with).write(&mut raw);
                let message = Message::from_stored(raw.into());
                self.tokens = message.tokens(tokenizer);
                self.body = Body::Made(Box::new(message));
                return;
            }
            Body::Stored(base) => self.body = Body::Edited(Box::new(Edited::of(base))),
            Body::Hidden { base, file, placeholder } => {
                self.body = Body::Edited(Box::new(Edited::of(base).with(Edit::hidden(file, placeholder))));
            }
            Body::Edited(_) => {}
        }
        if let Body::Edited(edited) = &mut self.body {
            edits.into_iter().for_each(|edit| edited.put(edit));
            self.tokens = edited.text_tokens(tokenizer) + OVERHEAD_TOKENS;
        }
    }
}
