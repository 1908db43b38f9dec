//! `moduleBudget`: a token cap on modules alone.
//!
//! Pinned modules come first, in their order, then the others, of higher priority first. One that does not
//! fit what is left is out and the walk goes on, so that a smaller one may still find room. What stays keeps
//! its place.

use std::cmp::Reverse;

use super::{Draft, Note};
use crate::decode::{DecodeError, Fields};
use crate::limits::BUDGET_TOKENS_MAX;
use crate::module::Module;
use crate::piece::{Origin, Piece, Why};

const NAME: &str = "moduleBudget";

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ModuleBudget {
    max_tokens: u32,
}

impl ModuleBudget {
    pub(crate) fn decode(options: &mut Fields<'_>) -> Result<Self, DecodeError> {
        let max_tokens = options.number("maxTokens", 0, BUDGET_TOKENS_MAX as u32)?;
        let max_tokens = max_tokens.ok_or_else(|| DecodeError::new(options.path("maxTokens"), "is missing"))?;
        Ok(Self { max_tokens })
    }

    pub(crate) fn apply<'a>(&self, mut draft: Draft<'a>) -> Draft<'a> {
        let live = draft.pieces.iter_mut().filter(|piece| !piece.is_out());
        let mut modules: Vec<(&Module, &mut Piece<'a>)> = live.filter_map(module).collect();
        modules.sort_by_key(|(module, _)| rank(module));
        let (mut kept, mut dropped, mut room_tokens) = (0, 0, self.max_tokens);
        for (_, piece) in modules {
            let tokens = piece.tokens;
            if tokens <= room_tokens {
                piece.keep(NAME, Why::Fits { room_tokens });
                room_tokens -= tokens;
                kept += 1;
            } else {
                piece.drop(NAME, Why::NoRoom { tokens, room_tokens });
                dropped += 1;
            }
        }
        let (tokens, max_tokens) = (self.max_tokens - room_tokens, self.max_tokens);
        draft.notes.push(Note::ModulesCut { kept, dropped, tokens, max_tokens });
        draft
    }
}

fn module<'p, 'a>(piece: &'p mut Piece<'a>) -> Option<(&'a Module, &'p mut Piece<'a>)> {
    match piece.origin {
        Origin::Module(module) => Some((module, piece)),
        _ => None,
    }
}

/// What comes first is the least; what is pinned has no other rank than its place.
fn rank(module: &Module) -> Option<Reverse<u32>> {
    (!module.pinned).then_some(Reverse(module.priority))
}
