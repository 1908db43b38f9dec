//! `dedupe`: the same thing said twice in a row, said once.
//!
//! A message goes when the one right before it has the same role and the same content, as after a client's retry. Of
//! system messages, which may be recalled from several places, one text stays wherever the other stands. Messages
//! with calls or answers are never touched.

use super::{Draft, Note};
use crate::piece::{Piece, Why};

const NAME: &str = "dedupe";

pub fn apply(mut draft: Draft<'_>) -> Draft<'_> {
    let mut said: Vec<usize> = Vec::new();
    let mut last: Option<usize> = None;
    let mut dropped = 0;
    for at in 0..draft.pieces.len() {
        let Some(piece) = draft.pieces.get(at).filter(|p| !p.is_out()) else { continue };
        let repeats = |other: usize| draft.pieces.get(other).is_some_and(|o| same(o, piece));
        let instructs = piece.instructs();
        if last.is_some_and(repeats) || (instructs && said.iter().any(|s| repeats(*s))) {
            if let Some(piece) = draft.pieces.get_mut(at) {
                piece.drop(NAME, Why::Repeats);
            }
            dropped += 1;
            continue;
        }
        if instructs {
            said.push(at);
        }
        last = Some(at);
    }
    draft.notes.push(Note::Deduped { dropped });
    draft
}

fn same(a: &Piece<'_>, b: &Piece<'_>) -> bool {
    let (one, other) = (a.base(), b.base());
    let text = |p: &Piece<'_>| p.base().content().map(|c| c.literal);
    a.role() == b.role()
        && a.is_verbatim()
        && b.is_verbatim()
        && one.tools().is_none()
        && other.tools().is_none()
        && match (text(a), text(b)) {
            (Some(x), Some(y)) => x.of(one.as_str()) == y.of(other.as_str()),
            _ => one.raw() == other.raw(),
        }
}
