//! Which part passages have in their conversations.
//!
//! Owns what roles mean: a role alone does not make an assistant, long replies do. Follows every `add` and
//! `remove`.

use novelo_engine::Role;

use super::{Passage, Slot, speakers};

/// Replies of more words than these, and so many times as long as what they reply to, are an assistant's;
/// shorter ones are talk among equals. Stop words apart, on average.
const REPLY_WORDS: u64 = 20;
const LONG_REPLY: u64 = 2;

/// Which part a passage has in its conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Of people who talk, of documents and facts.
    Said,
    /// Of someone who talks with an assistant, and what that answers at length.
    Asked,
    Answered,
}

impl Kind {
    /// By role alone. A named assistant is one of those who talk.
    pub(crate) fn by_role(passage: &Passage<'_>) -> Self {
        match passage.role {
            Some(Role::User) => Self::Asked,
            Some(Role::Assistant) if passage.speaker.is_none_or(speakers::is_role) => Self::Answered,
            _ => Self::Said,
        }
    }
}

/// The two sides of the conversations in an index.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sides {
    asked: Side,
    answered: Side,
}

#[derive(Debug, Clone, Copy, Default)]
struct Side {
    passages: u64,
    words: u64,
}

impl Sides {
    pub fn add(&mut self, slot: &Slot) {
        if let Some(side) = self.side(slot.role) {
            side.passages += 1;
            side.words += u64::from(slot.words);
        }
    }

    pub fn remove(&mut self, slot: &Slot) {
        if let Some(side) = self.side(slot.role) {
            side.passages -= 1;
            side.words -= u64::from(slot.words);
        }
    }

    /// Whether users talk with an assistant here, one that answers at length.
    pub fn has_assistant(&self) -> bool {
        let (asked, answered) = (self.asked, self.answered);
        answered.words > REPLY_WORDS * answered.passages
            && answered.words * asked.passages > LONG_REPLY * asked.words * answered.passages
    }

    pub fn kinds(&self) -> Kinds {
        let one_side = self.asked.passages == 0 || self.answered.passages == 0;
        Kinds { among_equals: !one_side && !self.has_assistant(), unanswered: self.answered.passages == 0 }
    }

    fn side(&mut self, role: Kind) -> Option<&mut Side> {
        match role {
            Kind::Said => None,
            Kind::Asked => Some(&mut self.asked),
            Kind::Answered => Some(&mut self.answered),
        }
    }
}

/// How roles are to be read in an index: among equals they mean nothing, and a user with a name is one of
/// those who talk where nothing answers.
#[derive(Debug, Clone, Copy)]
pub struct Kinds {
    among_equals: bool,
    unanswered: bool,
}

impl Kinds {
    pub fn of(self, slot: &Slot) -> Kind {
        let talks = self.among_equals || (self.unanswered && slot.speaker.is_some());
        if talks { Kind::Said } else { slot.role }
    }
}
