//! Which user and which thread a request means, and that every answer says so.

use super::{AT, in_thread, serve};
use crate::support::models::{Act, Models};
use crate::support::stream::Stream;
use crate::support::{Client, Home, Value, json, says};

fn hi(more: Value) -> Value {
    let mut body = json!({"messages": [says("user", "Hi")]});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

#[track_caller]
fn check(client: &Client, body: Value, thread: &str) {
    let answer = client.post(AT, &body);
    assert_eq!((answer.status, answer.header("x-novelo-thread")), (200, Some(thread)), "{body}: {}", answer.text());
}

#[test]
fn every_answer_says_which_thread_was_used() {
    let models = Models::start();
    let server = serve(&models);
    check(&server, hi(json!({"user": "ana"})), "none");
    check(&server.with("x-novelo-tread", "t"), hi(json!({"user": "ana"})), "none");
    check(&in_thread(&server, "a%2Fb"), hi(json!({"user": "ana"})), "a%2Fb");
    assert_eq!(server.said("ana", "a/b"), ["Hi", "Hello there."]);
    check(&server, hi(json!({"user": "ana", "metadata": {"thread_id": "a/b", "x": "1"}})), "a%2Fb");
    assert_eq!(models.asked()[3].body["metadata"], json!({"x": "1"}), "the rest of it is the model's");
    check(&in_thread(&server, "h"), hi(json!({"user": "ana", "metadata": {"thread_id": "m"}})), "h");
    assert_eq!(models.asked()[4].body.get("metadata"), None);
    check(&in_thread(&server, "none"), hi(json!({"user": "ana", "metadata": {"thread_id": "m"}})), "none");
    check(&in_thread(&server, "%6Eone"), hi(json!({"user": "ana"})), "%6Eone");
    assert_eq!(server.said("ana", "none").len(), 2);
    let bodies =
        [json!({"user": "ana", "metadata": {"thread_id": 7}}), json!({"user": "ana", "metadata": {"thread_id": ""}})];
    for body in bodies {
        let refused = server.post(AT, hi(body));
        refused.refused_with(422, "invalid_field", &["metadata.thread_id"]);
        assert_eq!(refused.header("x-novelo-thread"), Some("none"));
    }
    models.play([Act::Status(400, "no".into())]);
    let failed = in_thread(&server, "t").post(AT, hi(json!({"user": "ana"})));
    assert_eq!((failed.status, failed.header("x-novelo-thread")), (400, Some("t")), "the question is stored");
    let threads = server.get("/v1/users/ana/threads").ok();
    assert_eq!(threads["threads"].as_array().unwrap().len(), 4, "{threads}");
}

#[test]
fn a_stream_says_so_too_also_when_it_is_resumed() {
    let models = Models::start();
    let server = serve(&models);
    let client = in_thread(&server, "t");
    let stream = Stream::open(&client, "POST", AT, hi(json!({"user": "ana", "stream": true})));
    assert!(stream.headers.contains("x-novelo-thread: t\r\n"), "{}", stream.headers);
    let frames = stream.rest();
    let first = &frames[0];
    assert_eq!(first.data["choices"][0]["delta"]["role"], "assistant");
    let name = first.at.rsplit_once('.').unwrap().0;
    let again = server.with("last-event-id", &format!("{name}.0")).post(AT, "");
    assert_eq!(again.header("x-novelo-thread"), Some("t"));
    assert_eq!(again.text().matches("\"role\":\"assistant\"").count(), 1, "{}", again.text());
    let later = server.with("last-event-id", &first.at).post(AT, "").text();
    assert!(!later.contains("\"role\"") && later.contains("Hello"), "{later}");
}

#[test]
fn a_user_is_named_once() {
    let models = Models::start();
    let server = serve(&models);
    let ana = server.with("x-novelo-user", "ana").with("x-novelo-thread", "t");
    check(&ana, hi(json!({})), "t");
    assert_eq!(models.asked()[0].body.get("user"), None);
    check(&ana, hi(json!({"user": "ana"})), "t");
    assert_eq!(models.asked()[1].body["user"], "ana", "it is passed on");
    let refused = ana.post(AT, hi(json!({"user": "bia"})));
    refused.refused_with(400, "contradiction", &["X-Novelo-User", "ana", "bia"]);
    in_thread(&server, "t").post(AT, hi(json!({}))).refused_with(422, "invalid_field", &["user", "X-Novelo-User"]);
    let admin = server.admin_key();
    let key = in_thread(&server.user_key(&admin, "ana"), "t");
    key.with("x-novelo-user", "bia").post(AT, hi(json!({}))).refused(403, "forbidden");
    check(&key.with("x-novelo-user", "ana"), hi(json!({})), "t");
}

#[test]
fn a_setting_gives_each_user_a_thread() {
    let models = Models::start();
    let settings = [models.talking().as_slice(), &[("NOVELO_COMPLETIONS_DEFAULT_THREAD", "user")]].concat();
    let server = Home::new().serve_with(&settings);
    check(&server, hi(json!({"user": "ana"})), "default");
    check(&server, hi(json!({"user": "bia"})), "default");
    check(&server, hi(json!({})), "none");
    check(&in_thread(&server, "none"), hi(json!({"user": "ana"})), "none");
    assert_eq!((server.said("ana", "default").len(), server.said("bia", "default").len()), (2, 2));
    assert_eq!(server.get("/v1/users/anonymous/threads").ok()["threads"], json!([]));
}
