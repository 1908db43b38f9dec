//! Passages in a real Qdrant server.

use std::sync::Arc;

use crate::qdrant::{MEMORIES, remember, search, texts};
use crate::support::embeddings::{Embeddings, Manner as Embedding};
use crate::support::qdrant::Real;
use crate::support::{Client, Home, Server, eventually, json, says, thread, user};

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

    /// With a server that the test may kill.
    fn own(test: &str) -> Option<Self> {
        Some(Self { qdrant: Real::own(test)?, embeddings: Embeddings::start(), home: Home::new() })
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

#[test]
fn on_a_real_server_users_with_odd_names_find_their_own_and_nothing_else() {
    let Some(set) = Set::find("tenants") else { return };
    let server = set.serve(&[]);
    let users = ["u", "U", "u/v", "u%2Fv", " u", "ü", "u\"]}", "*", "😀"];
    for (n, of) in users.iter().enumerate() {
        server.post(&user(of, "/memories"), json!({"text": format!("The ship number {n} sails")})).ok();
    }
    for (n, of) in users.iter().enumerate() {
        set.counts(of, [1, 0, 0]);
        let found = search(&server, of, "a boat that sails");
        assert_eq!((texts(&found), found.get("notes")), (vec![&*format!("The ship number {n} sails")], None), "{of:?}");
    }
    server.delete(&user("u", "")).ok();
    set.counts("u", [0, 0, 0]);
    users[1..].iter().for_each(|of| set.counts(of, [1, 0, 0]));
}

#[test]
fn on_a_real_server_that_was_killed_answers_are_lexical_until_it_is_back() {
    let Some(mut set) = Set::own("killed") else { return };
    let server = set.serve(&[]);
    fill(&server, &set.home, "u");
    fill(&server, &set.home, "v");
    set.counts("u", [7, 1, 1]);
    set.counts("v", [7, 1, 1]);
    set.qdrant.server().kill();
    let found = search(&server, "u", "parrot");
    assert_eq!(texts(&found)[0], MEMORIES[1], "{found}");
    assert!(found["notes"][0].as_str().unwrap().starts_with("lexical results only, Qdrant failed: "), "{found}");
    assert!(server.get("/health/ready").ok()["qdrant"].as_str().unwrap().starts_with("resting"));
    server.post(&user("u", "/memories"), json!({"text": "A drink of hibiscus"})).ok();
    assert_eq!(server.delete(&user("v", "")).ok()["erasing"], true);
    set.qdrant.server().start_again();
    set.counts("v", [0, 0, 0]);
    set.counts("u", [8, 1, 1]);
    assert!(eventually(|| server.get("/health/ready").ok()["erasing"] == false));
    let found = search(&server, "u", "a ship");
    assert_eq!((texts(&found)[0], found.get("notes")), (MEMORIES[0], None), "{found}");
}

#[test]
fn on_a_real_server_a_wrong_key_is_a_finding_and_costs_no_answer() {
    let Some(set) = Set::own("key") else { return };
    let server = set.serve(&[]);
    fill(&server, &set.home, "u");
    fill(&server, &set.home, "v");
    set.counts("u", [7, 1, 1]);
    set.counts("v", [7, 1, 1]);
    drop(server.kill());
    let server = set.serve(&[("NOVELO_QDRANT_KEY", "a-wrong-key")]);
    let found = search(&server, "u", "parrot");
    assert_eq!(texts(&found)[0], MEMORIES[1], "{found}");
    let note = found["notes"][0].as_str().unwrap();
    assert!(note.starts_with("lexical results only, Qdrant failed: ") && note.contains("401"), "{note}");
    let doctor = server.get("/v1/doctor").ok();
    assert_eq!((&doctor["healthy"], &doctor["findings"][0]["place"]), (&json!(false), &json!("qdrant")), "{doctor}");
    assert!(!doctor.to_string().contains("a-wrong-key"), "{doctor}");
    assert_eq!(server.delete(&user("u", "")).ok()["erasing"], true);
    drop(server.kill());
    let server = set.serve(&[]);
    set.counts("u", [0, 0, 0]);
    set.counts("v", [7, 1, 1]);
    assert!(eventually(|| server.get("/health/ready").ok()["erasing"] == false));
}

#[test]
fn on_a_real_server_a_collection_of_another_form_is_left_alone_and_named() {
    let Some(set) = Set::find("form") else { return };
    let dense = |size: u64| json!({"vectors": {"dense": {"size": size, "distance": "Cosine"}}, "sparse_vectors": {"sparse": {}}});
    set.qdrant.create_collection("conversation_memory", dense(9));
    set.qdrant.create_collection("documents", json!({"vectors": {"size": 4, "distance": "Dot"}}));
    let server = set.serve(&[]);
    fill(&server, &set.home, "u");
    let found = search(&server, "u", "parrot");
    assert_eq!(texts(&found)[0], MEMORIES[1], "{found}");
    assert!(
        found["notes"][0].as_str().unwrap().contains("takes no embeddings of 4 dimensions but those of 9"),
        "{found}"
    );
    let passages = server.post(&user("u", "/documents/search"), json!({"query": "brew tea", "explain": true})).ok();
    assert_eq!(passages["hits"][0]["text"], "How to brew tea", "{passages}");
    assert!(passages["notes"][0].as_str().unwrap().contains("documents: the collection has no sparse"), "{passages}");
    let doctor = server.get("/v1/doctor").text();
    assert!(doctor.contains("another program made it") && doctor.contains("dimensions but those of 9"), "{doctor}");
    assert_eq!(server.get("/health/ready").ok()["qdrant"], "ok", "the server itself is well");
    assert_eq!(server.delete(&user("u", "/memories")).ok()["forgotten"]["documents"], 4);
    let said = set.home.done(&["index", "--rebuild"]);
    assert!(said.contains("conversation_memory: 3 points of 3 passages"), "{said}");
    assert!(said.contains("documents: 1 points of 1 passages"), "{said}");
    let passages = server.post(&user("u", "/documents/search"), json!({"query": "a drink", "explain": true})).ok();
    assert_eq!((&passages["hits"][0]["text"], passages.get("notes")), (&json!("How to brew tea"), None), "{passages}");
}
