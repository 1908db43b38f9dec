//! What was written through one node is in the next answer of another, on every surface. The other one has
//! read before, so that whatever it keeps ready is old.

use crate::support::asking::{self, tickers};
use crate::support::models::Models;
use crate::support::nodes::{Nodes, cluster};
use crate::support::{Client, Home, Value, eco, json, says, thread, user};

/// Each node once as the one that writes, with another that reads.
const PAIRS: [(usize, usize); 3] = [(0, 1), (1, 2), (2, 0)];

fn nodes(models: &Models, more: &[(&str, &str)]) -> Nodes {
    let settings = [models.talking().as_slice(), &[("NOVELO_MODELS_REWRITE_URL", "none")], more].concat();
    Nodes::start(&Home::new(), &cluster().url(), &settings)
}

/// Writes two things through one node; after each, the other must tell it.
fn check(nodes: &Nodes, surface: &str, write: impl Fn(&Client, &str, &str), read: impl Fn(&Client, &str) -> String) {
    for (a, b) in PAIRS {
        let of = format!("{surface}-{a}");
        for text in ["the parrot hates thunder", "the kettle sings at dawn"] {
            write(nodes.node(a), &of, text);
            let told = read(nodes.node(b), &of);
            assert!(told.contains(text), "{surface}, written by {a}, read by {b}: no {text:?} in {told}");
        }
    }
}

fn append(client: &Client, of: &str, text: &str) {
    client.say(of, "t", &[text]);
}

#[test]
fn native_turns_contexts_searches_and_exports() {
    let nodes = nodes(&Models::start(), &[]);
    check(&nodes, "turns", append, |client, of| client.said(of, "t").join("\n"));
    check(&nodes, "context", append, |client, of| client.context(json!({"user": of, "thread": "t"})).to_string());
    check(&nodes, "list", append, |client, of| {
        let rows = client.get(&user(of, "/threads")).ok();
        let count = rows["threads"][0]["turns"].as_u64().unwrap() as usize;
        ["the parrot hates thunder", "the kettle sings at dawn"][..count].join("\n")
    });
    check(&nodes, "search", append, |client, of| {
        let query = json!({"query": "parrot thunder kettle dawn"});
        client.post(&user(of, "/turns/search"), query).ok().to_string()
    });
    check(&nodes, "export", append, |client, of| client.get(&thread(of, "t", "/export")).text());
    check(
        &nodes,
        "documents",
        |client, of, text| drop(client.put(&format!("/v1/docs/users/{of}/notes/n"), json!(text)).ok()),
        |client, of| client.get(&format!("/v1/docs/users/{of}/notes/n")).ok().to_string(),
    );
}

#[test]
fn memory() {
    let models = Models::start();
    let nodes = nodes(&models, &[]);
    let context = |client: &Client, of: &str| {
        let body = json!({"user_id": of, "session_id": "t", "query": "parrot and kettle"});
        client.post("/memory/context", body).ok().to_string()
    };
    let chat = |client: &Client, of: &str, text: &str| {
        client.post("/memory/chat", json!({"user_id": of, "session_id": "t", "message": text})).ok();
    };
    check(&nodes, "memory-window", append, context);
    check(&nodes, "memory-chat", chat, context);
    let put = |path: &'static str, body: fn(&str) -> Value| {
        move |client: &Client, of: &str, text: &str| drop(client.post(&user(of, path), body(text)).ok())
    };
    check(&nodes, "memories", put("/memories", |text| json!({"text": text})), context);
    check(&nodes, "documents", put("/documents", |text| json!({"name": "n", "text": text})), |client, of| {
        let query = json!({"query": "parrot thunder kettle dawn"});
        client.post(&user(of, "/documents/search"), query).ok().to_string()
    });
    check(&nodes, "tasks", put("/tasks", |text| json!({"title": text})), |client, of| {
        client.get(&user(of, "/tasks")).ok().to_string()
    });
    let data = |client: &Client, of: &str, text: &str| drop(client.put(&user(of, "/data"), json!({"says": text})).ok());
    check(&nodes, "data", data, context);
    let sum_up = |client: &Client, of: &str, text: &str| {
        client.say(of, "t", &["hi"]);
        client.put(&thread(of, "t", "/summary"), json!({"text": text})).ok();
    };
    check(&nodes, "summary", sum_up, context);
}

/// What the model was last shown.
fn shown(models: &Models) -> String {
    models.asked().last().unwrap().contents().join("\n")
}

#[test]
fn threads_and_completions() {
    let models = Models::start();
    let nodes = nodes(&models, &[]);
    let ask = |client: &Client, of: &str, text: &str| {
        client.post("/api/ask", json!({"user_id": of, "thread_id": "t", "question": text})).ok();
    };
    check(&nodes, "ask", ask, |client, of| {
        ask(client, of, "And then?");
        shown(&models)
    });
    // Here the history is the client's, and what is kept of it is read through the thread.
    let complete = |client: &Client, of: &str, text: &str| {
        let body = json!({"user": of, "messages": [says("user", text)]});
        client.with("x-novelo-thread", "t").post("/v1/chat/completions", body).ok();
    };
    check(&nodes, "completions", complete, |client, of| {
        let rows = client.get(&user(of, "/threads")).ok();
        let ids = rows["threads"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned());
        ids.flat_map(|id| client.said(of, &id)).collect::<Vec<_>>().join("\n")
    });
}

#[test]
fn topic_contexts() {
    let nodes = nodes(&Models::start(), &[]);
    let run = |client: &Client, of: &str| {
        let body = json!({"userId": of, "kala": {"kind": "Topic", "topicId": "t"}, "presetId": "TopicContext"});
        client.post("/context/topicContextYoj/run", body).ok().to_string()
    };
    check(&nodes, "topic", append, run);
    // A group that was collapsed through one node is so for the other, and expanded again.
    for (a, b) in PAIRS {
        let of = format!("groups-{a}");
        nodes.node(a).append(&of, "t", &[json!({"role": "user", "content": "the hidden thing", "id": "m"})]);
        assert!(run(nodes.node(b), &of).contains("the hidden thing"));
        let about = json!({"userId": of, "sessionId": "t"});
        let with = |name: &str, value: Value| eco::with(about.clone(), name, value);
        let groups = json!([{"name": "G", "items": [{"type": "message", "id": "m"}]}]);
        nodes.node(a).post("/jobs/context/collapse/indexer/run", with("groups", groups)).ok();
        assert!(!run(nodes.node(b), &of).contains("the hidden thing"), "collapsed by {a}, run by {b}");
        let expand = eco::with(with("group", json!("G")), "expanded", true);
        nodes.node(a).post("/jobs/context/collapse/state/set", expand).ok();
        assert!(run(nodes.node(b), &of).contains("the hidden thing"), "expanded by {a}, run by {b}");
    }
}

#[test]
fn the_reference_of_a_question_about_data() {
    let home = asking::home(asking::CONTEXT);
    let nodes = Nodes::start(&home, &cluster().url(), &[asking::SAMPLE]);
    for (a, b) in PAIRS {
        let of = format!("u{a}");
        for fund in ["HGLG11", "KNRI11"] {
            asking::ask(nodes.node(a), &of, "c", &format!("preço do {fund}"));
            let follow_up = asking::ask(nodes.node(b), &of, "c", "e o preço?");
            assert_eq!(tickers(&follow_up), [fund], "asked at {a}, followed up at {b}: {follow_up}");
        }
        assert_eq!(asking::turns(&nodes, &of, "c").len(), 8);
    }
}

#[test]
fn the_history_of_a_guided_conversation() {
    let models = Models::start();
    let nodes = Nodes::start(&eco::home(), &cluster().url(), &models.talking());
    let ask = |client: &Client, of: &str, text: &str| drop(eco::ask(client, &eco::asks(of, "t", text)));
    check(&nodes, "guided", ask, |client, of| {
        ask(client, of, eco::LIGHT);
        shown(&models)
    });
    // What was remembered of it through one node is there for the next.
    for (a, b) in PAIRS {
        let of = format!("heavy-{a}");
        ask(nodes.node(a), &of, eco::HEAVY);
        assert_eq!(eco::memories(nodes.node(b), &of).len(), 1, "remembered by {a}, read by {b}");
    }
}
