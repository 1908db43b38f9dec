//! A command for one data directory never acts on another, even if another server has taken its port.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};

use crate::support::{Home, Server, eventually, files, json, says};
use crate::{arg, stopped};

/// A home whose server was killed: its note is left behind. Another server, of another home, listens on its
/// port now.
fn two_homes() -> (Arc<Home>, Server) {
    let server = Server::start();
    server.say("ana", "t", &["of the first"]);
    let addr = server.addr;
    let first = server.kill();
    let second = Home::new().serve_at(&addr.to_string());
    second.say("ana", "t", &["of the second", "and more"]);
    (first, second)
}

fn note(home: &Home) -> String {
    std::fs::read_to_string(home.data().join("serving.json")).unwrap()
}

#[test]
fn forget_reaches_the_directory_that_was_named() {
    let (first, second) = two_homes();
    assert!(note(&first).contains(&second.addr.to_string()), "the note leads to the other server");
    first.done(&["forget", "ana", "--yes"]);
    assert_eq!(second.said("ana", "t"), ["of the second", "and more"]);
    assert_eq!(first.done(&["thread", "list", "ana"]), "");
}

#[test]
fn every_command_reaches_the_directory_that_was_named() {
    let (first, second) = two_homes();
    let list = "       1 turns  t\n";
    assert_eq!(first.done(&["thread", "list", "ana"]), list);
    assert!(first.done(&["thread", "show", "ana", "t"]).contains("of the first"));
    assert!(first.done(&["thread", "export", "ana"]).contains("of the first"));
    assert!(first.done(&["explain", "ana", "t"]).contains("of the first"));
    assert_eq!(first.done(&["thread", "fork", "ana", "t", "1", "fork"]), "fork holds 1 turns\n");
    let backup = first.path("backup.jsonl");
    first.done(&["backup", arg(&backup)]);
    assert!(std::fs::read_to_string(&backup).unwrap().contains("of the first"));
    first.done(&["thread", "import", arg(&backup)]);
    first.write("notes.txt", "The first home has a blue door.");
    first.done(&["index", "notes.txt", "--user", "ana"]);
    assert!(first.done(&["search", "ana", "blue door", "--in", "documents"]).contains("blue door"));
    assert!(first.done(&["ask", "What colour is the door?", "--user", "ana"]).contains("blue"));
    first.done(&["key", "create", "--user", "ana"]);
    assert_eq!(first.done(&["key", "list"]).lines().count(), 1);
    first.done(&["doctor"]);

    assert_eq!(second.said("ana", "t"), ["of the second", "and more"]);
    assert_eq!(second.get("/v1/users/ana/threads").ok()["threads"].as_array().unwrap().len(), 1);
    assert_eq!(second.get("/v1/keys").ok()["keys"], json!([]), "no key was made there");
    let found = second.post("/v1/users/ana/documents/search", json!({"query": "blue door"})).ok();
    assert!(!found.to_string().contains("blue door"), "{found}");
}

#[test]
fn a_copy_of_a_directory_is_not_that_of_the_server() {
    let server = Server::start();
    server.say("ana", "t", &["original"]);
    let copy = Home::new();
    for file in files(&server.home.data()) {
        let target = copy.data().join(file.strip_prefix(server.home.data()).unwrap());
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        std::fs::copy(&file, &target).unwrap();
    }
    assert_eq!(note(&copy), note(&server.home));
    copy.done(&["forget", "ana", "--yes"]);
    assert_eq!(copy.done(&["thread", "list", "ana"]), "");
    assert_eq!(server.said("ana", "t"), ["original"]);
    assert!(server.home.done(&["thread", "show", "ana", "t"]).contains("original"), "its own commands still reach it");
}

#[test]
fn a_directory_that_was_moved_is_still_that_of_its_server() {
    let server = Server::start();
    server.say("ana", "t", &["here"]);
    let moved = server.home.path("moved");
    std::fs::rename(server.home.data(), &moved).unwrap();
    assert!(server.home.done(&["thread", "show", "ana", "t", "--data", arg(&moved)]).contains("here"));
    std::fs::rename(&moved, server.home.data()).unwrap();
}

/// Something that listens and answers every request with the same bytes, or with none; it keeps what it was
/// sent.
fn stranger(answer: &'static str) -> (SocketAddr, Arc<Mutex<Vec<u8>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (addr, heard) = (listener.local_addr().unwrap(), Arc::new(Mutex::new(Vec::new())));
    let keep = heard.clone();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let keep = keep.clone();
            std::thread::spawn(move || {
                let mut bytes = [0; 4096];
                while let Ok(count @ 1..) = stream.read(&mut bytes) {
                    keep.lock().unwrap().extend_from_slice(&bytes[..count]);
                    stream.write_all(answer.as_bytes()).unwrap();
                }
            });
        }
    });
    (addr, heard)
}

/// A home whose note leads to a stranger.
fn misled(addr: SocketAddr) -> (Arc<Home>, String) {
    let server = Server::start();
    server.say("ana", "t", &["mine"]);
    let old = server.addr;
    let home = server.kill();
    let led = note(&home).replace(&old.to_string(), &addr.to_string());
    std::fs::write(home.data().join("serving.json"), &led).unwrap();
    let note: crate::support::Value = serde_json::from_str(&led).unwrap();
    (home, note["secret"].as_str().unwrap().to_owned())
}

#[test]
fn a_stranger_on_the_port_learns_no_secret() {
    for answer in [
        "HTTP/1.1 200 OK\r\ncontent-length: 15\r\n\r\n{\"status\":\"ok\"}",
        "HTTP/1.1 200 OK\r\nx-novelo-instance: 00\r\ncontent-length: 0\r\n\r\n",
        "SSH-2.0-OpenSSH_9.2\r\n",
    ] {
        let (addr, heard) = stranger(answer);
        let (home, secret) = misled(addr);
        assert!(home.done(&["thread", "show", "ana", "t"]).contains("mine"), "{answer}");
        let heard = String::from_utf8_lossy(&heard.lock().unwrap()).into_owned();
        assert!(heard.starts_with("GET /health/live"), "{heard}");
        assert!(!heard.contains(&secret) && !heard.to_lowercase().contains("authorization"), "{heard}");
    }
}

#[test]
fn one_that_never_answers_holds_a_command_up_for_a_moment_only() {
    let (addr, heard) = stranger("");
    let (home, _) = misled(addr);
    assert!(home.done(&["thread", "show", "ana", "t"]).contains("mine"));
    assert!(!heard.lock().unwrap().is_empty(), "it was asked");
}

#[test]
fn where_the_lock_is_held_the_error_says_why_the_server_was_not_asked() {
    let (addr, _) = stranger("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    let server = Server::start();
    let led = note(&server.home).replace(&server.addr.to_string(), &addr.to_string());
    std::fs::write(server.home.data().join("serving.json"), led).unwrap();
    let ran = server.home.run(&["thread", "list", "ana"]);
    ran.failed(&["is in use by another process", &addr.to_string(), "has another data directory open"]);
    assert!(eventually(|| server.try_call("GET", "/health/live", b"").is_ok()));
    server.post("/v1/users/u/threads/t/turns", json!({"messages": [says("user", "still here")]})).ok();
    stopped(server);
}
