//! `stableWindow`: a window whose front stays put.
//!
//! A provider's prompt cache needs the prefix to stay the same. So this window lets the log grow to
//! `maxTokens`, and only then evicts whole blocks, down to `keep`. Where the front stands follows from the
//! log alone: the walk below replays every eviction since the first turn, so the same log always gives the
//! same window.

use std::ops::Range;

use super::{Draft, Note};
use crate::decode::{DecodeError, Fields};
use crate::limits::BUDGET_TOKENS_MAX;
use crate::pairs::Pairs;
use crate::piece::Why;

const NAME: &str = "stableWindow";
const KEEP_DEFAULT: f64 = 0.7;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct StableWindow {
    max_tokens: u32,
    keep_tokens: u32,
}

impl StableWindow {
    pub(crate) fn decode(options: &mut Fields<'_>) -> Result<Self, DecodeError> {
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

    pub(crate) fn apply<'a>(&self, mut draft: Draft<'a>) -> Draft<'a> {
        let pairs = Pairs::find(&draft.pieces);
        let pinned = draft.pinned(&pairs);
        let start = self.front(&draft, &pairs, &pinned);
        let newest_user = draft.newest_user();
        let why = Why::Evicted { max_tokens: self.max_tokens, keep_tokens: self.keep_tokens };
        let (mut turns, mut tokens) = (0, 0u32);
        let places = draft.pieces.iter_mut().zip(&pinned).enumerate().take(start);
        for (at, (piece, _)) in places.filter(|(_, (p, pinned))| !p.is_out() && !**pinned) {
            if Some(at) == newest_user {
                piece.keep(NAME, Why::NewestUser);
                continue;
            }
            piece.drop(NAME, why.clone());
            turns += 1;
            tokens = tokens.saturating_add(piece.tokens);
        }
        draft.notes.push(Note::Evicted { turns, tokens });
        draft
    }

    /// The first place that is still in, after every eviction that this log has seen.
    fn front(&self, draft: &Draft<'_>, pairs: &Pairs, pinned: &[bool]) -> usize {
        let stays = draft.live().filter(|(at, p)| p.is_log() && pinned.get(*at) == Some(&true));
        let mut window = Window { tokens: stays.map(|(_, p)| u64::from(p.tokens)).sum(), ..Window::default() };
        let ranges = pairs.blocks(&draft.pieces).into_iter();
        let blocks: Vec<Block> = ranges.filter_map(|range| Block::measure(draft, pinned, range)).collect();
        for (newest, block) in blocks.iter().enumerate() {
            window.add(newest, block);
            if window.tokens > u64::from(self.max_tokens) {
                while window.tokens > u64::from(self.keep_tokens) && window.front < newest {
                    window.evict(blocks.get(window.front));
                }
            }
        }
        blocks.get(window.front).map_or(0, |block| block.start)
    }
}

/// What is evicted together.
struct Block {
    start: usize,
    tokens: u64,
    /// Cost of the last user turn in it.
    user_tokens: Option<u64>,
}

impl Block {
    /// The block at `range`, unless nothing in it can be evicted.
    fn measure(draft: &Draft<'_>, pinned: &[bool], range: Range<usize>) -> Option<Self> {
        let mut block = Self { start: range.start, tokens: 0, user_tokens: None };
        let pieces = draft.pieces.get(range.clone())?.iter().zip(pinned.get(range)?);
        for (piece, _) in pieces.filter(|(p, pinned)| !p.is_out() && !**pinned) {
            block.tokens += u64::from(piece.tokens);
            if piece.is_user_turn() {
                block.user_tokens = Some(piece.tokens.into());
            }
        }
        (block.tokens > 0).then_some(block)
    }
}

/// The window as it stood when a block was new.
#[derive(Default)]
struct Window {
    front: usize,
    tokens: u64,
    /// The block of the newest user turn, and what that turn costs while the block is evicted and the turn is
    /// not.
    user: usize,
    spared_tokens: u64,
}

impl Window {
    fn add(&mut self, newest: usize, block: &Block) {
        if block.user_tokens.is_some() {
            self.user = newest;
            self.tokens -= std::mem::take(&mut self.spared_tokens);
        }
        self.tokens += block.tokens;
    }

    fn evict(&mut self, block: Option<&Block>) {
        let Some(block) = block else { return };
        if self.front == self.user {
            self.spared_tokens = block.user_tokens.unwrap_or(0);
            self.tokens += self.spared_tokens;
        }
        self.tokens -= block.tokens;
        self.front += 1;
    }
}
