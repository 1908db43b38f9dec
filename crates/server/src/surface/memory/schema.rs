//! The schemas of the memory surface, for the OpenAPI document.

use serde_json::{Value, json};

use crate::surface::openapi::{flag, object, text, whole};

pub(crate) fn all() -> Value {
    let scopes = ["all", "vector", "short_term", "summary", "user_data"];
    let counts = object(
        &["documents", "passages", "traces"],
        json!({"documents": whole(), "passages": whole(), "traces": whole()}),
    );
    json!({
        "MemoryContextRequest": object(&[], json!({
            "user_id": text(), "session_id": text(), "task_id": text(), "include_vector": flag(), "query": text(),
            "explain": {"type": ["boolean", "string"]}, "budget_tokens": whole(), "tokenizer": text(),
            "as_of": {"type": ["number", "string"]},
        })),
        "Reset": object(&["scope"], json!({"user_id": text(), "session_id": text(), "scope": {"enum": scopes}})),
        "WasReset": object(&["reset"], json!({"reset": counts, "erasing": flag()})),
        "Skills": object(&["skills"], json!({"skills": {"type": "array", "items": {"type": "object"}}})),
        "SkillRun": object(&[], json!({
            "user_id": text(), "session_id": text(), "task_id": text(), "arguments": {"type": "object"},
        })),
        "SkillResult": object(&["result"], json!({"result": {}})),
    })
}
