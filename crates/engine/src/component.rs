//! What proposes pieces, and what it needs for it.
//!
//! Owns the way from loaded documents to pieces. Components state their needs first; the loader answers them all at
//! once; from there everything is pure.

use crate::json;
use crate::message::{Message, Turn};
use crate::piece::{Origin, Piece, Why};
use crate::recipe::{Component, Recipe};
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
    },
}

/// What the loader answered.
#[derive(Debug, Default)]
pub struct Loaded<'a> {
    /// The newest turns, oldest first.
    pub turns: Vec<&'a Turn>,
    /// How many turns of the thread are older than these.
    pub turns_before: u64,
    pub summary: Option<&'a Message>,
    pub user_data: Option<&'a Message>,
    /// Documents of other collections, by name.
    pub collections: Vec<(&'a str, &'a [Item])>,
    /// Messages given with the request.
    pub inline: &'a [Message],
    /// What is being asked now, where it is not the newest turn already.
    pub question: Option<&'a Message>,
}

/// A document of a collection, ready to be shown.
#[derive(Debug, Clone)]
pub struct Item {
    pub id: Box<str>,
    pub message: Message,
}

impl Recipe {
    /// What must be loaded for it.
    pub fn needs(&self) -> Vec<Need> {
        let need = |component: &Component| match component {
            Component::Literal { .. } => None,
            Component::History { .. } => Some(Need::Turns),
            Component::Summary => Some(Need::Summary),
            Component::UserData => Some(Need::UserData),
            Component::Collection { name, .. } => Some(Need::Collection { name: name.clone() }),
        };
        self.components.iter().filter_map(need).collect()
    }
}

impl Component {
    /// Proposes its pieces.
    pub fn emit<'a>(&'a self, loaded: &'a Loaded<'a>, tokenizer: Tokenizer, out: &mut Vec<Piece<'a>>) {
        let aside = |name, item| Origin::Component { name, item };
        match self {
            Self::Literal { role, value } => {
                let message = Message::text(*role, value);
                let origin = aside("literal", None);
                out.push(Piece::made(origin, "literal", Why::Emitted, message, tokenizer));
            }
            Self::History { framing } => {
                let plain = |turn: &&Turn| framing.is_empty() && turn.message.role().is_some();
                match loaded.turns.iter().all(plain) {
                    true => out.extend(loaded.turns.iter().map(|turn| stored_turn(turn, tokenizer))),
                    false => out.extend(loaded.turns.iter().map(|turn| emit_turn(turn, framing, tokenizer))),
                }
            }
            Self::Summary => {
                out.extend(loaded.summary.map(|m| Piece::stored(aside("summary", None), "summary", m, tokenizer)))
            }
            Self::UserData => {
                out.extend(loaded.user_data.map(|m| Piece::stored(aside("userData", None), "userData", m, tokenizer)))
            }
            Self::Collection { name, framing } => {
                let items = loaded.collections.iter().filter(|(of, _)| of == name).flat_map(|(_, items)| *items);
                out.extend(items.map(|item| {
                    let origin = aside(name, Some(item));
                    framed(Piece::stored(origin, "collection", &item.message, tokenizer), framing, tokenizer)
                }));
            }
        }
    }
}

/// A turn as it is: what nearly every piece of a prompt begins as.
#[inline(always)]
fn stored_turn(turn: &Turn, tokenizer: Tokenizer) -> Piece<'_> {
    Piece::stored(Origin::Turn { seq: turn.seq, id: &turn.id }, "history", &turn.message, tokenizer)
}

fn emit_turn<'a>(turn: &'a Turn, framing: &str, tokenizer: Tokenizer) -> Piece<'a> {
    if turn.message.role().is_none() {
        let origin = Origin::Turn { seq: turn.seq, id: &turn.id };
        return Piece::made(origin, "history", Why::Emitted, shown_as_data("", turn.message.raw()), tokenizer);
    }
    framed(stored_turn(turn, tokenizer), framing, tokenizer)
}

fn framed<'a>(mut piece: Piece<'a>, framing: &str, tokenizer: Tokenizer) -> Piece<'a> {
    if !framing.is_empty() {
        piece.frame(framing, tokenizer);
    }
    piece
}

/// A document of a collection: a message where it has a role, else a system message of its JSON.
pub fn item(id: &str, raw: Bytes) -> Item {
    let message = Message::from_stored(raw);
    match message.role() {
        Some(_) => Item { id: id.into(), message },
        None => Item { id: id.into(), message: shown_as_data("", message.raw()) },
    }
}

fn shown_as_data(label: &str, raw: &[u8]) -> Message {
    Message::text(Role::System, &format!("{label}{}", json::compact(&String::from_utf8_lossy(raw))))
}

/// A thread's summary document, as the prompt shows it; `None` when it says nothing.
pub fn show_summary(raw: &[u8]) -> Option<Message> {
    let value: serde_json::Value = serde_json::from_slice(raw).ok()?;
    let text = value.get("text")?.as_str()?.trim();
    (!text.is_empty()).then(|| Message::text(Role::System, &format!("Previous context summary: {text}")))
}

/// A user's data, as the prompt shows it; `None` when there is none.
pub fn show_user_data(raw: &[u8]) -> Option<Message> {
    let text = String::from_utf8_lossy(raw);
    let pairs: Vec<String> = json::members(&text)
        .filter_map(|(key, value)| {
            let said = |span: json::Span| json::unescape(span.of(&text)).map(|s| s.into_owned());
            Some(format!("{}: {}", said(key)?, said(value).unwrap_or_else(|| json::compact(value.of(&text)))))
        })
        .collect();
    (!pairs.is_empty()).then(|| Message::text(Role::System, &format!("User data: {}", pairs.join(" "))))
}

/// Where a thread's summary is kept.
pub fn summary_path(user: &str, thread: &str) -> Result<path::DocumentPath, path::PathError> {
    path::DocumentPath::new(&[scope::USERS, user, scope::THREADS, thread, "memory", "summary"])
}

/// Where a user's data is kept.
pub fn user_data_path(user: &str) -> Result<path::DocumentPath, path::PathError> {
    path::DocumentPath::new(&[scope::USERS, user, "memory", "data"])
}
