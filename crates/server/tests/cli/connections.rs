//! Connections that do nothing stop neither writes nor other clients.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use novelo_engine::limits::HEADER_WAIT_S_MAX;

use crate::support::{Home, Server, json, says, thread};

/// Connections that send nothing, and connections that were used once and are kept.
fn idle(server: &Server, silent: usize, used: usize) -> Vec<TcpStream> {
    let mut idle: Vec<_> = (0..silent).map(|_| server.connect().unwrap()).collect();
    for _ in 0..used {
        let mut stream = server.connect().unwrap();
        let request = format!("GET /health/live HTTP/1.1\r\nhost: {}\r\n\r\n", server.addr);
        stream.write_all(request.as_bytes()).unwrap();
        let mut back = [0; 1024];
        let count = stream.read(&mut back).unwrap();
        assert!(back[..count].starts_with(b"HTTP/1.1 200"));
        idle.push(stream);
    }
    idle
}

fn max(server: &Server) -> u64 {
    server.get("/health/ready").ok()["connections"]["max"].as_u64().unwrap()
}

#[test]
fn idle_connections_stop_neither_writes_nor_requests() {
    let server = Home::new().serve_with_files(256, 256);
    assert_eq!(max(&server), 128, "half of the descriptors are for the store and for other servers");
    let started = Instant::now();
    // More than the process may have descriptors.
    let held = idle(&server, 200, 200);
    for n in 0..50 {
        server.say("u", "t", &[&format!("turn {n}")]);
    }
    let limit = Duration::from_secs(HEADER_WAIT_S_MAX as u64);
    assert!(started.elapsed() < limit, "they were closed for others, not by their own time limit");
    assert_eq!(server.said("u", "t").len(), 50);
    assert!(server.metric("novelo_connections_evicted_total") >= 272, "400 and 128");
    assert!(server.metric("novelo_connections_open") <= 128);
    drop(held);
    server.say("u", "t", &["afterwards"]);
}

#[test]
fn a_connection_at_work_is_not_closed_for_another() {
    let server = Home::new().serve_with_files(256, 256);
    let body = json!({"messages": [says("user", "slow")]}).to_string();
    let mut slow: Vec<_> = (0..20)
        .map(|_| {
            let mut stream = server.connect().unwrap();
            stream.write_all(&server.head("POST", &thread("u", "t", "/turns"), body.len())).unwrap();
            stream.write_all(&body.as_bytes()[..10]).unwrap();
            stream
        })
        .collect();
    // Answered on a later connection, so that the others were taken up before.
    server.get("/health/live").ok();
    let held = idle(&server, 150, 150);
    assert!(server.metric("novelo_connections_evicted_total") > 0);
    for stream in &mut slow {
        stream.write_all(&body.as_bytes()[10..]).unwrap();
        let mut back = String::new();
        stream.read_to_string(&mut back).unwrap();
        assert!(back.starts_with("HTTP/1.1 200"), "{back}");
    }
    assert_eq!(server.said("u", "t").len(), 20);
    drop(held);
}

#[test]
fn the_soft_limit_is_raised_to_the_hard_one() {
    let server = Home::new().serve_with_files(64, 600);
    assert_eq!(max(&server), 300);
}
