//! `historyWindow`: the last n turns, or the last n user turns with what follows them.
//!
//! Never parts a call from its answers: a block that only half fits stays out. Leading instructions stay, and so does
//! the newest user turn.

use super::{Draft, Note};
use crate::Role;
use crate::decode::{DecodeError, Fields};
use crate::pairs::Pairs;
use crate::piece::Why;

const NAME: &str = "historyWindow";

#[derive(Debug, Clone, Copy)]
pub enum HistoryWindow {
    Turns(u32),
    Pairs(u32),
}

impl HistoryWindow {
    pub fn decode(options: &mut Fields<'_>) -> Result<Self, DecodeError> {
        let turns = options.number("turns", 1, 1_000_000)?;
        match (turns, options.number("pairs", 1, 1_000_000)?) {
            (Some(n), None) => Ok(Self::Turns(n)),
            (None, Some(n)) => Ok(Self::Pairs(n)),
            _ => Err(DecodeError::new(options.path("turns"), "or pairs must be given, and not both")),
        }
    }

    pub fn apply<'a>(&self, mut draft: Draft<'a>) -> Draft<'a> {
        let leading = draft.leading();
        let start = match self {
            Self::Turns(turns) => start_of_turns(&draft, leading, *turns as usize),
            Self::Pairs(pairs) => start_of_pairs(&draft, *pairs as usize),
        };
        let newest_user = draft.newest_user();
        let why = match *self {
            Self::Turns(n) => Why::OutsideWindow { window: "turns", size: n.into() },
            Self::Pairs(n) => Why::OutsideWindow { window: "pairs", size: n.into() },
        };
        let mut dropped = 0;
        for (at, piece) in draft.pieces.iter_mut().enumerate().filter(|(_, p)| !p.is_out() && p.is_log()) {
            if at >= leading && at < start && Some(at) != newest_user {
                piece.drop(NAME, why.clone());
                dropped += 1;
            } else {
                piece.why = if at < leading { Why::Leads } else { Why::InWindow };
            }
        }
        draft.notes.push(Note::Windowed { kept: draft.live().count(), dropped });
        draft
    }
}

/// The first place of the longest run of whole blocks with at most `turns` pieces; the newest block is always in.
fn start_of_turns(draft: &Draft<'_>, leading: usize, turns: usize) -> usize {
    let mut start = draft.pieces.len();
    let mut room = turns;
    for block in Pairs::of(&draft.pieces).blocks(&draft.pieces).into_iter().rev() {
        if block.start < leading {
            break;
        }
        let size = draft.pieces.get(block.clone()).unwrap_or_default().iter().filter(|p| !p.is_out()).count();
        if size > room && start < draft.pieces.len() {
            break;
        }
        room = room.saturating_sub(size);
        if size > 0 {
            start = block.start;
        }
    }
    start
}

/// The place of the `pairs`-th newest user turn.
fn start_of_pairs(draft: &Draft<'_>, pairs: usize) -> usize {
    let users = draft.live().rev().filter(|(_, p)| p.is(Role::User) && p.is_log());
    users.take(pairs).last().map_or(0, |(at, _)| at)
}
