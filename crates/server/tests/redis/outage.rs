//! Redis gone for a while: every surface says so at once in its own form, nothing is half-written, and all
//! nodes heal.

use std::sync::Arc;

use crate::support::calls::{About, Call, every};
use crate::support::models::Models;
use crate::support::nodes::Nodes;
use crate::support::redis::Redis;
use crate::support::stream::Stream;
use crate::support::{Answer, CONFIRM, Client, Home, Value, asking, json, says, user};
use crate::{turns_of, until};

/// What needs no document, not even to know who asks.
const WITHOUT_STORE: [&str; 4] = ["getLive", "getReady", "getChatPage", "getAsset"];

struct World {
    redis: Redis,
    nodes: Nodes,
    /// Every operation, each with what it needs to succeed.
    calls: Vec<Call>,
}

fn world() -> World {
    let redis = Redis::with(&["--appendonly", "yes", "--appendfsync", "always"]);
    let models = Models::start();
    let settings = [models.settings_with_data().as_slice(), &[("NOVELO_REDIS_TIMEOUT_MS", "500")]].concat();
    let nodes = Nodes::start(&Home::new(), &redis.url(), &settings);
    nodes.say("u", "t", &["before"]);
    let made = nodes.context(json!({"user": "u", "thread": "t"}));
    let (trace, course) = (made["trace_id"].as_str().unwrap(), asking::course(&nodes, "u"));
    let calls = every(&About { user: "u", thread: "t", trace, course: &course, key: "none" });
    // Traces are stored a little later, and those on their way would be lost with Redis.
    let is_stored = |documents: &str| documents.contains("/traces/") && documents.contains(r#""surface":"ask""#);
    until("both traces are stored", || is_stored(&documents_of(&nodes)));
    World { redis, nodes, calls }
}

/// All documents. The first line of an export says when it was made.
fn documents_of(client: &Client) -> String {
    client.get("/v1/export").text().split_once('\n').unwrap().1.to_owned()
}

/// All documents, once nothing is on its way any more.
fn exported(client: &Client) -> String {
    let mut last = documents_of(client);
    until("all is written", || {
        let now = documents_of(client);
        std::mem::replace(&mut last, now.clone()) == now
    });
    last
}

/// What every refusal has, whatever its form.
#[track_caller]
fn is_refusal(answer: &Answer, about: &str) {
    assert_eq!(answer.status, 503, "{about}: {}", answer.text());
    let wait: u64 = answer.header("retry-after").unwrap_or_else(|| panic!("{about}: no Retry-After")).parse().unwrap();
    assert!(wait >= 1, "{about}");
}

fn check_health(nodes: &Nodes) {
    for node in nodes.all() {
        node.get("/health/live").ok();
        until("a node notices", || node.get("/health/ready").status == 503);
        let ready = node.get("/health/ready").json();
        assert_eq!((&ready["status"], &ready["store"]), (&json!("unavailable"), &json!("redis")), "{ready}");
        assert!(ready["why"].as_str().is_some_and(|why| !why.is_empty()), "{ready}");
    }
}

/// A stream is refused before it begins.
fn check_streams(client: &Client) {
    for (path, body) in [
        ("/api/ask", json!({"question": "hi?", "thread_id": "t", "user_id": "u"})),
        ("/memory/chat", json!({"user_id": "u", "session_id": "t", "message": "hi"})),
        ("/v1/chat/completions", json!({"user": "u", "messages": [says("user", "hi")]})),
        ("/ask-eco", json!({"userId": "u", "messages": [says("user", "Preciso de apoio")]})),
    ] {
        let body = crate::support::eco::with(body, "stream", true);
        let stream = Stream::open(&client.with("x-novelo-thread", "t"), "POST", path, body);
        assert_eq!(stream.status, 503, "{path}: {}", stream.headers);
        assert!(stream.headers.contains("retry-after: "), "{path}: {}", stream.headers);
    }
}

fn check_healed(nodes: &Nodes) {
    for node in nodes.all() {
        until("a node heals", || node.get("/health/ready").status == 200);
    }
    for (n, node) in nodes.all().enumerate() {
        node.say("healed", "t", &[&n.to_string()]);
    }
    assert_eq!(nodes.said("healed", "t"), ["0", "1", "2"]);
    assert_eq!(nodes.get("/v1/doctor").ok()["findings"], json!([]));
    nodes.delete(&user("healed", "")).ok();
}

#[test]
fn redis_killed_refuses_every_operation_and_writes_nothing() {
    let World { mut redis, nodes, calls } = world();
    let before = exported(&nodes);
    redis.kill();
    for call in &calls {
        match WITHOUT_STORE.contains(&call.operation) {
            true if call.operation == "getReady" => {}
            true => assert_eq!(call.send(&nodes).status, 200, "{call:?}"),
            false => is_refusal(&call.refused(&nodes, 503, "unavailable"), call.operation),
        }
    }
    check_streams(&nodes);
    check_health(&nodes);
    redis.start_again();
    check_healed(&nodes);
    assert_eq!(documents(&exported(&nodes)), documents(&before));
    let confirming = nodes.with(CONFIRM.0, CONFIRM.1);
    for call in &calls {
        let answer = call.send(&confirming);
        assert!(answer.status == 200 || call.operation == "revokeKey", "{call:?}: {}", answer.text());
        if call.operation == "createKey" {
            break;
        }
    }
}

/// What the export says of users, and not of how the server is.
fn documents(export: &str) -> Vec<&str> {
    export.lines().filter(|line| line.contains("\"path\":\"users/u")).collect()
}

#[test]
fn redis_that_hangs_is_told_from_one_that_answers() {
    let World { redis, nodes, .. } = world();
    let nodes = Arc::new(nodes);
    redis.signal("STOP");
    let batch = |n: usize| -> Vec<Value> {
        (0..3).map(|m| json!({"role": "user", "content": format!("m{m}"), "id": format!("c{n}-m{m}")})).collect()
    };
    let callers: Vec<_> = (0..12)
        .map(|n| {
            let (nodes, body) = (nodes.clone(), json!({"messages": batch(n)}));
            std::thread::spawn(move || nodes.post(&turns_of("u", &format!("c{n}")), body))
        })
        .collect();
    for caller in callers {
        is_refusal(&caller.join().unwrap(), "an append");
    }
    let asks = |path: &str, body: Value| is_refusal(&nodes.post(path, body), path);
    asks("/ask", asking::question("u", "t", "preço do HGLG11"));
    asks("/memory/context", json!({"user_id": "u", "session_id": "t"}));
    asks("/v1/context", json!({"user": "u", "thread": "t"}));
    let topic =
        nodes.post("/context/topicContextYoj/run", json!({"userId": "u", "kala": {"kind": "Topic", "topicId": "t"}}));
    is_refusal(&topic, "topic");
    assert!(topic.json()["error"].is_string(), "its own form: {}", topic.text());
    check_streams(&nodes);
    check_health(&nodes);
    redis.signal("CONT");
    check_healed(&nodes);
    // What was on its way when it stopped may have come through or not, but not in part, and is not there
    // twice when it is sent again.
    for n in 0..12 {
        let of = format!("c{n}");
        let there = nodes.said("u", &of);
        assert!(there.is_empty() || there == ["m0", "m1", "m2"], "{there:?}");
        nodes.append("u", &of, &batch(n));
        assert_eq!(nodes.said("u", &of), ["m0", "m1", "m2"]);
    }
}
