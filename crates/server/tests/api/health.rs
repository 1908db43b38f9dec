//! What the server says about itself, and request ids.

use crate::support::{Home, Server, json, says, thread};

#[test]
fn health_says_that_it_lives_and_would_write() {
    let server = Server::start();
    assert_eq!(server.get("/health/live").ok(), json!({"status": "ok"}));
    let ready = server.get("/health/ready").ok();
    assert_eq!((&ready["status"], &ready["broken_policies"]), (&json!("ok"), &json!(0)));
    assert_eq!(ready["presets"], json!(["chat", "agent", "stable", "thread", "TopicContext"]));
    assert_eq!(ready["embedder"], "none");
    assert_eq!(ready["version"], env!("CARGO_PKG_VERSION"));
    let page = server.get("/");
    assert!(page.status == 200 && page.header("content-type").unwrap().starts_with("text/html"));
}

#[test]
fn metrics_count_what_was_done() {
    let server = Server::start();
    server.say("u", "t", &["a", "b", "c"]);
    server.context(json!({"user": "u", "thread": "t"}));
    server.get("/nowhere").refused(404, "not_found");
    assert_eq!(server.metric("novelo_turns_appended_total"), 3);
    assert_eq!(server.metric("novelo_contexts_total"), 1);
    assert_eq!(server.metric("novelo_store_writable"), 1);
    assert!(server.metric("novelo_store_hot_bytes") > 0);
    let requests =
        |route: &str, status: u16| format!("novelo_http_requests_total{{route=\"{route}\",status=\"{status}\"}}");
    assert_eq!(server.metric(&requests("/v1/context", 200)), 1);
    assert_eq!(server.metric(&requests("/v1/users/{user}/threads/{thread}/turns", 200)), 1);
    assert_eq!(server.metric(&requests("unknown", 404)), 1);
    let counted = server.metric("novelo_http_request_seconds_count");
    assert_eq!(server.metric("novelo_http_request_seconds_bucket{le=\"+Inf\"}"), counted + 1);
    let page = server.get("/metrics");
    assert_eq!(page.header("content-type"), Some("text/plain; version=0.0.4"));
    assert!(page.text().contains("# TYPE novelo_http_request_seconds histogram\n"));
}

#[test]
fn a_request_id_is_given_back_or_made() {
    let server = Server::start();
    let id =
        |given: &str| server.with("x-request-id", given).get("/health/live").header("x-request-id").map(str::to_owned);
    assert_eq!(id("mine-1").as_deref(), Some("mine-1"));
    assert_eq!(id(&"x".repeat(128)), Some("x".repeat(128)));
    let made = id(&"x".repeat(129)).unwrap();
    assert!(made.len() == 32 && made.bytes().all(|byte| byte.is_ascii_hexdigit()), "{made}");
    let refused = server.get("/nowhere");
    assert_eq!(refused.header("x-request-id").unwrap().len(), 32, "also on a refusal");
    assert_ne!(refused.header("x-request-id"), server.get("/nowhere").header("x-request-id"));
}

#[test]
fn a_log_line_has_the_request_id() {
    let server = Home::new().serve_with(&[("NOVELO_LOG_LEVEL", "info"), ("NOVELO_LOG_FORMAT", "json")]);
    server.with("x-request-id", "find-me").get("/health/live").ok();
    let log = || std::fs::read_to_string(server.home.path("stderr.log")).unwrap();
    // Lines of requests go out together, a moment later.
    assert!(crate::support::eventually(|| log().lines().any(|line| line.contains("find-me") && line.ends_with('}'))));
    let log = log();
    let line = log.lines().find(|line| line.contains("find-me")).unwrap();
    let line: serde_json::Value = serde_json::from_str(line).unwrap();
    assert_eq!(
        (&line["route"], &line["status"], &line["request_id"]),
        (&json!("/health/live"), &json!(200), &json!("find-me"))
    );
}

#[test]
fn a_full_disk_refuses_writes_and_reads_go_on() {
    let server = Server::start();
    server.say("u", "t", &["before"]);
    let home = server.kill();
    let server = home.serve_with(&[("NOVELO_FREE_BYTES_MIN", "18446744073709551615")]);
    let append = json!({"messages": [says("user", "after")]});
    let refused = server.post(&thread("u", "t", "/turns"), append);
    refused.refused_with(507, "disk_full", &["full"]);
    assert_eq!(refused.header("retry-after"), Some("1"));
    server.put("/v1/docs/users/u/notes/n", "1").refused(507, "disk_full");
    server.delete("/v1/docs/users/u/convo.sessions/t/messages/x").refused(404, "not_found");
    assert_eq!(server.said("u", "t"), ["before"]);
    let made = server.context(json!({"user": "u", "thread": "t", "question": "still?"}));
    assert_eq!(made["messages"].as_array().unwrap().len(), 2, "a context needs no room");
    let server = server.restart();
    server.say("u", "t", &["there is room again"]);
    assert_eq!(server.said("u", "t").len(), 2);
}
