//! The command line: what it prints, how it ends, and that it works with and without a server.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a panic is how a test fails")]

#[path = "../support/mod.rs"]
mod support;

mod ask;
mod bench;
mod bodies;
mod chat;
mod connections;
mod doctor;
mod files;
mod incomplete;
mod instance;
mod memory;
mod migrate;
mod pipes;
mod private;
mod serve;
mod settings;
mod terminal;
mod threads;
mod transfer;

use std::path::Path;
use std::sync::Arc;

use support::{Client, Home, Server, json, says, thread, user};

/// What `doctor` says where nothing is wrong, and there is no model.
const HEALTHY: &str = "store: local, index: local\nhealthy\n";

/// A home whose store holds two threads, some data, and values that span lines; nothing runs there.
fn filled() -> Arc<Home> {
    let server = Server::start();
    fill(&server);
    stopped(server)
}

fn fill(client: &Client) {
    client.append("u", "t", &[says("system", "Be brief."), says("user", "hi"), says("assistant", "hello")]);
    client
        .post(&thread("u", "odd", "/turns"), "{\"messages\":[{\n \"role\":\"user\",\r\n\"content\":\"1\",\"n\":1.50}]}")
        .ok();
    client.put(&user("u", "/data"), json!({"name": "Ada"})).ok();
    client.put("/v1/docs/users/v%2Fw/notes/n%20n", json!({"create_time": 7, "é": "😀"})).ok();
}

fn stopped(server: Server) -> Arc<Home> {
    server.signal("TERM");
    let (status, home) = server.ended();
    assert_eq!(status.code(), Some(0));
    home
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// What a backup holds. Its first line says when it was taken, and so differs.
fn documents_of(backup: &Path) -> String {
    text(backup).split_once('\n').unwrap().1.to_owned()
}

/// A path as an argument.
fn arg(path: &Path) -> &str {
    path.to_str().unwrap()
}
