//! A compaction as an item. OpenAI's is opaque; this one says which spans it replaced, with what, and how.

use serde_json::{Map, Value, json};

use super::ItemId;
use crate::thread::compaction::Compaction;

/// The beginning of the text of an item that was made here.
const OURS: &str = "[Span ";

/// The item of a compaction. Its `encrypted_content` is plain text: what the prompt shows.
pub fn show_compaction(thread: &str, compaction: &Compaction) -> Value {
    let texts = compaction.spans.iter().map(|span| span.message().content_text().unwrap_or_default().into_owned());
    json!({
        "id": ItemId::encode(thread, &compaction.id, "compaction", None), "type": "compaction",
        "encrypted_content": texts.collect::<Vec<_>>().join("\n\n"), "created_by": "novelo", "compaction": compaction,
    })
}

/// What a compaction item says, where it was made here. Others cannot be read.
pub(super) fn compaction_text(item: &Map<String, Value>) -> Option<&str> {
    item.get("encrypted_content").and_then(Value::as_str).filter(|text| text.starts_with(OURS))
}
