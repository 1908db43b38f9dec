//! The second table of `docs/security.md`, cell by cell: a canary is planted in every copy, and looked for
//! afterwards.
//!
//! The table drives the tests: a row that they do not know, or a word that is not so, fails.

mod restored;
mod world;

use crate::support::redis::Redis;
use crate::support::{Home, Value, eventually, holding, json, thread, user};
use world::{CANARY, Copy, Subject, World};

/// The rows of the table: what is kept, and a word for each subject.
fn table() -> Vec<(String, [String; 5])> {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/security.md")).unwrap();
    let section = page.split("## What forgetting removes").nth(1).unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| ")).map(|line| {
        let mut cells = line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned());
        let name = cells.next().unwrap();
        (name, cells.collect::<Vec<_>>().try_into().unwrap_or_else(|cells| panic!("{line}: {cells:?}")))
    });
    let rows: Vec<(String, [String; 5])> = rows.collect();
    let subjects = ["a turn", "a thread", "a user", "a memory", "a document"].map(str::to_owned);
    assert_eq!(rows[0], ("what is kept".to_owned(), subjects));
    rows[1..].to_vec()
}

/// Checks one column on one node: asked of the world's node, looked for at the same one.
fn check_column(subject: Subject) {
    let Some(world) = World::local(subject) else { return };
    let rows = table();
    assert_eq!(rows.len(), Copy::ALL.len() + 1, "every row is known");
    let mut copies = Vec::new();
    for (name, words) in &rows {
        let word = &*words[subject as usize];
        if let Some(copy) = Copy::named(name) {
            copies.push((copy, word));
            assert!(word == "–" || world.holds(copy), "{subject:?}: the canary is not in {name}");
        } else {
            // Has a test of its own, over two nodes.
            assert_eq!(name, "memory of other nodes", "a row without a test");
            assert_eq!(word, "gone");
        }
    }
    let answer = world.forget();
    for (copy, word) in copies {
        match word {
            "gone" => assert!(!world.holds(copy), "{subject:?}: {copy:?} still holds the canary: {answer}"),
            "soon" if copy == Copy::RawFiles => world.files_are_clean(),
            "soon" => assert!(eventually(|| !world.holds(copy)), "{subject:?}: {copy:?} holds the canary"),
            "stays" => assert!(world.holds(copy), "{subject:?}: {copy:?} lost it"),
            "–" => {}
            other => panic!("{subject:?} × {copy:?}: {other:?} is no word of the table"),
        }
        if (copy, word) == (Copy::Forks, "stays") {
            world.forget_fork();
        }
    }
    assert!(eventually(|| world.server.get("/health/ready").ok()["erasing"] == false));
    world.others_stay();
}

#[test]
fn forgetting_a_turn_is_as_the_table_says() {
    check_column(Subject::Turn);
}

#[test]
fn forgetting_a_thread_is_as_the_table_says() {
    check_column(Subject::Thread);
}

#[test]
fn forgetting_a_user_is_as_the_table_says() {
    check_column(Subject::User);
}

#[test]
fn forgetting_a_memory_is_as_the_table_says() {
    check_column(Subject::Memory);
}

#[test]
fn forgetting_a_document_is_as_the_table_says() {
    check_column(Subject::Document);
}

#[test]
fn what_one_node_forgets_is_gone_from_the_memory_of_another() {
    let redis = Redis::start();
    for subject in Subject::ALL {
        let world = World::shared(subject, &redis.url());
        for copy in Copy::IN_MEMORY {
            assert!(world.holds(copy), "{subject:?}: the canary is not in {copy:?} of the second node");
        }
        world.forget();
        for copy in Copy::IN_MEMORY {
            assert!(!world.holds(copy), "{subject:?}: {copy:?} of the second node holds the canary");
        }
    }
}

#[test]
fn a_batch_takes_along_what_was_made_from_each() {
    let Some(world) = World::local(Subject::Turn) else { return };
    let [first, second] = [world.path(), "users/u/memories/canary".to_owned()];
    let ops: Vec<Value> = [&first, &second].map(|path| json!({"op": "delete", "path": path})).into();
    assert_eq!(world.server.post("/v1/docs:batch", json!({ "ops": ops })).ok()["done"], 2);
    for copy in [Copy::Documents, Copy::Vectors, Copy::Summary, Copy::Traces, Copy::Replies, Copy::SkillResults] {
        assert!(!world.holds(copy), "{copy:?}");
    }
    world.forget_fork();
    world.files_are_clean();
}

#[test]
fn a_deletion_that_is_refused_takes_nothing_along() {
    let Some(world) = World::local(Subject::Turn) else { return };
    let path = format!("/v1/docs/{}", world.path());
    world.server.with("if-match", "7").delete(&path).refused(409, "stale");
    for copy in [Copy::Documents, Copy::Summary, Copy::Traces, Copy::Replies, Copy::SkillResults] {
        assert!(world.holds(copy), "{copy:?}");
    }
}

#[test]
fn the_raw_files_are_cleaned_after_a_kill_too() {
    let server = Home::new().serve();
    server.say("u", "t", &[CANARY]);
    let id = server.get(&thread("u", "t", "/turns")).ok()["turns"][0]["id"].as_str().unwrap().to_owned();
    server.delete(&format!("/v1/docs/users/u/convo.sessions/t/messages/{id}")).ok();
    assert!(holding(&server.home.data(), CANARY).is_some(), "not yet");
    let server = server.restart();
    assert!(eventually(|| server.get("/health/ready").ok()["erasing"] == false));
    assert_eq!(holding(&server.home.data(), CANARY), None);
}

#[test]
fn the_record_of_forgets_names_nobody_and_cannot_be_reached() {
    let server = Home::new().serve();
    server.say("someone-unusual", "t", &["hi"]);
    server.delete(&user("someone-unusual", "")).ok();
    let export = server.get("/v1/export").text();
    assert!(export.contains("novelo.forgets/") && !export.contains("someone-unusual"), "{export}");
    let file = std::fs::read_to_string(server.home.path("data.forgets")).unwrap();
    // Once before and once after the removal.
    assert!(file.lines().count() == 2 && !file.contains("someone-unusual"), "{file}");
    for call in ["GET", "PUT", "DELETE"] {
        server.call(call, "/v1/docs/novelo.forgets/salt", r#"{"salt":"x"}"#).refused(403, "forbidden");
    }
    assert!(server.get("/v1/doctor").ok()["healthy"] == true);
}
