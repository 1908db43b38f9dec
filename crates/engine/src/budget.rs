//! The budget: whatever the filters leave, it holds.
//!
//! Owns the last word on size. Instructions that lead, what stands around the log, and the newest user turn
//! stay; then blocks of the log, newest first, until one does not fit; one too large for any prompt is passed
//! over. A block holds a call with its answers, so nothing is parted. The summary is shortened for the sake
//! of turns, by whole sentences and at most to its share. What was recalled goes first when the rest would
//! not fit. Refuses a prompt whose must-haves alone are over the budget, with the numbers.

use crate::filter::{Draft, Note};
use crate::loaded::SUMMARY_LABEL;
use crate::message::{Message, Role};
use crate::pairs::Pairs;
use crate::piece::{Fate, Origin, Piece, Why};
use crate::shorten::shorten;
use crate::tokens;

const NAME: &str = "budget";
/// Where turns must go, a summary has this part of what it shares with them.
const SUMMARY_PART: u32 = 4;

/// The must-haves do not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the budget is {budget_tokens} tokens, but instructions, pinned turns and the newest user turn alone need {needed_tokens}"
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
    let needed_tokens = count_stays(&draft, &stays);
    let turns_tokens = draft.tokens() - needed_tokens;
    let needed_tokens = needed_tokens - summary(&mut draft).map_or(0, |piece| piece.tokens);
    let (needed_tokens, mut dropped) = give_up_recalled(&mut draft, needed_tokens, budget_tokens);
    let Some(room) = budget_tokens.checked_sub(needed_tokens) else {
        return Err(OverBudget { budget_tokens, needed_tokens });
    };
    let summary_tokens = weigh_summary(&mut draft, room, turns_tokens, &mut dropped);
    let shared = room - summary_tokens;
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

/// The tokens of a draft that stay whatever the budget.
pub(crate) fn needed_tokens(draft: &mut Draft<'_>) -> u32 {
    let pairs = Pairs::find(&draft.pieces);
    let stays = mark_stays(draft, &pairs);
    count_stays(draft, &stays)
}

fn count_stays(draft: &Draft<'_>, stays: &[bool]) -> u32 {
    tokens::total(draft.live().filter(|(at, _)| stays.get(*at) == Some(&true)).map(|(_, piece)| piece.tokens))
}

fn summary<'d, 'a>(draft: &'d mut Draft<'a>) -> Option<&'d mut Piece<'a>> {
    let is_summary = |piece: &Piece<'_>| matches!(piece.origin, Origin::Component { name: "summary", item: None });
    draft.pieces.iter_mut().find(|piece| is_summary(piece) && !piece.is_out())
}

/// Leaves the summary the room that the turns do not need, or its share; what it costs then.
fn weigh_summary(draft: &mut Draft<'_>, room_tokens: u32, turns_tokens: u32, dropped: &mut usize) -> u32 {
    let tokenizer = draft.tokenizer;
    let most = room_tokens.saturating_sub(turns_tokens).max(room_tokens / SUMMARY_PART);
    let Some(piece) = summary(draft) else { return 0 };
    if piece.tokens <= most {
        return piece.tokens;
    }
    let message = |text: &str| Message::text(Role::System, &format!("{SUMMARY_LABEL}{text}"));
    let text = piece.base().content_text().unwrap_or_default().into_owned();
    let text = text.strip_prefix(SUMMARY_LABEL).unwrap_or(&text);
    match shorten(text, |text| message(text).tokens(tokenizer) <= most) {
        Some((text, kept, of)) => {
            piece.replace_text(message(&text), tokenizer);
            piece.mark(Fate::Cut, NAME, Why::Shortened { kept, of });
            piece.tokens
        }
        None => {
            *dropped += 1;
            piece.drop(NAME, Why::NoRoom { tokens: piece.tokens, room_tokens: most });
            0
        }
    }
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
    let is_left = |piece: &Piece<'_>| matches!(piece.origin, Origin::Recall { .. }) && !piece.is_out();
    if dropped > 0 && !draft.pieces.iter().any(is_left) {
        for notice in draft.pieces.iter_mut().filter(|piece| piece.is_recall_notice() && !piece.is_out()) {
            needed_tokens -= notice.tokens;
            dropped += 1;
            notice.drop(NAME, Why::NothingRecalled);
        }
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
