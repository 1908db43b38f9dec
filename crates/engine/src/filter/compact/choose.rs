//! Which spans are worth least.
//!
//! Tool output goes first, oldest first, then old talk, then the texts of earlier compactions, which are made
//! again from their turns as part of larger spans. A call and its answers are one unit. Instructions, pinned
//! and newest turns, what was restored lately, and the first thing that the user asked for stay as they are.

use super::{Compact, pinned, place};
use crate::compact::{CompactionPlan, HEADER_TOKENS, PlannedSpan, SpanKind, SpanSource};
use crate::filter::Draft;
use crate::loaded::Loaded;
use crate::pairs::Pairs;
use crate::piece::{Origin, Piece};

/// A run of fewer tokens is not worth a message that stands in for it.
const RUN_TOKENS_MIN: u32 = 160;
/// Of the tokens of a unit, the part that its text should have.
const TALK_PART: u32 = 6;
const TOOLS_PART: u32 = 25;
const EARLIER_PART: u32 = 2;
/// A text gets at most this part of what it replaces.
const TEXT_PART_MAX: (u32, u32) = (3, 5);
/// Spans are split so that each has about so many tokens of text, into at most so many.
const SPAN_TEXT_TOKENS: u32 = 240;
const SPANS_MAX: u32 = 48;
/// The first user turn stays if it costs at most this part of the target.
const GOAL_PART: u32 = 8;
/// Talk counts so many times as much as tool output when texts are given their room.
const TALK_WEIGHT: u64 = 8;

/// What is compacted together or not at all: a message, or a call with its answers.
#[derive(Debug)]
struct Unit {
    source: SpanSource,
    first_seq: u64,
    last_seq: u64,
    turns: u32,
    tokens: u32,
    class: UnitClass,
    is_free: bool,
    children: Vec<Box<str>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UnitClass {
    Tools,
    Talk,
    /// The text of an earlier compaction.
    Earlier,
}

impl Unit {
    /// The tokens that its text should have.
    fn floor(&self) -> u32 {
        self.tokens
            / match self.class {
                UnitClass::Tools => TOOLS_PART,
                UnitClass::Talk => TALK_PART,
                UnitClass::Earlier => EARLIER_PART,
            }
    }

    fn weight(&self) -> u64 {
        let each = if self.class == UnitClass::Tools { 1 } else { TALK_WEIGHT };
        u64::from(self.tokens) * each
    }
}

pub(super) fn plan(
    options: &Compact,
    draft: &Draft<'_>,
    loaded: &Loaded<'_>,
    (tokens, max_tokens): (u32, u32),
) -> CompactionPlan {
    let target = (f64::from(max_tokens) * options.keep) as u32;
    let units = units(options, draft, loaded, target);
    let chosen = choose(&units, tokens, target);
    let runs = runs(&units, &chosen);
    let freed: u32 = runs.iter().flatten().map(|unit| unit.tokens).fold(0, u32::saturating_add);
    let stays = tokens.saturating_sub(freed);
    let heads = HEADER_TOKENS.saturating_mul(runs.len() as u32);
    // Where the target leaves no room for texts, what lies between it and the cap is used.
    let least = stays.saturating_add(heads.saturating_mul(2));
    let room = if least <= target { target - stays } else { max_tokens.saturating_sub(stays) };
    let is_possible = room >= heads && !runs.is_empty();
    let spans = if is_possible { spans(&runs, room, options.text_tokens_max) } else { Vec::new() };
    let (by, text_tokens_max) = (options.by, options.text_tokens_max);
    let needed_tokens = stays.saturating_add(heads);
    CompactionPlan { spans, tokens, max_tokens, needed_tokens, by, text_tokens_max }
}

/// The live log in units, in order.
fn units(options: &Compact, draft: &Draft<'_>, loaded: &Loaded<'_>, target: u32) -> Vec<Unit> {
    let pairs = Pairs::find(&draft.pieces);
    let mut stays = draft.pinned(&pairs);
    let mut mark = |at: usize| stays.get_mut(at).into_iter().for_each(|stays| *stays = true);
    if let Some(compactions) = loaded.compactions {
        let pins = pinned(draft, &pairs, compactions);
        pins.iter().enumerate().filter(|(_, pinned)| **pinned).for_each(|(at, _)| mark(at));
    }
    let is_said = |piece: &Piece<'_>| piece.is_log() && !matches!(piece.origin, Origin::Compaction(_));
    let said = || draft.live().filter(|(_, piece)| is_said(piece));
    said().rev().take(options.recent_turns as usize).for_each(|(at, _)| mark(at));
    said().filter(|(_, piece)| piece.instructs()).for_each(|(at, _)| mark(at));
    unanswered(draft, &pairs).for_each(&mut mark);
    draft.newest_user().into_iter().for_each(&mut mark);
    let first_user = said().find(|(_, piece)| piece.is_user_turn() && is_first(piece));
    if let Some((at, _)) = first_user.filter(|(_, piece)| piece.tokens <= target / GOAL_PART) {
        mark(at);
    }
    let last_seq = loaded.turns.iter().map(|turn| turn.seq).max().unwrap_or(0);
    let recent = u64::from(options.recent_turns);
    for (at, piece) in said() {
        let restored_at = place(piece).and_then(|(source, seq)| loaded.compactions?.restored_at(source, seq));
        if restored_at.is_some_and(|at| at.saturating_add(recent) > last_seq) {
            mark(at);
        }
    }
    pairs.spread(&mut stays);
    let is_free = |at: usize| stays.get(at) == Some(&false);
    pairs.blocks(&draft.pieces).into_iter().filter_map(|block| unit(draft, block, &is_free)).collect()
}

/// Messages with a call whose answer is still to come.
fn unanswered<'d>(draft: &'d Draft<'_>, pairs: &Pairs) -> impl Iterator<Item = usize> + 'd {
    let mut answers = vec![0usize; draft.pieces.len()];
    let owners = draft.live().filter_map(|(at, _)| pairs.owner(at));
    owners.for_each(|owner| answers.get_mut(owner).into_iter().for_each(|count| *count += 1));
    let waits =
        move |(at, piece): &(usize, &Piece<'_>)| piece.base().calls().len() > answers.get(*at).copied().unwrap_or(0);
    draft.live().filter(waits).map(|(at, _)| at)
}

/// Whether it is where the conversation begins.
fn is_first(piece: &Piece<'_>) -> bool {
    place(piece).is_some_and(|(source, seq)| seq <= if source == SpanSource::Thread { 8 } else { 7 })
}

/// A block as a unit; `None` where nothing of it is in the prompt.
fn unit(draft: &Draft<'_>, block: std::ops::Range<usize>, is_free: &impl Fn(usize) -> bool) -> Option<Unit> {
    let pieces = || block.clone().filter_map(|at| Some((at, draft.pieces.get(at)?))).filter(|(_, it)| !it.is_out());
    let mut ends: Vec<(SpanSource, u64, u64)> = Vec::new();
    let mut unit = Unit {
        source: SpanSource::Thread,
        first_seq: 0,
        last_seq: 0,
        turns: 0,
        tokens: 0,
        class: UnitClass::Talk,
        is_free: true,
        children: Vec::new(),
    };
    for (at, piece) in pieces() {
        unit.is_free &= is_free(at);
        unit.tokens = unit.tokens.saturating_add(piece.tokens);
        match piece.origin {
            Origin::Compaction(shown) => {
                let span = &shown.span;
                ends.push((span.source, span.first_seq, span.last_seq));
                unit.turns += span.turns;
                unit.children.push(span.id.clone());
                unit.class = UnitClass::Earlier;
            }
            Origin::Made => unit.class = UnitClass::Tools,
            _ => {
                unit.turns += 1;
                match place(piece) {
                    Some((source, seq)) => ends.push((source, seq, seq)),
                    None => unit.is_free = false,
                }
                if piece.base().tools().is_some() && unit.class == UnitClass::Talk {
                    unit.class = UnitClass::Tools;
                }
            }
        }
    }
    if unit.tokens == 0 {
        return None;
    }
    match ends.first() {
        Some((source, ..)) if ends.iter().all(|(of, ..)| of == source) => unit.source = *source,
        _ => unit.is_free = false,
    }
    unit.first_seq = ends.iter().map(|(_, first, _)| *first).min().unwrap_or(0);
    unit.last_seq = ends.iter().map(|(_, _, last)| *last).max().unwrap_or(0);
    Some(unit)
}

/// By unit, whether it is compacted: as few as leave the target room for their texts.
fn choose(units: &[Unit], tokens: u32, target: u32) -> Vec<bool> {
    let mut chosen = vec![false; units.len()];
    let (mut freed, mut floors) = (0u32, HEADER_TOKENS);
    let mut take = |at: usize| -> bool {
        let (Some(unit), Some(chosen)) = (units.get(at), chosen.get_mut(at)) else { return false };
        if !unit.is_free || *chosen {
            return false;
        }
        *chosen = true;
        freed = freed.saturating_add(unit.tokens);
        floors = floors.saturating_add(unit.floor());
        tokens.saturating_sub(freed).saturating_add(floors) <= target
    };
    for run in tool_runs(units) {
        let mut is_enough = false;
        run.for_each(|at| is_enough |= take(at));
        if is_enough {
            return chosen;
        }
    }
    for class in [UnitClass::Talk, UnitClass::Earlier] {
        for (at, unit) in units.iter().enumerate() {
            if (class == UnitClass::Earlier || unit.class != UnitClass::Earlier) && take(at) {
                return chosen;
            }
        }
    }
    chosen
}

/// Runs of tool traffic that are worth a span of their own.
fn tool_runs(units: &[Unit]) -> Vec<std::ops::Range<usize>> {
    let mut runs: Vec<std::ops::Range<usize>> = Vec::new();
    for (at, _) in units.iter().enumerate().filter(|(_, unit)| unit.is_free && unit.class == UnitClass::Tools) {
        match runs.last_mut() {
            Some(run) if run.end == at => run.end += 1,
            _ => runs.push(at..at + 1),
        }
    }
    let tokens = |run: &std::ops::Range<usize>| {
        units.get(run.clone()).unwrap_or_default().iter().map(|unit| unit.tokens).fold(0, u32::saturating_add)
    };
    runs.retain(|run| tokens(run) >= RUN_TOKENS_MIN);
    runs
}

/// Chosen units that stand one after the other, in the order of their seqs.
fn runs<'u>(units: &'u [Unit], chosen: &[bool]) -> Vec<Vec<&'u Unit>> {
    let mut runs: Vec<Vec<&Unit>> = Vec::new();
    let mut is_open = false;
    for (unit, chosen) in units.iter().zip(chosen) {
        if !chosen {
            is_open = false;
            continue;
        }
        match runs.last_mut().filter(|_| is_open) {
            Some(run) if run.last().is_some_and(|it| it.source == unit.source && it.last_seq < unit.first_seq) => {
                run.push(unit);
            }
            _ => runs.push(vec![unit]),
        }
        is_open = true;
    }
    runs.retain(|run| run.iter().map(|unit| unit.tokens).fold(0, u32::saturating_add) >= RUN_TOKENS_MIN);
    runs
}

/// The spans of the runs, with the room that each text gets.
fn spans(runs: &[Vec<&Unit>], room: u32, text_tokens_max: Option<u32>) -> Vec<PlannedSpan> {
    let all: u32 = runs.iter().flatten().map(|unit| unit.tokens).fold(0, u32::saturating_add);
    let wanted = (room / SPAN_TEXT_TOKENS).clamp(1, SPANS_MAX).max(runs.len() as u32);
    let size = (all / wanted).max(RUN_TOKENS_MIN);
    let parts: Vec<&[&Unit]> = runs.iter().flat_map(|run| split(run, size)).collect();
    let heads = HEADER_TOKENS.saturating_mul(parts.len() as u32);
    // Rather fewer and larger spans than spans without texts.
    let parts = if heads.saturating_mul(2) <= room { parts } else { runs.iter().map(Vec::as_slice).collect() };
    let texts = room.saturating_sub(HEADER_TOKENS.saturating_mul(parts.len() as u32));
    let weight = |part: &[&Unit]| part.iter().map(|unit| unit.weight()).sum::<u64>();
    let weights: u64 = parts.iter().map(|part| weight(part)).sum::<u64>().max(1);
    let text_tokens = |part: &[&Unit]| (u64::from(texts) * weight(part) / weights) as u32;
    let text_max = text_tokens_max.unwrap_or(u32::MAX);
    parts.iter().filter_map(|part| planned(part, text_tokens(part).min(text_max))).collect()
}

/// A run in parts of about a size.
fn split<'r, 'u>(run: &'r [&'u Unit], size: u32) -> Vec<&'r [&'u Unit]> {
    let all: u32 = run.iter().map(|unit| unit.tokens).fold(0, u32::saturating_add);
    let count = (all / size.max(1)).max(1);
    let each = all / count;
    let (mut parts, mut rest, mut tokens) = (Vec::new(), run, 0u32);
    while let Some(end) = rest.iter().position(|unit| {
        tokens = tokens.saturating_add(unit.tokens);
        tokens >= each
    }) {
        let Some((part, more)) = rest.split_at_checked(end + 1) else { break };
        parts.push(part);
        (rest, tokens) = (more, 0);
    }
    let left: u32 = rest.iter().map(|unit| unit.tokens).fold(0, u32::saturating_add);
    match parts.last_mut() {
        // A small rest goes with the part before it.
        Some(last) if left < each / 2 => {
            let from = run.len() - rest.len() - last.len();
            *last = run.get(from..).unwrap_or(last);
        }
        _ if rest.is_empty() => {}
        _ => parts.push(rest),
    }
    parts
}

fn planned(part: &[&Unit], text_tokens: u32) -> Option<PlannedSpan> {
    let (first, last) = (part.first()?, part.last()?);
    let tokens = part.iter().map(|unit| unit.tokens).fold(0, u32::saturating_add);
    let is = |class: UnitClass| part.iter().all(|unit| unit.class == class);
    let kind = match () {
        () if is(UnitClass::Tools) => SpanKind::Tools,
        () if is(UnitClass::Talk) => SpanKind::Talk,
        () => SpanKind::Mixed,
    };
    Some(PlannedSpan {
        source: first.source,
        first_seq: first.first_seq,
        last_seq: last.last_seq,
        turns: part.iter().map(|unit| unit.turns).sum(),
        tokens,
        kind,
        text_tokens: text_tokens.min(tokens.saturating_mul(TEXT_PART_MAX.0) / TEXT_PART_MAX.1),
        children: part.iter().flat_map(|unit| unit.children.iter().cloned()).collect(),
    })
}
