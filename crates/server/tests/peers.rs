//! What one node has in memory can be read through another.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a panic is how a test fails")]

mod support;

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use novelo_conversation::sample;
use novelo_engine::limits::BODY_BYTES_MAX;
use novelo_store::{PutTerms, Store};
use support::models::{Act, Models, words};
use support::node::{Node, place};
use support::stream::{Frame, Stream};
use support::{CONFIRM, Client, Value, json, says, thread, user};

const WORDS: [&str; 4] = ["One ", "two ", "three ", "four."];
const ECO: &str = "/ask-eco";

/// The surfaces that stream, and a request to each.
fn surfaces() -> [(&'static str, Value); 4] {
    [
        ("/api/ask", json!({"question": "Count!", "user_id": "ana", "thread_id": "a", "stream": true})),
        ("/memory/chat", json!({"message": "Count!", "user_id": "ana", "session_id": "b", "stream": true})),
        ("/v1/chat/completions", json!({"messages": [says("user", "Count!")], "user": "ana", "stream": true})),
        (ECO, json!({"messages": [says("user", "Conta devagar, por favor.")], "userId": "ana", "stream": true})),
    ]
}

fn nodes(models: &Models) -> (Store, Node, Node) {
    let store = Store::memory();
    let settings = [models.talking().as_slice(), &[("NOVELO_MODELS_REWRITE_URL", "none")]].concat();
    let (one, two) = (Node::start(&store, &settings), Node::start(&store, &settings));
    (store, one, two)
}

/// Reads until the first word of an answer; the id of that event.
fn first_word(stream: &mut Stream) -> String {
    let is_word = |frame: &Frame| frame.data.get("delta").is_some_and(Value::is_string) || completed(frame).is_some();
    std::iter::from_fn(|| stream.next()).find(is_word).unwrap().at
}

fn completed(frame: &Frame) -> Option<&str> {
    frame.data.pointer("/choices/0/delta/content").and_then(Value::as_str).filter(|text| !text.is_empty())
}

fn back(client: &Client, path: &str, at: &str) -> support::Answer {
    client.with("last-event-id", at).post(path, "no JSON")
}

/// The frames of a reply. The first frame of a resumed guided reply says that it was resumed.
fn told(path: &str, answer: &support::Answer) -> String {
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    let text = answer.text();
    match path {
        ECO => text.split_once("\n\n").unwrap().1.to_owned(),
        _ => text,
    }
}

#[test]
fn a_stream_goes_on_through_another_node_with_the_same_bytes() {
    let models = Models::start();
    let (_, one, two) = nodes(&models);
    for (path, body) in surfaces() {
        let asked = models.asked().len();
        models.play([Act::Paced(words(&WORDS), Duration::from_millis(30))]);
        let mut stream = Stream::open(&one, "POST", path, &body);
        let at = first_word(&mut stream);
        assert!(at.starts_with(&format!("{}-", one.app.node)), "{at}");
        let (client, behind) = (two.client(), at.clone());
        let elsewhere = std::thread::spawn(move || back(&client, path, &behind));
        let running = (told(path, &back(&one, path, &at)), told(path, &elsewhere.join().unwrap()));
        assert!(running.0.contains("four.") && !running.0.contains("One \""), "{path}: {}", running.0);
        assert_eq!(running.0, running.1, "{path}, while it ran");

        let ended = [&one, &two].map(|node| back(node, path, &at));
        assert_eq!(told(path, &ended[0]), running.0, "{path}");
        assert_eq!(told(path, &ended[1]), running.0, "{path}, after its end");
        for name in ["content-type", "cache-control", "x-accel-buffering", "x-novelo-trace-id"] {
            assert_eq!(ended[0].header(name), ended[1].header(name), "{path} {name}");
        }
        assert_eq!(models.asked().len(), asked + 1, "{path}: nothing is asked anew");
    }
}

#[test]
fn it_is_told_as_it_comes_and_ended_through_another_node() {
    let models = Models::start();
    let (_, one, two) = nodes(&models);
    models.play([Act::StallsAfter(2, words(&WORDS))]);
    let page = one.post("/chat/ask", "thread_id=t&question=Count%21").text();
    let address = page.split("data-reply=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    assert!(address.contains(&one.app.node), "{address}");
    let mut stream = Stream::open(&two, "GET", &address, "");
    let words: Vec<String> = std::iter::from_fn(|| stream.next())
        .filter_map(|frame| frame.data["delta"].as_str().map(str::to_owned))
        .take(2)
        .collect();
    assert_eq!(words, ["One ", "two "], "though the model has not come to its end");
    let ended = two.delete(&address).ok();
    assert_eq!(ended["answer"], "One two ", "{ended}");
    let last = stream.rest();
    assert_eq!(last.last().unwrap().event, "done");
    assert_eq!(two.with("last-event-id", "x").get(&address).refused(422, "invalid_field")["param"], "Last-Event-ID");
}

/// Which page a request is from is judged by the node that the page was read from.
#[test]
fn a_page_of_one_node_comes_back_to_what_another_makes() {
    let models = Models::start();
    let (_, one, two) = nodes(&models);
    let page_of =
        |node: &Node| node.with("origin", &format!("http://{}", node.addr)).with("sec-fetch-site", "same-origin");
    for (path, body) in surfaces() {
        models.play([Act::Paced(words(&WORDS), Duration::from_millis(5))]);
        let at = first_word(&mut Stream::open(&page_of(&one), "POST", path, &body));
        assert!(told(path, &back(&page_of(&two), path, &at)).contains("four."), "{path}");
        let foreign = two.with("origin", &format!("http://{}", one.addr));
        back(&foreign, path, &at).refused(403, "forbidden");
    }
}

#[test]
fn a_node_that_is_gone_leaves_the_usual_answer() {
    let models = Models::start();
    let (store, one, two) = nodes(&models);
    let (path, body) = surfaces()[0].clone();
    let at = first_word(&mut Stream::open(&one, "POST", path, &body));
    let usual = back(&two, path, "0123456789abcdef.1").refused(404, "not_found");
    let name = one.app.node.clone();
    one.kill();
    assert!(two.block_on(store.get(&place(&name))).unwrap().is_some(), "it is still taken to be there");
    assert_eq!(back(&two, path, &at).refused(404, "not_found"), usual);
    assert_eq!(back(&two, path, "00000000-0.1").refused(404, "not_found"), usual, "nobody ever was called so");

    let three = Node::start(&store, &models.talking());
    let name = three.app.node.clone();
    three.stop();
    assert!(two.block_on(store.get(&place(&name))).unwrap().is_none(), "who stops takes leave");
    two.stop();
}

#[test]
fn a_request_is_passed_on_once() {
    let models = Models::start();
    let (store, one, two) = nodes(&models);
    let (path, body) = surfaces()[0].clone();
    let at = first_word(&mut Stream::open(&one, "POST", path, &body));
    assert_eq!(back(&two, path, &at).status, 200);
    let made = one.context(json!({"messages": [says("user", "hi")], "filters": []}));
    let trace = format!("/v1/traces/{}", made["trace_id"].as_str().unwrap());
    two.get(&trace).ok();
    for (by, proof) in [("somebody", "x"), (&*one.app.node, ""), ("", &"0".repeat(64))] {
        let stranger = two.with("x-novelo-passed-by", by).with("x-novelo-node-proof", proof);
        stranger.with("x-novelo-passed-for", "operator").get(&trace).ok();
        assert_eq!(back(&stranger, path, &at).status, 200, "who is no node cannot keep a request here");
    }

    // Each node is registered as the other: the first one forwards the request, and the second does not.
    for (name, node) in [("aaaaaaaa", &one), ("bbbbbbbb", &two)] {
        let said = json!({"url": format!("http://{}", node.addr)}).to_string();
        two.block_on(store.put(&place(name), said.into(), PutTerms::default())).unwrap();
    }
    for node in [&one, &two] {
        back(node, path, "aaaaaaaa-1.1").refused(404, "not_found");
        back(node, path, "bbbbbbbb-1.1").refused(404, "not_found");
    }
}

#[test]
fn it_is_passed_on_as_it_came_and_no_redirect_is_followed() {
    let models = Models::start();
    let (store, _one, two) = nodes(&models);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let said = json!({"url": url}).to_string();
    two.block_on(store.put(&place("aaaaaaaa"), said.into(), PutTerms::default())).unwrap();
    let peer = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let (mut seen, mut chunk) = (Vec::new(), [0; 4096]);
        while !seen.ends_with(b"a body") {
            let count = stream.read(&mut chunk).unwrap();
            assert!(count > 0, "{}", String::from_utf8_lossy(&seen));
            seen.extend_from_slice(&chunk[..count]);
        }
        let answer =
            "HTTP/1.1 307 Go\r\nlocation: http://127.0.0.1:1/\r\nconnection: x-own\r\nx-own: 1\r\nx-new: 2\r\n";
        stream.write_all(format!("{answer}content-length: 3\r\n\r\nbye").as_bytes()).unwrap();
        String::from_utf8(seen).unwrap()
    });
    let client = two.with("authorization", "Bearer k").with("last-event-id", "aaaaaaaa-1.1").with("x-more", "yes");
    let answer = client.post("/api/ask?x=%20y", "a body");
    let seen = peer.join().unwrap().to_lowercase();
    assert!(seen.starts_with("post /api/ask?x=%20y http/1.1\r\n"), "{seen}");
    let by = format!("x-novelo-passed-by: {}", two.app.node);
    for line in ["authorization: bearer k", "last-event-id: aaaaaaaa-1.1", "x-more: yes", "content-length: 6", &by] {
        assert_eq!(seen.matches(&format!("\r\n{line}\r\n")).count(), 1, "{line}: {seen}");
    }
    assert!(!seen.contains("\r\nconnection: close\r\n"), "{seen}");
    assert_eq!((answer.status, answer.text().as_str(), answer.header("x-new")), (307, "bye", Some("2")));
    assert_eq!(answer.header("x-own"), None);
}

#[test]
fn a_body_is_passed_on_up_to_its_cap() {
    let models = Models::start();
    let (_, one, two) = nodes(&models);
    let (path, body) = surfaces()[0].clone();
    let at = first_word(&mut Stream::open(&one, "POST", path, &body));
    let client = two.with("last-event-id", &at);
    assert_eq!(client.post(path, "x".repeat(BODY_BYTES_MAX)).status, 200);
    client.post(path, "x".repeat(BODY_BYTES_MAX + 1)).refused(413, "too_large");
}

#[test]
fn a_trace_that_only_one_node_has_is_found_through_another() {
    let models = Models::start();
    let (_, one, two) = nodes(&models);
    let made = one.context(json!({"messages": [says("user", "hi")], "filters": []}));
    let path = format!("/v1/traces/{}", made["trace_id"].as_str().unwrap());
    assert_eq!(one.get(&path).ok(), two.get(&path).ok());
    let again = two.post(&format!("{path}/replay"), "").ok();
    assert_eq!((&again["messages"], &again["identical"]), (&made["messages"], &json!(true)));
    for unknown in ["AAAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAHUAdA", "!!"] {
        two.get(&format!("/v1/traces/{unknown}")).refused(404, "not_found");
        two.get(&format!("/debug/trace/{unknown}")).refused(404, "not_found");
    }

    models.play([Act::StallsAfter(2, words(&WORDS))]);
    let (_stream, id) = begun(&one);
    let course = two.get(&format!("/debug/trace/{id}")).ok();
    assert_eq!((&course["surface"], &course["running"]), (&json!("api/ask"), &json!(true)), "{course}");
}

/// A stream that has begun, and its course.
fn begun(node: &Node) -> (TcpStream, String) {
    let (path, body) = surfaces()[0].clone();
    let body = body.to_string();
    let mut stream = node.connect().unwrap();
    stream.write_all(&[node.head("POST", path, body.len()), body.into_bytes()].concat()).unwrap();
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).unwrap();
        head.extend(byte);
    }
    let head = String::from_utf8(head).unwrap();
    let id = head.lines().find_map(|line| line.strip_prefix("x-novelo-trace-id: ")).unwrap().to_owned();
    (stream, id)
}

#[test]
fn the_node_that_gets_a_request_judges_who_sends_it() {
    let models = Models::start();
    let store = Store::memory();
    let first = Node::start(&store, &[]);
    let make = |client: &Client, wish: Value| {
        client.with(CONFIRM.0, CONFIRM.1).post("/v1/keys", wish).ok()["key"].as_str().unwrap().to_owned()
    };
    let admin = make(&first, json!({"admin": true}));
    let as_admin = first.with("authorization", &format!("Bearer {admin}"));
    let [ana, bia] = ["ana", "bia"].map(|user| make(&as_admin, json!({"user": user})));
    first.stop();
    let settings = [models.talking().as_slice(), &[("NOVELO_MODELS_REWRITE_URL", "none")]].concat();
    let (one, two) = (Node::start(&store, &settings), Node::start(&store, &settings));
    let with = |node: &Node, key: &str| node.with("authorization", &format!("Bearer {key}"));
    let (path, body) = surfaces()[0].clone();
    let at = first_word(&mut Stream::open(&with(&one, &ana), "POST", path, &body));
    for key in [&ana, &admin] {
        assert_eq!(back(&with(&two, key), path, &at).status, 200);
    }
    back(&with(&two, &bia), path, &at).refused(404, "not_found");
    back(&with(&two, "nvl_unknown"), path, &at).refused(401, "unauthorized");
    back(&two, path, &at).refused(401, "unauthorized");
    let idle = TcpListener::bind("127.0.0.1:0").unwrap();
    let said = json!({"url": format!("http://{}", idle.local_addr().unwrap())}).to_string();
    two.block_on(store.put(&place("aaaaaaaa"), said.into(), PutTerms::default())).unwrap();
    back(&with(&two, "nvl_unknown"), path, "aaaaaaaa-1.1").refused(401, "unauthorized");
    idle.set_nonblocking(true).unwrap();
    assert_eq!(idle.accept().unwrap_err().kind(), ErrorKind::WouldBlock, "a stranger makes no other node work");
    two.block_on(store.delete(&place("aaaaaaaa"), None)).unwrap();
    // What the second node's own command line presents is known there alone; the second node vouches for it.
    with(&one, &two.own_secret).get("/v1/keys").refused(401, "unauthorized");
    assert_eq!(back(&with(&two, &two.own_secret), path, &at).status, 200);

    let ask = json!({"messages": [says("user", "hi")], "filters": []});
    let made = with(&one, &ana).context(ask);
    let trace = format!("/v1/traces/{}", made["trace_id"].as_str().unwrap());
    with(&two, &ana).get(&trace).ok();
    with(&two, &bia).get(&trace).refused(403, "forbidden");
    two.get(&trace).refused(401, "unauthorized");
    with(&two, &admin).get("/v1/docs/novelo.nodes").refused(403, "forbidden");
    let forged = json!({"url": "http://127.0.0.1:1"});
    with(&two, &admin).put("/v1/docs/novelo.nodes/aaaaaaaa", forged).refused(403, "forbidden");
}

#[test]
fn what_is_forgotten_through_one_node_is_gone_from_all() {
    let models = Models::start();
    let (_, one, two) = nodes(&models);
    let (path, body) = surfaces()[0].clone();
    let forgets: [&dyn Fn(&Node); 3] = [
        &|node| drop(node.delete(&thread("ana", "a", "")).ok()),
        &|node| drop(node.delete(&user("ana", "")).ok()),
        &|node| drop(node.post("/memory/reset", json!({"user_id": "ana", "scope": "all"})).ok()),
    ];
    for forget in forgets {
        let at = first_word(&mut Stream::open(&one, "POST", path, &body));
        assert_eq!(back(&two, path, &at).status, 200);
        forget(&two);
        for node in [&one, &two] {
            back(node, path, &at).refused(404, "not_found");
        }
    }
}

#[test]
fn the_sample_is_put_in_once() {
    let models = Models::start();
    let store = Store::memory();
    let nodes: Vec<Node> = (0..3).map(|_| Node::start(&store, &models.talking())).collect();
    let write = |node: &Node| node.block_on(sample::write_once(&node.app)).unwrap();
    std::thread::scope(|scope| nodes.iter().for_each(|node| drop(scope.spawn(|| write(node)))));
    let turns = || nodes[2].get(&thread("demo", "welcome", "/turns?last=1000")).ok()["turns"].as_array().unwrap().len();
    let lines = include_str!("../../../policies/sample/welcome.jsonl").lines().count();
    assert_eq!(turns(), lines);
    let documents = nodes[0].get(&user("anonymous", "/documents")).ok();
    assert_eq!(documents["documents"].as_array().unwrap().len(), 4);

    nodes[1].delete(&user("demo", "")).ok();
    write(&nodes[0]);
    assert_eq!(turns(), 0, "what was removed does not come back");

    let used = Store::memory();
    let node = Node::start(&used, &models.talking());
    node.say("u", "t", &["hi"]);
    write(&node);
    node.delete(&user("u", "")).ok();
    write(&node);
    assert_eq!(node.get(&user("demo", "/threads")).ok()["threads"], json!([]), "nor is it put in later");
}
