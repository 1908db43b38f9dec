//! Passages in Qdrant: on a real server where `QDRANT_URL` names one, and what is left when there is none that works.

use std::sync::Arc;

use crate::support::embeddings::{Embeddings, Manner as Embedding};
use crate::support::qdrant::{Failing, Manner, Real};
use crate::support::{Client, Home, Server, Value, eventually, json, says, thread, user};

const MEMORIES: [&str; 4] =
    ["Ana bought a boat in spring", "The parrot speaks Latin", "No sugar in the tea", "Rent is due on Friday"];

fn remember(server: &Client, of: &str) {
    for text in MEMORIES {
        server.post(&user(of, "/memories"), json!({"text": text})).ok();
    }
}

fn search(server: &Client, of: &str, query: &str) -> Value {
    server.post(&user(of, "/memories/search"), json!({"query": query, "explain": true})).ok()
}

/// The texts that a search gives, best first.
fn texts(found: &Value) -> Vec<&str> {
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

/// A server with embeddings and Qdrant, and what users said.
struct Set {
    qdrant: Real,
    embeddings: Embeddings,
    home: Arc<Home>,
}

impl Set {
    fn find(test: &str) -> Option<Self> {
        Some(Self { qdrant: Real::find(test)?, embeddings: Embeddings::start(), home: Home::new() })
    }

    fn serve(&self, more: &[(&str, &str)]) -> Server {
        let settings = [&self.qdrant.settings()[..], &self.embeddings.settings(), more].concat();
        self.home.serve_with(&settings)
    }

    #[track_caller]
    fn counts(&self, of: &str, counts: [u64; 3]) {
        let mut there = [0; 3];
        let settled = eventually(|| {
            there = ["conversation_memory", "documents", "repositories"].map(|name| self.qdrant.count(name, of));
            there == counts
        });
        assert!(settled, "{of} has {there:?} points, not {counts:?}");
    }
}

fn fill(server: &Client, home: &Home, of: &str) {
    remember(server, of);
    let messages = [says("user", "Where is the ship?"), says("assistant", "In the harbour."), says("tool", "{}")];
    server.post(&thread(of, "t", "/turns"), json!({"messages": messages})).ok();
    server.post(&thread(of, "other", "/turns"), json!({"messages": [says("user", "A bird sang")]})).ok();
    server.post(&user(of, "/documents"), json!({"id": "d", "name": "d", "text": "How to brew tea"})).ok();
    home.write("repo/boats.md", "Boats need paint.");
    server.post(&user(of, "/documents"), json!({"id": "r", "path": home.path("repo")})).ok();
}

#[test]
fn on_a_real_server_passages_are_found_by_meaning_and_by_words_and_only_by_their_owner() {
    let Some(set) = Set::find("finds") else { return };
    let server = set.serve(&[]);
    fill(&server, &set.home, "u");
    server.post(&user("v", "/memories"), json!({"text": "The ship of v is secret"})).ok();
    set.counts("u", [7, 1, 1]);
    set.counts("v", [1, 0, 0]);
    let found = search(&server, "u", "a ship");
    assert_eq!((texts(&found)[0], found.get("notes")), (MEMORIES[0], None), "{found}");
    assert_eq!(found["hits"][0]["why"]["dense"]["rank"], 1, "{found}");
    assert!(!found.to_string().contains("secret"), "{found}");
    assert_eq!(texts(&search(&server, "v", "a ship")), ["The ship of v is secret"]);
    let found = search(&server, "u", "parrot");
    assert_eq!(found["hits"][0]["why"]["sparse"]["rank"], 1, "{found}");
    let turns = server.post(&user("u", "/turns/search"), json!({"query": "boat", "thread": "t"})).ok();
    assert_eq!(turns["hits"][0]["text"], "Where is the ship?", "{turns}");
    let passages = server.post(&user("u", "/documents/search"), json!({"query": "a ship"})).ok();
    assert_eq!(passages["hits"][0]["text"], "Boats need paint.", "{passages}");
    for payload in ["conversation_memory", "documents", "repositories"].map(|name| set.qdrant.payloads(name)).concat() {
        let members: Vec<&String> = payload.as_object().unwrap().keys().collect();
        assert!(members.iter().all(|name| {
            ["user", "kind", "of", "seq", "parent", "digest", "model", "create_time"].contains(&name.as_str())
        }));
    }
    server.post(&user("u", "/memories"), json!({"text": "A drink of hibiscus"})).ok();
    assert!(texts(&search(&server, "u", "hibiscus")).contains(&"A drink of hibiscus"), "found by the next request");
    let doctor = || server.get("/v1/doctor").ok();
    assert!(eventually(|| doctor()["healthy"] == true), "{}", doctor());
}

#[test]
fn on_a_real_server_what_is_forgotten_has_no_points() {
    let Some(set) = Set::find("forgets") else { return };
    let server = set.serve(&[]);
    fill(&server, &set.home, "u");
    fill(&server, &set.home, "v");
    set.counts("u", [7, 1, 1]);
    assert_eq!(server.delete(&thread("u", "t", "")).ok()["erasing"], false);
    set.counts("u", [5, 1, 1]);
    let id = search(&server, "u", "a ship")["hits"][0]["id"].as_str().unwrap().to_owned();
    server.delete(&user("u", &format!("/memories/{id}"))).ok();
    set.counts("u", [4, 1, 1]);
    server.delete(&user("u", "/documents/r")).ok();
    set.counts("u", [4, 1, 0]);
    server.post(&user("u", "/documents"), json!({"id": "d", "name": "d", "text": "How to sail"})).ok();
    assert!(eventually(|| server.get("/health/ready").ok()["embedding"]["pending"] == 0));
    set.counts("u", [4, 1, 0]);
    set.qdrant.cut(true);
    assert_eq!(server.delete(&user("u", "")).ok()["erasing"], true);
    let found = search(&server, "v", "parrot");
    assert_eq!(texts(&found)[0], MEMORIES[1]);
    assert!(found["notes"][0].as_str().unwrap().starts_with("lexical results only, Qdrant failed"), "{found}");
    server.post(&user("u", "/memories"), json!({"text": "A new bird"})).ok();
    set.qdrant.cut(false);
    set.counts("u", [1, 0, 0]);
    set.counts("v", [7, 1, 1]);
    assert!(eventually(|| server.get("/health/ready").ok()["erasing"] == false));
    assert!(eventually(|| search(&server, "v", "a ship").get("notes").is_none()), "it heals by itself");
    server.delete(&user("v", "")).ok();
    set.counts("v", [0, 0, 0]);
    set.counts("u", [1, 0, 0]);
}

#[test]
fn on_a_real_server_points_are_made_again_from_the_documents() {
    let Some(set) = Set::find("rebuilds") else { return };
    let server = set.home.serve_with(&set.embeddings.settings());
    fill(&server, &set.home, "u");
    fill(&server, &set.home, "v");
    let home = server.kill();
    let server = set.serve(&[]);
    set.counts("u", [7, 1, 1]);
    set.counts("v", [7, 1, 1]);
    set.qdrant.drop_collection("conversation_memory");
    let lost = "conversation_memory has 0 points, and the documents have 14 passages";
    assert!(eventually(|| server.get("/v1/doctor").text().contains(lost)), "{}", server.get("/v1/doctor").text());
    let made = set.embeddings.texts().len();
    let ran = home.run(&["--json", "index", "--rebuild"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let rows = &ran.json()["collections"];
    assert_eq!(rows[0], json!({"name": "conversation_memory", "points": 14, "passages": 14}), "{rows}");
    assert_eq!(set.embeddings.texts().len(), made, "no passage is embedded twice");
    assert_eq!(texts(&search(&server, "u", "a ship"))[0], MEMORIES[0]);
    drop(server.kill());
    set.embeddings.behave(Embedding::Wider(3));
    let server = set.serve(&[("NOVELO_EMBEDDING_MODEL", "other")]);
    let found = search(&server, "u", "parrot");
    assert_eq!(texts(&found)[0], MEMORIES[1]);
    let note = found["notes"][0].as_str().unwrap();
    assert!(note.contains("takes no embeddings of 7 dimensions but those of 4"), "{note}");
    assert!(server.get("/v1/doctor").text().contains("takes no embeddings of 7 dimensions"));
    let said = home.done(&["index", "--rebuild"]);
    assert!(said.contains("repositories: 2 points of 2 passages"), "{said}");
    assert_eq!(texts(&search(&server, "u", "a ship"))[0], MEMORIES[0]);
    let said = home.done(&["index", "--rebuild", "--user", "v"]);
    assert!(said.contains("conversation_memory: 7 points of 7 passages"), "{said}");
    set.counts("u", [7, 1, 1]);
}

#[test]
fn on_a_real_server_words_are_enough() {
    let Some(qdrant) = Real::find("words") else { return };
    let server = Home::new().serve_with(&qdrant.settings());
    remember(&server, "u");
    assert!(eventually(|| qdrant.count("conversation_memory", "u") == 4));
    let found = search(&server, "u", "parrots");
    assert_eq!((texts(&found)[0], found.get("notes")), (MEMORIES[1], None), "{found}");
    assert_eq!(found["hits"][0]["why"]["sparse"]["rank"], 1, "{found}");
}
