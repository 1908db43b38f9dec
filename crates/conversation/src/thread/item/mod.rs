//! Items of a conversation in the form of OpenAI's Responses, and the turns that hold them.
//!
//! Pure. A turn holds one message of a chat, and an item is a part of it: an assistant's turn with a thought,
//! a text and two calls is four items. Invariant: items that become turns come back as they were. A turn
//! whose message says less than its items holds both: `{"items": […], "value": message}`. The engine shows
//! the message of such a document.

mod compaction;
mod id;
mod read;
mod show;

use novelo_engine::Message;

use crate::thread::NewTurn;
use novelo_store::NewId;

pub use compaction::show_compaction;
pub use id::{ItemId, ResponseId, conversation_id, thread_of_conversation};
pub use read::{is_reference, read_items};
pub use show::{show_document, show_message, show_turn, thought_piece};

/// A turn that was made from items, before it is stored.
#[derive(Debug, Clone)]
pub struct ItemTurn {
    /// The id of the turn.
    pub id: String,
    /// The message of the turn.
    pub message: Message,
}

impl From<&ItemTurn> for NewTurn {
    fn from(turn: &ItemTurn) -> Self {
        let (id, message) = (NewId::Fresh(turn.id.as_str().into()), turn.message.clone());
        Self { id, create_time: None, message, goes_with_thread: true }
    }
}

/// The name of the type of an item; a message may leave it out.
fn type_of(item: &serde_json::Value) -> &str {
    match item.get("type").and_then(serde_json::Value::as_str) {
        Some(name) => name,
        None if item.get("role").is_some() => "message",
        None => "",
    }
}
