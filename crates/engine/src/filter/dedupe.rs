//! `dedupe`: the same thing said twice in a row, said once.
//!
//! A message goes when the one right before it has the same role and the same content, as after a client's
//! retry. Of system messages, which may be recalled from several places, one text stays wherever the other
//! stands. Messages with calls or answers are never touched.

use rustc_hash::FxHashSet;

use super::{Draft, Note};
use crate::Role;
use crate::piece::{Piece, Why};

const NAME: &str = "dedupe";

pub(super) fn apply(mut draft: Draft<'_>) -> Draft<'_> {
    let mut instructed = FxHashSet::default();
    let mut last = None;
    let mut dropped = 0;
    for piece in draft.pieces.iter_mut().filter(|p| !p.is_out()) {
        let said = said(piece);
        let repeats = said == last || (piece.instructs() && instructed.contains(&said));
        if said.is_some() && repeats {
            piece.drop(NAME, Why::Repeats);
            dropped += 1;
            continue;
        }
        if piece.instructs() {
            instructed.insert(said);
        }
        last = said;
    }
    draft.notes.push(Note::Deduped { dropped });
    draft
}

/// What makes a message the same as another: the role and the content, or the whole where that is no text.
fn said<'a>(piece: &Piece<'a>) -> Option<(Option<Role>, &'a str)> {
    let message = piece.source().filter(|m| piece.is_verbatim() && m.tools().is_none())?;
    let whole = message.as_str();
    Some((message.role(), message.content().map_or(whole, |c| c.literal.slice(whole))))
}
