//! `collapseGroupReplacer`: one message for all turns of a collapsed group, where the first of them stood.
//!
//! Turns of a group that is expanded stay, and say which group they are of. What could not be looked up is
//! left as it is, and noted.

use super::{Draft, Note};
use crate::group::ShownGroup;
use crate::loaded::Loaded;
use crate::piece::{Origin, Piece, Why};

const NAME: &str = "collapseGroupReplacer";

/// A group that turns of this prompt collapse into.
struct Met<'a> {
    shown: &'a ShownGroup,
    /// The place of its first turn.
    first: usize,
    turns: usize,
}

pub(super) fn apply<'a>(mut draft: Draft<'a>, loaded: &'a Loaded<'a>) -> Draft<'a> {
    let Some(groups) = loaded.groups else { return draft };
    let known_place = |seq| loaded.membership.and_then(|known| known.get(seq));
    draft.notes.extend(groups.problems.iter().map(|what| Note::LookupFailed { what: what.clone() }));
    let mut met: Vec<Met<'a>> = Vec::new();
    let mut known: Vec<Option<usize>> = vec![None; groups.iter().count()];
    let mut expanded = 0;
    for (at, piece) in draft.pieces.iter_mut().enumerate().filter(|(_, p)| !p.is_out()) {
        let Origin::Turn { seq, id } = piece.origin else { continue };
        let Some(place) = known_place(seq).unwrap_or_else(|| groups.place(id)) else { continue };
        let Some(shown) = groups.shown(place) else { continue };
        let group = &*shown.group.name;
        if shown.group.expanded {
            piece.annotate(&shown.members, draft.tokenizer);
            piece.mark(piece.fate, NAME, Why::Expanded { group });
            expanded += 1;
            continue;
        }
        piece.collapse(NAME, Why::InGroup { group });
        let Some(seen) = known.get_mut(place) else { continue };
        match seen.and_then(|seen| met.get_mut(seen)) {
            Some(met) => met.turns += 1,
            None => {
                *seen = Some(met.len());
                met.push(Met { shown, first: at, turns: 1 });
            }
        }
    }
    let turns = met.iter().map(|met| met.turns).sum();
    if turns + expanded > 0 {
        draft.notes.push(Note::Collapsed { groups: met.len(), turns, expanded });
    }
    stand_in(draft, &met)
}

/// Puts what stands in for each group before its first turn.
fn stand_in<'a>(mut draft: Draft<'a>, met: &[Met<'a>]) -> Draft<'a> {
    let tokenizer = draft.tokenizer;
    let mut pieces = Vec::with_capacity(draft.pieces.len() + met.len());
    let mut rest = draft.pieces.drain(..);
    let mut passed = 0;
    for Met { shown, first, turns } in met {
        pieces.extend(rest.by_ref().take(first - passed));
        passed = *first;
        let why = Why::StandsFor { group: &shown.group.name, turns: *turns };
        pieces.push(Piece::stand_in(NAME, why, shown, tokenizer));
    }
    pieces.extend(rest);
    draft.pieces = pieces;
    draft
}
