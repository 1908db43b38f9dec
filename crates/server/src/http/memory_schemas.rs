//! The schemas of what is remembered of a user, and of replies, for the OpenAPI document.

use serde_json::{Value, json};

use super::openapi::object;

pub fn all() -> Value {
    let mut all = serde_json::Map::new();
    for part in [memories(), documents(), tasks(), surface(), replies(), data()] {
        if let Value::Object(part) = part {
            all.extend(part);
        }
    }
    all.into()
}

fn text() -> Value {
    json!({"type": "string"})
}

fn whole() -> Value {
    json!({"type": "integer"})
}

fn number() -> Value {
    json!({"type": "number"})
}

fn flag() -> Value {
    json!({"type": "boolean"})
}

fn meta() -> Value {
    json!({"type": ["object", "null"]})
}

/// A page of a list.
fn page(of: &str, row: Value) -> Value {
    object(&[of, "has_more"], json!({"has_more": flag(), of: {"type": "array", "items": row}}))
}

/// The answer to a search.
fn hits(required: &[&str], properties: Value) -> Value {
    let near = object(&["id", "text", "score"], json!({"id": text(), "text": text(), "score": number()}));
    object(
        &["hits"],
        json!({
            "hits": {"type": "array", "items": object(required, properties)},
            "near": {"type": "array", "items": near},
            "notes": {"type": "array", "items": text()},
        }),
    )
}

fn memories() -> Value {
    let level = json!({"enum": ["short", "medium", "long"]});
    let row = json!({"id": text(), "text": text(), "level": level, "meta": meta(), "create_time": number()});
    let hit = json!({
        "id": text(), "text": text(), "score": number(), "level": level, "meta": meta(), "why": {"type": "object"},
    });
    let turn = json!({
        "id": text(), "thread": text(), "seq": whole(), "role": text(), "text": text(), "score": number(),
        "create_time": number(), "why": {"type": "object"},
    });
    json!({
        "Summary": object(&["text", "upto_seq", "by", "updated_at"], json!({
            "text": text(), "upto_seq": whole(), "by": {"enum": ["extract", "model", "caller"]}, "updated_at": number(),
        })),
        "NewSummary": object(&["text"], json!({"text": text(), "upto_seq": whole()})),
        "NewMemory": object(&["text"], json!({"text": text(), "meta": meta(), "id": text()})),
        "Named": object(&["id"], json!({"id": text()})),
        "Memories": page("memories", object(&["id", "text", "level", "meta", "create_time"], row)),
        "Search": object(&["query"], json!({"query": text(), "k": whole(), "explain": flag()})),
        "MemoryHits": hits(&["id", "text", "score", "level", "meta"], hit),
        "TurnSearch":
            object(&["query"], json!({"query": text(), "k": whole(), "explain": flag(), "thread": text()})),
        "TurnHits": hits(&["id", "thread", "seq", "role", "text", "score", "create_time"], turn),
    })
}

fn documents() -> Value {
    let kind = json!({"enum": ["document", "repo"]});
    let skipped =
        object(&["binary", "large", "unreadable"], json!({"binary": whole(), "large": whole(), "unreadable": whole()}));
    let known = object(
        &["id", "name", "kind", "passages", "bytes", "updated_at"],
        json!({
            "id": text(), "name": text(), "kind": kind, "passages": whole(), "bytes": whole(), "meta": meta(),
            "files": whole(), "skipped": skipped, "updated_at": number(),
        }),
    );
    let hit = json!({
        "id": text(), "document": text(), "name": text(), "text": text(), "file": text(), "line": whole(),
        "score": number(), "meta": meta(), "why": {"type": "object"},
    });
    json!({
        "NewText": object(&[], json!({
            "name": text(), "text": text(), "meta": meta(), "id": text(), "path": text(),
        })),
        "IndexedText": object(&["id", "passages"],
            json!({"id": text(), "passages": whole(), "files": whole(), "skipped": skipped})),
        "Texts": page("documents", known.clone()),
        "KnownText": known,
        "PassageSearch": object(&["query"], json!({
            "query": text(), "k": whole(), "explain": flag(), "kind": kind, "document": text(),
        })),
        "PassageHits": hits(&["id", "document", "name", "text", "score", "meta"], hit),
    })
}

fn tasks() -> Value {
    let status = json!({"enum": ["open", "done"]});
    let task = object(
        &["id", "title", "status", "created_at", "updated_at"],
        json!({
            "id": text(), "title": text(), "status": status, "notes": text(), "due": text(),
            "created_at": number(), "updated_at": number(), "done_at": number(),
        }),
    );
    let result =
        object(&["id", "content", "at"], json!({"id": text(), "name": text(), "content": text(), "at": number()}));
    let maybe = json!({"type": ["string", "null"]});
    json!({
        "NewTask": object(&["title"], json!({"title": text(), "notes": text(), "due": text(), "id": text()})),
        "TaskChange": object(&[], json!({"title": text(), "status": status, "notes": maybe, "due": maybe})),
        "Tasks": page("tasks", task.clone()),
        "Task": task,
        "NewResult": object(&["content"], json!({"name": text(), "content": text()})),
        "Results": page("results", result),
    })
}

fn surface() -> Value {
    let scopes = ["all", "vector", "short_term", "summary", "user_data"];
    let counts = object(
        &["documents", "passages", "traces"],
        json!({"documents": whole(), "passages": whole(), "traces": whole()}),
    );
    json!({
        "MemoryContextRequest": object(&[], json!({
            "user_id": text(), "session_id": text(), "task_id": text(), "include_vector": flag(), "query": text(),
            "explain": {"type": ["boolean", "string"]}, "budget_tokens": whole(), "tokenizer": text(),
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

fn data() -> Value {
    let fields = ["question", "conversation_id", "nickname", "client_id"];
    let referred = object(
        &["used", "reason"],
        json!({"used": flag(), "reason": {"enum": [
            "context_disabled", "last_reference_disabled", "no_entity", "entity_not_allowed", "input_has_ticker",
            "no_candidate", "expired", "last_reference_applied",
        ]}}),
    );
    let some = || json!({"type": ["string", "null"]});
    let meta = object(
        &["request_id", "intent", "entity", "planner", "reference", "rows", "cache", "narrator", "timings_us"],
        json!({
            "request_id": text(), "intent": some(), "entity": some(), "bucket": some(),
            "planner": {"type": "object"}, "reference": referred, "parameters": {"type": "object"},
            "rows": {"type": "object"}, "cache": {"type": "object"}, "narrator": {"type": "object"},
            "timings_us": {"type": "object"}, "notes": {"type": "array", "items": text()},
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

fn replies() -> Value {
    let source = object(
        &["from", "id", "name", "text", "score"],
        json!({
            "from": {"enum": ["memories", "turns", "documents"]}, "id": text(), "name": text(), "text": text(),
            "file": text(), "line": whole(), "score": number(),
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
