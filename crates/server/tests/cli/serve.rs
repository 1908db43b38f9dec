//! How a server starts, stops, and refuses to start.

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;

use crate::support::{Client, Home, Ran, Server, eventually, json, says, thread, user};
use crate::{HEALTHY, arg, fill, filled, stopped};

#[test]
fn sigterm_finishes_what_is_in_flight() {
    for signal in ["TERM", "INT"] {
        let server = Server::start();
        server.say("u", "t", &["before"]);
        let body = json!({"messages": [says("user", "in flight")]}).to_string();
        let mut stream = server.connect().unwrap();
        stream.write_all(&server.head("POST", &thread("u", "t", "/turns"), body.len())).unwrap();
        stream.write_all(&body.as_bytes()[..10]).unwrap();
        // Another call on a later connection is answered, so the first one was taken up before the signal.
        server.get("/health/live").ok();
        server.signal(signal);
        let client: Client = (*server).clone();
        assert!(eventually(|| client.connect().is_err()), "no new connections");
        stream.write_all(&body.as_bytes()[10..]).unwrap();
        let mut back = String::new();
        stream.read_to_string(&mut back).unwrap();
        assert!(back.starts_with("HTTP/1.1 200"), "{back}");
        let (status, home) = server.ended();
        assert_eq!(status.code(), Some(0), "SIG{signal}");
        assert!(!home.data().join("serving.json").exists());
        assert_eq!(home.serve().said("u", "t"), ["before", "in flight"]);
    }
}

#[test]
fn a_second_server_on_the_same_data_is_refused() {
    let server = Server::start();
    server.say("u", "t", &["first"]);
    let ran = server.home.run(&["serve", "--addr", "127.0.0.1:0"]);
    ran.failed(&[arg(&server.home.data()), "is in use by another process"]);
    assert_eq!(ran.out, "");
    assert_eq!(server.said("u", "t"), ["first"]);
    assert_eq!(server.home.done(&["thread", "list", "u"]), "       1 turns  t\n", "the note still leads to the first");
}

#[test]
fn a_server_that_cannot_start_says_why() {
    let server = Server::start();
    let taken = server.addr.to_string();
    Home::new().run(&["serve", "--addr", &taken]).failed(&["cannot listen on", &taken]);
    let home = Home::new();
    home.run(&["serve", "--addr", "nowhere"]).failed(&["addr must be an address"]);
    home.write("file", "x");
    home.run(&["serve", "--addr", "127.0.0.1:0", "--data", "file"]).failed(&["file: "]);
    home.run(&["serve", "--addr", "127.0.0.1:0", "--data", "file/below"]).failed(&["file/below: "]);
}

#[test]
fn a_read_only_directory_is_a_clear_error() {
    let home = filled();
    let set_mode = |mode: u32| std::fs::set_permissions(home.data(), std::fs::Permissions::from_mode(mode)).unwrap();
    set_mode(0o555);
    if std::fs::File::create(home.data().join("probe")).is_ok() {
        eprintln!("skipped: permissions do not bind this user");
        return;
    }
    let ran = home.run(&["serve", "--addr", "127.0.0.1:0"]);
    set_mode(0o755);
    ran.failed(&[arg(&home.data()), "ermission denied"]);
    assert_eq!(home.done(&["doctor"]), HEALTHY);
}

#[test]
fn commands_work_after_a_crash_left_a_note_behind() {
    let server = Server::start();
    fill(&server);
    let home = server.kill();
    assert!(home.data().join("serving.json").exists());
    assert_eq!(home.done(&["thread", "list", "u"]).lines().count(), 2);
    assert_eq!(home.done(&["doctor"]), HEALTHY);
}

#[test]
fn the_note_of_a_server_is_for_its_owner_only() {
    let server = Server::start();
    let note = server.home.data().join("serving.json");
    assert_eq!(std::fs::metadata(note).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_new_data_directory_gets_a_sample_thread_once() {
    let home = Home::new();
    let sample = [("NOVELO_SAMPLE", "true")];
    let server = home.serve_with(&sample);
    let turns = server.get(&thread("demo", "welcome", "/turns")).ok();
    assert!(turns["turns"].as_array().unwrap().len() > 3);
    server.delete(&user("demo", "")).ok();
    stopped(server);
    let server = home.serve_with(&sample);
    assert_eq!(server.get(&user("demo", "/threads")).ok()["threads"], json!([]));
}

#[test]
fn a_redis_that_is_not_there_is_named_without_its_password() {
    let home = Home::new();
    // Nobody listens there: the port was taken a moment ago, and let go.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("redis://me:hunter2@127.0.0.1:{port}/0");
    let run = |args: &[&str]| Ran::of(home.command(args).env("REDIS_URL", &url).env("NOVELO_STORE", "redis"));
    let place = format!("redis://***@127.0.0.1:{port}/0");
    for args in [&["serve", "--addr", "127.0.0.1:0"][..], &["thread", "list", "u"], &["key", "list"]] {
        let ran = run(args);
        ran.failed(&["redis.url", &place, "hint: start Redis there"]);
        assert!(!ran.err.contains("hunter2"), "{ran:?}");
    }
    let doctor = run(&["doctor"]);
    assert_eq!((doctor.code, doctor.err.as_str()), (Some(1), ""), "{doctor:?}");
    assert!(doctor.out.starts_with("redis.url: ") && doctor.out.contains("\nhint: start Redis there"), "{doctor:?}");
    assert!(!doctor.out.contains("hunter2"), "{doctor:?}");
    assert!(!home.data().exists(), "nothing is left behind");

    // The address alone does not switch the store, the flag does.
    let only_url = Ran::of(home.command(&["config"]).env("REDIS_URL", &url));
    assert!(only_url.out.contains(&place) && !only_url.out.contains("hunter2"), "{only_url:?}");
    let flag = ["serve", "--addr", "127.0.0.1:0", "--store", "redis", "--index", "qdrant"];
    Ran::of(home.command(&flag).env("REDIS_URL", &url)).failed(&["redis.url", &place]);
    home.run(&["serve", "--store", "elsewhere"]).failed(&["store must be one of local, memory, redis"]);
    home.run(&["serve", "--index", "elsewhere"]).failed(&["index must be one of local, qdrant"]);
}

#[test]
fn a_store_in_memory_leaves_nothing() {
    let home = Home::new();
    let server = home.serve_with(&[("NOVELO_STORE", "memory")]);
    fill(&server);
    assert_eq!(server.said("u", "t").len(), 3);
    stopped(server);
    assert!(!home.data().exists());
}
