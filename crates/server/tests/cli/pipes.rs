//! What a command does when nobody reads what it prints, or nothing can be written.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::filled;
use crate::support::{Home, Server, json, says, thread};

/// Runs a command whose reader goes after one line; its exit code, and what it said on standard error.
fn with_a_reader_of_one_line(home: &Home, args: &[&str]) -> (Option<i32>, String) {
    let mut child = home.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut reader = BufReader::with_capacity(16, child.stdout.take().unwrap());
    reader.read_line(&mut String::new()).unwrap();
    drop(reader);
    let ended = child.wait_with_output().unwrap();
    (ended.status.code(), String::from_utf8(ended.stderr).unwrap())
}

/// More than a pipe holds, so that a command surely meets the closed end.
fn long_thread() -> std::sync::Arc<Home> {
    let server = Server::start();
    let text = "a line of some length ".repeat(50);
    for _ in 0..5 {
        let messages: Vec<_> = (0..100).map(|_| says("user", &text)).collect();
        server.post(&thread("u", "t", "/turns"), json!({"messages": messages})).ok();
    }
    crate::stopped(server)
}

#[test]
fn a_reader_that_has_gone_is_no_error() {
    let home = long_thread();
    for args in [
        &["thread", "show", "u", "t", "--last", "500"][..],
        &["thread", "show", "u", "t", "--last", "500", "--json"],
        &["thread", "export", "u"],
        &["explain", "u", "t"],
        &["config"],
        &["config", "--json"],
        &["doctor"],
    ] {
        assert_eq!(with_a_reader_of_one_line(&home, args), (Some(0), String::new()), "{args:?}");
    }
}

#[test]
fn the_work_is_done_though_nobody_reads_of_it() {
    let home = filled();
    // The reader is gone before the first byte: a pipe whose other end is closed.
    let mut child = home.command(&["forget", "u", "t", "--yes"]).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(!home.done(&["thread", "list", "u"]).contains("turns  t\n"));
}

#[test]
fn output_that_cannot_be_written_is_an_error() {
    let full = || std::fs::File::options().write(true).open("/dev/full").unwrap();
    let home = filled();
    for args in [&["config"][..], &["thread", "export", "u"]] {
        let ended = home.command(args).stdout(full()).output().unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(1), "{args:?}: {said}");
        assert!(said.starts_with("error: ") && said.contains("No space left"), "{args:?}: {said}");
    }
}
