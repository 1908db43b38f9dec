//! `novelo bench load`, against a real server, one that stalls, and none.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a panic is how a test fails")]

#[path = "../../server/tests/support/mod.rs"]
mod support;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use novelo_conversation::app;
use novelo_conversation::settings::Settings;
use novelo_server::router;
use novelo_server::server::Server;

use crate::support::Home;
use crate::support::client::Client;

/// A server in this process, on a store in memory.
async fn serve() -> Client {
    let (app, _) = app::open(Settings::in_memory()).await.unwrap();
    let server = Server::new(app).await.unwrap();
    let listener = router::bind(&server, ([127, 0, 0, 1], 0).into()).await.unwrap();
    let addr = listener.local_addr().unwrap();
    let connections = server.connections.clone();
    tokio::spawn(novelo_server::http::serve(router::router(server), listener, connections, std::future::pending()));
    Client::new(addr)
}

#[tokio::test(flavor = "multi_thread")]
async fn turns_are_counted_and_their_users_forgotten() {
    let client = serve().await;
    let url = format!("http://{}", client.addr);
    let has_users = || client.get("/v1/export").text().contains("load-");
    for work in ["turn", "context"] {
        let args = ["bench", "load", "--url", &url, "--rate", "40", "--seconds", "1", "--users", "7", "--work", work];
        let report = Home::new().run(&[&args[..], &["--json"]].concat()).json();
        assert_eq!((report["turns"].as_u64(), report["failed"].as_u64()), (Some(40), Some(0)), "{report}");
        assert!(report["response_ms"]["p50"].as_f64() >= report["service_ms"]["p50"].as_f64(), "{report}");
        assert!(!has_users());
    }
    let args = ["bench", "load", "--url", &url, "--rate", "40", "--seconds", "0.1", "--keep"];
    assert!(Home::new().done(&args).contains("40 turns/s asked for"));
    assert!(has_users());
}

/// Answers each request, but none within a second of the first that is not about health.
fn answer_late(mut stream: TcpStream) {
    static STALLED_UNTIL: OnceLock<Instant> = OnceLock::new();
    let mut buffer = [0; 16 * 1024];
    while let Ok(read @ 1..) = stream.read(&mut buffer) {
        if !String::from_utf8_lossy(&buffer[..read]).contains("/health/") {
            let until = STALLED_UNTIL.get_or_init(|| Instant::now() + Duration::from_secs(1));
            std::thread::sleep(until.saturating_duration_since(Instant::now()));
        }
        if stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}").is_err() {
            return;
        }
    }
}

#[test]
fn a_stall_is_charged_to_every_turn_that_waits_for_it() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            std::thread::spawn(move || answer_late(stream.unwrap()));
        }
    });
    let home = Home::new();
    let args = ["bench", "load", "--url", &url, "--rate", "50", "--seconds", "1", "--connections", "1", "--json"];
    let report = home.run(&args).json();
    // One turn at a time: the first waits for a second, and all that were due in it wait for the first.
    assert_eq!(report["turns"], 50, "{report}");
    assert!(report["response_ms"]["p50"].as_f64().unwrap() > 250.0, "{report}");
}

#[test]
fn a_server_that_is_not_there_and_a_rate_of_nothing_are_named() {
    let home = Home::new();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{free}");
    home.run(&["bench", "load", "--url", &url, "--rate", "10"]).failed(&[&url, "cannot be reached"]);
    home.run(&["bench", "load", "--url", &url, "--rate", "0"]).failed(&["--rate must be above 0"]);
    home.run(&["bench", "load", "--url", &url, "--rate", "1", "--users", "0"]).failed(&["--users"]);
    assert!(home.run(&["bench", "load"]).err.contains("--rate <RATE>"));
}
