//! A message that is sent twice, as by a double click: answered once, and stored once.

use std::time::Duration;

use crate::support::eco::{
    HEAVY, LIGHT, PATH, TIMEOUT, ask, asks, conversation, course, course_of, end, guest, open, serve, turns, whole,
    with,
};
use crate::support::models::{Act, Models, words};
use crate::support::stream::Stream;
use crate::support::{Client, Value, eventually, json, says, thread};

/// A message with an id of its client.
fn sent(of: &str, id: &str, text: &str) -> Value {
    conversation(of, "t", &[json!({"id": id, "role": "user", "content": text})])
}

fn paced() -> Act {
    Act::Paced(words(&["Um", " dois", " três."]), Duration::from_millis(150))
}

/// Sends a request from another thread of this process.
fn at_once(client: &Client, body: &Value) -> std::thread::JoinHandle<Value> {
    let (client, body) = (client.clone(), body.clone());
    std::thread::spawn(move || client.post(PATH, body).ok())
}

#[test]
fn a_double_click_joins_the_answer_in_whatever_form() {
    let models = Models::start();
    let server = serve(&models, &[]);
    models.otherwise(paced());
    let body = sent("ana", "m1", HEAVY);
    let mut first = open(&server, &body);
    let head = first.next().unwrap();
    let (second, third) = (open(&server, &body), at_once(&server, &body));
    let fourth = Stream::open(&server.with("accept", "*/*"), "POST", PATH, &body);
    let rest = first.rest();
    let done = end(&rest).clone();
    assert_eq!(done["message"], "Um dois três.");
    for joined in [second, fourth] {
        let frames = joined.rest();
        assert_eq!((&frames[0], &frames[1..]), (&head, &rest[..]), "the same events, from the beginning");
    }
    assert_eq!(third.join().unwrap(), done);
    assert_eq!(models.asked().len(), 1);
    assert_eq!(turns(&server, "ana", "t").len(), 2);
    let again = server.post(PATH, &body);
    let told = again.ok();
    assert_eq!((&told["message"], &told["cache"]), (&done["message"], &json!(true)), "also after the end");
    assert_eq!((models.asked().len(), turns(&server, "ana", "t").len()), (1, 2));
}

#[test]
fn clicks_at_the_very_same_time_are_one() {
    let models = Models::start();
    let server = serve(&models, &[]);
    models.otherwise(paced());
    let body = sent("ana", "m1", HEAVY);
    let clicks: Vec<_> = (0..8).map(|_| at_once(&server, &body)).collect();
    let answers: Vec<Value> = clicks.into_iter().map(|click| click.join().unwrap()["message"].clone()).collect();
    assert!(answers.iter().all(|answer| answer == "Um dois três."), "{answers:?}");
    assert_eq!((models.asked().len(), turns(&server, "ana", "t").len()), (1, 2));
}

#[test]
fn clicks_without_an_id_are_one_while_the_answer_is_made() {
    let models = Models::start();
    let server = serve(&models, &[("NOVELO_ECO_CACHE_SECONDS", "0")]);
    models.otherwise(paced());
    let body = conversation("ana", "t", &[json!({"role": "user", "content": HEAVY})]);
    let clicks: Vec<_> = (0..4).map(|_| open(&server, &body)).collect();
    let answers: Vec<Value> = clicks.into_iter().map(|click| end(&click.rest())["message"].clone()).collect();
    assert!(answers.iter().all(|answer| answer == "Um dois três."), "{answers:?}");
    assert_eq!((models.asked().len(), turns(&server, "ana", "t").len()), (1, 2));
    assert_eq!(ask(&server, &body)["cache"], false, "said again after the end, it is another message");
    assert_eq!((models.asked().len(), turns(&server, "ana", "t").len()), (2, 4));
}

#[test]
fn a_repeat_is_answered_as_before_also_later_and_after_a_restart() {
    let models = Models::start();
    let server = serve(&models, &[("NOVELO_ECO_CACHE_SECONDS", "0")]);
    models.play([whole("Um."), whole("Dois."), whole("Três.")]);
    let (first, second) = (sent("ana", "m1", LIGHT), sent("ana", "m2", "Conta mais"));
    assert_eq!(ask(&server, &first)["message"], "Um.");
    assert_eq!(ask(&server, &second)["message"], "Dois.");
    let late = server.post(PATH, &first);
    assert_eq!((&late.ok()["message"], &late.ok()["cache"]), (&json!("Um."), &json!(true)), "the thread moved on");
    let course = course(&server, &course_of(&late));
    let marks = course["heuristics"].as_array().unwrap();
    assert!(marks.iter().any(|mark| mark["name"] == "repeated"), "{course}");
    let server =
        server.kill().serve_with(&[models.talking().as_slice(), &[("NOVELO_ECO_CACHE_SECONDS", "0")]].concat());
    assert_eq!(ask(&server, &first)["message"], "Um.");
    assert_eq!(turns(&server, "ana", "t").len(), 4);
    // Other words under the id are another message, and so is the id in another thread.
    assert_eq!(ask(&server, &sent("ana", "m1", "Conta outra coisa"))["message"], "Três.");
    assert_eq!(ask(&server, &with(first.clone(), "sessionMeta", json!({"sessionId": "u"})))["cache"], false);
    assert_eq!(models.asked().len(), 4);
}

#[test]
fn what_failed_or_was_edited_or_forgotten_is_answered_anew() {
    let models = Models::start();
    let server = serve(&models, &[("NOVELO_ECO_CACHE_SECONDS", "0")]);
    models.play([Act::Status(400, "no".into()), whole("Um."), whole("Dois."), whole("Três.")]);
    let body = sent("ana", "m1", LIGHT);
    assert_eq!(ask(&server, &body)["message"], TIMEOUT);
    assert_eq!(ask(&server, &body)["message"], "Um.", "a failure is not given again");
    assert_eq!(turns(&server, "ana", "t").len(), 2, "the question is stored once");
    assert_eq!(ask(&server, &body)["message"], "Um.");
    let id = server.get(&thread("ana", "t", "/turns")).ok()["turns"][1]["id"].as_str().unwrap().to_owned();
    server.put(&format!("/v1/docs/users/ana/convo.sessions/t/messages/{id}"), says("assistant", "Outra.")).ok();
    assert_eq!(ask(&server, &body)["message"], "Dois.", "its answer was edited");
    server.delete(&thread("ana", "t", "")).ok();
    assert_eq!(ask(&server, &body)["message"], "Três.");
}

#[test]
fn a_key_stands_for_one_request() {
    let models = Models::start();
    let server = serve(&models, &[]);
    models.play([whole("Um."), whole("Dois.")]);
    let keyed = |key: &str| server.with("idempotency-key", key);
    assert_eq!(ask(&keyed("k1"), &asks("ana", "t", LIGHT))["message"], "Um.");
    assert_eq!(ask(&keyed("k1"), &asks("ana", "t", LIGHT))["message"], "Um.");
    let refused = keyed("k1").post(PATH, asks("ana", "t", "Conta outra")).refused(409, "conflict");
    assert_eq!(refused["param"], "Idempotency-Key");
    assert_eq!(ask(&keyed("k2"), &asks("ana", "t", "Conta outra"))["message"], "Dois.");
    let refused = keyed(&"x".repeat(257)).post(PATH, asks("ana", "t", LIGHT)).refused(422, "invalid_field");
    assert_eq!(refused["param"], "Idempotency-Key");
    assert_eq!(turns(&server, "ana", "t").len(), 4);
}

#[test]
fn an_answer_is_joined_also_where_the_first_client_left() {
    let models = Models::start();
    let server = serve(&models, &[]);
    models.play([paced()]);
    let body = sent("ana", "m1", HEAVY);
    let mut first = server.connect().unwrap();
    let request = [server.head("POST", PATH, body.to_string().len()), body.to_string().into_bytes()].concat();
    std::io::Write::write_all(&mut first, &request).unwrap();
    assert!(eventually(|| models.asked().len() == 1));
    drop(first);
    assert_eq!(ask(&server, &body)["message"], "Um dois três.");
    assert_eq!((models.asked().len(), turns(&server, "ana", "t").len()), (1, 2));
}

#[test]
fn a_double_click_of_a_guest_counts_once() {
    let models = Models::start();
    let server = serve(&models, &[("NOVELO_ECO_GUEST_MAX", "1")]);
    models.otherwise(paced());
    let body = with(guest("g", HEAVY), "messages", json!([{"id": "m1", "role": "user", "content": HEAVY}]));
    let mut first = open(&server, &body);
    first.next().unwrap();
    assert_eq!(end(&open(&server, &body).rest())["message"], "Um dois três.");
    first.rest();
    server.post(PATH, guest("g", LIGHT)).refused(429, "rate_limited");
}
