//! Indexing files and searching from the command line.

use crate::support::{Home, Server, Value, json, user};
use crate::{arg, stopped};

#[test]
fn files_are_indexed_and_found_with_and_without_a_server() {
    let home = Home::new();
    home.write("project/src/tea.rs", "// one\nfn brew_tea() {}\n");
    home.write("project/image.png", "\0");
    home.write("note.txt", "oolong is a tea");
    let done = home.done(&["index", "--user", "u", "project", arg(&home.path("note.txt"))]);
    let lines: Vec<&str> = done.lines().collect();
    assert_eq!(lines[..2], ["1 files, 1 passages, skipped 1 binary  project", "  skipped image.png is binary"]);
    assert!(lines[2].starts_with("1 files, 1 passages  ") && lines.len() == 3, "{done}");

    let found = home.done(&["search", "u", "brew_tea", "--in", "documents"]);
    assert!(found.contains("  project/src/tea.rs:1  // one fn brew_tea() {}\n"), "{found}");
    let server = home.serve();
    let found = home.run(&["search", "u", "oolong", "--in", "documents", "--k", "1", "--json"]).json();
    assert_eq!(found["hits"][0]["file"], "note.txt");
    let again = home.run(&["index", "note.txt", "--user", "u", "--name", "notes", "--json"]).json();
    assert_eq!(again["id"], found["hits"][0]["document"], "the same place is the same document");
    assert_eq!(server.get(&user("u", "/documents")).ok()["documents"].as_array().unwrap().len(), 2);
}

#[test]
fn memories_and_turns_are_searched_and_explained() {
    let server = Server::start();
    server.post(&user("u", "/memories"), json!({"text": "likes  green\ntea"})).ok();
    server.say("u", "t", &["is there tea?"]);
    let home = stopped(server);
    let memories = home.done(&["search", "u", "tea"]);
    assert!(memories.ends_with("  short  likes green tea\n") && memories.lines().count() == 1, "{memories}");
    let turns = home.done(&["search", "u", "tea", "--in", "turns"]);
    assert!(turns.ends_with("  t#1 user  is there tea?\n"), "{turns}");
    let explained = home.done(&["search", "u", "tea", "--explain"]);
    assert!(
        explained.lines().nth(1).is_some_and(|why| serde_json::from_str::<Value>(why.trim()).is_ok()),
        "{explained}"
    );
    assert_eq!(home.done(&["search", "u", "zebra"]), "nothing was found\n");
}

#[test]
fn mistakes_are_named() {
    let home = Home::new();
    home.write("a.txt", "a");
    home.run(&["index", "none.txt"]).failed(&["cannot read none.txt"]);
    home.run(&["index", "a.txt", "a.txt", "--name", "n"]).failed(&["--name goes with one path"]);
    home.run(&["search", "u", " "]).failed(&["query is empty"]);
    home.run(&["search", "u", "x", "--k", "101"]).failed(&["RECALL_HITS_MAX"]);
    assert_eq!(home.run(&["search", "u", "x", "--in", "tasks"]).code, Some(2));
    Home::new().run(&["search", "u", "x"]).failed(&["there is no data directory"]);
}
