//! What proposes pieces, and what it needs for it.
//!
//! Owns the way from loaded documents to pieces. Components state their needs first; the loader answers them
//! all at once; from there everything is pure.

use crate::filter::Filter;
use crate::loaded::{CollectionItem, Loaded, Shape, show_as_data};
use crate::message::{Message, Turn};
use crate::piece::{DocIdMode, Framing, Origin, Piece, RECALL_NOTICE, Why};
use crate::recall::Recall;
use crate::recipe::{Component, Recipe};
use crate::scope;
use crate::tokens::Tokenizer;

/// Something a recipe must have loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Need {
    /// The newest turns.
    Turns,
    /// The summary of the thread.
    Summary,
    /// What is known about the user.
    UserData,
    /// The documents of a collection.
    Collection {
        /// The name of the collection.
        name: String,
        /// How its documents are shown.
        shape: Shape,
    },
    /// The collapsed groups of the thread.
    Groups,
    /// The compactions of the thread, and its pinned turns.
    Compactions,
    /// What a search finds. It comes in the second round: what is searched for depends on the first.
    Recall(Recall),
}

impl Recipe {
    /// What must be loaded for it, each once.
    pub fn needs(&self) -> Vec<Need> {
        let need = |component: &Component| match component {
            Component::Literal { .. } | Component::Module(_) => None,
            Component::History { .. } => Some(Need::Turns),
            Component::Summary => Some(Need::Summary),
            Component::UserData => Some(Need::UserData),
            Component::Collection { name, shape, .. } => Some(Need::Collection { name: name.clone(), shape: *shape }),
            Component::Recall { recall, .. } => Some(Need::Recall(recall.clone())),
        };
        let replaces = self.filters.iter().any(|f| matches!(f, Filter::CollapseGroupReplacer));
        let compacts = self.filters.iter().any(|f| matches!(f, Filter::Compact(_)));
        let of_filters = [replaces.then_some(Need::Groups), compacts.then_some(Need::Compactions)];
        let mut needs = Vec::new();
        for need in self.components.iter().filter_map(need).chain(of_filters.into_iter().flatten()) {
            if !needs.contains(&need) {
                needs.push(need);
            }
        }
        needs
    }
}

/// How pieces are counted and tagged.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counting {
    pub tokenizer: Tokenizer,
    pub tag: DocIdMode,
}

impl Component {
    /// Proposes its pieces.
    pub(crate) fn emit<'a>(&'a self, loaded: &'a Loaded<'a>, counting: Counting, out: &mut Vec<Piece<'a>>) {
        let tokenizer = counting.tokenizer;
        let aside = |name, item| Origin::Component { name, item };
        match self {
            Self::Literal { role, value } => {
                let message = Message::text(*role, value);
                let origin = aside("literal", None);
                out.push(Piece::made(origin, "literal", Why::Emitted, message, tokenizer));
            }
            Self::History { framing } => {
                let begin = out.len();
                match loaded.turns.iter().all(|turn| turn.message.shown().role().is_some()) {
                    true => out.extend(loaded.turns.iter().map(|turn| stored_turn(turn, tokenizer))),
                    false => out.extend(loaded.turns.iter().map(|turn| any_turn(turn, tokenizer))),
                }
                let items = loaded.collection(scope::TURNS, Shape::Message);
                out.extend(items.flat_map(|read| read.items).map(|item| stored_item(scope::TURNS, item, tokenizer)));
                counting.dress(out, begin, framing.as_ref());
            }
            Self::Summary => {
                out.extend(loaded.summary.map(|m| Piece::stored(aside("summary", None), "summary", m, tokenizer)))
            }
            Self::UserData => {
                out.extend(loaded.user_data.map(|m| Piece::stored(aside("userData", None), "userData", m, tokenizer)))
            }
            Self::Recall { recall, empty } => {
                let mut found = loaded.recalled.iter().filter(|recalled| recalled.recall == *recall);
                let found = found.find_map(|recalled| recalled.message.as_ref());
                let is_first = || !out.iter().any(Piece::is_recall_notice);
                if let Some(notice) = loaded.recall_notice.filter(|_| found.is_some() && is_first()) {
                    out.push(Piece::stored(aside(RECALL_NOTICE, None), RECALL_NOTICE, notice, tokenizer));
                }
                let origin = Origin::Recall { from: recall.from };
                out.extend(found.or(empty.as_ref()).map(|m| Piece::stored(origin, "recall", m, tokenizer)));
            }
            Self::Module(module) => {
                out.push(Piece::stored(Origin::Module(module), "module", &module.message, tokenizer));
            }
            Self::Collection { name, framings, shape } => {
                for read in loaded.collection(name, *shape) {
                    let begin = out.len();
                    out.extend(read.items.iter().map(|item| stored_item(name, item, tokenizer)));
                    counting.dress(out, begin, framings.at(read.level));
                }
            }
        }
    }
}

impl Counting {
    /// Puts framing and tag on the pieces from `begin` on, and counts them again if they have either.
    fn dress<'a>(self, pieces: &mut [Piece<'a>], begin: usize, framing: Option<&'a Framing>) {
        if framing.is_none() && self.tag == DocIdMode::None {
            return;
        }
        for piece in pieces.iter_mut().skip(begin) {
            if let Some(framing) = framing {
                piece.frame(framing);
            }
            piece.tag(self.tag);
            piece.count_again(self.tokenizer);
        }
    }
}

/// A turn as it is: what nearly every piece of a prompt begins as. It is built where it will stand, without a
/// copy.
#[inline(always)]
fn stored_turn(turn: &Turn, tokenizer: Tokenizer) -> Piece<'_> {
    Piece::stored(Origin::Turn { seq: turn.seq, id: &turn.id }, "history", turn.message.shown(), tokenizer)
}

/// A turn, or the data that stands where one should.
fn any_turn(turn: &Turn, tokenizer: Tokenizer) -> Piece<'_> {
    let message = turn.message.shown();
    if message.role().is_some() {
        return stored_turn(turn, tokenizer);
    }
    let origin = Origin::Turn { seq: turn.seq, id: &turn.id };
    Piece::made(origin, "history", Why::Emitted, show_as_data(message.as_str()), tokenizer)
}

fn stored_item<'a>(name: &'a str, item: &'a CollectionItem, tokenizer: Tokenizer) -> Piece<'a> {
    Piece::stored(Origin::Component { name, item: Some(item) }, "collection", &item.message, tokenizer)
}
