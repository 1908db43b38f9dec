//! What a model's server says when it fails reaches the client, and is not tried again for it.

use super::{AT, in_thread, serve};
use crate::support::models::{Act, Models, words};
use crate::support::{Answer, Home, Server, Value, json, says};

fn hi() -> Value {
    json!({"messages": [says("user", "Hi")]})
}

fn error(message: &str, kind: &str, code: Value) -> String {
    json!({"error": {"message": message, "type": kind, "param": null, "code": code}}).to_string()
}

fn failed(server: &Server) -> (u16, Value, Answer) {
    let answer = server.post(AT, hi());
    (answer.status, answer.json()["error"].clone(), answer)
}

#[test]
fn a_refusal_keeps_its_status_and_words_and_is_not_tried_again() {
    let models = Models::start();
    let server = serve(&models);
    for status in [400, 402, 404, 408, 409, 413, 422, 429] {
        let before = models.asked().len();
        models.play([Act::Status(status, error("not like this", "some_error", json!("some_code")))]);
        let (given, error, _) = failed(&server);
        assert_eq!((given, models.asked().len() - before), (status, 1), "{error}");
        assert_eq!(error["message"], "not like this");
        if status != 408 {
            assert_eq!((&error["type"], &error["code"]), (&json!("some_error"), &json!("some_code")), "{status}");
        }
        let streamed = json!({"messages": [says("user", "Hi")], "stream": true});
        models.play([Act::Status(status, "plain words".into())]);
        let answer = server.post(AT, streamed);
        assert_eq!((answer.status, &answer.json()["error"]["message"]), (status, &json!("plain words")));
    }
}

#[test]
fn a_server_that_limits_calls_says_when_to_come_back() {
    let models = Models::start();
    let server = serve(&models);
    let limit =
        |header: &str| Act::StatusWith(429, header.into(), error("slow down", "tokens", json!("rate_limit_exceeded")));
    models.play([limit("retry-after: 17"), limit("retry-after-ms: 1500"), limit("x-other: 1")]);
    let (status, error, answer) = failed(&server);
    assert_eq!(
        (status, &error["code"], answer.header("retry-after")),
        (429, &json!("rate_limit_exceeded"), Some("17"))
    );
    assert_eq!(failed(&server).2.header("retry-after-ms"), Some("1500"));
    assert_eq!(failed(&server).2.header("retry-after"), None, "the client knows best how long to wait");
    assert_eq!(models.asked().len(), 3);
}

#[test]
fn what_did_not_reach_a_model_is_tried_once_more() {
    let models = Models::start();
    let server = serve(&models);
    for act in [Act::Status(503, "loading".into()), Act::Status(502, "bad".into()), Act::HangsUp] {
        models.play([act]);
        server.post(AT, hi()).ok();
    }
    assert_eq!(models.asked().len(), 6);
    let unavailable = || Act::StatusWith(503, "retry-after: 30".into(), "later".into());
    models.play([unavailable()]);
    let (status, error, answer) = failed(&server);
    assert_eq!((status, &error["message"], answer.header("retry-after")), (503, &json!("later"), Some("30")));
    assert_eq!(models.asked().len(), 7, "so long a wait is the client's");
    models.play([Act::Status(500, error_of("boom")), Act::Status(504, "x".into()), Act::Status(504, "x".into())]);
    assert_eq!((failed(&server).0, models.asked().len()), (502, 8));
    assert_eq!((failed(&server).0, models.asked().len()), (504, 10), "two calls at most");
}

fn error_of(message: &str) -> String {
    error(message, "server_error", Value::Null)
}

#[test]
fn a_key_that_is_refused_is_the_operators() {
    let models = Models::start();
    let settings = [models.talking().as_slice(), &[("NOVELO_MODELS_ANSWER_KEY", "sk-operators-own-1234")]].concat();
    let server = Home::new().serve_with(&settings);
    let host = models.host();
    let said = format!(
        "Incorrect API key provided: sk-operators-own-1234 (or sk-oper*****1234) at http://{host}/v1, Bearer abcdefgh"
    );
    for status in [401, 403] {
        models.play([Act::Status(status, error(&said, "invalid_request_error", json!("invalid_api_key")))]);
        let (given, error, answer) = failed(&server);
        let message = error["message"].as_str().unwrap();
        assert_eq!((given, &error["code"]), (status, &json!("upstream_auth")));
        assert!(message.contains("not yours") && message.contains("models.answer.key"), "{message}");
        assert!(!["sk-oper", &host, "abcdefgh"].iter().any(|secret| message.contains(secret)), "{message}");
        assert_eq!(answer.header("www-authenticate"), None);
    }
    assert_eq!(models.asked().len(), 2);
}

#[test]
fn an_error_within_a_stream_is_passed_on() {
    let models = Models::start();
    let server = serve(&models);
    let streamed = json!({"messages": [says("user", "Hi")], "stream": true});
    models.play([Act::ErrorAfter(1, words(&["Well"]))]);
    let text = server.post(AT, &streamed).text();
    assert!(text.contains("the model fell over") && text.contains("\"Well\""), "{text}");
    let frame = text.lines().filter_map(|line| line.strip_prefix("data: ")).find(|data| data.contains("\"error\""));
    let error: Value = serde_json::from_str(frame.unwrap()).unwrap();
    assert_eq!((&error["error"]["type"], &error["error"]["code"]), (&json!("server_error"), &json!("model_failed")));
    let limited = r#"data: {"error":{"code":429,"message":"too many of you"}}"#;
    models.play([Act::Raw(vec![format!("{limited}\n\n").into()])]);
    let answer = server.post(AT, &streamed);
    assert_eq!((answer.status, &answer.json()["error"]["message"]), (429, &json!("too many of you")));
    assert_eq!(models.asked().len(), 2);
}

#[test]
fn a_prompt_that_stays_too_long_says_so() {
    let models = Models::start();
    let server = serve(&models);
    models.otherwise(Act::Status(
        400,
        error("maximum context length is 5 tokens", "x", json!("context_length_exceeded")),
    ));
    let answer = in_thread(&server, "t").post(AT, json!({"user": "ana", "messages": [says("user", "Hi")]}));
    answer.refused(400, "context_length_exceeded");
    let explained = server.post("/v1/context", json!({"user": "ana", "thread": "t", "explain": true})).ok();
    assert_eq!(explained["messages"][0]["content"], "Hi", "it is not the message that was refused");
}

#[test]
fn ours_have_the_same_form() {
    let models = Models::start();
    let server = serve(&models);
    let answer = server.post(AT, "{");
    assert_eq!((answer.status, &answer.json()["error"]["type"]), (400, &json!("invalid_request_error")));
    server.admin_key();
    let answer = server.post(AT, hi());
    assert_eq!((answer.status, &answer.json()["error"]["type"]), (401, &json!("authentication_error")));
    assert_eq!(answer.header("x-novelo-thread"), Some("none"));
}
