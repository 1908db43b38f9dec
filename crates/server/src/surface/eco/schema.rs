//! The schemas of guided answers, and of the trace of a request as `/debug/trace` shows it, for the OpenAPI
//! document.

use serde_json::{Value, json};

use crate::surface::openapi::object;

/// The members of a request trace. All are required.
const MEMBERS: [&str; 17] = [
    "traceId",
    "surface",
    "userId",
    "model",
    "cacheStatus",
    "caches",
    "heuristics",
    "modules",
    "embeddingResult",
    "embeddingResults",
    "memoryDecision",
    "latency",
    "errors",
    "startedAt",
    "finishedAt",
    "prompts",
    "running",
];

pub(crate) fn all() -> Value {
    let mut all = guided();
    if let (Value::Object(all), Value::Object(course)) = (&mut all, course()) {
        all.extend(course);
    }
    all
}

fn guided() -> Value {
    let (text, number, flag) = (json!({"type": "string"}), json!({"type": "number"}), json!({"type": "boolean"}));
    let some = || json!({"type": ["string", "null"]});
    let tags = || json!({"type": "array", "items": {"type": "string"}});
    let block = json!({
        "intensidade": number, "resumo": text, "tags": tags(), "categoria": text, "emocao": text,
    });
    let opening = object(&["sugestaoNivel"], json!({"sugestaoNivel": {"enum": [1, 2, 3]}}));
    let built = json!({"nome": text, "aberturaHibrida": opening, "blocoTecnicoForcado": object(&[], block)});
    let session = object(&[], json!({"sessionId": text}));
    let meta = object(
        &["mode", "nivel", "vivaSteps", "vivaAtivo", "lowComplexity", "saveMemory"],
        json!({
            "mode": {"enum": ["fast", "stream", "full", "shortcut"]}, "reason": text, "nivel": {"enum": [1, 2, 3]},
            "vivaSteps": tags(), "vivaAtivo": flag, "lowComplexity": flag, "saveMemory": flag, "crisis": flag,
        }),
    );
    let fields = ["type", "at", "sinceStartMs", "message", "intensidade", "tags", "cache", "fallback", "meta"];
    json!({
        "GuidedMessage": object(&["messages"], json!({
            "messages": {"type": "array", "items": {"$ref": "#/components/schemas/Message"}}, "userId": text,
            "guestId": text, "isGuest": flag, "stream": flag, "promptReadyImmediate": flag, "forcarMetodoViva": flag,
            "sessionMeta": session, "promptOverride": text, "metaFromBuilder": object(&[], built),
        })),
        "GuidedAnswer": object(&fields, json!({
            "type": {"enum": ["done"]}, "at": number, "sinceStartMs": number, "message": text, "modelo": some(),
            "intensidade": number, "resumo": some(), "tags": tags(), "categoria": some(), "emocao": some(),
            "usage": {"type": ["object", "null"]}, "cache": flag, "fallback": flag, "meta": meta,
            "trace": {"$ref": "#/components/schemas/Course"}, "guestId": text,
        })),
    })
}

fn course() -> Value {
    let (text, whole, number, flag) =
        (json!({"type": "string"}), json!({"type": "integer"}), json!({"type": "number"}), json!({"type": "boolean"}));
    let maybe = |kind: &str| json!({"type": [kind, "null"]});
    let or_null = |schema: Value| json!({"anyOf": [schema, {"type": "null"}]});
    let list = |item: Value| json!({"type": "array", "items": item});
    let embedding = object(
        &["kind", "against", "similarity", "hits", "tookMs"],
        json!({"kind": text, "against": text, "similarity": maybe("number"), "hits": whole, "tookMs": number}),
    );
    let memory = object(
        &["saveMemory", "intensity", "reason"],
        json!({"saveMemory": flag, "intensity": number, "reason": text, "memoryId": text}),
    );
    let latency = ["promptReadyMs", "firstTokenMs", "totalMs"];
    json!({"Course": object(&MEMBERS, json!({
        "traceId": text, "surface": text, "userId": maybe("string"), "model": maybe("string"),
        "cacheStatus": {"enum": ["hit", "miss", null]},
        "caches": list(object(&["cache", "status"], json!({
            "cache": text, "status": {"enum": ["hit", "miss"]}, "key": text,
        }))),
        "heuristics": list(object(&["name", "value", "why"], json!({"name": text, "value": {}, "why": text}))),
        "modules": list(object(&["name", "status", "why", "tokens"], json!({
            "name": text, "status": text, "why": text, "tokens": maybe("integer"), "missingTokens": whole,
        }))),
        "embeddingResult": or_null(embedding.clone()), "embeddingResults": list(embedding),
        "memoryDecision": or_null(memory),
        "latency": object(&latency, json!(std::collections::BTreeMap::from(latency.map(|name| (name, maybe("number")))))),
        "errors": list(object(&["stage", "message", "atMs"], json!({"stage": text, "message": text, "atMs": number}))),
        "startedAt": maybe("string"), "finishedAt": maybe("string"), "prompts": list(text.clone()), "running": flag,
    }))})
}
