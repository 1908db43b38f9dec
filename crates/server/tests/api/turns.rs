//! Appending turns, and reading them back byte for byte.

use novelo_engine::limits::PAGE_MAX;
use serde_json::value::RawValue;

use crate::support::{Client, Home, Server, Value, eventually, json, says, thread};

/// What a careless server would tidy up: spacing, unknown fields, the order of keys, spelling, parts and
/// nulls.
const ODD: [&str; 9] = [
    r#"{ "role" : "user" ,"content":"spaced  out"   }"#,
    r#"{"z":1,"role":"user","a":[1,2, 3],"content":"order","x_unknown":{"deep":[null,true]}}"#,
    r#"{"role":"user","content":"numbers","price":1.50,"big":12345678901234567890123,"exp":1e+3,"zero":-0.0}"#,
    r#"{"role":"user","content":"\u00e9 \ud83d\ude00 \/ \u0000 tab\t"}"#,
    r#"{"role":"user","content":"half \ud83d of a pair"}"#,
    r#"{"role":"user","content":[{"type":"text","text":"part"},{"type":"image_url","image_url":{"url":"data:,x"}}]}"#,
    r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{ \"a\" : 1.0,\n \"b\":\"\\u00e9\" }"}}]}"#,
    r#"{"role":"tool","tool_call_id":"c1","content":"done"}"#,
    "{\n  \"role\": \"developer\",\r\n\t\"content\": \"é 😀 as they are\"\n}",
];

#[derive(serde::Deserialize)]
struct Turns {
    turns: Vec<Turn>,
}

#[derive(serde::Deserialize)]
struct Turn {
    id: String,
    message: Box<RawValue>,
}

#[derive(serde::Deserialize)]
struct Document {
    value: Box<RawValue>,
}

fn read(client: &Client, rest: &str) -> Vec<Turn> {
    let answer = client.get(&thread("u", "odd", rest));
    serde_json::from_slice::<Turns>(&answer.body).unwrap().turns
}

fn bytes(turns: &[Turn]) -> Vec<&str> {
    turns.iter().map(|turn| turn.message.get()).collect()
}

fn seqs(answer: &Value) -> Vec<u64> {
    answer["turns"].as_array().unwrap().iter().map(|turn| turn["seq"].as_u64().unwrap()).collect()
}

fn numbered(client: &Client, count: usize) {
    let messages: Vec<Value> = (1..=count).map(|n| says("user", &format!("turn {n}"))).collect();
    client.append("u", "t", &messages);
}

#[test]
fn turns_come_back_byte_for_byte() {
    let server = Server::start();
    let sent = format!(r#"{{"messages": [ {} ]}}"#, ODD.join(" ,\n"));
    assert_eq!(seqs(&server.post(&thread("u", "odd", "/turns"), sent).ok()), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(bytes(&read(&server, "/turns")), ODD);
    assert_eq!(bytes(&read(&server, "/turns?after=2&limit=3")), ODD[2..5]);

    let server = server.restart();
    let turns = read(&server, "/turns?last=9");
    assert_eq!(bytes(&turns), ODD, "from the disk");
    let document = server.get(&format!("/v1/docs/users/u/convo.sessions/odd/messages/{}", turns[2].id));
    assert_eq!(serde_json::from_slice::<Document>(&document.body).unwrap().value.get(), ODD[2]);
    let context = server.post("/v1/context", json!({"user": "u", "thread": "odd"})).text();
    assert!(context.starts_with(&format!("{{\"messages\":[{}],\"tokens\":", ODD.join(","))), "{context}");
}

#[test]
fn an_append_answers_with_id_seq_time_and_tokens() {
    let server = Server::start();
    let rows = server.say("u", "t", &["hi", "hi"]);
    assert_eq!(rows.len(), 2);
    for (row, seq) in rows.iter().zip(1..) {
        assert_eq!(row.as_object().unwrap().keys().collect::<Vec<_>>(), ["id", "seq", "create_time", "tokens"]);
        // 30 UTF-16 units of compact JSON at four to a token, and 8 for the message.
        assert_eq!((&row["seq"], &row["tokens"]), (&json!(seq), &json!(16)));
        assert!(row["create_time"].as_f64().unwrap() > 1.7e9);
    }
    assert_ne!(rows[0]["id"], rows[1]["id"]);
}

#[test]
fn a_message_may_bring_its_id_and_its_time() {
    let server = Server::start();
    let message = json!({"role": "user", "content": "x", "id": "m-1", "create_time": 1700000000.25});
    let rows = server.append("u", "t", std::slice::from_ref(&message));
    assert_eq!((&rows[0]["id"], &rows[0]["create_time"]), (&json!("m-1"), &json!(1700000000.25)));
    let turn = server.get(&thread("u", "t", "/turns")).ok()["turns"][0].clone();
    assert_eq!(turn, json!({"id": "m-1", "seq": 1, "create_time": 1700000000.25, "message": message}));
    let document = server.get("/v1/docs/users/u/convo.sessions/t/messages/m-1").ok();
    assert_eq!((&document["value"], &document["version"]), (&message, &json!(1)));
}

#[test]
fn a_message_that_is_wrong_is_named() {
    let server = Server::start();
    let check = |message: Value, param: &str| {
        let sent = json!({"messages": [says("user", "fine"), message]});
        let error = server.post(&thread("u", "t", "/turns"), sent).refused(422, "invalid_field");
        assert_eq!(error["param"], param, "{error}");
    };
    check(json!({"content": "x"}), "messages[1].role");
    check(json!({"role": "robot", "content": "x"}), "messages[1].role");
    check(json!({"role": "user", "content": 7}), "messages[1].content");
    check(json!({"role": "assistant", "tool_calls": {}}), "messages[1].tool_calls");
    check(json!({"role": "assistant", "tool_calls": [{"type": "function"}]}), "messages[1].tool_calls");
    check(json!({"role": "tool", "tool_call_id": 7}), "messages[1].tool_call_id");
    check(json!({"role": "user", "content": "x", "id": 7}), "messages[1].id");
    check(json!({"role": "user", "content": "x", "id": ""}), "messages[1].id");
    check(json!({"role": "user", "content": "x", "create_time": "today"}), "messages[1].create_time");
    check(json!("a string"), "messages[1]");
    let twice = r#"{"messages":[{"role":"user","content":"x","role":"tool"}]}"#;
    server.post(&thread("u", "t", "/turns"), twice).refused_with(422, "invalid_field", &["\"role\" twice"]);
    assert_eq!(server.said("u", "t"), Vec::<String>::new(), "nothing of a refused append is stored");
}

#[test]
fn if_seq_refuses_an_append_to_a_thread_that_moved_on() {
    let server = Server::start();
    let append = |if_seq: u64, text: &str| {
        server.post(&thread("u", "t", "/turns"), json!({"messages": [says("user", text)], "if_seq": if_seq}))
    };
    append(0, "first").ok();
    append(0, "late").refused_with(409, "stale", &["0", "1"]);
    append(2, "early").refused(409, "stale");
    append(1, "second").ok();
    assert_eq!(server.said("u", "t"), ["first", "second"]);
}

#[test]
fn the_same_id_and_bytes_again_is_the_first_answer_again() {
    let server = Server::start();
    let message = json!({"role": "user", "content": "once", "id": "m"});
    let send = |message: &Value| server.post(&thread("u", "t", "/turns"), json!({"messages": [message], "if_seq": 0}));
    let first = send(&message).ok();
    server.say("u", "t", &["between"]);
    assert_eq!(send(&message).ok(), first, "a lost answer can be asked for again, whatever came after");
    let other = json!({"role": "user", "content": "other", "id": "m"});
    send(&other).refused_with(409, "conflict", &["messages/m"]);
    let batch = json!({"messages": [says("user", "new"), other]});
    server.post(&thread("u", "t", "/turns"), batch).refused(409, "conflict");
    assert_eq!(server.said("u", "t"), ["once", "between"], "a batch is all or nothing");
}

#[test]
fn an_idempotency_key_makes_a_retry_harmless() {
    let server = Server::start();
    let send = |key: &str, text: &str| {
        let messages = json!({"messages": [says("user", text), says("assistant", "yes")]});
        server.with("idempotency-key", key).post(&thread("u", "t", "/turns"), messages)
    };
    let first = send("k1", "a").ok();
    assert_eq!(send("k1", "a").ok(), first);
    send("k1", "b").refused(409, "conflict");
    assert_eq!(seqs(&send("k2", "a").ok()), [3, 4]);
    assert_eq!(seqs(&send(&"k".repeat(256), "a").ok()), [5, 6]);
    let error = send(&"k".repeat(257), "a").refused(422, "invalid_field");
    assert_eq!(error["param"], "Idempotency-Key");
    assert_eq!(server.said("u", "t").len(), 6);
}

#[test]
fn reading_pages_from_either_end() {
    let server = Server::start();
    numbered(&server, 25);
    let check = |query: &str, expected: std::ops::Range<u64>, has_more: bool| {
        let answer = server.get(&thread("u", "t", &format!("/turns{query}"))).ok();
        assert_eq!(seqs(&answer), expected.collect::<Vec<_>>(), "{query}");
        assert_eq!(answer["has_more"], json!(has_more), "{query}");
    };
    check("", 6..26, true);
    check("?last=24", 2..26, true);
    check("?last=25", 1..26, false);
    check("?after=0&limit=10", 1..11, true);
    check("?after=15&limit=10", 16..26, false);
    check("?after=14&limit=10", 15..25, true);
    check("?after=3", 4..26, false);
    check("?limit=2", 1..3, true);
    check("?after=25", 26..26, false);
    check("?after=99", 26..26, false);
    check(&format!("?last={PAGE_MAX}"), 1..26, false);
}

#[test]
fn a_page_has_a_cap_and_parameters_have_names() {
    let server = Server::start();
    let over = PAGE_MAX + 1;
    for (query, param) in [
        (format!("?last={over}"), "last"),
        ("?last=0".into(), "last"),
        (format!("?after=0&limit={over}"), "limit"),
        ("?after=0&limit=0".into(), "limit"),
        ("?last=1&after=1".into(), "last"),
        ("?last=1&limit=1".into(), "limit"),
        ("?first=1".into(), "query"),
        ("?last=many".into(), "query"),
    ] {
        let error = server.get(&thread("u", "t", &format!("/turns{query}"))).refused(422, "invalid_field");
        assert_eq!(error["param"], param, "{query}");
    }
    server.get(&thread("u", "t", &format!("/turns?last={over}"))).refused_with(422, "invalid_field", &["PAGE_MAX"]);
    let none = server.get(&thread("u", "nobody", "/turns")).ok();
    assert_eq!(none, json!({"turns": [], "has_more": false}));
}

#[test]
fn a_thread_can_be_kept_short_and_its_turns_can_expire() {
    let server = Home::new().serve_with(&[("NOVELO_THREADS_TURNS_MAX", "3")]);
    numbered(&server, 5);
    assert_eq!(server.said("u", "t"), ["turn 3", "turn 4", "turn 5"]);
    assert_eq!(seqs(&server.get(&thread("u", "t", "/turns")).ok()), [3, 4, 5], "a seq is for good");

    let server = Home::new().serve_with(&[("NOVELO_THREADS_TTL_SECONDS", "3600")]);
    let old = json!({"role": "user", "content": "old", "create_time": 1700000000});
    server.append("u", "t", &[old, says("user", "new")]);
    assert!(eventually(|| server.said("u", "t") == ["new"]));
}
