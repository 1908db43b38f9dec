//! `sizeLimiter`: a token cap, newest first within each class of speakers.
//!
//! Long contents are cut before anything is counted. A message that does not fit is skipped and the walk goes
//! on, so that a smaller, older one may still find room.

use super::{Draft, Note};
use crate::Role;
use crate::decode::{DecodeError, Fields};
use crate::limits::BUDGET_TOKENS_MAX;
use crate::piece::{Fate, Piece, Why};
use crate::tokens::{OVERHEAD_TOKENS, Tokenizer};

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
        let (mut kept, mut dropped, mut used) = (0, 0, 0);
        let mut without_room = Vec::with_capacity(draft.pieces.len());
        let candidate = |(at, piece)| (at, self.class(piece), self.cost(piece, draft.tokenizer));
        let mut candidates: Vec<(usize, u8, u32)> = Vec::with_capacity(draft.pieces.len());
        candidates.extend(draft.live().rev().map(candidate));
        for class in 0..3 {
            for &(at, _, tokens) in candidates.iter().filter(|(_, of, _)| *of == class) {
                if tokens <= self.max_tokens - used {
                    used += tokens;
                    kept += 1;
                } else {
                    without_room.push((at, tokens, self.max_tokens - used));
                }
            }
        }
        let newest_system = || draft.live().rev().find(|(_, p)| p.is(Role::System)).map(|(at, _)| at);
        let spared = if kept == 0 && self.preserve_system { newest_system() } else { None };
        for (at, tokens, room_tokens) in without_room {
            match draft.pieces.get_mut(at) {
                Some(piece) if Some(at) == spared => {
                    piece.keep(NAME, Why::OnlySystem);
                    (kept, used) = (1, tokens);
                }
                Some(piece) => {
                    piece.drop(NAME, Why::NoRoom { tokens, room_tokens });
                    dropped += 1;
                }
                None => {}
            }
        }
        draft.notes.push(Note::SizeLimited { kept, dropped, tokens: used, max_tokens: self.max_tokens });
        draft
    }

    fn cut_contents(&self, draft: &mut Draft<'_>) {
        let Some(units_max) = self.content_units_max else { return };
        for piece in draft.pieces.iter_mut().filter(|p| !p.is_out()) {
            let Some(units) = piece.content_units().filter(|u| *u > units_max) else { continue };
            piece.cut(units_max, draft.tokenizer);
            let to_units = piece.content_units().unwrap_or(0);
            piece.mark(Fate::Cut, NAME, Why::ContentCut { from_units: units, to_units });
        }
    }

    /// Lower classes choose first.
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
