//! Embeddings: from a server, from a model in the process, and when there are none after all.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::support::embeddings::{Embeddings, Manner};
use crate::support::{Client, Home, Server, Value, json, user};

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

/// Waits until so many passages were embedded since the start of the server.
#[track_caller]
fn embedded(server: &Client, count: u64) {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let ready = server.get("/health/ready").ok();
        if ready["embedding"]["done"].as_u64() == Some(count) {
            return;
        }
        assert!(Instant::now() < deadline, "{ready}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn meaning_finds_what_words_do_not() {
    let embeddings = Embeddings::start();
    let server = Home::new().serve_with(&embeddings.settings());
    remember(&server, "u");
    embedded(&server, 4);
    let found = search(&server, "u", "a ship");
    assert_eq!(texts(&found)[0], MEMORIES[0]);
    let why = &found["hits"][0]["why"];
    assert_eq!(why["dense"]["rank"], 1, "{found}");
    assert!(!why["matched"].as_array().unwrap().contains(&json!("ship")), "{found}");
    assert_eq!(found.get("notes"), None);
    let lexical = Server::start();
    remember(&lexical, "u");
    assert_eq!(texts(&search(&lexical, "u", "ship")), [] as [&str; 0]);
}

#[test]
fn vectors_outlive_the_process_and_are_made_once() {
    let embeddings = Embeddings::start();
    let server = Home::new().serve_with(&embeddings.settings());
    remember(&server, "u");
    embedded(&server, 4);
    let server = server.kill().serve_with(&embeddings.settings());
    assert_eq!(texts(&search(&server, "u", "a ship"))[0], MEMORIES[0]);
    embedded(&server, 0);
    let made = embeddings.texts();
    assert!(MEMORIES.iter().all(|text| made.iter().filter(|made| made == text).count() == 1), "{made:?}");
}

#[test]
fn another_model_embeds_again_and_sizes_never_meet() {
    let embeddings = Embeddings::start();
    let server = Home::new().serve_with(&embeddings.settings());
    remember(&server, "u");
    embedded(&server, 4);
    let home = server.kill();
    embeddings.behave(Manner::Wider(3));
    let mut settings = embeddings.settings().to_vec();
    settings.push(("NOVELO_EMBEDDING_MODEL", "other"));
    let server = home.serve_with(&settings);
    embedded(&server, 4);
    assert_eq!(texts(&search(&server, "u", "a ship"))[0], MEMORIES[0]);
    embeddings.behave(Manner::Well);
    let found = search(&server, "u", "any bird");
    assert_eq!(
        found["hits"].as_array().unwrap().len(),
        0,
        "a question of another size is compared with nothing: {found}"
    );
    assert!(found["notes"][0].as_str().unwrap().contains("vectors of 4 dimensions came back, and those here have 7"));
}

#[test]
fn a_text_that_is_refused_costs_nobody_else_anything() {
    let embeddings = Embeddings::start();
    let server = Home::new().serve_with(&embeddings.settings());
    server.post(&user("v", "/memories"), json!({"text": "an unspeakable thing"})).ok();
    remember(&server, "v");
    remember(&server, "u");
    embedded(&server, 8);
    for of in ["u", "v"] {
        let found = search(&server, of, "a ship");
        assert_eq!((texts(&found)[0], found.get("notes")), (MEMORIES[0], None));
    }
    assert_eq!(server.get("/health/ready").ok()["embedder"], "ok");
}

#[test]
fn an_embedder_that_fails_costs_meaning_and_nothing_else() {
    let embeddings = Embeddings::start();
    for (manner, said) in [
        (Manner::Slowly, "did not answer within"),
        (Manner::Status(503), "503"),
        (Manner::Nonsense, "another form"),
        (Manner::Short, "0 vectors came back for 1"),
    ] {
        embeddings.behave(Manner::Well);
        let server = Home::new().serve_with(&embeddings.settings());
        remember(&server, "u");
        embedded(&server, 4);
        embeddings.behave(manner);
        let started = Instant::now();
        let found = search(&server, "u", "parrot");
        assert_eq!(texts(&found)[0], MEMORIES[1]);
        let note = found["notes"][0].as_str().unwrap();
        assert!(note.starts_with("lexical results only") && note.contains(said), "{note}");
        assert!(started.elapsed() < Duration::from_secs(4), "{manner:?}");
        let started = Instant::now();
        search(&server, "u", "tea");
        assert!(started.elapsed() < Duration::from_millis(450), "one that failed is left alone");
        let made = server.context(json!({"user": "u", "thread": "t", "question": "parrot?", "explain": true}));
        let notes = made["explain"]["notes"].as_array().unwrap();
        let failed = |note: &&Value| note["note"] == "lookup_failed";
        assert!(notes.iter().any(|note| failed(&note)), "{notes:?}");
        let trace = server.get(&format!("/v1/traces/{}", made["trace_id"].as_str().unwrap())).ok();
        assert!(trace.to_string().contains("lexical results only"), "the trace says so too");
        let ready = server.get("/health/ready").ok();
        assert!(ready["embedder"].as_str().unwrap().starts_with("resting"), "{ready}");
    }
}

#[test]
fn a_search_that_is_late_costs_what_it_would_find_and_nothing_else() {
    let embeddings = Embeddings::start();
    let mut settings = embeddings.settings().to_vec();
    settings.extend([("NOVELO_EMBEDDING_TIMEOUT_MS", "60000"), ("NOVELO_LOAD_TIMEOUT_MS", "300")]);
    let server = Home::new().serve_with(&settings);
    remember(&server, "u");
    embedded(&server, 4);
    embeddings.behave(Manner::Slowly);
    let recipe = json!({"components": [{"kind": "recall", "from": "memories", "empty": "No memories."}]});
    let ask = json!({"user": "u", "thread": "t", "question": "parrot?", "recipe": recipe, "explain": true});
    let started = Instant::now();
    let made = server.context(ask);
    assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
    assert_eq!(made["messages"][0]["content"], "No memories.", "{made}");
    let late = json!({"note": "lookup_failed", "what": "memories were not searched: it took longer than 300ms"});
    assert!(made["explain"]["notes"].as_array().unwrap().contains(&late), "{made}");
    let replay = server.post(&format!("/v1/traces/{}/replay", made["trace_id"].as_str().unwrap()), json!({})).ok();
    assert_eq!(replay["identical"], true, "{replay}");
}

#[test]
fn what_is_deleted_is_not_found_by_its_meaning() {
    let embeddings = Embeddings::start();
    let server = Home::new().serve_with(&embeddings.settings());
    remember(&server, "u");
    embedded(&server, 4);
    let id = search(&server, "u", "a ship")["hits"][0]["id"].as_str().unwrap().to_owned();
    let vectors = || server.get("/v1/export").text().lines().filter(|line| line.contains("vectors")).count();
    server.delete(&user("u", &format!("/memories/{id}"))).ok();
    assert_eq!(vectors(), 3);
    let other = search(&server, "u", "rent")["hits"][0]["id"].as_str().unwrap().to_owned();
    server.delete(&format!("/v1/docs/users/u/memories/{other}")).ok();
    assert_eq!(vectors(), 2, "also where it is deleted as a document");
    assert!(!texts(&search(&server, "u", "a ship")).contains(&MEMORIES[0]));
    server.delete(&user("u", "")).ok();
    assert_eq!(texts(&search(&server, "u", "bird tea")), [] as [&str; 0]);
    assert_eq!(vectors(), 0, "vectors go with what they are of");
}

#[test]
fn a_damaged_model_is_said_and_lived_without() {
    let home = Home::new();
    home.write("model/config.json", "{");
    let settings = [("NOVELO_EMBED", "local"), ("NOVELO_EMBEDDING_DIR", "model")];
    let server = home.serve_with(&settings);
    remember(&server, "u");
    assert_eq!(texts(&search(&server, "u", "parrot"))[0], MEMORIES[1]);
    let ready = server.get("/health/ready").ok();
    assert!(ready["embedder"].as_str().unwrap().contains("config.json"), "{ready}");
    let doctor = server.get("/v1/doctor").ok();
    let finding = &doctor["findings"][0];
    assert_eq!((&doctor["healthy"], &finding["place"]), (&json!(false), &json!("embedder")), "{doctor}");
    assert!(finding["what"].as_str().unwrap().contains("config.json"), "{finding}");
}

#[test]
fn a_real_model_in_the_process_finds_by_meaning() {
    let model = std::env::var("NOVELO_TEST_MODEL").map(PathBuf::from);
    let model =
        model.unwrap_or_else(|_| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models/all-MiniLM-L6-v2"));
    assert!(model.is_dir(), "{} is missing: run `make model`", model.display());
    let server =
        Home::new().serve_with(&[("NOVELO_EMBED", "local"), ("NOVELO_EMBEDDING_DIR", model.to_str().unwrap())]);
    remember(&server, "u");
    embedded(&server, 4);
    let found = search(&server, "u", "Which vessel did she purchase?");
    assert_eq!(texts(&found)[0], MEMORIES[0], "{found}");
    assert_eq!(found["hits"][0]["why"]["dense"]["rank"], 1);
}
