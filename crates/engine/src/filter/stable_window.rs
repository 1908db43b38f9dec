//! `stableWindow`: a window whose front stays put.
//!
//! A provider's prompt cache needs the prefix to stay the same. So this window lets the log grow to `maxTokens`, and
//! only then evicts whole blocks, down to `keep`. Where the front stands follows from the log alone: the walk below
//! replays every eviction since the first turn, so the same log always gives the same window.

use super::{Draft, Note};
use crate::decode::{DecodeError, Fields};
use crate::limits::BUDGET_TOKENS_MAX;
use crate::pairs::Pairs;
use crate::piece::Why;

const NAME: &str = "stableWindow";
const KEEP_DEFAULT: f64 = 0.7;

#[derive(Debug, Clone, Copy)]
pub struct StableWindow {
    max_tokens: u32,
    keep_tokens: u32,
}

impl StableWindow {
    pub fn decode(options: &mut Fields<'_>) -> Result<Self, DecodeError> {
        let max_tokens = options
            .number("maxTokens", 1, BUDGET_TOKENS_MAX as u32)?
            .ok_or_else(|| DecodeError::new(options.path("maxTokens"), "is missing"))?;
        let keep = options.float("keep")?.unwrap_or(KEEP_DEFAULT);
        let keep_tokens = if keep <= 1.0 { keep * f64::from(max_tokens) } else { keep };
        if !(0.0..=f64::from(max_tokens)).contains(&keep_tokens) {
            let problem = "must be a share of maxTokens from 0 to 1, or tokens up to maxTokens";
            return Err(DecodeError::new(options.path("keep"), problem));
        }
        Ok(Self { max_tokens, keep_tokens: keep_tokens as u32 })
    }

    pub fn apply<'a>(&self, mut draft: Draft<'a>) -> Draft<'a> {
        let leading = draft.leading();
        let start = self.front(&draft, leading);
        let newest_user = draft.newest_user();
        let why = Why::Evicted { max_tokens: self.max_tokens, keep_tokens: self.keep_tokens };
        let (mut turns, mut tokens) = (0, 0);
        for (at, piece) in draft.pieces.iter_mut().enumerate().take(start).skip(leading) {
            if !piece.is_out() && piece.is_log() && Some(at) != newest_user {
                piece.drop(NAME, why.clone());
                turns += 1;
                tokens += piece.tokens;
            }
        }
        draft.notes.push(Note::Evicted { turns, tokens });
        draft
    }

    /// The first place that is still in, after every eviction that this log has seen.
    fn front(&self, draft: &Draft<'_>, leading: usize) -> usize {
        let cost = |block: &std::ops::Range<usize>| -> u32 {
            let pieces = draft.pieces.get(block.clone()).unwrap_or_default();
            pieces.iter().filter(|p| !p.is_out() && p.is_log()).map(|p| p.tokens).sum()
        };
        let blocks = Pairs::of(&draft.pieces).blocks(&draft.pieces);
        let pinned: u32 = blocks.iter().filter(|b| b.start < leading).map(cost).sum();
        let evictable: Vec<_> = blocks.into_iter().filter(|b| b.start >= leading).map(|b| (cost(&b), b)).collect();
        let (mut total, mut front) = (pinned, 0);
        for (newest, (tokens, _)) in evictable.iter().enumerate() {
            total += tokens;
            if total > self.max_tokens {
                while total > self.keep_tokens && front < newest {
                    total -= evictable.get(front).map_or(0, |(tokens, _)| *tokens);
                    front += 1;
                }
            }
        }
        evictable.get(front).map_or(leading, |(_, block)| block.start)
    }
}
