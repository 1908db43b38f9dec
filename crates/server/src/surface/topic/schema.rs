//! The schemas of topic contexts, for the OpenAPI document.

use serde_json::{Value, json};

use crate::surface::openapi::object;

pub(crate) fn all() -> Value {
    let (text, whole, flag) = (json!({"type": "string"}), json!({"type": "integer"}), json!({"type": "boolean"}));
    json!({
        "TopicRun": object(&["kala"], json!({
            "kala": object(&["kind"], json!({"kind": text})), "model": {"type": "object"}, "presetId": text,
            "includeDocId": flag, "userId": text,
        })),
        "Yoj": object(&["yoj"], json!({"yoj": {"type": "array", "items": {"type": "object"}}})),
        "IndexerRun": object(&["sessionId"], json!({
            "sessionId": text, "responseId": text, "groups": {"type": "array", "items": {"type": "object"}},
            "userId": text,
        })),
        "Indexed": object(&["ok", "indexed_groups", "indexed_messages", "batches"], json!({
            "ok": flag, "indexed_groups": whole, "indexed_messages": whole, "batches": whole,
            "skipped": {"type": "array", "items": object(&["group", "why"], json!({"group": text, "why": text}))},
        })),
        "GroupState": object(&["sessionId", "group"], json!({
            "sessionId": text, "group": text, "expanded": flag, "state": {"enum": ["expanded", "collapsed"]},
            "responseId": text, "userId": text,
        })),
        "GroupStateSet": object(&["ok", "group", "expanded", "updated_at"], json!({
            "ok": flag, "group": text, "expanded": flag, "updated_at": {"type": "number"},
        })),
        "Refusal": object(&["error"], json!({"error": text})),
        "JobRefusal": object(&["ok", "error"], json!({"ok": {"const": false}, "error": text})),
    })
}
