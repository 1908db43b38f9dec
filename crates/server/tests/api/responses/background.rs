//! Responses that are made in the background, cancelled, or lost with their process.

use super::{AT, ask, ask_after, id, serve, text};
use crate::support::models::{Act, Models, words};
use crate::support::stream::Stream;
use crate::support::{eventually, json};

#[test]
fn a_background_response_is_read_when_it_is_ready() {
    let models = Models::start();
    let server = serve(&models);
    let ana = server.with("x-novelo-user", "ana");
    let mut body = ask("Hi");
    body["background"] = true.into();
    let queued = server.post(AT, &body).ok();
    assert_eq!((&queued["status"], &queued["background"]), (&json!("queued"), &json!(true)));
    let at = format!("{AT}/{}", id(&queued));
    assert!(eventually(|| ana.get(&at).ok()["status"] == "completed"));
    assert_eq!(text(&ana.get(&at).ok()), "Hello there.");
    let frames = Stream::open(&ana, "GET", &format!("{at}?stream=true"), "").rest();
    assert_eq!(frames.last().unwrap().data["response"], ana.get(&at).ok());
    assert_eq!(ana.post(&format!("{at}/cancel"), "").ok()["status"], "completed", "what has ended stays as it is");
}

#[test]
fn a_background_response_is_cancelled() {
    let models = Models::start();
    let server = serve(&models);
    let ana = server.with("x-novelo-user", "ana");
    models.play([Act::StallsAfter(2, words(&["Once", " upon"]))]);
    let mut body = ask("Tell!");
    body["background"] = true.into();
    body["stream"] = true.into();
    let mut stream = Stream::open(&server, "POST", AT, &body);
    let made = stream.next().unwrap().data["response"].clone();
    while stream.next().unwrap().event != "response.output_text.delta" {}
    let at = format!("{AT}/{}", id(&made));
    assert_eq!(ana.get(&at).ok()["status"], "in_progress");
    server.post(AT, ask_after(&id(&made), "x")).refused(400, "invalid_value");
    let cancelled = ana.post(&format!("{at}/cancel"), "").ok();
    assert_eq!(cancelled["status"], "cancelled");
    assert!(text(&cancelled).starts_with("Once"));
    assert_eq!(cancelled["output"][0]["status"], "incomplete");
    assert_eq!(stream.rest().last().unwrap().data["response"]["status"], "cancelled");
    let made = server.post(AT, ask("Hi")).ok();
    ana.post(&format!("{AT}/{}/cancel", id(&made)), "").refused(400, "invalid_value");
}

#[test]
fn a_response_that_was_lost_with_its_process_has_failed() {
    let models = Models::start();
    let server = serve(&models);
    models.play([Act::Hangs]);
    let mut body = ask("Tell!");
    body["background"] = true.into();
    let queued = id(&server.post(AT, &body).ok());
    assert!(eventually(|| !models.asked().is_empty()));
    let server = server.kill().serve_with(&models.talking());
    let ana = server.with("x-novelo-user", "ana");
    let read = ana.get(&format!("{AT}/{queued}")).ok();
    assert_eq!((&read["status"], &read["error"]["code"]), (&json!("failed"), &json!("server_error")));
    server.post(AT, ask_after(&queued, "x")).refused(400, "invalid_value");
}
