//! `compact`: old spans as short texts, each of which can be had back.
//!
//! Shows the spans that were compacted before, and plans the next compaction when the prompt has grown past
//! `maxTokens`. A plan is carried out outside: the texts are made, and the prompt is assembled again. In
//! between the front of the prompt stays as it is.

mod choose;

use super::{Draft, Note};
use crate::compact::{Compactions, ShownSpan, SpanMaker, SpanSource};
use crate::decode::{DecodeError, Fields};
use crate::limits::{BUDGET_TOKENS_MAX, CONTEXT_TURNS_MAX};
use crate::loaded::Loaded;
use crate::pairs::Pairs;
use crate::piece::{Origin, Piece, Why};

const NAME: &str = "compact";
const MAX_TOKENS_DEFAULT: u32 = 24_000;
const KEEP_DEFAULT: f64 = 0.7;
const KEEP_MIN: f64 = 0.01;
const RECENT_TURNS_DEFAULT: u32 = 8;
const TEXT_TOKENS_MIN: u32 = 16;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Compact {
    /// `None`: the budget.
    max_tokens: Option<u32>,
    /// The share of it that a compaction leaves.
    keep: f64,
    recent_turns: u32,
    by: SpanMaker,
    text_tokens_max: Option<u32>,
}

impl Compact {
    pub(crate) fn decode(options: &mut Fields<'_>) -> Result<Self, DecodeError> {
        let max_tokens = options.number("maxTokens", 1, BUDGET_TOKENS_MAX as u32)?;
        let keep = options.float("keep")?.unwrap_or(KEEP_DEFAULT);
        if !(KEEP_MIN..=1.0).contains(&keep) {
            let problem = format!("must be a share of maxTokens from {KEEP_MIN} to 1");
            return Err(DecodeError::new(options.path("keep"), problem));
        }
        let recent_turns = options.number("recentTurns", 1, CONTEXT_TURNS_MAX as u32)?;
        let by = match options.string("by")? {
            None | Some("extract") => SpanMaker::Extract,
            Some("model") => SpanMaker::Model,
            Some(_) => return Err(DecodeError::new(options.path("by"), "must be extract or model")),
        };
        let text_tokens_max = options.number("maxTextTokens", TEXT_TOKENS_MIN, BUDGET_TOKENS_MAX as u32)?;
        let recent_turns = recent_turns.unwrap_or(RECENT_TURNS_DEFAULT);
        Ok(Self { max_tokens, keep, recent_turns, by, text_tokens_max })
    }

    pub(crate) fn apply<'a>(&'a self, mut draft: Draft<'a>, loaded: &'a Loaded<'a>) -> Draft<'a> {
        if let Some(compactions) = loaded.compactions {
            draft = show(draft, compactions);
        }
        let budget_tokens = draft.budget_tokens.unwrap_or(u32::MAX);
        let usual = draft.budget_tokens.unwrap_or(MAX_TOKENS_DEFAULT);
        let max_tokens = self.max_tokens.unwrap_or(usual).min(budget_tokens);
        let tokens = draft.tokens();
        if tokens > max_tokens && draft.compaction.is_none() {
            let plan = choose::plan(self, &draft, loaded, (tokens, max_tokens));
            if plan.spans.is_empty() {
                let needed_tokens = plan.needed_tokens;
                draft.notes.push(Note::NotCompacted { tokens, needed_tokens, max_tokens });
            }
            draft.compaction = Some(plan);
        }
        draft
    }
}

/// Where a piece stands among the messages of its source.
fn place(piece: &Piece<'_>) -> Option<(SpanSource, u64)> {
    match piece.origin {
        Origin::Turn { seq, .. } => Some((SpanSource::Thread, seq)),
        Origin::Inline { index } => Some((SpanSource::Request, index as u64)),
        _ => None,
    }
}

/// Pinned turns, with the calls and answers that are tied to them.
fn pinned(draft: &Draft<'_>, pairs: &Pairs, compactions: &Compactions) -> Vec<bool> {
    let is_pinned = |piece: &Piece<'_>| piece.id().is_some_and(|id| compactions.is_pinned(id));
    let mut marks: Vec<bool> = draft.pieces.iter().map(is_pinned).collect();
    pairs.spread(&mut marks);
    marks
}

/// Shows compacted spans as one message each, where the first of their turns stood.
fn show<'a>(mut draft: Draft<'a>, compactions: &'a Compactions) -> Draft<'a> {
    let mut pins = pinned(&draft, &Pairs::find(&draft.pieces), compactions);
    for (piece, _) in draft.pieces.iter_mut().zip(&pins).filter(|(piece, pinned)| **pinned && !piece.is_out()) {
        piece.pin(NAME);
    }
    draft.newest_user().and_then(|at| pins.get_mut(at)).into_iter().for_each(|stays| *stays = true);
    let mut met: Vec<Option<(usize, usize, u32)>> = vec![None; compactions.shown().len()];
    let mut last = None;
    let (mut turns, mut tokens) = (0, 0u32);
    for (at, piece) in draft.pieces.iter_mut().enumerate().filter(|(_, piece)| !piece.is_out()) {
        // What a filter made for a call goes with the call.
        let found = match (place(piece), &piece.origin) {
            (Some((source, seq)), _) => compactions.find(source, seq),
            (None, Origin::Made) => last,
            (None, _) => None,
        };
        last = found.filter(|_| pins.get(at) != Some(&true));
        let Some((number, shown)) = last else { continue };
        piece.collapse(NAME, Why::Compacted { span: &shown.span.id });
        turns += 1;
        tokens = tokens.saturating_add(piece.tokens);
        if let Some(met) = met.get_mut(number) {
            let (first, count, cost) = met.unwrap_or((at, 0, 0));
            *met = Some((first, count + 1, cost.saturating_add(piece.tokens)));
        }
    }
    if turns == 0 {
        return draft;
    }
    let shown = compactions.shown().iter().zip(met).filter_map(|(shown, met)| Some((shown, met?))).collect();
    stand_in(draft, shown, (turns, tokens))
}

/// Puts what stands in for each span before the first of its turns.
fn stand_in<'a>(
    mut draft: Draft<'a>,
    mut shown: Vec<(&'a ShownSpan, (usize, usize, u32))>,
    (turns, tokens): (usize, u32),
) -> Draft<'a> {
    let tokenizer = draft.tokenizer;
    shown.sort_by_key(|(_, (first, ..))| *first);
    let mut pieces = Vec::with_capacity(draft.pieces.len() + shown.len());
    let mut rest = draft.pieces.drain(..);
    let (mut passed, mut text_tokens) = (0, 0u32);
    for (shown, (first, count, cost)) in &shown {
        pieces.extend(rest.by_ref().take(first - passed));
        passed = *first;
        let why = Why::SumsUp { span: &shown.span.id, turns: *count, tokens: *cost };
        let piece = Piece::span(NAME, why, shown, tokenizer);
        text_tokens = text_tokens.saturating_add(piece.tokens);
        pieces.push(piece);
    }
    pieces.extend(rest);
    draft.pieces = pieces;
    draft.notes.push(Note::Compacted { spans: shown.len(), turns, tokens, text_tokens });
    draft
}
