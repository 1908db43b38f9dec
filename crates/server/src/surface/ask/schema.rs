//! The schemas of questions about data, for the OpenAPI document.

use serde_json::{Value, json};

use crate::surface::openapi::{flag, object, text};

pub(crate) fn all() -> Value {
    let fields = ["question", "conversation_id", "nickname", "client_id"];
    let referred = object(
        &["used", "reason"],
        json!({"used": flag(), "reason": {"enum": [
            "context_disabled", "last_reference_disabled", "no_entity", "entity_not_allowed", "input_has_ticker",
            "no_candidate", "expired", "last_reference_applied",
        ]}}),
    );
    let unread = object(
        &["kind", "words"],
        json!({"kind": {"enum": ["name", "period", "condition", "pointer", "unanswered"]}, "words": text()}),
    );
    let some = || json!({"type": ["string", "null"]});
    let meta = object(
        &["request_id", "intent", "entity", "planner", "reference", "rows", "cache", "narrator", "timings_us"],
        json!({
            "request_id": text(), "intent": some(), "entity": some(), "bucket": some(),
            "planner": {"type": "object"}, "reference": referred, "parameters": {"type": "object"},
            "rows": {"type": "object"}, "cache": {"type": "object"}, "narrator": {"type": "object"},
            "timings_us": {"type": "object"}, "notes": {"type": "array", "items": text()},
            "unread": {"type": "array", "items": unread}, "also": {"type": "array", "items": {"type": "object"}},
        }),
    );
    json!({
        "DataQuestion": object(&fields, json!({
            "question": text(), "conversation_id": text(), "nickname": text(), "client_id": text(),
        })),
        "DataAnswer": object(&["status", "results", "meta", "answer"], json!({
            "status": {"enum": ["ok", "unroutable", "incomplete"]},
            "results": {"type": "array", "items": {"type": "object"}}, "meta": meta, "answer": text(),
        })),
    })
}
