//! `sizeLimiter`: a token cap, newest first within each class of speakers.
//!
//! Long contents are cut before anything is counted. A message that does not fit is skipped and the walk goes
//! on, so that a smaller, older one may still find room.

use super::{Draft, Note};
use crate::Role;
use crate::decode::{DecodeError, Fields};
use crate::limits::BUDGET_TOKENS_MAX;
use crate::piece::{Fate, Piece, Why};
use crate::tokens::{self, OVERHEAD_TOKENS, Tokenizer};

const NAME: &str = "sizeLimiter";

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SizeLimiter {
    max_tokens: u32,
    overhead_tokens: u32,
    prioritize_system: bool,
    prioritize_user: bool,
    preserve_system: bool,
    /// None: contents are not cut.
    content_units_max: Option<u32>,
    tokenizer: Option<Tokenizer>,
}

impl SizeLimiter {
    pub(crate) fn decode(options: &mut Fields<'_>) -> Result<Self, DecodeError> {
        let most = BUDGET_TOKENS_MAX as u32;
        Ok(Self {
            max_tokens: options.number("maxTokens", 0, most)?.unwrap_or(24_000),
            overhead_tokens: options.number("perMessageOverhead", 0, most)?.unwrap_or(OVERHEAD_TOKENS),
            prioritize_system: options.flag("prioritizeSystem")?.unwrap_or(false),
            prioritize_user: options.flag("prioritizeUser")?.unwrap_or(true),
            preserve_system: options.flag("preserveAtLeastOneSystem")?.unwrap_or(true),
            content_units_max: Some(options.number("maxContentChars", 0, u32::MAX)?.unwrap_or(50_000))
                .filter(|most| *most > 0),
            tokenizer: Tokenizer::decode(options)?,
        })
    }

    /// The tokenizer that this filter counts with, where it names its own.
    pub(crate) fn tokenizer(&self) -> Option<Tokenizer> {
        self.tokenizer
    }

    pub(crate) fn apply<'a>(&self, mut draft: Draft<'a>) -> Draft<'a> {
        self.cut_contents(&mut draft);
        let tokenizer = draft.tokenizer;
        let (mut kept, mut dropped, mut used) = (0, 0, 0);
        let mut only_system = None;
        for class in self.classes() {
            for (at, piece) in draft.pieces.iter_mut().enumerate().rev() {
                if piece.is_out() || self.class(piece) != class {
                    continue;
                }
                let (tokens, room_tokens) = (self.cost(piece, tokenizer), self.max_tokens - used);
                if tokens <= room_tokens {
                    used += tokens;
                    kept += 1;
                } else if only_system.is_none() && piece.is(Role::System) {
                    only_system = Some((at, tokens, room_tokens));
                } else {
                    piece.drop(NAME, Why::NoRoom { tokens, room_tokens });
                    dropped += 1;
                }
            }
        }
        if let Some((at, tokens, room_tokens)) = only_system
            && let Some(piece) = draft.pieces.get_mut(at)
        {
            if kept == 0 && self.preserve_system {
                piece.keep(NAME, Why::OnlySystem);
                (kept, used) = (1, tokens);
            } else {
                piece.drop(NAME, Why::NoRoom { tokens, room_tokens });
                dropped += 1;
            }
        }
        draft.notes.push(Note::SizeLimited { kept, dropped, tokens: used, max_tokens: self.max_tokens });
        draft
    }

    fn cut_contents(&self, draft: &mut Draft<'_>) {
        let Some(units_max) = self.content_units_max else { return };
        let tokenizer = draft.tokenizer;
        // The estimate of a whole message bounds its content, which saves most looks at it.
        let may_exceed =
            |piece: &Piece<'_>| tokenizer != Tokenizer::Approx || tokens::units_max(piece.tokens) > units_max;
        for piece in draft.pieces.iter_mut().filter(|piece| may_exceed(piece) && !piece.is_out()) {
            let Some(units) = piece.content_units().filter(|u| *u > units_max) else { continue };
            piece.cut(units_max, tokenizer);
            let to_units = piece.content_units().unwrap_or(0);
            piece.mark(Fate::Cut, NAME, Why::ContentCut { from_units: units, to_units });
        }
    }

    /// The classes that there can be, in the order in which they choose.
    fn classes(&self) -> impl Iterator<Item = u8> {
        [self.prioritize_system.then_some(0), self.prioritize_user.then_some(1), Some(2)].into_iter().flatten()
    }

    /// Lower classes choose first.
    #[inline]
    fn class(&self, piece: &Piece<'_>) -> u8 {
        match piece.role() {
            Some(Role::System) if self.prioritize_system => 0,
            Some(Role::User) if self.prioritize_user => 1,
            _ => 2,
        }
    }

    fn cost(&self, piece: &Piece<'_>, tokenizer: Tokenizer) -> u32 {
        let text = match self.tokenizer.filter(|t| *t != tokenizer) {
            Some(own) => piece.text_tokens(own),
            None => piece.tokens - OVERHEAD_TOKENS,
        };
        text + self.overhead_tokens
    }
}
