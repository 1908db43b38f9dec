//! The course of a request as a page. It shows what the JSON tells and loads nothing; all that it was told stays text.

use std::sync::LazyLock;

use axum::http::{HeaderValue, header};
use axum::response::{Html, IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use novelo_engine::path::encode_segment;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::thread::page::escaped;

const STYLE: &str = "\
:root{color-scheme:light dark;font:1rem/1.5 system-ui,sans-serif}\
body{max-width:70rem;margin:2rem auto;padding:0 1rem}\
h1{font-size:1.4rem}h2{font-size:1.1rem;margin:2rem 0 .4rem}\
table{border-collapse:collapse;width:100%}\
th,td{text-align:left;vertical-align:top;padding:.25rem .75rem .25rem 0;border-bottom:1px solid #8886;overflow-wrap:anywhere}\
meter{width:100%;min-width:8rem}.none{opacity:.7}";

/// Nothing runs, nothing is loaded, and of styles there is the one.
static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let style = STANDARD.encode(Sha256::digest(STYLE));
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{style}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    HeaderValue::try_from(policy).expect("words and base64 make a header")
});

/// The sections that are lists: title, member, and the columns to show.
const LISTS: [(&str, &str, &[&str]); 5] = [
    ("Heuristics", "heuristics", &["name", "value", "why"]),
    ("Modules", "modules", &["name", "status", "why", "tokens", "missingTokens"]),
    ("Caches", "caches", &["cache", "status", "key"]),
    ("Embeddings", "embeddingResults", &["kind", "against", "similarity", "hits", "tookMs"]),
    ("Errors", "errors", &["stage", "message", "atMs"]),
];
const FACTS: [&str; 8] = ["traceId", "surface", "userId", "model", "cacheStatus", "startedAt", "finishedAt", "running"];
const MEMORY: [&str; 4] = ["saveMemory", "intensity", "reason", "memoryId"];

pub fn answer(course: &Value) -> Response {
    let mut response = Html(page(course)).into_response();
    let fixed = |value| HeaderValue::from_static(value);
    response.headers_mut().extend([
        (header::CACHE_CONTROL, fixed("no-store")),
        (header::CONTENT_SECURITY_POLICY, POLICY.clone()),
        (header::X_CONTENT_TYPE_OPTIONS, fixed("nosniff")),
        (header::REFERRER_POLICY, fixed("no-referrer")),
    ]);
    response
}

fn page(course: &Value) -> String {
    let title = format!("Course of {}", text(course.get("surface")));
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>{title}</title>\
         <meta name=\"viewport\" content=\"width=device-width\"><style>{STYLE}</style></head>\n<body>\n<h1>{title}</h1>\n"
    );
    let fact = |name: &str| json!({"what": name, "value": course.get(name)});
    table(&mut out, &["what", "value"], &FACTS.map(fact));
    latency(&mut out, course.get("latency").unwrap_or(&Value::Null));
    for (title, member, columns) in LISTS {
        section(&mut out, title, columns, course.get(member).and_then(Value::as_array).map_or(&[], Vec::as_slice));
    }
    let memory = course.get("memoryDecision").filter(|memory| !memory.is_null());
    section(&mut out, "Memory", &MEMORY, memory.map_or(&[], std::slice::from_ref));
    prompts(&mut out, course);
    out + "</body>\n</html>\n"
}

/// How long it took, each part as a bar beside the whole.
fn latency(out: &mut String, latency: &Value) {
    let parts =
        ["promptReadyMs", "firstTokenMs", "totalMs"].map(|name| (name, latency.get(name).and_then(Value::as_f64)));
    let most = parts.iter().filter_map(|(_, ms)| *ms).fold(0.0, f64::max);
    put(out, "<h2>Latency</h2>\n<table>\n");
    for (name, ms) in parts {
        let Some(ms) = ms else { continue };
        put(out, format!("<tr><th scope=\"row\">{name}</th><td>{ms}</td>"));
        put(out, format!("<td><meter min=\"0\" max=\"{most}\" value=\"{ms}\">{ms}</meter></td></tr>\n"));
    }
    put(out, "</table>\n");
}

fn section(out: &mut String, title: &str, columns: &[&str], rows: &[Value]) {
    put(out, format!("<h2>{title}</h2>\n"));
    match rows {
        [] => put(out, "<p class=\"none\">none</p>\n"),
        rows => table(out, columns, rows),
    }
}

fn table(out: &mut String, columns: &[&str], rows: &[Value]) {
    let heads: String = columns.iter().map(|column| format!("<th scope=\"col\">{column}</th>")).collect();
    put(out, format!("<table>\n<tr>{heads}</tr>\n"));
    for row in rows {
        let cells: String = columns.iter().map(|column| format!("<td>{}</td>", text(row.get(column)))).collect();
        put(out, format!("<tr>{cells}</tr>\n"));
    }
    put(out, "</table>\n");
}

fn prompts(out: &mut String, course: &Value) {
    let ids = course.get("prompts").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let link = |id| format!("<p><a href=\"/v1/traces/{}\">{}</a></p>\n", encode_segment(id), escaped(id));
    put(out, format!("<h2>Prompts</h2>\n{}", ids.map(link).collect::<String>()));
}

fn text(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => escaped(text),
        Some(other) => escaped(&other.to_string()),
    }
}

fn put(out: &mut String, html: impl AsRef<str>) {
    out.push_str(html.as_ref());
}
