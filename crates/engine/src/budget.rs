//! The budget: whatever the filters leave, it holds.
//!
//! Owns the last word on size. Instructions that lead, what stands around the log, and the newest user turn stay;
//! then blocks of the log, newest first, until one does not fit. A block holds a call with its answers, so nothing
//! is parted. Refuses a prompt whose must-haves alone are over the budget, with the numbers.

use crate::filter::{Draft, Note};
use crate::pairs::Pairs;
use crate::piece::Why;

const NAME: &str = "budget";

/// The must-haves do not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the budget is {budget_tokens} tokens, but the instructions and the newest user turn alone need {needed_tokens}"
)]
pub struct OverBudget {
    pub budget_tokens: u32,
    pub needed_tokens: u32,
}

/// Brings a draft within the budget.
pub fn apply(mut draft: Draft<'_>, budget_tokens: u32) -> Result<Draft<'_>, OverBudget> {
    if draft.tokens() <= budget_tokens {
        return Ok(draft);
    }
    let leading = draft.leading();
    let newest_user = draft.newest_user();
    let stays = |draft: &Draft<'_>, at: usize| {
        draft.pieces.get(at).is_some_and(|p| !p.is_log()) || at < leading || Some(at) == newest_user
    };
    let needed_tokens: u32 = draft.live().filter(|(at, _)| stays(&draft, *at)).map(|(_, p)| p.tokens).sum();
    let Some(shared) = budget_tokens.checked_sub(needed_tokens) else {
        return Err(OverBudget { budget_tokens, needed_tokens });
    };
    let mut room = shared;
    let mut stopped = false;
    let mut dropped = 0;
    for block in Pairs::of(&draft.pieces).blocks(&draft.pieces).into_iter().rev() {
        let rest: Vec<usize> = block.filter(|at| !is_out(&draft, *at) && !stays(&draft, *at)).collect();
        let tokens: u32 = rest.iter().filter_map(|at| draft.pieces.get(*at)).map(|p| p.tokens).sum();
        if rest.is_empty() || (!stopped && tokens <= room) {
            room -= tokens.min(room);
            continue;
        }
        let why = match stopped {
            true => Why::AfterGap,
            false if tokens > shared => Why::TooLarge { tokens, room_tokens: shared },
            false => Why::NoRoom { tokens, room_tokens: room },
        };
        stopped |= tokens <= shared;
        for at in rest {
            if let Some(piece) = draft.pieces.get_mut(at) {
                piece.drop(NAME, why.clone());
                dropped += 1;
            }
        }
    }
    draft.notes.push(Note::Budgeted { dropped, tokens: budget_tokens - room });
    Ok(draft)
}

fn is_out(draft: &Draft<'_>, at: usize) -> bool {
    draft.pieces.get(at).is_none_or(|p| p.is_out())
}
