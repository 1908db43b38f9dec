//! What proposes pieces, and what it needs for it.
//!
//! Owns the way from loaded documents to pieces. Components state their needs first; the loader answers them all at
//! once; from there everything is pure.

use crate::filter::Filter;
use crate::group::{Groups, Membership};
use crate::json;
use crate::message::{Message, Turn};
use crate::piece::{Framing, Origin, Piece, Tag, Why};
use crate::reach::Level;
use crate::recall::{Recall, Recalled};
use crate::recipe::{Component, Recipe, Shape};
use crate::tokens::Tokenizer;
use crate::{Role, path, scope};
use bytes::Bytes;

/// Something a recipe must have loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Need {
    /// The newest turns.
    Turns,
    Summary,
    UserData,
    Collection {
        name: String,
        shape: Shape,
    },
    /// The collapsed groups of the thread.
    Groups,
    /// What a search finds. It comes in the second round: what is searched for depends on the first.
    Recall(Recall),
}

/// What the loader answered.
#[derive(Debug, Default)]
pub struct Loaded<'a> {
    /// The newest turns, oldest first.
    pub turns: Vec<&'a Turn>,
    /// How many turns of the thread are older than these.
    pub turns_before: u64,
    pub summary: Option<&'a Message>,
    /// The last turn that the summary covers, where it was made from the turns themselves.
    pub summary_upto: Option<u64>,
    pub user_data: Option<&'a Message>,
    /// Documents of other collections, in the order in which they are shown.
    pub collections: Vec<Read<'a>>,
    pub groups: Option<&'a Groups>,
    /// The turns that a model refused, by seq: they stay out.
    pub refused: &'a [RefusedTurn],
    /// The groups of the turns, where they are known.
    pub membership: Option<&'a Membership>,
    /// What searches found, in the order of the components that asked.
    pub recalled: &'a [Recalled],
    /// Messages given with the request.
    pub inline: &'a [Message],
    /// What is being asked now, where it is not the newest turn already.
    pub question: Option<&'a Message>,
}

/// A turn that a model refused.
#[derive(Debug, Clone, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct RefusedTurn {
    pub seq: u64,
    /// The words of the model's server.
    pub why: String,
}

/// What was read for one collection at one level.
#[derive(Debug, Clone, Copy)]
pub struct Read<'a> {
    pub name: &'a str,
    pub shape: Shape,
    pub level: Level,
    pub items: &'a [Item],
}

/// A document of a collection, ready to be shown.
#[derive(Debug, Clone)]
pub struct Item {
    pub id: Box<str>,
    pub message: Message,
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
        let mut needs = Vec::new();
        for need in self.components.iter().filter_map(need).chain(replaces.then_some(Need::Groups)) {
            if !needs.contains(&need) {
                needs.push(need);
            }
        }
        needs
    }
}

/// How pieces are counted and tagged.
#[derive(Debug, Clone, Copy)]
pub struct Counting {
    pub tokenizer: Tokenizer,
    pub tag: Tag,
}

impl Component {
    /// Proposes its pieces.
    pub fn emit<'a>(&'a self, loaded: &'a Loaded<'a>, counting: Counting, out: &mut Vec<Piece<'a>>) {
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
                let items = loaded.read(scope::TURNS, Shape::Message);
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
                let message = found.find_map(|recalled| recalled.message.as_ref()).or(empty.as_ref());
                let origin = Origin::Recall { from: recall.from };
                out.extend(message.map(|m| Piece::stored(origin, "recall", m, tokenizer)));
            }
            Self::Module(module) => {
                out.push(Piece::stored(Origin::Module(module), "module", &module.message, tokenizer));
            }
            Self::Collection { name, framings, shape } => {
                for read in loaded.read(name, *shape) {
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
        if framing.is_none() && self.tag == Tag::None {
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

impl<'a> Loaded<'a> {
    /// What was read for a collection, level by level.
    fn read(&self, name: &str, shape: Shape) -> impl Iterator<Item = &Read<'a>> {
        self.collections.iter().filter(move |read| read.name == name && read.shape == shape)
    }
}

/// A turn as it is: what nearly every piece of a prompt begins as. It is built where it will stand, without a copy.
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
    Piece::made(origin, "history", Why::Emitted, shown_as_data(wrapped(message.as_str())), tokenizer)
}

fn stored_item<'a>(name: &'a str, item: &'a Item, tokenizer: Tokenizer) -> Piece<'a> {
    Piece::stored(Origin::Component { name, item: Some(item) }, "collection", &item.message, tokenizer)
}

/// A document of a collection. One that wraps a value, and is no message itself, is shown as that value.
pub fn item(id: &str, raw: Bytes, shape: Shape) -> Item {
    let document = Message::from_stored(raw);
    let message = document.shown();
    let message = match message.role().filter(|_| shape == Shape::Message) {
        Some(_) => message.clone(),
        None => shown_as_data(wrapped(document.as_str())),
    };
    Item { id: id.into(), message }
}

/// The value that a document wraps, else the document itself.
fn wrapped(text: &str) -> &str {
    match (json::member(text, "role"), json::member(text, "value")) {
        (None, Some(value)) => value.of(text),
        _ => text,
    }
}

fn shown_as_data(text: &str) -> Message {
    Message::text(Role::System, &json::compact(text))
}

/// A thread's summary document, as the prompt shows it; `None` when it says nothing.
pub fn show_summary(raw: &[u8]) -> Option<Message> {
    let value: serde_json::Value = serde_json::from_slice(raw).ok()?;
    let text = value.get("text")?.as_str()?.trim();
    (!text.is_empty()).then(|| Message::text(Role::System, &format!("Previous context summary: {text}")))
}

/// The last turn that a summary covers, where it was made from the turns and not by a caller.
pub fn summary_upto(raw: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(raw).ok()?;
    json::member(text, "by").filter(|by| matches!(by.of(text), r#""extract""# | r#""model""#))?;
    json::member(text, "upto_seq")?.of(text).parse().ok()
}

/// A user's data, as the prompt shows it; `None` when there is none.
pub fn show_user_data(raw: &[u8]) -> Option<Message> {
    let text = String::from_utf8_lossy(raw);
    let pairs: Vec<String> = json::members(&text)
        .filter_map(|(key, value)| {
            let said = |span: json::Span| json::unescape(span.of(&text)).map(|s| s.into_owned());
            let pair = format!("{}: {}", said(key)?, said(value).unwrap_or_else(|| json::compact(value.of(&text))));
            Some(pair.replace(|c: char| c.is_control(), " "))
        })
        .collect();
    (!pairs.is_empty()).then(|| Message::text(Role::System, &format!("User data: {}", pairs.join(" "))))
}

/// Where a thread's summary is kept.
pub fn summary_path(user: &str, thread: &str) -> Result<path::DocumentPath, path::PathError> {
    path::DocumentPath::new(&[scope::USERS, user, scope::THREADS, thread, "memory", "summary"])
}

/// Where the marks of a thread's refused turns are kept.
pub fn refused_path(user: &str, thread: &str) -> Result<path::DocumentPath, path::PathError> {
    path::DocumentPath::new(&[scope::USERS, user, scope::THREADS, thread, "memory", "refused"])
}

/// Where a user's data is kept.
pub fn user_data_path(user: &str) -> Result<path::DocumentPath, path::PathError> {
    path::DocumentPath::new(&[scope::USERS, user, "memory", "data"])
}
