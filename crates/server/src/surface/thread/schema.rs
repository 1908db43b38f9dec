//! The schemas of questions and replies, of every surface that answers with a `Reply`.

use serde_json::{Value, json};

use crate::surface::openapi::{flag, number, object, text, whole};

pub(crate) fn all() -> Value {
    let source = object(
        &["n", "from", "id", "name", "text", "score"],
        json!({
            "from": {"enum": ["memories", "turns", "documents"]}, "id": text(), "name": text(), "text": text(),
            "file": text(), "heading": text(), "line": whole(), "line_end": whole(), "page": whole(),
            "score": number(), "n": whole(),
        }),
    );
    let call = object(&["name", "arguments", "result"], json!({"name": text(), "arguments": text(), "result": {}}));
    let usage = object(
        &["prompt_tokens", "completion_tokens"],
        json!({"prompt_tokens": whole(), "completion_tokens": whole()}),
    );
    json!({
        "Question": object(&["question"], json!({
            "question": text(), "thread_id": text(), "user_id": text(), "stream": flag(),
        })),
        "Completion": object(&["messages"], json!({
            "messages": {"type": "array", "items": {"$ref": "#/components/schemas/Message"}}, "model": text(),
            "stream": flag(), "user": text(), "metadata": {"type": "object", "properties": {"thread_id": text()}},
        })),
        "Completed": object(&["id", "object", "created", "model", "choices"], json!({
            "id": text(), "object": {"enum": ["chat.completion"]}, "created": whole(), "model": text(),
            "choices": {"type": "array", "items": {"type": "object"}}, "usage": {"type": "object"},
        })),
        "MemoryChat": object(&["message"], json!({
            "user_id": text(), "session_id": text(), "task_id": text(), "message": text(), "stream": flag(),
        })),
        "Reply": object(
            &["answer", "thread_id", "standalone_question", "rewritten_by", "sources", "tokens", "answered_by", "notes"],
            json!({
                "answer": text(), "thread_id": text(), "standalone_question": text(),
                "rewritten_by": {"enum": ["nobody", "rules", "model"]},
                "sources": {"type": "array", "items": source}, "tokens": whole(),
                "budget_tokens": {"type": ["integer", "null"]}, "trace_id": text(), "answered_by": text(),
                "usage": usage, "calls": {"type": "array", "items": call},
                "partial": {"enum": ["client_left", "model_failed", "server_stopped"]}, "fallback": flag(),
                "notes": {"type": "array", "items": text()},
            }),
        ),
    })
}
