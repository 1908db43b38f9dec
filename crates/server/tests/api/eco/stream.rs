//! Answers as they come: the order of events, what the end says, and clients who leave.

use std::time::Duration;

use crate::support::eco::{
    HEAVY, LIGHT, NONE, ask, asks, end, events, heard, memories, open, serve, text, turns, with,
};
use crate::support::embeddings::{Embeddings, Manner};
use crate::support::models::{Act, Models, words};
use crate::support::stream::Frame;
use crate::support::{Server, eventually, json, says};

/// The events without those that repeat the one before.
fn order(frames: &[Frame]) -> Vec<&str> {
    let mut names = events(frames);
    names.dedup();
    names
}

#[test]
fn events_come_in_their_order() {
    let models = Models::start();
    let server = serve(&models, &[]);
    let frames = heard(&server, &asks("ana", "t", LIGHT));
    assert_eq!(order(&frames), ["prompt_ready", "first_token", "chunk", "latency", "done"]);
    let done = end(&frames);
    assert_eq!((&done["message"], &done["modelo"]), (&json!("Hello there."), &json!("tiny")));
    assert_eq!((&done["cache"], &done["fallback"]), (&json!(false), &json!(false)));
    assert_eq!((&done["meta"]["mode"], done["meta"].get("reason")), (&json!("stream"), None));
    assert_eq!((&done["meta"]["vivaAtivo"], &done["meta"]["vivaSteps"]), (&json!(false), &json!([])));
    let latency = &frames.iter().find(|frame| frame.event == "latency").unwrap().data;
    let (first, last) = (latency["ttfbMs"].as_f64().unwrap(), latency["ttlcMs"].as_f64().unwrap());
    assert!(0.0 < first && first <= last, "{latency}");

    let frames = heard(&server, &asks("ana", "t", HEAVY));
    assert_eq!(order(&frames), ["prompt_ready", "first_token", "chunk", "latency", "meta_pending", "done"]);
    let meta = &end(&frames)["meta"];
    assert_eq!((&meta["nivel"], &meta["vivaSteps"]), (&json!(2), &json!(["V", "I", "A"])));
    assert_eq!((&meta["saveMemory"], &meta["vivaAtivo"]), (&json!(true), &json!(true)));
    assert_eq!(end(&frames)["intensidade"], json!(8.0));
    let sent: Vec<bool> = models.asked().iter().map(|asked| asked.body["stream"].as_bool().unwrap()).collect();
    assert_eq!(sent, [true, true]);
}

#[test]
fn ids_name_the_reply_and_number_its_events() {
    let models = Models::start();
    let server = serve(&models, &[]);
    let stream = open(&server, &asks("ana", "t", LIGHT));
    assert!(stream.headers.contains("content-type: text/event-stream"), "{}", stream.headers);
    assert!(stream.headers.contains("\nx-eco-trace-id: "), "{}", stream.headers);
    let frames = stream.rest();
    let name = frames[0].at.strip_suffix(".1").unwrap();
    assert!(frames.iter().all(|frame| frame.at == format!("{name}.{}", frame.id)), "{frames:?}");
    assert!(frames.iter().map(|frame| frame.id).eq(1..=frames.len() as u64), "{frames:?}");
}

#[test]
fn a_client_is_told_that_the_prompt_is_ready_before_it_is() {
    let models = Models::start();
    let embeddings = Embeddings::start();
    let settings = [embeddings.settings().as_slice(), &[("NOVELO_EMBEDDING_TIMEOUT_MS", "900")]].concat();
    let server = serve(&models, &settings);
    embeddings.behave(Manner::Slowly);
    for (at_once, of) in [(false, "ana"), (true, "bia")] {
        let frames = heard(&server, &with(asks(of, "t", HEAVY), "promptReadyImmediate", at_once));
        let since = frames[0].data["sinceStartMs"].as_f64().unwrap();
        assert_eq!((frames[0].event.as_str(), since < 600.0), ("prompt_ready", at_once), "{since} ms");
        assert_eq!(events(&frames).iter().filter(|name| **name == "prompt_ready").count(), 1);
        end(&frames);
    }
}

#[test]
fn a_header_asks_for_a_stream_too_unless_the_body_says_no() {
    let models = Models::start();
    let server = serve(&models, &[]);
    let asking = server.with("accept", "text/event-stream");
    let kind = |body| asking.post("/ask-eco", body).header("content-type").unwrap().to_owned();
    assert_eq!(kind(asks("ana", "a", LIGHT)), "text/event-stream");
    assert_eq!(kind(with(asks("ana", "b", LIGHT), "stream", false)), "application/json");
}

#[test]
fn a_model_that_is_slow_but_never_silent_is_waited_for() {
    let models = Models::start();
    let server = serve(&models, &[("NOVELO_MODELS_ANSWER_TIMEOUT_MS", "900")]);
    models.play([Act::Paced(words(&["Um", " dois", " três", " quatro", " cinco"]), Duration::from_millis(300))]);
    let frames = heard(&server, &asks("ana", "t", HEAVY));
    let done = end(&frames);
    assert_eq!((&done["message"], &done["fallback"]), (&json!("Um dois três quatro cinco"), &json!(false)));
    assert_eq!(models.asked().len(), 1);
    assert_eq!(memories(&server, "ana").len(), 1);
}

/// Begins a long answer, and leaves after its first words.
fn leave(server: &Server, models: &Models) -> String {
    models.play([Act::Paced(words(&["w"; 600]), Duration::from_millis(20))]);
    let mut stream = open(server, &asks("ana", "t", HEAVY));
    let mut seen = Vec::new();
    while text(&seen).len() < 3 {
        seen.push(stream.next().unwrap());
    }
    text(&seen)
}

#[test]
fn who_leaves_for_good_ends_the_call_and_what_was_said_is_marked() {
    let models = Models::start();
    let server = serve(&models, &[("NOVELO_REPLIES_PATIENCE_MS", "100")]);
    let seen = leave(&server, &models);
    assert!(eventually(|| models.hangups().len() == 1), "the model goes on talking to nobody");
    assert!(eventually(|| turns(&server, "ana", "t").len() == 2));
    let kept = turns(&server, "ana", "t")[1].clone();
    assert_eq!(kept["partial"], "client_left");
    assert!(kept["content"].as_str().unwrap().starts_with(&seen), "{kept}");
    assert_eq!(memories(&server, "ana"), NONE, "half an answer is no reason to remember");
    let traces = || server.get("/v1/docs/users/ana/convo.sessions/t/traces").ok()["documents"].to_string();
    assert!(eventually(|| traces().contains(r#""stage":"client_left""#)), "{}", traces());
    let again = ask(&server, &asks("ana", "t", HEAVY));
    assert_eq!((&again["cache"], &again["message"]), (&json!(false), &json!("Hello there.")));
}

#[test]
fn a_client_that_wants_all_at_once_and_leaves_ends_the_call_at_once() {
    let models = Models::start();
    let server = serve(&models, &[]);
    models.play([Act::Paced(words(&["w"; 600]), Duration::from_millis(20))]);
    let body = asks("ana", "t", HEAVY).to_string();
    let mut stream = server.connect().unwrap();
    let request = [server.head("POST", "/ask-eco", body.len()), body.into_bytes()].concat();
    std::io::Write::write_all(&mut stream, &request).unwrap();
    assert!(eventually(|| models.asked().len() == 1));
    drop(stream);
    assert!(eventually(|| models.hangups().len() == 1));
    assert!(eventually(|| !turns(&server, "ana", "t").is_empty()));
    assert_eq!(turns(&server, "ana", "t")[0], says("user", HEAVY));
}

#[test]
fn a_client_that_says_nothing_of_what_it_accepts_gets_events() {
    let models = Models::start();
    let server = serve(&models, &[]);
    let body = asks("ana", "t", HEAVY).to_string();
    let head = format!("host: {}\r\nconnection: close\r\ncontent-length: {}", server.addr, body.len());
    let mut stream = server.connect().unwrap();
    std::io::Write::write_all(&mut stream, format!("POST /ask-eco HTTP/1.1\r\n{head}\r\n\r\n{body}").as_bytes())
        .unwrap();
    let mut answer = String::new();
    std::io::Read::read_to_string(&mut stream, &mut answer).unwrap();
    assert!(answer.contains("content-type: text/event-stream"), "{answer}");
    let chunks: Vec<&str> = answer.lines().filter(|line| *line == "event: chunk").collect();
    assert_eq!((chunks.len(), answer.matches("event: done").count()), (1, 1), "{answer}");
    assert!(answer.contains(r#""delta":"Hello there.""#) && answer.contains(r#""mode":"full""#), "{answer}");
}

#[test]
fn a_server_that_stops_keeps_what_was_said() {
    let models = Models::start();
    let server = serve(&models, &[]);
    models.play([Act::Paced(words(&["w"; 6_000]), Duration::from_millis(20))]);
    let mut stream = open(&server, &asks("ana", "t", HEAVY));
    while stream.next().unwrap().event != "chunk" {}
    server.signal("TERM");
    let frames = stream.rest();
    let done = &frames.last().unwrap().data;
    assert_eq!(
        (frames.last().unwrap().event.as_str(), &done["meta"]["reason"]),
        ("done", &json!("server_stopped")),
        "{done}"
    );
    let (status, home) = server.ended();
    assert_eq!(status.code(), Some(0));
    let server = home.serve();
    assert_eq!(turns(&server, "ana", "t")[1]["partial"], "server_stopped");
    assert_eq!(memories(&server, "ana"), NONE);
}

#[test]
fn who_left_before_the_server_stopped_has_left() {
    let models = Models::start();
    let server = serve(&models, &[("NOVELO_REPLIES_PATIENCE_MS", "60000")]);
    let before = server.open_connections();
    let seen = leave(&server, &models);
    assert!(eventually(|| server.open_connections() == before), "the server notices that the client has left");
    server.signal("TERM");
    let (status, home) = server.ended();
    assert_eq!(status.code(), Some(0));
    let server = home.serve();
    let kept = turns(&server, "ana", "t")[1].clone();
    assert_eq!(kept["partial"], "client_left", "{kept}");
    assert!(kept["content"].as_str().unwrap().starts_with(&seen), "{kept}");
}
