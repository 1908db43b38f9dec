//! The schemas of the native API, for the OpenAPI document.

use serde_json::{Value, json};

use crate::surface::openapi::{flag, list_of, number, object, text, whole};
use novelo_conversation::error::TABLE;

/// Threads, contexts, documents, traces and errors.
pub(crate) fn documents_and_threads() -> Value {
    let (text, whole, number, flag) =
        (json!({"type": "string"}), json!({"type": "integer"}), json!({"type": "number"}), json!({"type": "boolean"}));
    let codes: Vec<&str> = TABLE.iter().map(|row| row.name).collect();
    let fates = ["kept", "cut", "redacted", "moved", "made", "collapsed", "dropped"];
    let maybe = |kind: &str| json!({"type": [kind, "null"]});
    json!({
        "Any": {},
        "Object": {"type": "object"},
        "Message": object(&["role"], json!({
            "role": {"enum": ["system", "developer", "user", "assistant", "tool"]},
            "content": {"type": ["string", "array", "null"]},
            "tool_calls": {"type": ["array", "null"]}, "tool_call_id": text, "id": text, "create_time": number,
        })),
        "Append": object(&["messages"], json!({"messages": list_of("Message"), "if_seq": whole})),
        "Appended": object(&["turns"], json!({"turns": {"type": "array", "items": object(
            &["id", "seq", "create_time", "tokens"],
            json!({"id": text, "seq": whole, "create_time": number, "tokens": whole}))}})),
        "Turns": object(&["turns", "has_more"], json!({"has_more": flag, "turns": {"type": "array", "items": object(
            &["id", "seq", "create_time", "message"],
            json!({"id": text, "seq": whole, "create_time": number, "message": {"type": "object"}}))}})),
        "Threads": object(&["threads", "has_more"], json!({"has_more": flag, "threads": {"type": "array", "items": object(
            &["id", "turns", "updated_at"], json!({"id": text, "turns": whole, "updated_at": number}))}})),
        "Fork": object(&["at_seq", "to"], json!({"at_seq": whole, "to": text})),
        "Forked": object(&["thread", "turns"], json!({"thread": text, "turns": whole})),
        "Forgotten": object(&["forgotten"], json!({"erasing": flag, "forgotten": object(
            &["documents", "passages", "traces"],
            json!({"documents": whole, "passages": whole, "traces": whole}))})),
        "Imported": object(&["documents", "new"], json!({"documents": whole, "new": whole, "forgotten": whole})),
        "ContextRequest": object(&[], json!({
            "user": text, "thread": text, "question": text, "preset": text, "recipe": {"type": "object"},
            "messages": list_of("Message"), "filters": {"type": "array"}, "compact": {"type": ["boolean", "object"]},
            "budget_tokens": whole,
            "tokenizer": {"enum": ["approx", "o200k_base", "cl100k_base"]}, "explain": {"enum": [true, false, "text"]},
            "as_of": {"type": ["number", "string"]},
        })),
        "Context": object(&["messages", "tokens", "budget_tokens", "trace_id"], json!({
            "messages": {"type": "array", "items": {"type": "object"}}, "tokens": whole,
            "budget_tokens": maybe("integer"), "trace_id": text, "explain": {"type": ["object", "string"]},
        })),
        "Explanation": object(&["pieces", "notes"], json!({
            "notes": {"type": "array", "items": {"type": "object"}},
            "pieces": {"type": "array", "items": object(&["origin", "role", "tokens", "fate", "by", "why"], json!({
                "origin": text, "role": maybe("string"), "tokens": whole, "fate": {"enum": fates}, "by": text,
                "why": text, "id": text, "seq": whole, "index": whole, "turns": whole,
            }))},
        })),
        "Document": object(&["id", "create_time", "version", "value"],
            json!({"id": text, "create_time": number, "version": whole, "value": {}})),
        "DocumentOrList": {"anyOf": [
            {"$ref": "#/components/schemas/Document"},
            object(&["documents", "has_more"], json!({"documents": list_of("Document"), "has_more": flag})),
        ]},
        "Stamp": object(&["id", "seq", "create_time", "version"],
            json!({"id": text, "seq": whole, "create_time": number, "version": whole})),
        "Deleted": object(&["deleted"], json!({"deleted": flag})),
        "Batch": object(&["ops"], json!({"ops": {"type": "array", "maxItems": 400, "items": object(
            &["op", "path"], json!({"op": {"enum": ["put", "patch", "delete"]}, "path": text, "value": {}}))}})),
        "Done": object(&["done"], json!({"done": whole})),
        "Replay": object(&["messages", "identical"],
            json!({"messages": {"type": "array", "items": {"type": "object"}}, "identical": flag})),
        "Error": object(&["error"], json!({"error": object(&["code", "message", "param"],
            json!({"code": {"enum": codes}, "message": text, "param": maybe("string")}))})),
    })
}

/// Keys, checks and models.
pub(crate) fn server() -> Value {
    let (text, whole, flag) = (json!({"type": "string"}), json!({"type": "integer"}), json!({"type": "boolean"}));
    let key_kind = json!({"enum": ["user", "guest", "service", "admin"]});
    json!({
        "NewKey": object(&[], json!({
            "kind": key_kind, "user": text, "admin": flag, "name": text, "ttl_seconds": whole,
        })),
        "Key": object(&["id", "kind", "user", "admin", "name", "key"], json!({
            "id": text, "kind": key_kind, "user": {"type": ["string", "null"]}, "admin": flag, "name": {"type": ["string", "null"]}, "key": text,
            "ttl_seconds": {"type": ["integer", "null"]},
        })),
        "Keys": object(&["keys", "has_more"],
            json!({"keys": {"type": "array", "items": {"type": "object"}}, "has_more": flag})),
        "RebuildStep": object(&[], json!({"user": text, "anew": flag})),
        "Rebuilt": object(&["done", "users", "finished", "collections"], json!({
            "done": whole, "users": whole, "finished": flag, "collections": {"type": "array", "items": object(
                &["name", "points", "passages"], json!({"name": text, "points": whole, "passages": whole}))},
        })),
        "Doctor": object(&["healthy", "findings", "notes", "models", "store", "index"], json!({
            "healthy": flag, "findings": {"type": "array", "items": {"type": "object"}},
            "notes": {"type": "array", "items": {"type": "object"}}, "models": {"type": "object"},
            "store": {"enum": ["local", "memory", "redis"]}, "index": {"enum": ["local", "qdrant"]},
        })),
        "Models": object(&["object", "data"], json!({"object": {"enum": ["list"]}, "data": list_of("Model")})),
        "Model": object(&["id", "object", "created", "owned_by"], json!({
            "id": text, "object": {"enum": ["model"]}, "created": whole, "owned_by": text,
            "model": {"type": ["string", "null"]},
        })),
    })
}

/// Summaries, memories, searchable documents and tasks.
pub(crate) fn memory() -> Value {
    let mut all = serde_json::Map::new();
    for part in [memories(), compactions(), documents(), tasks()] {
        if let Value::Object(part) = part {
            all.extend(part);
        }
    }
    all.into()
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

fn compactions() -> Value {
    let by = json!({"enum": ["extract", "model"]});
    let counted = json!({"enum": ["approx", "o200k_base", "cl100k_base"]});
    let turn = object(
        &["id", "seq", "create_time", "message"],
        json!({"id": text(), "seq": whole(), "create_time": number(), "message": {"type": "object"}}),
    );
    json!({
        "NewCompaction": object(&[], json!({
            "max_tokens": whole(), "keep": number(), "recent_turns": whole(), "by": by, "max_text_tokens": whole(),
            "tokenizer": counted,
        })),
        "Compacted": object(&["compaction", "tokens", "max_tokens"], json!({
            "compaction": {"anyOf": [{"$ref": "#/components/schemas/Compaction"}, {"type": "null"}]},
            "tokens": whole(), "max_tokens": whole(),
        })),
        "Compaction": object(
            &["id", "created_at", "tokens_before", "tokens_after", "max_tokens", "tokenizer", "spans"],
            json!({
                "id": text(), "created_at": number(), "tokens_before": whole(), "tokens_after": whole(),
                "max_tokens": whole(), "tokenizer": counted, "spans": list_of("CompactedSpan"),
            }),
        ),
        "CompactedSpan": object(
            &["id", "in", "first_seq", "last_seq", "turns", "tokens", "kind", "by", "text"],
            json!({
                "id": text(), "in": {"enum": ["thread", "request"]}, "first_seq": whole(), "last_seq": whole(),
                "turns": whole(), "tokens": whole(), "kind": {"enum": ["tools", "talk", "mixed"]}, "by": by,
                "text": text(), "children": {"type": "array", "items": text()}, "refused": text(),
                "restored_at": whole(),
            }),
        ),
        "Compactions": object(&["compactions", "has_more"],
            json!({"compactions": list_of("Compaction"), "has_more": flag()})),
        "SpanTurns": object(&["span", "messages", "missing"], json!({
            "span": {"$ref": "#/components/schemas/CompactedSpan"}, "messages": {"type": "array", "items": turn},
            "missing": whole(),
        })),
        "Pins": object(&["turns"], json!({"turns": {"type": "array", "maxItems": 200, "items": text()}})),
    })
}

fn memories() -> Value {
    let level = json!({"enum": ["short", "medium", "long"]});
    let time = json!({"type": ["number", "string"]});
    let source = json!({"type": "object"});
    let replaced = object(
        &["id", "by"],
        json!({
            "id": text(), "by": {"enum": ["rule", "caller"]}, "subject": text(), "attribute": text(), "of": text(),
            "reason": text(),
        }),
    );
    let row = json!({
        "id": text(), "text": text(), "level": level, "meta": meta(), "create_time": number(), "valid_from": number(),
        "valid_to": number(), "source": source, "confidence": number(), "superseded_by": replaced,
        "supersedes": {"type": "array", "items": replaced},
    });
    let memory = object(&["id", "text", "level", "meta", "create_time"], row);
    let ids = json!({"type": ["array", "null"], "items": text()});
    let later = object(&["id"], json!({"id": text(), "reason": text()}));
    let hit = json!({
        "id": text(), "text": text(), "score": number(), "level": level, "meta": meta(), "why": {"type": "object"},
        "valid_from": number(), "valid_to": number(), "source": source, "confidence": number(), "superseded_by": later,
    });
    let turn = json!({
        "id": text(), "thread": text(), "seq": whole(), "role": text(), "text": text(), "score": number(),
        "create_time": number(), "why": {"type": "object"}, "valid_from": number(), "valid_to": number(),
        "superseded_by": later,
    });
    json!({
        "Summary": object(&["text", "upto_seq", "by", "updated_at"], json!({
            "text": text(), "upto_seq": whole(), "by": {"enum": ["extract", "model", "caller"]}, "updated_at": number(),
        })),
        "NewSummary": object(&["text"], json!({"text": text(), "upto_seq": whole()})),
        "NewMemory": object(&["text"], json!({
            "text": text(), "meta": meta(), "id": text(), "valid_from": time, "valid_to": time, "supersedes": ids,
            "source": source, "confidence": number(),
        })),
        "Memory": memory,
        "MemoryChange": object(&[], json!({
            "valid_from": {"type": ["number", "string", "null"]}, "valid_to": {"type": ["number", "string", "null"]},
            "supersedes": ids, "confidence": {"type": ["number", "null"]},
        })),
        "Named": object(&["id"], json!({"id": text()})),
        "Memories": page("memories", memory),
        "Search": object(&["query"], json!({"query": text(), "k": whole(), "explain": flag(), "as_of": time})),
        "MemoryHits": hits(&["id", "text", "score", "level", "meta"], hit),
        "TurnSearch":
            object(&["query"], json!({
                "query": text(), "k": whole(), "explain": flag(), "thread": text(), "as_of": time,
            })),
        "TurnHits": hits(&["id", "thread", "seq", "role", "text", "score", "create_time"], turn),
    })
}

fn documents() -> Value {
    let kind = json!({"enum": ["document", "repo"]});
    let skipped_file = object(&["file", "why"], json!({"file": text(), "why": text()}));
    let skipped = object(
        &["binary", "large", "unreadable"],
        json!({
            "binary": whole(), "large": whole(), "unreadable": whole(), "not_prose": whole(), "failed": whole(),
            "files": {"type": "array", "items": skipped_file},
        }),
    );
    let known = object(
        &["id", "name", "kind", "passages", "bytes", "updated_at"],
        json!({
            "id": text(), "name": text(), "kind": kind, "passages": whole(), "bytes": whole(), "meta": meta(),
            "files": whole(), "skipped": skipped, "updated_at": number(),
        }),
    );
    let hit = json!({
        "id": text(), "document": text(), "name": text(), "text": text(), "file": text(), "line": whole(),
        "page": whole(),
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
    let result = object(&["id", "content", "at"], json!({"id": text(), "name": text(), "content": {}, "at": number()}));
    let maybe = json!({"type": ["string", "null"]});
    json!({
        "NewTask": object(&["title"], json!({"title": text(), "notes": text(), "due": text(), "id": text()})),
        "TaskChange": object(&[], json!({"title": text(), "status": status, "notes": maybe, "due": maybe})),
        "Tasks": page("tasks", task.clone()),
        "Task": task,
        "NewResult": object(&["content"], json!({"name": text(), "content": {}})),
        "Results": page("results", result),
    })
}
