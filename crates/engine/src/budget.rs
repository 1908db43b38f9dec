//! The budget: whatever the filters leave, it holds.
//!
//! Owns the last word on size. Instructions that lead, what stands around the log, and the newest user turn
//! stay; then blocks of the log, newest first, until one does not fit; one too large for any prompt is passed
//! over. A block holds a call with its answers, so nothing is parted. What was recalled goes first when the
//! rest would not fit. Refuses a prompt whose must-haves alone are over the budget, with the numbers.

use crate::filter::{Draft, Note};
use crate::pairs::Pairs;
use crate::piece::{Origin, Piece, Why};
use crate::tokens;

const NAME: &str = "budget";

/// The must-haves do not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the budget is {budget_tokens} tokens, but the instructions and the newest user turn alone need {needed_tokens}"
)]
pub struct OverBudget {
    /// The budget that was given.
    pub budget_tokens: u32,
    /// The tokens that must stay in the prompt.
    pub needed_tokens: u32,
}

/// Brings a draft within the budget.
pub(crate) fn apply(mut draft: Draft<'_>, budget_tokens: u32) -> Result<Draft<'_>, OverBudget> {
    if draft.tokens() <= budget_tokens {
        return Ok(draft);
    }
    let pairs = Pairs::find(&draft.pieces);
    let stays = mark_stays(&mut draft, &pairs);
    let is_in = |at: &usize| stays.get(*at) == Some(&true);
    let needed_tokens = tokens::total(draft.live().filter(|(at, _)| is_in(at)).map(|(_, p)| p.tokens));
    let (needed_tokens, mut dropped) = give_up_recalled(&mut draft, needed_tokens, budget_tokens);
    let Some(shared) = budget_tokens.checked_sub(needed_tokens) else {
        return Err(OverBudget { budget_tokens, needed_tokens });
    };
    let mut room = shared;
    let mut stopped = false;
    for block in pairs.blocks(&draft.pieces).into_iter().rev() {
        let rest: Vec<usize> = block.filter(|at| !is_out(&draft, *at) && !is_in(at)).collect();
        let tokens = tokens::total(rest.iter().filter_map(|at| draft.pieces.get(*at)).map(|p| p.tokens));
        let why = match stopped {
            true => Why::AfterGap,
            false if tokens <= room => Why::Fits { room_tokens: room },
            false if tokens > shared => Why::TooLarge { tokens, room_tokens: shared },
            false => Why::NoRoom { tokens, room_tokens: room },
        };
        let fits = matches!(why, Why::Fits { .. });
        room -= if fits { tokens } else { 0 };
        stopped |= matches!(why, Why::NoRoom { .. });
        dropped += if fits { 0 } else { rest.len() };
        for at in rest {
            match draft.pieces.get_mut(at) {
                Some(piece) if fits => piece.keep(NAME, why.clone()),
                Some(piece) => piece.drop(NAME, why.clone()),
                None => {}
            }
        }
    }
    draft.notes.push(Note::Budgeted { dropped, tokens: budget_tokens - room });
    Ok(draft)
}

/// Drops what was recalled, the last of it first, until the rest fits; what is needed then, and how many
/// went.
fn give_up_recalled(draft: &mut Draft<'_>, mut needed_tokens: u32, budget_tokens: u32) -> (u32, usize) {
    let mut dropped = 0;
    let recalled = |piece: &&mut Piece<'_>| matches!(piece.origin, Origin::Recall { .. }) && !piece.is_out();
    for piece in draft.pieces.iter_mut().rev().filter(recalled) {
        if needed_tokens <= budget_tokens {
            break;
        }
        needed_tokens -= piece.tokens;
        dropped += 1;
        let room_tokens = budget_tokens.saturating_sub(needed_tokens);
        piece.drop(NAME, Why::NoRoom { tokens: piece.tokens, room_tokens });
    }
    (needed_tokens, dropped)
}

/// By place, what stays whatever the budget; says so on the log's own.
fn mark_stays(draft: &mut Draft<'_>, pairs: &Pairs) -> Vec<bool> {
    let mut stays = draft.pinned(pairs);
    let newest_user = draft.newest_user();
    for (at, (piece, stays)) in draft.pieces.iter_mut().zip(&mut stays).enumerate().filter(|(_, (p, _))| p.is_log()) {
        if Some(at) == newest_user {
            *stays = true;
            piece.keep(NAME, Why::NewestUser);
        } else if *stays && piece.instructs() {
            piece.keep(NAME, Why::Leads);
        }
    }
    stays
}

fn is_out(draft: &Draft<'_>, at: usize) -> bool {
    draft.pieces.get(at).is_none_or(|p| p.is_out())
}
