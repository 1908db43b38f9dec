//! `historyWindow`: the last n turns, or the last n user turns with what follows them.
//!
//! Never parts a call from its answers: what only half fits stays out. Leading instructions stay, and so does
//! the newest user turn.

use super::{Draft, Note};
use crate::decode::{DecodeError, Fields};
use crate::pairs::Pairs;
use crate::piece::Why;

const NAME: &str = "historyWindow";

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum HistoryWindow {
    Turns(u32),
    Pairs(u32),
}

impl HistoryWindow {
    /// How many turns it shows, where it counts them.
    pub(crate) fn turns(&self) -> Option<u32> {
        match self {
            Self::Turns(n) => Some(*n),
            Self::Pairs(_) => None,
        }
    }

    pub(crate) fn decode(options: &mut Fields<'_>) -> Result<Self, DecodeError> {
        let turns = options.number("turns", 1, 1_000_000)?;
        match (turns, options.number("pairs", 1, 1_000_000)?) {
            (Some(n), None) => Ok(Self::Turns(n)),
            (None, Some(n)) => Ok(Self::Pairs(n)),
            _ => Err(DecodeError::new(options.path("turns"), "or pairs must be given, and not both")),
        }
    }

    pub(crate) fn apply<'a>(&self, mut draft: Draft<'a>) -> Draft<'a> {
        let pairs = Pairs::find(&draft.pieces);
        let pinned = draft.pinned(&pairs);
        let newest_user = draft.newest_user();
        let (why, start) = match *self {
            Self::Turns(n) => {
                let counts = |at: usize| pinned.get(at) == Some(&false);
                let start = start_of_turns(&draft, &pairs, counts, n as usize);
                (Why::OutsideWindow { window: "turns", size: n }, start)
            }
            Self::Pairs(n) => (Why::OutsideWindow { window: "pairs", size: n }, start_of_pairs(&draft, n as usize)),
        };
        let mut goes: Vec<bool> = pinned.iter().enumerate().map(|(at, pinned)| at < start && !pinned).collect();
        pairs.spread(&mut goes);
        let mut dropped = 0;
        let places = draft.pieces.iter_mut().zip(goes.iter().zip(&pinned)).enumerate();
        for (at, (piece, (goes, pinned))) in places.filter(|(_, (p, _))| !p.is_out() && p.is_log()) {
            match (goes, pinned) {
                (true, _) if Some(at) == newest_user => piece.keep(NAME, Why::NewestUser),
                (true, _) => {
                    piece.drop(NAME, why.clone());
                    dropped += 1;
                }
                (_, true) if piece.instructs() => piece.keep(NAME, Why::Leads),
                _ => piece.keep(NAME, Why::InWindow),
            }
        }
        draft.notes.push(Note::Windowed { kept: draft.live().count(), dropped });
        draft
    }
}

/// The first place of the longest run of whole blocks with at most `turns` pieces; the newest block is always
/// in.
fn start_of_turns(draft: &Draft<'_>, pairs: &Pairs, counts: impl Fn(usize) -> bool, turns: usize) -> usize {
    let mut start = draft.pieces.len();
    let mut room = turns;
    for block in pairs.blocks(&draft.pieces).into_iter().rev() {
        let is_live = |at: &usize| draft.pieces.get(*at).is_some_and(|p| !p.is_out());
        let size = block.clone().filter(is_live).filter(|at| counts(*at)).count();
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

/// The place of the `pairs`-th newest user turn; the very first, where there are fewer.
fn start_of_pairs(draft: &Draft<'_>, pairs: usize) -> usize {
    let mut users = draft.live().rev().filter(|(_, p)| p.is_user_turn());
    users.nth(pairs - 1).map_or(0, |(at, _)| at)
}
