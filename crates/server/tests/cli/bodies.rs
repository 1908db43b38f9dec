//! The memory of all request bodies together has a bound, and small requests get through it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use novelo_engine::limits::BODY_BYTES_MAX;

use crate::support::{Home, Server, eventually, says, thread};

const BOUND: (&str, &str) = ("NOVELO_HTTP_BODIES_BYTES", "33554432");
const LARGE: usize = BODY_BYTES_MAX - 100_000;

/// A request with a large body, of which so much is sent.
fn begin(server: &Server, sent: usize) -> TcpStream {
    let mut stream = server.connect().unwrap();
    stream.write_all(&server.head("POST", &thread("u", "t", "/turns"), LARGE)).unwrap();
    stream.write_all(&vec![b' '; sent]).unwrap();
    stream
}

fn end(mut stream: TcpStream, sent: usize) -> String {
    stream.write_all(&vec![b' '; LARGE - sent]).unwrap();
    let mut back = String::new();
    stream.read_to_string(&mut back).unwrap();
    back
}

#[test]
fn bodies_past_the_bound_are_refused_and_small_ones_get_through() {
    let server = Home::new().serve_with(&[BOUND]);
    let taken = || server.metric("novelo_bodies_bytes") as usize;
    let sent = LARGE - 1_000_000;
    let first = begin(&server, sent);
    assert!(eventually(|| taken() == sent), "a body that is slow has taken what it sent: {}", taken());
    let refused = end(begin(&server, 0), 0);
    assert!(refused.starts_with("HTTP/1.1 503") && refused.contains("http.bodies_bytes, 33554432"), "{refused}");
    assert!(refused.to_lowercase().contains("\r\nretry-after: "), "{refused}");
    for n in 0..20 {
        server.append("u", "small", &[says("user", &format!("{n} {}", "x".repeat(50_000)))]);
    }
    let answered = end(first, sent);
    assert!(answered.starts_with("HTTP/1.1 400"), "it was read whole: {answered}");
    assert!(eventually(|| taken() == 0));
    let again = end(begin(&server, 0), 0);
    assert!(again.starts_with("HTTP/1.1 400"), "there is room again: {again}");
}

#[test]
fn a_hundred_large_bodies_at_once_take_little_memory() {
    let server = Home::new().serve_with(&[BOUND]);
    let peak = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() / 1024
    };
    let before = peak();
    let mut streams: Vec<_> = (0..100).map(|_| begin(&server, 0)).collect();
    let piece = vec![b' '; 64 * 1024];
    // All at the same time, and none to its end.
    for _ in 0..(LARGE / piece.len() / 2) {
        streams.iter_mut().for_each(|stream| stream.write_all(&piece).unwrap());
    }
    server.say("u", "t", &["meanwhile"]);
    let grown = peak() - before;
    assert!(grown < 200, "{grown} MB for 800 MB that were sent, with a bound of 32 MB");
    drop(streams);
    assert!(eventually(|| server.metric("novelo_bodies_bytes") == 0));
}

#[test]
fn imports_count_with_the_line_that_they_hold() {
    let server = Home::new().serve_with(&[BOUND]);
    let mut streams: Vec<_> = (0..3)
        .map(|_| {
            let mut stream = server.connect().unwrap();
            stream.write_all(&server.head("POST", "/v1/import", 1 << 40)).unwrap();
            stream
        })
        .collect();
    let line = vec![b'x'; 12 * 1024 * 1024];
    for (streams_before, stream) in streams.iter_mut().enumerate() {
        // The one that is refused is closed while it sends.
        drop(stream.write_all(&line));
        // The bytes of a stream are counted before the next one sends, so that just the last is one too many.
        let held = ((streams_before.min(1) + 1) * line.len()) as u64;
        assert!(eventually(|| server.metric("novelo_bodies_bytes") >= held));
    }
    assert!(eventually(|| server.metric("novelo_bodies_bytes") <= 33_554_432));
    let mut refused = 0;
    for stream in &mut streams {
        stream.set_read_timeout(Some(std::time::Duration::from_millis(500))).unwrap();
        let mut back = [0; 4096];
        let count = stream.read(&mut back).unwrap_or(0);
        refused += usize::from(String::from_utf8_lossy(&back[..count]).contains("http.bodies_bytes"));
    }
    assert_eq!(refused, 1, "two of them fit");
}

#[test]
fn the_bound_must_let_the_largest_body_in() {
    let home = Home::new();
    let ran = crate::support::Ran::of(home.command(&["config"]).env("NOVELO_HTTP_BODIES_BYTES", "33554431"));
    ran.failed(&["http.bodies_bytes must be at least 33554432", "NOVELO_HTTP_BODIES_BYTES"]);
}

#[test]
fn a_bare_lf_ends_no_line_of_a_head() {
    let server = Server::start();
    let status = |bytes: &str| String::from_utf8_lossy(&server.raw(bytes.as_bytes())).lines().next().map(str::to_owned);
    let bad = Some("HTTP/1.1 400 Bad Request".to_owned());
    assert_eq!(status("GET /health/live HTTP/1.1\nhost: 127.0.0.1\nconnection: close\n\n"), bad);
    assert_eq!(status("GET /health/live HTTP/1.1\r\nhost: 127.0.0.1\nconnection: close\r\n\r\n"), bad);
    assert_eq!(status("GET /health/live HTTP/1.1\r\nhost: 127.0.0.1\r\n\n"), bad);

    let good = "POST /v1/users/u/threads/t/turns HTTP/1.1\r\nhost: ADDR\r\ncontent-length: LENGTH\r\n\r\nBODY";
    let body = "{\n\"messages\":\n[{\"role\":\"user\",\n\"content\":\"x\"}]\n}\n";
    let good =
        good.replace("ADDR", &server.addr.to_string()).replace("LENGTH", &body.len().to_string()).replace("BODY", body);
    let last = "GET /health/live HTTP/1.1\nhost: 127.0.0.1\nconnection: close\r\n\r\n";
    let back = String::from_utf8(server.raw((good.clone() + &good + last).as_bytes())).unwrap();
    let statuses: Vec<&str> = back.match_indices("HTTP/1.1 ").map(|(at, _)| &back[at + 9..at + 12]).collect();
    assert_eq!(statuses, ["200", "200", "400"], "each request of a connection is checked, and no body is: {back}");
    assert_eq!(server.said("u", "t"), ["x", "x"]);
}

#[test]
fn an_import_that_comes_byte_by_byte_takes_no_longer_for_that() {
    let server = Server::start();
    let text = "y".repeat(400_000);
    server.append("u", "long", &[says("user", &text)]);
    let exported = server.get("/v1/export").text();
    let started = Instant::now();
    let mut stream = server.connect().unwrap();
    let head = "POST /v1/import HTTP/1.1\r\nhost: ADDR\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n";
    stream.write_all(head.replace("ADDR", &server.addr.to_string()).as_bytes()).unwrap();
    // A chunk for each byte, many in a write: the server sees them one by one.
    let chunks: Vec<u8> = exported.bytes().flat_map(|byte| [b'1', b'\r', b'\n', byte, b'\r', b'\n']).collect();
    stream.write_all(&chunks).unwrap();
    stream.write_all(b"0\r\n\r\n").unwrap();
    let mut back = String::new();
    stream.read_to_string(&mut back).unwrap();
    assert!(back.starts_with("HTTP/1.1 200"), "{back}");
    assert!(started.elapsed().as_secs() < 30, "{:?}", started.elapsed());
}
