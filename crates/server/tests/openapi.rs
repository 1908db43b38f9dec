//! The OpenAPI document is golden, and true of the running server.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a panic is how a test fails")]

mod support;

use std::path::PathBuf;

use support::asking::course;
use support::calls::{About, documented, every};
use support::embeddings::Embeddings;
use support::models::Models;
use support::{Answer, Home, Server, Value, json};

fn golden() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/openapi.json")
}

/// `NOVELO_BLESS=1` rewrites the golden file; a change to it is reviewed like code.
#[test]
fn the_document_is_the_golden_one() {
    let served = Server::start().get("/openapi.json").ok();
    let text = serde_json::to_string_pretty(&served).unwrap() + "\n";
    if std::env::var_os("NOVELO_BLESS").is_some() {
        std::fs::write(golden(), &text).unwrap();
    }
    let kept = std::fs::read_to_string(golden()).unwrap_or_default();
    assert!(kept == text, "the API changed: run with NOVELO_BLESS=1 and read the difference");
}

#[test]
fn every_operation_answers_as_its_schema_says() {
    let (models, embeddings) = (Models::start(), Embeddings::start());
    let settings = [&models.settings_with_data()[..], &embeddings.settings()].concat();
    let server = Home::new().serve_with(&settings);
    let document = server.get("/openapi.json").ok();
    server.say("u", "t", &["hi"]);
    let made = server.context(json!({"user": "u", "thread": "t"}));
    let trace = made["trace_id"].as_str().unwrap();
    let course = course(&server, "u");
    let admin = server.admin_key();
    let key = admin.post("/v1/keys", json!({"admin": true})).ok();
    let about = About { user: "u", thread: "t", trace, course: &course, key: key["id"].as_str().unwrap() };
    let mut left = documented(&server);
    for call in every(&about) {
        let answer = call.send(&admin);
        assert_eq!(answer.status, 200, "{call:?}: {}", answer.text());
        check_answer(&document, &operation(&document, call.operation, "200"), &answer);
        left.retain(|id| id != call.operation);
    }
    assert_eq!(left, Vec::<String>::new(), "operations without a call");
}

#[test]
fn a_refusal_is_as_its_schema_says() {
    let server = Server::start();
    let document = server.get("/openapi.json").ok();
    let refusals = [
        ("makeContext", server.post("/v1/context", "{")),
        ("getDocument", server.get("/v1/docs/a/b")),
        ("forkThread", server.post("/v1/users/u/threads/t/fork", json!({"at_seq": 1, "to": "f"}))),
        ("runTopicContext", server.post("/context/topicContextYoj/run", json!({}))),
    ];
    for (id, answer) in refusals {
        check_answer(&document, &operation(&document, id, "default"), &answer);
    }
}

/// What an operation promises to answer with.
fn operation(document: &Value, id: &str, status: &str) -> Value {
    let methods = document["paths"].as_object().unwrap().values().flat_map(|path| path.as_object().unwrap().values());
    let operation = methods.into_iter().find(|operation| operation["operationId"] == id).unwrap();
    operation["responses"][status]["content"].clone()
}

fn check_answer(document: &Value, content: &Value, answer: &Answer) {
    let (kind, promised) = content.as_object().unwrap().iter().next().unwrap();
    assert!(answer.header("content-type").unwrap().starts_with(kind.as_str()), "{:?}", answer.headers);
    if kind == "application/json" {
        let problem = mismatch(document, &promised["schema"], &answer.json());
        assert_eq!(problem, None, "{}", answer.text());
    }
}

/// Where a value is not what a schema says, if anywhere.
fn mismatch(document: &Value, schema: &Value, value: &Value) -> Option<String> {
    if let Some(reference) = schema["$ref"].as_str() {
        let found = document.pointer(reference.trim_start_matches('#'));
        return mismatch(document, found.unwrap_or_else(|| panic!("{reference} leads nowhere")), value);
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        let problems = choices.iter().map(|choice| mismatch(document, choice, value)).collect::<Option<Vec<_>>>();
        return problems.map(|all| all.join(", and "));
    }
    if schema["enum"].as_array().is_some_and(|known| !known.contains(value)) {
        return Some(format!("{value} is none of {}", schema["enum"]));
    }
    if !kinds(&schema["type"]).is_none_or(|kinds| kinds.iter().any(|kind| is(value, kind))) {
        return Some(format!("{value} is not {}", schema["type"]));
    }
    let missing =
        schema["required"].as_array().into_iter().flatten().find(|name| value.get(name.as_str().unwrap()).is_none());
    if let Some(name) = missing {
        return Some(format!("{name} is missing"));
    }
    let fields = schema["properties"].as_object().into_iter().flatten();
    let in_fields = fields.filter_map(|(name, of)| Some((of, value.get(name)?)));
    let in_items = value
        .as_array()
        .into_iter()
        .flatten()
        .filter(|_| schema["items"].is_object())
        .map(|item| (&schema["items"], item));
    in_fields.chain(in_items).find_map(|(schema, value)| mismatch(document, schema, value))
}

fn kinds(kind: &Value) -> Option<Vec<&str>> {
    match kind {
        Value::String(kind) => Some(vec![kind.as_str()]),
        Value::Array(kinds) => Some(kinds.iter().filter_map(Value::as_str).collect()),
        _ => None,
    }
}

fn is(value: &Value, kind: &str) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("{other} is not a kind"),
    }
}

#[test]
fn a_mismatch_is_seen() {
    let schema = json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "array", "items": {"type": "integer"}}}});
    let check = |value: Value| mismatch(&json!({}), &schema, &value).is_some();
    assert!(!check(json!({"a": [1]})));
    assert!(check(json!({"a": ["x"]})) && check(json!({})) && check(json!([])) && check(json!({"a": {}})));
}
