//! Resets by scope, and chat without a model.

use crate::support::{Client, Server, Value, eventually, json, thread, user};

fn fill(client: &Client, of: &str) {
    for session in ["default", "s2"] {
        client.say(of, session, &["one", "two"]);
        client.put(&thread(of, session, "/summary"), json!({"text": "so far", "upto_seq": 2})).ok();
    }
    client.post(&user(of, "/memories"), json!({"text": "likes tea"})).ok();
    client.put(&user(of, "/data"), json!({"name": "Ada"})).ok();
    client.post(&user(of, "/tasks"), json!({"title": "t"})).ok();
    client.post(&user(of, "/tasks/k/results"), json!({"content": "c"})).ok();
    client.post(&user(of, "/documents"), json!({"name": "n", "text": "about tea"})).ok();
}

/// How much there is of each: turns and summaries of both sessions, memories, data, tasks, results,
/// documents.
fn left(client: &Client, of: &str) -> [usize; 9] {
    let rows = |path: &str, name: &str| client.get(&user(of, path)).ok()[name].as_array().unwrap().len();
    let summary = |session: &str| usize::from(client.get(&thread(of, session, "/summary")).status == 200);
    [
        client.said(of, "default").len(),
        client.said(of, "s2").len(),
        summary("default"),
        summary("s2"),
        rows("/memories", "memories"),
        client.get(&user(of, "/data")).ok().as_object().unwrap().len(),
        rows("/tasks", "tasks"),
        rows("/tasks/k/results", "results"),
        rows("/documents", "documents"),
    ]
}

const FULL: [usize; 9] = [2, 2, 1, 1, 1, 1, 1, 1, 1];

fn reset(client: &Client, body: Value) -> Value {
    client.post("/memory/reset", body).ok()["reset"].clone()
}

fn counts(documents: u64) -> Value {
    json!({"documents": documents, "passages": 0, "traces": 0})
}

#[test]
fn each_scope_resets_what_it_names_and_nothing_else() {
    let server = Server::start();
    fill(&server, "u");
    fill(&server, "u2");
    assert_eq!(left(&server, "u"), FULL);
    assert_eq!(reset(&server, json!({"user_id": "u", "scope": "vector"})), counts(1));
    assert_eq!(left(&server, "u"), [2, 2, 1, 1, 0, 1, 1, 1, 1]);
    assert_eq!(reset(&server, json!({"user_id": "u", "scope": "user_data"})), counts(1));
    assert_eq!(left(&server, "u"), [2, 2, 1, 1, 0, 0, 1, 1, 1]);
    assert_eq!(reset(&server, json!({"user_id": "u", "scope": "summary", "session_id": "s2"})), counts(1));
    assert_eq!(left(&server, "u"), [2, 2, 1, 0, 0, 0, 1, 1, 1]);
    assert_eq!(reset(&server, json!({"user_id": "u", "scope": "short_term"})), counts(2));
    assert_eq!(left(&server, "u"), [0, 2, 1, 0, 0, 0, 1, 1, 1]);
    assert_eq!(reset(&server, json!({"user_id": "u", "scope": "short_term"})), counts(0));
    assert_eq!(left(&server, "u2"), FULL);
}

#[test]
fn a_summary_that_stays_covers_no_turn_and_is_continued() {
    let server = Server::start();
    server.say("u", "default", &["one", "two"]);
    server.put(&thread("u", "default", "/summary"), json!({"text": "zebra so far", "upto_seq": 2})).ok();
    reset(&server, json!({"user_id": "u", "scope": "short_term"}));
    let summary = server.get(&thread("u", "default", "/summary")).ok();
    assert_eq!((&summary["text"], &summary["upto_seq"]), (&json!("zebra so far"), &json!(0)));
    for n in 0..21 {
        assert_eq!(server.say("u", "default", &[&format!("colour{n}")])[0]["seq"], n + 1);
    }
    assert!(eventually(|| server.get(&thread("u", "default", "/summary")).ok()["upto_seq"] == 11));
    assert!(server.get(&thread("u", "default", "/summary")).text().contains("zebra"));
}

#[test]
fn all_is_one_session_or_every_one_and_what_belongs_to_none() {
    let server = Server::start();
    fill(&server, "u");
    server.context(json!({"user": "u", "thread": "s2"}));
    let one = reset(&server, json!({"user_id": "u", "scope": "all", "session_id": "s2"}));
    assert_eq!(one, json!({"documents": 6, "passages": 0, "traces": 1}));
    assert_eq!(left(&server, "u"), [2, 0, 1, 0, 0, 0, 1, 0, 1]);
    fill(&server, "u2");
    server.context(json!({"user": "u2", "thread": "s2"}));
    let every = reset(&server, json!({"user_id": "u2", "scope": "all"}));
    assert_eq!(every, json!({"documents": 9, "passages": 0, "traces": 1}));
    assert_eq!(left(&server, "u2"), [0, 0, 0, 0, 0, 0, 1, 0, 1]);
    let hits = server.post(&user("u2", "/documents/search"), json!({"query": "tea"})).ok();
    assert_eq!(hits["hits"].as_array().unwrap().len(), 1, "documents are searched as before");
}

#[test]
fn a_reset_is_of_the_callers_user_and_names_its_scope() {
    let server = Server::start();
    let check = |body: Value, param: &str| {
        assert_eq!(server.post("/memory/reset", &body).refused(422, "invalid_field")["param"], param, "{body}");
    };
    check(json!({"scope": "all"}), "user_id");
    check(json!({"user_id": "", "scope": "all"}), "user_id");
    check(json!({"user_id": "u"}), "scope");
    check(json!({"user_id": "u", "scope": "everything"}), "scope");
    check(json!({"user_id": "u", "scope": "all", "session_id": ""}), "session_id");
    check(json!({"user_id": "u", "scope": "all", "thread": "t"}), "thread");
    fill(&server, "u");
    let admin = server.admin_key();
    let (own, other) = (server.user_key(&admin, "u"), server.user_key(&admin, "u2"));
    other.post("/memory/reset", json!({"user_id": "u", "scope": "all"})).refused(403, "forbidden");
    assert_eq!(reset(&own, json!({"scope": "vector"})), counts(1));
}
