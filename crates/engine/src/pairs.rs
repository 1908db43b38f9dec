//! Calls and their answers.
//!
//! Owns one question: which assistant message does an answer belong to? Real transcripts reuse call ids, so
//! an answer belongs to the nearest message before it that issued its id, else to the first one after it.
//! From that follow the places where a thread may be cut without parting a call from its answers.

use rustc_hash::FxHashMap;

use crate::piece::Piece;

/// Whom each live piece answers.
#[derive(Debug)]
pub(crate) struct Pairs {
    /// By index into the pieces: the index of the message that issued the call, for answers that have one.
    owners: Vec<Option<usize>>,
}

impl Pairs {
    pub(crate) fn find(pieces: &[Piece<'_>]) -> Self {
        let mut owners = vec![None; pieces.len()];
        let mut issued: FxHashMap<&str, usize> = FxHashMap::default();
        let mut waiting: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
        for (at, piece) in pieces.iter().enumerate().filter(|(_, p)| !p.is_out()) {
            for call in piece.base().calls() {
                issued.insert(&call.id, at);
                for early in waiting.remove(&*call.id).unwrap_or_default() {
                    set(&mut owners, early, Some(at));
                }
            }
            if let Some(id) = answered(piece) {
                match issued.get(id) {
                    Some(owner) => set(&mut owners, at, Some(*owner)),
                    None => waiting.entry(id).or_default().push(at),
                }
            }
        }
        Self { owners }
    }

    /// The message whose call the piece at `at` answers.
    pub(crate) fn owner(&self, at: usize) -> Option<usize> {
        self.owners.get(at).copied().flatten()
    }

    /// Spreads marks over each call and its answers: where one is marked, all are.
    pub(crate) fn spread(&self, marks: &mut [bool]) {
        let marked = |marks: &[bool], at: usize| marks.get(at).copied().unwrap_or(false);
        for (at, owner) in self.ties() {
            if marked(marks, at) {
                set(marks, owner, true);
            }
        }
        for (at, owner) in self.ties() {
            if marked(marks, owner) {
                set(marks, at, true);
            }
        }
    }

    /// Each answer that has an owner, with it.
    fn ties(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.owners.iter().enumerate().filter_map(|(at, owner)| Some((at, (*owner)?)))
    }

    /// The live pieces in blocks that must stay or go together, in order; each block is a range of indices.
    pub(crate) fn blocks(&self, pieces: &[Piece<'_>]) -> Vec<std::ops::Range<usize>> {
        let mut reach = vec![0usize; self.owners.len()];
        for (at, owner) in self.ties() {
            if let Some(end) = reach.get_mut(at.min(owner)) {
                *end = (*end).max(at.max(owner));
            }
        }
        let mut blocks: Vec<std::ops::Range<usize>> = Vec::with_capacity(pieces.len());
        let mut open_until = None;
        for (at, furthest) in reach.into_iter().enumerate() {
            match (blocks.last_mut(), open_until) {
                (Some(block), Some(until)) if at <= until => block.end = at + 1,
                _ => blocks.push(at..at + 1),
            }
            if furthest > 0 {
                open_until = open_until.max(Some(furthest));
            }
        }
        blocks
    }
}

/// The id of the call that a live piece answers.
pub(crate) fn answered<'p>(piece: &'p Piece<'_>) -> Option<&'p str> {
    if !piece.is(crate::Role::Tool) {
        return None;
    }
    piece.base().tools()?.answer.as_ref()?.id.as_deref()
}

fn set<T>(slots: &mut [T], at: usize, value: T) {
    if let Some(slot) = slots.get_mut(at) {
        *slot = value;
    }
}
