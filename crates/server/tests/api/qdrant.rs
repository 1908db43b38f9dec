//! Passages in Qdrant: what is left when there is no server that works, and what is sent. `real_qdrant.rs`
//! has a real server.

use crate::support::qdrant::{Failing, Manner};
use crate::support::{Client, Home, Server, Value, eventually, json, says, thread, user};

pub const MEMORIES: [&str; 4] =
    ["Ana bought a boat in spring", "The parrot speaks Latin", "No sugar in the tea", "Rent is due on Friday"];

pub fn remember(server: &Client, of: &str) {
    for text in MEMORIES {
        server.post(&user(of, "/memories"), json!({"text": text})).ok();
    }
}

pub fn search(server: &Client, of: &str, query: &str) -> Value {
    server.post(&user(of, "/memories/search"), json!({"query": query, "explain": true})).ok()
}

/// The texts that a search gives, best first.
pub fn texts(found: &Value) -> Vec<&str> {
    found["hits"].as_array().unwrap().iter().map(|hit| hit["text"].as_str().unwrap()).collect()
}

fn failing(qdrant: &Failing) -> Server {
    Home::new().serve_with(&settings(qdrant))
}

fn settings(qdrant: &Failing) -> [(&str, &str); 4] {
    [
        ("NOVELO_INDEX", "qdrant"),
        ("NOVELO_QDRANT_URL", &qdrant.url),
        ("NOVELO_QDRANT_KEY", "s3cret-key"),
        ("NOVELO_QDRANT_TIMEOUT_MS", "300"),
    ]
}

/// Whether something was put that says this.
fn was_put(qdrant: &Failing, members: &[(&str, &str)]) -> bool {
    let points = qdrant.sent().into_iter().filter(|sent| sent.line.contains("/points?wait=true"));
    let points: Vec<Value> = points.flat_map(|sent| sent.body["points"].as_array().cloned().unwrap()).collect();
    points.iter().any(|point| members.iter().all(|(name, value)| point["payload"][name] == *value))
}

#[test]
fn one_that_hangs_up_costs_meaning_and_nothing_else() {
    fails(Manner::Closing, "cannot be reached");
}

#[test]
fn one_that_hangs_costs_meaning_and_nothing_else() {
    fails(Manner::Hanging, "did not answer within");
}

#[test]
fn one_that_is_broken_costs_meaning_and_nothing_else() {
    fails(Manner::Status(500), "500");
}

#[test]
fn one_that_refuses_the_key_costs_meaning_and_nothing_else() {
    fails(Manner::Status(401), "401");
}

#[test]
fn one_that_talks_nonsense_costs_meaning_and_nothing_else() {
    fails(Manner::Nonsense, "another form");
}

fn fails(manner: Manner, said: &str) {
    let qdrant = Failing::start(manner);
    let server = failing(&qdrant);
    remember(&server, "u");
    let found = search(&server, "u", "parrot");
    assert_eq!(texts(&found)[0], MEMORIES[1], "{manner:?}");
    let note = found["notes"][0].as_str().unwrap();
    assert!(note.starts_with("lexical results only, Qdrant failed: ") && note.contains(said), "{manner:?}: {note}");
    let asked = qdrant.sent().len();
    let made = server.context(json!({"user": "u", "thread": "t", "question": "parrot?", "explain": true}));
    assert_eq!(qdrant.sent().len(), asked, "one that failed is left alone");
    let trace = server.get(&format!("/v1/traces/{}", made["trace_id"].as_str().unwrap())).text();
    assert!(trace.contains("lookup_failed") && trace.contains("lexical results only, Qdrant"), "{trace}");
    let ready = server.get("/health/ready").ok();
    assert!(ready["qdrant"].as_str().unwrap().starts_with("resting"), "{ready}");
    let doctor = server.get("/v1/doctor").ok();
    let finding = &doctor["findings"][0];
    assert_eq!((&doctor["healthy"], &finding["place"]), (&json!(false), &json!("qdrant")), "{doctor}");
    qdrant.behave(Manner::Well);
    assert!(eventually(|| search(&server, "u", "parrot").get("notes").is_none()), "{manner:?} did not heal");
    assert!(eventually(|| was_put(&qdrant, &[("user", "u"), ("kind", "memory")])), "{manner:?}: what waited is put");
    assert_eq!(server.get("/health/ready").ok()["qdrant"], "ok");
}

#[test]
fn an_address_where_nobody_listens_costs_no_answer() {
    let server = Home::new().serve_with(&[("NOVELO_INDEX", "qdrant"), ("NOVELO_QDRANT_URL", "http://127.0.0.1:9")]);
    remember(&server, "u");
    let found = search(&server, "u", "tea");
    assert_eq!(texts(&found)[0], MEMORIES[2]);
    assert!(found["notes"][0].as_str().unwrap().contains("cannot be reached"), "{found}");
    let ran =
        Home::new().command(&["serve"]).env("NOVELO_INDEX", "qdrant").env("NOVELO_QDRANT_URL", "nowhere").output();
    let said = String::from_utf8(ran.unwrap().stderr).unwrap();
    assert!(
        said.contains("qdrant.url must begin with http://") && said.contains("\"nowhere\""),
        "an address that is none ends the start: {said}"
    );
}

#[test]
fn what_is_forgotten_while_it_is_down_is_erased_when_it_is_back() {
    let qdrant = Failing::start(Manner::Well);
    let server = failing(&qdrant);
    remember(&server, "u");
    assert!(eventually(|| was_put(&qdrant, &[("user", "u")])));
    qdrant.behave(Manner::Status(503));
    let forgotten = server.delete(&user("u", "")).ok();
    assert_eq!((&forgotten["forgotten"]["documents"], &forgotten["erasing"]), (&json!(4), &json!(true)), "{forgotten}");
    assert_eq!(texts(&search(&server, "u", "parrot")), [] as [&str; 0]);
    let waits = |server: &Server| server.get("/v1/export").text().contains("erasures");
    assert!(waits(&server));
    let home = server.kill();
    qdrant.behave(Manner::Well);
    let before = qdrant.sent().len();
    let server = home.serve_with(&settings(&qdrant));
    assert!(eventually(|| !waits(&server)), "also after a kill -9");
    let names_u = |sent: &crate::support::qdrant::Sent| sent.body["filter"].to_string().contains(r#""value":"u""#);
    assert!(qdrant.sent()[before..].iter().any(|sent| sent.line.ends_with("/points/scroll") && names_u(sent)));
    remember(&server, "u");
    let forgotten = server.delete(&user("u", "")).ok();
    assert_eq!(forgotten["erasing"], false, "where it works, all is gone when the answer comes: {forgotten}");
}

#[test]
fn every_request_has_the_key_and_names_the_user_and_no_text() {
    let qdrant = Failing::start(Manner::Well);
    let server = failing(&qdrant);
    for of in ["u", "v"] {
        remember(&server, of);
        server.post(&thread(of, "t", "/turns"), json!({"messages": [says("user", "a zebra")]})).ok();
        server.post(&user(of, "/documents"), json!({"id": "d", "name": "d", "text": "a walnut"})).ok();
        for place in ["memories", "turns", "documents"] {
            server.post(&user(of, &format!("/{place}/search")), json!({"query": "parrot zebra walnut"})).ok();
        }
    }
    let kinds = ["memory", "turn", "passage"].map(|kind| [("user", "v"), ("kind", kind)]);
    assert!(eventually(|| kinds.iter().all(|members| was_put(&qdrant, members))), "{:?}", qdrant.sent());
    server.delete(&user("u", "/memories")).ok();
    let sent = qdrant.sent();
    assert!(sent.iter().all(|sent| sent.key.as_deref() == Some("s3cret-key")), "{sent:?}");
    let text = |sent: &crate::support::qdrant::Sent| sent.body.to_string();
    let secret =
        |said: &str| ["zebra", "walnut", "parrot", "Friday", "s3cret-key"].iter().any(|word| said.contains(word));
    assert!(!sent.iter().any(|sent| secret(&text(sent)) || secret(&sent.line)), "{sent:?}");
    let filters: Vec<Value> = sent
        .iter()
        .filter(|sent| sent.line.contains("/points/"))
        .flat_map(|sent| match sent.body["searches"].as_array() {
            Some(searches) => searches.iter().map(|search| search["filter"].clone()).collect(),
            None => vec![sent.body["filter"].clone()],
        })
        .collect();
    assert!(filters.len() > 10);
    let names_one = |filter: &Value| {
        let must = filter["must"].as_array().unwrap();
        must.iter().any(|one| one["key"] == "user" && (one["match"]["value"] == "u" || one["match"]["value"] == "v"))
    };
    assert!(filters.iter().all(names_one), "{filters:?}");
    assert!(!server.get("/v1/doctor").text().contains("s3cret-key"));
    assert!(!std::fs::read_to_string(server.home.path("stderr.log")).unwrap().contains("s3cret-key"));
}

#[test]
fn a_rebuild_needs_qdrant_and_says_what_is_wrong() {
    let local = Server::start();
    assert!(local.home.done(&["index", "--rebuild"]).starts_with("nothing to rebuild"));
    let qdrant = Failing::start(Manner::Well);
    let server = failing(&qdrant);
    remember(&server, "u");
    assert!(eventually(|| was_put(&qdrant, &[("user", "u")])));
    let ran = server.home.run(&["index", "--rebuild"]);
    ran.failed(&["the counts differ"]);
    assert!(ran.out.contains("conversation_memory: 0 points of 4 passages"), "{ran:?}");
    qdrant.behave(Manner::Status(500));
    server.home.run(&["index", "--rebuild"]).failed(&["goes on with it", "Qdrant failed"]);
}

#[test]
fn a_rebuild_that_was_broken_off_goes_on() {
    let qdrant = Failing::start(Manner::Well);
    let server = failing(&qdrant);
    ["a", "b", "c"].iter().for_each(|of| remember(&server, of));
    let step = |server: &Client, body: Value| server.post("/v1/index/rebuild", body).ok();
    let first = step(&server, json!({}));
    assert_eq!((&first["done"], &first["users"], &first["finished"]), (&json!(1), &json!(3), &json!(false)));
    let server = server.kill().serve_with(&settings(&qdrant));
    let drops = || qdrant.sent().iter().filter(|sent| sent.line.starts_with("DELETE")).count();
    let dropped = drops();
    assert_eq!((dropped, &step(&server, json!({}))["done"]), (3, &json!(2)));
    assert_eq!(drops(), dropped, "what was put stays");
    let last = step(&server, json!({}));
    assert_eq!((&last["done"], &last["finished"]), (&json!(3), &json!(true)));
    assert_eq!(last["collections"][0]["passages"], 12, "all users are counted: {last}");
    step(&server, json!({"anew": true}));
    assert_eq!(drops(), dropped + 3);
}
