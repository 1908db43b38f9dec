//! The last turns of a thread, and the lines of conversation in them.
//!
//! Owns the one way to read the end of a thread in words. How far back to read, which roles count and how
//! much of a message is taken are parameters. Invariant: no line comes from a turn that a model refused.

use std::borrow::Cow;

use novelo_engine::path::{CollectionPath, DocumentPath};
use novelo_engine::{Message, Role, Turn, scope};
use novelo_store::{Range, Turns};

use crate::error::{Error, Result};
use crate::text::{cut, said};
use crate::thread::Threads;
use crate::thread::refused::Refusals;

/// Turns of a thread, and which of them a model refused.
#[derive(Debug)]
pub(crate) struct Tail {
    pub turns: Turns,
    pub refusals: Refusals,
    collection: CollectionPath,
}

/// A turn in words.
#[derive(Debug, Clone)]
pub struct Line<'t> {
    /// The turn.
    pub turn: &'t Turn,
    /// Who said it.
    pub role: Role,
    /// Empty if the message has no text.
    pub text: Cow<'t, str>,
}

/// Which turns become lines, and how much of each.
#[derive(Debug, Clone, Copy)]
pub struct LineCaps {
    /// The roles whose turns become lines.
    pub roles: &'static [Role],
    /// A message of more bytes becomes a line without text.
    pub bytes_max: usize,
    /// The most characters of a line.
    pub chars_max: usize,
}

impl Tail {
    /// Reads turns of a thread; usually the last ones.
    pub async fn load(app: &Threads, user: &str, thread: &str, range: Range) -> Result<Self> {
        let collection = scope::turns(user, thread).map_err(|e| Error::bad_id("user or thread", &e))?;
        let turns = app.store.turns(&collection, range).await?;
        let refusals = Refusals::load(&app.store, user, thread).await?;
        Ok(Self { turns, refusals, collection })
    }

    /// The lines, oldest first.
    pub fn lines(&self, caps: LineCaps) -> impl DoubleEndedIterator<Item = Line<'_>> {
        let turns = self.turns.iter().filter(|turn| !self.refusals.holds(turn.seq));
        turns.filter_map(move |turn| Line::read(turn, caps))
    }

    /// The document of the newest turn.
    pub fn newest(&self) -> Option<DocumentPath> {
        self.collection.document(&self.turns.iter().next_back()?.id).ok()
    }
}

impl<'t> Line<'t> {
    fn read(turn: &'t Turn, caps: LineCaps) -> Option<Self> {
        let message = turn.message.shown();
        let role = message.role().filter(|role| caps.roles.contains(role))?;
        let text = if message.raw().len() <= caps.bytes_max { said(message) } else { None };
        let text = text.unwrap_or_default();
        let is_long = text.char_indices().nth(caps.chars_max).is_some();
        let text = if is_long { cut(&text, caps.chars_max).into() } else { text };
        Some(Self { turn, role, text })
    }

    pub(crate) fn says_something(&self) -> bool {
        !self.text.trim().is_empty()
    }
}

/// The first characters of the text of a message of any role.
pub fn excerpt(message: &Message, chars_max: usize) -> Option<String> {
    said(message).map(|text| cut(&text, chars_max))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(message: &str) -> Turn {
        Turn { seq: 1, id: "1".into(), create_time: 0.0, message: Message::from_stored(message.to_owned().into()) }
    }

    #[test]
    fn a_line_holds_at_its_caps_and_one_past_them() {
        let message = r#"{"role":"user","content":"água fria"}"#;
        let (turn, bytes) = (turn(message), message.len());
        let read = |roles: &'static [Role], bytes_max, chars_max| {
            Line::read(&turn, LineCaps { roles, bytes_max, chars_max }).map(|line| line.text.into_owned())
        };
        assert_eq!(read(&[Role::User], bytes, 9).as_deref(), Some("água fria"));
        assert_eq!(read(&[Role::User], bytes, 8).as_deref(), Some("água fri"));
        assert_eq!(read(&[Role::User], bytes - 1, 9).as_deref(), Some(""));
        assert_eq!(read(&[Role::Assistant], bytes, 9), None);
    }
}
