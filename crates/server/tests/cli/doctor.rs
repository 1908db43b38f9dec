//! What `doctor` says of a healthy store, of a damaged one, and of one that does not open.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::support::{Home, Ran, Server, contents, files, holding, json};
use crate::{HEALTHY, fill, filled, stopped};

#[test]
fn doctor_finds_a_healthy_store_healthy() {
    let server = Server::start();
    fill(&server);
    assert_eq!(server.home.done(&["doctor"]), HEALTHY, "through the server");
    let home = stopped(server);
    assert_eq!(home.done(&["doctor"]), HEALTHY, "without one");
    let json = home.run(&["doctor", "--json"]).json();
    assert_eq!((&json["healthy"], &json["findings"]), (&json!(true), &json!([])));
}

#[test]
fn doctor_says_what_cannot_be_opened() {
    let home = Home::new();
    let check = |ran: &Ran, words: &[&str]| {
        assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""), "{ran:?}");
        words.iter().for_each(|word| assert!(ran.out.contains(word), "{word:?} is not in {ran:?}"));
    };
    check(&home.run(&["doctor"]), &["there is no such directory", "hint: "]);
    home.write("file", "x");
    let ran = home.run(&["doctor", "--data", "file"]);
    assert_eq!(ran.out, "file: File exists\nhint: name a directory with --data; this is a file\n", "each word once");
    home.run(&["thread", "list", "u", "--data", "file"]).failed(&["error: file: File exists\n"]);

    let server = home.serve();
    std::fs::remove_file(home.data().join("serving.json")).unwrap();
    check(&home.run(&["doctor"]), &[": is in use by another process\n", "hint: end that process first"]);
    let json = home.run(&["doctor", "--json"]).json();
    assert_eq!((&json["healthy"], json["findings"].as_array().unwrap().len()), (&json!(false), 1));
    server.get("/health/ready").ok();
    stopped(server);
}

#[test]
fn doctor_names_a_server_that_is_down_without_the_words_of_a_library() {
    let home = filled();
    let ran = Ran::of(home.command(&["doctor"]).env("NOVELO_MODELS_ANSWER_URL", "http://127.0.0.1:9/v1"));
    let first = ran.out.lines().next().unwrap();
    assert_eq!(first, "models.answer.url: http://127.0.0.1:9/v1 cannot be reached: Connection refused", "{ran:?}");
}

/// Copies a store, and changes one file of the copy.
fn damaged(home: &Home, damage: impl FnOnce(&Path)) -> Arc<Home> {
    let copy = Home::new();
    for file in files(&home.data()) {
        let target = copy.data().join(file.strip_prefix(home.data()).unwrap());
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        std::fs::write(target, contents(&file)).unwrap();
    }
    damage(&copy.data());
    copy
}

/// Where a copy holds a text.
fn place(dir: &Path, text: &str) -> (PathBuf, usize) {
    holding(dir, text).unwrap()
}

fn flip(dir: &Path, word: &str) {
    let (file, at) = place(dir, word);
    let mut bytes = contents(&file);
    bytes[at] ^= 1;
    std::fs::write(file, bytes).unwrap();
}

fn check_damaged(copy: &Home, readable: bool) {
    let ran = copy.run(&["doctor", "--json"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let findings = ran.json()["findings"].as_array().unwrap().clone();
    assert!(!findings.is_empty() && findings.iter().all(|f| f["place"] != "" && f["what"] != "" && f["advice"] != ""));
    let text = copy.run(&["doctor"]).out;
    assert!(text.contains("hint: ") && text.contains("backup"), "{text}");
    if !readable {
        copy.run(&["serve", "--addr", "127.0.0.1:0"]).failed(&["damaged"]);
    }
}

#[test]
fn doctor_tells_a_damaged_journal() {
    let server = Server::start();
    for n in 0..20 {
        server.say("u", "t", &[&format!("journal entry {n}")]);
    }
    let home = server.kill();
    assert!(place(&home.data(), "journal entry 10").0.extension().is_some_and(|extension| extension == "jnl"));
    check_damaged(&damaged(&home, |dir| flip(dir, "journal entry 10")), false);
    check_damaged(
        &damaged(&home, |dir| {
            let (file, at) = place(dir, "journal entry 10");
            std::fs::File::options().write(true).open(file).unwrap().set_len(at as u64).unwrap();
        }),
        false,
    );
    assert_eq!(home.done(&["doctor"]), HEALTHY, "the original is");
}

#[test]
fn doctor_tells_a_damaged_table() {
    let home = filled();
    // A forget leaves everything in tables and nothing in the journal.
    home.done(&["forget", "u", "t", "--yes"]);
    let (file, _) = place(&home.data(), "\"content\":\"1\"");
    assert!(file.components().any(|part| part.as_os_str() == "keyspaces"), "{}", file.display());
    check_damaged(&damaged(&home, |dir| flip(dir, "\"content\":\"1\"")), true);
    check_damaged(
        &damaged(&home, |dir| {
            let (file, at) = place(dir, "\"content\":\"1\"");
            std::fs::File::options().write(true).open(file).unwrap().set_len(at as u64).unwrap();
        }),
        false,
    );
    check_damaged(&damaged(&home, |dir| std::fs::remove_file(place(dir, "\"content\":\"1\"").0).unwrap()), false);
    assert_eq!(home.done(&["doctor"]), HEALTHY, "the original is");
}
