//! A warm context build parses no JSON and counts no tokens, as the server's own counters tell.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a panic is how a test fails")]

mod support;

use support::{Client, Home, Server, Value, json, says, thread, user};

/// A server that makes no summaries, so that a thread is as its callers leave it.
fn still() -> Server {
    Home::new().serve_with(&[("NOVELO_MEMORY_SUMMARY_THRESHOLD_MESSAGES", "1000000")])
}

fn counters(server: &Server) -> [u64; 2] {
    ["novelo_messages_scanned_total", "novelo_texts_counted_total"].map(|name| server.metric(name))
}

/// An agent's thread: files read and written again and again, each call answered.
fn agent_turns(count: usize) -> Vec<Value> {
    let file = |n: usize| json!({"filepath": format!("src/f{}.rs", n % 9), "content": format!("fn f() {{ {n} }}\n").repeat(40)});
    let step = |n: usize| {
        let (id, payload) = (format!("call_{n}"), file(n).to_string());
        let call = json!({"id": id, "type": "function", "function": {"name": "write", "arguments": payload}});
        [
            says("user", &format!("step {n}, please")),
            json!({"role": "assistant", "content": null, "tool_calls": [call]}),
            json!({"role": "tool", "tool_call_id": id, "content": payload}),
            says("assistant", &format!("did step {n}")),
        ]
    };
    (0..count).flat_map(step).collect()
}

fn fill(client: &Client) {
    for turns in agent_turns(100).chunks(100) {
        client.append("u", "t", turns);
    }
    client.put("/v1/docs/users/u/convo.sessions/t/memory/summary", json!({"text": "They build a compiler."})).ok();
    client.put(&user("u", "/data"), json!({"name": "Ada", "likes": "tests"})).ok();
}

/// Asks once to warm up, then again and again, and asserts that the counters stand still.
fn check(server: &Server, request: &Value) -> Value {
    let first = server.context(request.clone());
    let before = counters(server);
    assert!(before[0] > 0, "the counters count");
    for _ in 0..5 {
        assert_eq!(server.context(request.clone())["messages"], first["messages"]);
    }
    assert_eq!(counters(server), before, "messages scanned, texts counted: {request}");
    first
}

fn of_thread(more: Value) -> Value {
    let mut request = json!({"user": "u", "thread": "t"});
    request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    request
}

#[test]
fn a_warm_context_scans_and_counts_nothing_by_any_preset() {
    let server = still();
    fill(&server);
    for (preset, aside) in [("chat", true), ("agent", true), ("stable", false)] {
        let made = check(&server, &of_thread(json!({"preset": preset}))).to_string();
        assert_eq!(made.contains("They build a compiler."), aside, "{preset}");
        assert_eq!(made.contains("name: Ada likes: tests"), aside, "{preset}");
    }
    let made = check(&server, &of_thread(json!({"preset": "agent", "explain": true})));
    let redacted = |row: &&Value| row["fate"] == "redacted";
    assert!(made["explain"]["pieces"].as_array().unwrap().iter().filter(redacted).count() > 10);
}

#[test]
fn exact_counts_are_made_once() {
    let server = still();
    fill(&server);
    assert_eq!(counters(&server)[1], 0, "the usual estimate needs no vocabulary");
    for preset in ["chat", "stable", "agent"] {
        check(&server, &of_thread(json!({"preset": preset, "tokenizer": "o200k_base"})));
    }
    assert!(counters(&server)[1] >= 400);
}

#[test]
fn a_thread_stays_warm_while_it_grows() {
    let server = still();
    fill(&server);
    let request = of_thread(json!({"preset": "agent"}));
    check(&server, &request);
    for n in 0..3 {
        let before = counters(&server);
        server.say("u", "t", &[&format!("more {n}")]);
        let appended = counters(&server);
        assert!(appended[0] > before[0], "a new turn is scanned as it comes in");
        server.context(request.clone());
        assert_eq!(counters(&server), appended, "and never again");
    }
}

#[test]
fn traces_take_no_room_from_hot_threads() {
    let server = Server::start();
    server.say("u", "t", &["hi"]);
    server.context(of_thread(json!({})));
    let stored = |count: usize| {
        let list = server.get("/v1/docs/users/u/convo.sessions/t/traces?limit=1000").ok();
        list["documents"].as_array().unwrap().len() == count
    };
    assert!(support::eventually(|| stored(1)));
    let before = server.metric("novelo_store_hot_bytes");
    (0..20).for_each(|n| drop(server.context(of_thread(json!({"budget_tokens": 1_000 + n})))));
    assert!(support::eventually(|| stored(21)));
    assert_eq!(server.metric("novelo_store_hot_bytes"), before);
}

#[test]
fn reading_the_turns_of_a_warm_thread_scans_nothing() {
    let server = still();
    fill(&server);
    let before = counters(&server);
    let turns = server.get(&thread("u", "t", "/turns?last=100")).ok();
    assert_eq!(turns["turns"].as_array().unwrap().len(), 100);
    assert_eq!(counters(&server), before);
}

#[test]
fn a_cold_thread_is_scanned_once_after_a_restart() {
    let server = still();
    fill(&server);
    let server = server.restart();
    let before = counters(&server);
    server.context(of_thread(json!({"preset": "agent"})));
    let scanned = counters(&server)[0] - before[0];
    assert!(scanned >= 400, "all turns come from the disk: {scanned}");
    check(&server, &of_thread(json!({"preset": "agent"})));
}

#[test]
fn a_warm_topic_context_scans_and_counts_nothing() {
    let server = still();
    let turns: Vec<Value> = (0..40)
        .map(|n| json!({"role": if n % 2 == 0 { "user" } else { "assistant" }, "content": format!("turn {n}"), "id": format!("m{n}")}))
        .collect();
    server.append("u", "s", &turns);
    let items: Vec<Value> = (0..10).map(|n| json!({"type": "message", "id": format!("m{n}")})).collect();
    let groups = json!([{"name": "begin", "items": items}]);
    server.put("/v1/docs/users/u/convo.sessions/s/summaries/a", json!({"create_time": 1, "value": {"text": "x"}})).ok();
    server.post("/collapse/indexer/run", json!({"userId": "u", "sessionId": "s", "groups": groups})).ok();
    let ask = |with_ids: bool| {
        let kala = json!({"kind": "Topic", "topicId": "s"});
        let body = json!({"userId": "u", "kala": kala, "presetId": "TopicContext", "includeDocId": with_ids});
        server.post("/context/topicContextYoj/run", body).ok()
    };
    let yoj = ask(false)["yoj"].as_array().unwrap().len();
    assert_eq!(yoj, 33, "an intro, a summary, a group, and thirty turns");
    let before = counters(&server);
    assert_eq!(ask(true)["yoj"].as_array().unwrap().len(), yoj);
    let after = counters(&server);
    assert!(after[0] - before[0] <= 1, "the intro is made for each prompt: {before:?} {after:?}");
    assert_eq!(after[1], before[1]);
}
