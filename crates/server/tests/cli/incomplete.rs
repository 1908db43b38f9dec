//! A restore, an import or a migration that broke off is never taken for a whole store, and can be resumed.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use crate::support::redis::Redis;
use crate::support::{Home, Ran, Server, Value, eventually, files, json, says};
use crate::{arg, documents_of};

/// A backup of so many turns in a home of its own.
fn backup(turns: usize) -> (Arc<Home>, PathBuf) {
    let server = Server::start();
    for thread in 0..turns.div_ceil(500) {
        let messages: Vec<Value> = (0..500).map(|n| says("user", &format!("turn {n} {}", "x".repeat(200)))).collect();
        server.append("u", &format!("t{thread}"), &messages);
    }
    let file = server.home.path("backup.jsonl");
    server.home.done(&["backup", arg(&file)]);
    (server.home.clone(), file)
}

/// A file that goes on for as long as nobody closes it: a restore of it can be killed while it reads.
fn slowly(home: &Home, whole: &Path, lines: usize) -> (PathBuf, std::process::Child) {
    let pipe = home.path("slow.jsonl");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let child = home.command(&["restore", arg(&pipe)]).stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    let mut to = std::fs::File::options().write(true).open(&pipe).unwrap();
    let text = std::fs::read_to_string(whole).unwrap();
    let some: String = text.lines().take(lines).map(|line| format!("{line}\n")).collect();
    to.write_all(some.as_bytes()).unwrap();
    // The other end stays open for as long as the test runs.
    std::mem::forget(to);
    (pipe, child)
}

#[test]
fn a_restore_that_was_killed_is_recognised_and_resumed() {
    let (from, file) = backup(3_000);
    let home = Home::new();
    let (pipe, mut child) = slowly(&home, &file, 2_500);
    let stored = || files(&home.data()).iter().any(|file| file.extension().is_some_and(|e| e == "jnl"));
    assert!(eventually(|| home.data().exists() && stored()), "it stores what it reads");
    assert!(eventually(|| crate::support::holding(&home.data(), "turn 7 ").is_some()));
    child.kill().unwrap();
    child.wait().unwrap();

    let place = format!("restore {}", arg(&std::fs::canonicalize(&pipe).unwrap()));
    for args in
        [&["serve", "--addr", "127.0.0.1:0"][..], &["thread", "list", "u"], &["backup", "b.jsonl"], &["key", "list"]]
    {
        home.run(args).failed(&["is incomplete", &place, "to give it up, delete that directory"]);
    }
    let doctor = home.run(&["doctor"]);
    assert_eq!(doctor.code, Some(1), "{doctor:?}");
    assert!(
        doctor.out.contains("is incomplete")
            && doctor.out.contains(&format!("hint: to resume it, run `novelo {place}")),
        "{doctor:?}"
    );
    home.run(&["restore", arg(&file)]).failed(&["is incomplete", &place]);

    // The same file, whole now.
    std::fs::remove_file(&pipe).unwrap();
    std::fs::copy(&file, &pipe).unwrap();
    let said = home.run(&["restore", arg(&pipe), "--json"]).json();
    assert_eq!(
        said["documents"].as_u64().unwrap() as usize,
        std::fs::read_to_string(&file).unwrap().lines().count() - 2
    );
    assert!(said["new"].as_u64() < said["documents"].as_u64(), "what was there is not stored again: {said}");
    let again = home.path("again.jsonl");
    home.done(&["backup", arg(&again)]);
    assert!(documents_of(&again) == documents_of(&file), "the backup of the restored store holds the same");
    home.run(&["restore", arg(&pipe)]).failed(&["is not empty"]);
    drop(from);
}

#[test]
fn a_restore_of_a_file_that_broke_off_leaves_its_mark_until_it_is_mended() {
    let (_from, file) = backup(500);
    let home = Home::new();
    let whole = std::fs::read_to_string(&file).unwrap();
    let cut = home.write("cut.jsonl", &whole[..whole.len() / 2]);
    home.run(&["restore", arg(&cut)]).failed(&["cut.jsonl", "hint: to resume, run `novelo restore"]);
    home.run(&["thread", "list", "u"]).failed(&["is incomplete"]);
    home.write("cut.jsonl", &whole);
    home.done(&["restore", arg(&cut)]);
    assert_eq!(home.done(&["thread", "list", "u"]).lines().count(), 1);
    home.run(&["restore", "nowhere.jsonl", "--data", "other"]).failed(&["cannot read nowhere.jsonl"]);
    assert!(!home.path("other").exists(), "nothing was begun");
}

#[test]
fn an_import_marks_a_new_directory_and_never_one_that_is_in_use() {
    let (from, file) = backup(500);
    let whole = std::fs::read_to_string(&file).unwrap();
    let home = Home::new();
    let cut = home.write("cut.jsonl", &whole[..whole.len() / 2]);
    home.run(&["thread", "import", arg(&cut)]).failed(&["hint: to resume, run `novelo thread import"]);
    home.run(&["serve", "--addr", "127.0.0.1:0"]).failed(&["is incomplete: an import", "thread import"]);
    home.write("cut.jsonl", &whole);
    home.done(&["thread", "import", arg(&cut)]);
    assert_eq!(home.done(&["thread", "list", "u"]).lines().count(), 1);

    let cut = from.write("cut.jsonl", &whole[..whole.len() / 2]);
    from.run(&["thread", "import", arg(&cut)]).failed(&["line "]);
    assert_eq!(from.done(&["thread", "list", "u"]).lines().count(), 1, "what was there is whole without it");
    let server = Server::start();
    let broken = server.post("/v1/import", whole[..whole.rfind("{\"documents\"").unwrap()].to_owned());
    // The first line says what the file is, and the last one counts.
    let documents = whole.lines().count() - 2;
    let broke_off = format!("broke off after line {}", documents + 1);
    broken.refused_with(400, "malformed_json", &[&broke_off, "sent again"]);
    assert_eq!(server.post("/v1/import", whole).ok(), json!({"documents": documents, "new": 0}));
}

#[test]
fn a_store_in_redis_that_is_half_filled_is_refused() {
    let (_from, file) = backup(500);
    let (redis, home) = (Redis::start(), Home::new());
    let run = |args: &[&str]| {
        Ran::of(home.command(args).envs([("NOVELO_STORE", "redis"), ("NOVELO_REDIS_URL", &redis.url())]))
    };
    let whole = std::fs::read_to_string(&file).unwrap();
    let cut = home.write("cut.jsonl", &whole[..whole.len() / 2]);
    run(&["restore", arg(&cut)]).failed(&["cut.jsonl"]);
    for args in [&["serve", "--addr", "127.0.0.1:0"][..], &["thread", "list", "u"], &["restore", arg(&file)]] {
        run(args).failed(&["redis.url", "is incomplete: a restore", "hint: to resume it, run `novelo restore"]);
    }
    run(&["migrate", "--to", "local"]).failed(&["is incomplete"]);
    home.write("cut.jsonl", &whole);
    assert_eq!(run(&["restore", arg(&cut)]).code, Some(0));
    assert_eq!(run(&["thread", "list", "u"]).out.lines().count(), 1);
}
