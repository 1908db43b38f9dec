//! Forgetting: what was counted is gone from every way of reading, and from the raw files.

use crate::support::{Client, Server, Value, eventually, holding, json, thread, user};

const CANARY: &str = "canary-4711-feathers";

/// A thread with a summary and two traces; the ids of these.
fn fill(client: &Client, of: &str, name: &str) -> Vec<String> {
    client.say(of, name, &[&format!("one {CANARY}"), "two", &format!("three {CANARY}")]);
    let summary = format!("/v1/docs/users/{of}/convo.sessions/{name}/memory/summary");
    client.put(&summary, json!({"text": CANARY})).ok();
    let ask = || client.context(json!({"user": of, "thread": name, "question": CANARY}));
    (0..2).map(|_| ask()["trace_id"].as_str().unwrap().to_owned()).collect()
}

/// Everything that can be read of a thread, as text.
fn everything(client: &Client, of: &str, name: &str) -> String {
    let docs = format!("/v1/docs/users/{of}/convo.sessions/{name}");
    let mut paths = vec![thread(of, name, "/turns"), thread(of, name, "/export"), user(of, "/export")];
    paths.extend([user(of, "/threads"), user(of, "/data"), "/v1/export".into()]);
    paths.extend(["messages", "memory", "traces"].map(|child| format!("{docs}/{child}")));
    let read = |path: &String| client.get(path).text();
    let context = client.context(json!({"user": of, "thread": name, "explain": true})).to_string();
    paths.iter().map(read).collect::<String>() + &context
}

fn turns_and_summary(client: &Client, of: &str, name: &str) -> String {
    let summary = client.get(&format!("/v1/docs/users/{of}/convo.sessions/{name}/memory/summary")).ok();
    client.get(&thread(of, name, "/turns")).ok().to_string() + &summary.to_string()
}

fn wait_for_erasure(client: &Client, answer: &Value) {
    let is_done = || client.get("/health/ready").ok()["erasing"] == json!(false);
    assert!(answer["erasing"] == json!(false) || eventually(is_done));
}

#[test]
fn a_forgotten_thread_is_gone_from_every_read_and_from_the_files() {
    let server = Server::start();
    let traces = fill(&server, "u", "t");
    server.say("u", "stays", &["here"]);
    assert!(everything(&server, "u", "t").contains(CANARY));
    assert!(holding(&server.home.data(), CANARY).is_some());

    let answer = server.delete(&thread("u", "t", "")).ok();
    // `everything` made a context of its own.
    assert_eq!(answer["forgotten"], json!({"documents": 4, "passages": 0, "traces": 3}));
    assert!(!everything(&server, "u", "t").contains(CANARY));
    for trace in &traces {
        server.get(&format!("/v1/traces/{trace}")).refused(404, "not_found");
        server.post(&format!("/v1/traces/{trace}/replay"), "").refused(404, "not_found");
    }
    wait_for_erasure(&server, &answer);
    assert_eq!(holding(&server.home.data(), CANARY), None);
    assert_eq!(server.said("u", "stays"), ["here"]);

    let server = server.restart();
    assert!(!everything(&server, "u", "t").contains(CANARY));
    assert_eq!(server.delete(&thread("u", "t", "")).ok()["forgotten"]["documents"], 0);
    server.say("u", "t", &["anew"]);
    assert_eq!(server.get(&thread("u", "t", "/turns")).ok()["turns"][0]["seq"], 1);
}

#[test]
fn a_forgotten_user_leaves_nothing_and_the_others_everything() {
    let server = Server::start();
    fill(&server, "u", "t1");
    fill(&server, "u", "t2");
    fill(&server, "u2", "t1");
    server.put(&user("u", "/data"), json!({"name": CANARY})).ok();
    server.put("/v1/docs/users/u", json!({"about": CANARY})).ok();
    let neighbour = turns_and_summary(&server, "u2", "t1");

    let answer = server.delete(&user("u", "")).ok();
    assert_eq!(answer["forgotten"], json!({"documents": 10, "passages": 0, "traces": 4}));
    server.get("/v1/docs/users/u").refused(404, "not_found");
    let export = server.get(&user("u", "/export")).text();
    assert_eq!(export.lines().count(), 2, "a first and a last line: {export}");
    assert_eq!(server.get(&user("u", "/threads")).ok()["threads"], json!([]));
    assert_eq!(server.get(&user("u", "/data")).ok(), json!({}));
    assert_eq!(turns_and_summary(&server, "u2", "t1"), neighbour);
}

#[test]
fn what_is_not_there_is_forgotten_too() {
    let server = Server::start();
    let nothing = json!({"documents": 0, "passages": 0, "traces": 0});
    assert_eq!(server.delete(&user("nobody", "")).ok()["forgotten"], nothing);
    assert_eq!(server.delete(&thread("nobody", "t", "")).ok()["forgotten"], nothing);
}
