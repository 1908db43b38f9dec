//! The schemas of responses and conversations, for the OpenAPI document.

use serde_json::{Value, json};

use crate::surface::openapi::{flag, list_of, number, object, text, whole};

pub(crate) fn all() -> Value {
    let maybe = |kind: &str| json!({"type": [kind, "null"]});
    let statuses = ["queued", "in_progress", "completed", "incomplete", "cancelled", "failed"];
    let items = json!({"type": "array", "items": {"type": "object"}});
    let list = |of: Value| {
        object(
            &["object", "data", "first_id", "last_id", "has_more"],
            json!({"object": {"enum": ["list"]}, "data": of, "first_id": text(), "last_id": text(), "has_more": flag()}),
        )
    };
    json!({
        "NewResponse": object(&[], json!({
            "model": text(), "input": {"type": ["string", "array"]}, "instructions": maybe("string"),
            "previous_response_id": maybe("string"), "conversation": {"type": ["string", "object", "null"]},
            "store": maybe("boolean"), "stream": maybe("boolean"), "background": maybe("boolean"),
            "tools": {"type": "array", "items": {"type": "object"}}, "tool_choice": {"type": ["string", "object"]},
            "text": {"type": "object"}, "truncation": {"enum": ["auto", "disabled", null]},
            "context_management": {"type": ["array", "null"], "items": {"type": "object"}},
            "max_output_tokens": maybe("integer"), "metadata": maybe("object"), "user": text(),
        })),
        "Response": object(&["id", "object", "created_at", "status", "model", "output"], json!({
            "id": text(), "object": {"enum": ["response"]}, "created_at": number(), "status": {"enum": statuses},
            "model": text(), "output": items, "error": maybe("object"), "incomplete_details": maybe("object"),
            "usage": maybe("object"), "metadata": {"type": "object"}, "conversation": maybe("object"),
            "previous_response_id": maybe("string"), "expires_at": maybe("integer"),
        })),
        "CompactedResponse": object(&["id", "object", "created_at", "output", "usage"], json!({
            "id": text(), "object": {"enum": ["response.compaction"]}, "created_at": whole(), "output": items,
            "usage": {"type": "object"},
        })),
        "DeletedResponse": object(&["id", "object", "deleted"],
            json!({"id": text(), "object": {"enum": ["response"]}, "deleted": flag()})),
        "InputTokens": object(&["object", "input_tokens"],
            json!({"object": {"enum": ["response.input_tokens"]}, "input_tokens": whole()})),
        "NewConversation": object(&[], json!({"items": items, "metadata": maybe("object"), "user": text()})),
        "ConversationChange": object(&["metadata"], json!({"metadata": maybe("object"), "user": text()})),
        "Conversation": object(&["id", "object", "created_at", "metadata"], json!({
            "id": text(), "object": {"enum": ["conversation"]}, "created_at": whole(),
            "metadata": {"type": "object"}, "updated_at": whole(), "expires_at": maybe("integer"),
        })),
        "DeletedConversation": object(&["id", "object", "deleted"],
            json!({"id": text(), "object": {"enum": ["conversation.deleted"]}, "deleted": flag()})),
        "ConversationList": list(list_of("Conversation")),
        "NewItems": object(&["items"], json!({"items": items, "user": text()})),
        "Item": object(&["id", "type"], json!({"id": text(), "type": text()})),
        "ItemList": list(list_of("Item")),
        "NewEmbeddings": object(&["input"], json!({
            "input": {"type": ["string", "array"]}, "model": text(), "encoding_format": {"enum": ["float", "base64"]},
            "dimensions": whole(), "user": text(),
        })),
        "Embeddings": object(&["object", "data", "model", "usage"], json!({
            "object": {"enum": ["list"]}, "data": list_of("Embedding"), "model": text(), "usage": {"type": "object"},
        })),
        "Embedding": object(&["object", "index", "embedding"], json!({
            "object": {"enum": ["embedding"]}, "index": whole(), "embedding": {"type": ["array", "string"]},
        })),
    })
}
