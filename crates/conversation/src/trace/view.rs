//! A trace as an operator reads it.
//!
//! Owns that one wire form.

use serde_json::{Map, Value, json};

use super::{EmbeddingMark, ModuleMark, RequestTrace};

/// A trace on the wire: all members are there, whatever it has none of is null or empty.
pub fn view(request_trace: &RequestTrace) -> Value {
    let RequestTrace { id, surface, user, model, prompts, latency, .. } = request_trace;
    let embeddings: Vec<Value> = request_trace.embeddings.iter().map(embedding).collect();
    let response = request_trace.caches.iter().find(|mark| mark.cache == "response");
    let memory = request_trace.memory.as_ref().map(|mark| {
        let decision = json!({"saveMemory": mark.saves, "intensity": mark.intensity, "reason": mark.why});
        with(decision, "memoryId", mark.id.as_deref())
    });
    let caches = request_trace.caches.iter().map(|mark| {
        let cache = json!({"cache": mark.cache, "status": status(mark.is_hit)});
        with(cache, "key", mark.key.as_deref())
    });
    let errors = request_trace.errors.iter();
    let errors = errors.map(|mark| json!({"stage": mark.stage, "message": mark.message, "atMs": mark.at_ms}));
    json!({
        "traceId": id,
        "surface": surface,
        "userId": user,
        "model": model,
        "cacheStatus": response.map(|mark| status(mark.is_hit)),
        "caches": caches.collect::<Vec<_>>(),
        "heuristics": request_trace.heuristics,
        "modules": request_trace.modules.iter().map(module).collect::<Vec<_>>(),
        "embeddingResult": embeddings.first(),
        "embeddingResults": embeddings,
        "memoryDecision": memory,
        "latency": {
            "promptReadyMs": latency.prompt_ready_ms,
            "firstTokenMs": latency.first_token_ms,
            "totalMs": latency.total_ms,
        },
        "errors": errors.collect::<Vec<_>>(),
        "startedAt": iso(request_trace.started_at),
        "finishedAt": request_trace.finished_at.and_then(iso),
        "prompts": prompts,
        "running": request_trace.finished_at.is_none(),
    })
}

fn status(is_hit: bool) -> &'static str {
    if is_hit { "hit" } else { "miss" }
}

fn module(mark: &ModuleMark) -> Value {
    let module = json!({"name": mark.name, "status": mark.status, "why": mark.why, "tokens": mark.tokens});
    with(module, "missingTokens", mark.missing_tokens)
}

fn embedding(mark: &EmbeddingMark) -> Value {
    let EmbeddingMark { kind, against, similarity, hits, took_ms } = mark;
    json!({"kind": kind, "against": against, "similarity": similarity, "hits": hits, "tookMs": took_ms})
}

/// An object with one member more, where there is something to say.
fn with(object: Value, name: &str, value: Option<impl Into<Value>>) -> Value {
    let more = value.map(|value| (name.to_owned(), value.into()));
    let members = match object {
        Value::Object(members) => members,
        _ => Map::new(),
    };
    members.into_iter().chain(more).collect::<Map<_, _>>().into()
}

/// A time in UTC, to the millisecond; none for one that no calendar has.
fn iso(seconds: f64) -> Option<String> {
    const DAY_MS: i64 = 86_400_000;
    let ms = (seconds * 1e3).round() as i64;
    let day = novelo_language::iso_date((ms.div_euclid(DAY_MS) * 86_400) as f64);
    let ms = ms.rem_euclid(DAY_MS);
    let (hours, minutes, seconds) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1_000 % 60);
    (!day.is_empty()).then(|| format!("{day}T{hours:02}:{minutes:02}:{seconds:02}.{:03}Z", ms % 1_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_to_the_millisecond() {
        assert_eq!(iso(0.0).as_deref(), Some("1970-01-01T00:00:00.000Z"));
        assert_eq!(iso(951_868_799.999_6).as_deref(), Some("2000-03-01T00:00:00.000Z"), "rounded over midnight");
        assert_eq!(iso(1_794_836_951.034).as_deref(), Some("2026-11-16T13:49:11.034Z"));
        assert_eq!([f64::NAN, 1e300, -1e300].map(|none| iso(none).is_some_and(|at| at.len() != 24)), [false; 3]);
    }

    /// Members without a value are shown too.
    #[test]
    fn every_member_is_always_there() {
        let bare = view(&RequestTrace::default());
        let members: Vec<&String> = bare.as_object().unwrap().keys().collect();
        assert_eq!(members.len(), 17, "{members:?}");
        assert_eq!((&bare["cacheStatus"], &bare["embeddingResult"]), (&Value::Null, &Value::Null));
        assert_eq!(bare["latency"], json!({"promptReadyMs": null, "firstTokenMs": null, "totalMs": null}));
        assert_eq!(bare["running"], json!(true));
    }
}
