//! Ids of conversations, responses and items.
//!
//! Each contains the thread, so that it is found without an index and goes with the thread. Only characters
//! that stand in an address are used: others, and `_`, which separates the parts, are `~` and two hex digits.

use std::fmt::Write;

use novelo_engine::path::check_id;
use uuid::Uuid;

use crate::ids::is_short;

const CONVERSATION: &str = "conv";
const RESPONSE: &str = "resp";
/// Hex digits of the name of a response or a turn that is made here: of its node and of its own.
const NAME_DIGITS: usize = 16;

/// The id of the conversation that is this thread.
pub fn conversation_id(thread: &str) -> String {
    format!("{CONVERSATION}_{}", escape(thread))
}

/// The thread that is this conversation.
pub fn thread_of_conversation(id: &str) -> Option<String> {
    match parts(id)?.as_slice() {
        [CONVERSATION, thread] => unescape(thread),
        _ => None,
    }
}

/// The id of a response that is stored: its thread, and its name in it, which contains the node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResponseId {
    /// The thread.
    pub thread: String,
    /// The name of the response in it.
    pub name: String,
}

impl ResponseId {
    /// A new one of this node.
    pub fn new(node: &str, thread: &str) -> Self {
        Self { thread: thread.to_owned(), name: format!("{node}{}", crate::ids::short()) }
    }

    /// The id of a response that is not stored.
    pub fn unstored() -> String {
        format!("{RESPONSE}_{}", Uuid::new_v4().simple())
    }

    /// The id as clients see it.
    pub fn encode(&self) -> String {
        format!("{RESPONSE}_{}_{}", escape(&self.thread), self.name)
    }

    /// Reads an id as clients send it.
    pub fn parse(id: &str) -> Option<Self> {
        match parts(id)?.as_slice() {
            [RESPONSE, thread, name] if is_name(name) => {
                Some(Self { thread: unescape(thread)?, name: (*name).to_owned() })
            }
            _ => None,
        }
    }

    /// The node that makes it.
    pub fn node(&self) -> &str {
        self.name.get(..NAME_DIGITS / 2).unwrap_or_default()
    }

    /// The name of the reply that makes it.
    pub fn reply_name(&self) -> String {
        format!("{}-{}", self.node(), self.encode())
    }
}

/// The id of an item: its thread, its turn and, where the turn has several of a kind, its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemId {
    /// The thread.
    pub thread: String,
    /// The id of the turn.
    pub turn: String,
}

impl ItemId {
    /// Reads an id as clients send it.
    pub fn parse(id: &str) -> Option<Self> {
        match parts(id)?.as_slice() {
            [_, thread, turn] | [_, thread, turn, _] => Some(Self { thread: unescape(thread)?, turn: unescape(turn)? }),
            _ => None,
        }
    }

    /// The id of an item of this type.
    pub fn encode(thread: &str, turn: &str, kind: &str, place: Option<usize>) -> String {
        let prefix = match kind {
            "message" => "msg",
            "reasoning" => "rs",
            "function_call" => "fc",
            "function_call_output" => "fco",
            "compaction" => "cmp",
            _ => "item",
        };
        let place = place.map(|place| format!("_{place}")).unwrap_or_default();
        format!("{prefix}_{}_{}{place}", escape(thread), escape(turn))
    }
}

/// The id of a new turn. It is unique in its thread.
pub(super) fn fresh_turn() -> String {
    Uuid::new_v4().simple().to_string().chars().take(NAME_DIGITS).collect()
}

fn is_name(text: &str) -> bool {
    text.len() == NAME_DIGITS && text.split_at_checked(NAME_DIGITS / 2).is_some_and(|(a, b)| is_short(a) && is_short(b))
}

fn parts(id: &str) -> Option<Vec<&str>> {
    (id.len() <= ID_BYTES_MAX).then(|| id.split('_').collect())
}

/// Longer than any id that is made here: two ids of the store, each byte escaped, and what is around them.
const ID_BYTES_MAX: usize = 2 * 3 * novelo_engine::limits::ID_BYTES_MAX + 64;

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' => out.push(char::from(byte)),
            other => write!(out, "~{other:02x}").expect("writing to a string does not fail"),
        }
    }
    out
}

fn unescape(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'~' => {
                let digits = [rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            other => other,
        });
    }
    let text = String::from_utf8(bytes).ok()?;
    check_id(&text).is_ok().then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_of_any_name_is_a_conversation() {
        for thread in ["t", "a_b", "com espaço", "0190-ab.c", "~5f", "a/b?c#d", "_", "🌴"] {
            let id = conversation_id(thread);
            assert!(id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_~.-".contains(&byte)), "{id}");
            assert_eq!(thread_of_conversation(&id).as_deref(), Some(thread), "{id}");
        }
        for id in ["", "conv_", "t", "conv_a_b", "resp_a", "conv_~5", "conv_~ff", "conv_~zz"] {
            assert_eq!(thread_of_conversation(id), None, "{id}");
        }
    }

    #[test]
    fn a_response_names_its_thread_and_its_node() {
        let id = ResponseId::new("0a1b2c3d", "a_b");
        assert_eq!(ResponseId::parse(&id.encode()).as_ref(), Some(&id));
        assert_eq!(id.node(), "0a1b2c3d");
        assert_eq!(crate::ids::node_of_reply(&id.reply_name()), Some("0a1b2c3d"));
        for id in ["resp_x", "resp_t_short", "resp__0123456789abcdef", &ResponseId::unstored(), "conv_t"] {
            assert_eq!(ResponseId::parse(id), None, "{id}");
        }
    }

    #[test]
    fn an_item_names_its_turn() {
        for place in [None, Some(3)] {
            let id = ItemId::encode("a_b", "turn 1", "function_call", place);
            assert_eq!(ItemId::parse(&id), Some(ItemId { thread: "a_b".to_owned(), turn: "turn 1".to_owned() }));
        }
        assert_eq!(ItemId::parse("msg_of_another_server_x"), None);
    }
}
