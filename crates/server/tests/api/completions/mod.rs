//! `/v1/chat/completions`: OpenAI's form, with a thread behind it or without.

mod agents;
mod errors;
mod names;
mod passing;
mod places;
mod refused;

use std::time::Duration;

use crate::support::models::{Act, Models, words};
use crate::support::{Client, Home, Server, Value, json, says};

const AT: &str = "/v1/chat/completions";

fn serve(models: &Models) -> Server {
    Home::new().serve_with(&models.talking())
}

fn in_thread(client: &Client, of: &str) -> Client {
    client.with("x-novelo-thread", of)
}

#[test]
fn without_a_thread_the_messages_are_all_there_is() {
    let models = Models::start();
    let server = serve(&models);
    let body =
        json!({"model": "answer", "messages": [says("system", "Be brief."), says("user", "Hi")], "temperature": 0.5});
    let answer = server.post(AT, &body).ok();
    assert_eq!((&answer["object"], &answer["model"]), (&json!("chat.completion"), &json!("tiny")));
    let choice = json!({"index": 0, "message": says("assistant", "Hello there."), "finish_reason": "stop"});
    assert_eq!(answer["choices"], json!([choice]));
    assert_eq!(answer["usage"], json!({"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13}));
    let asked = models.asked();
    assert_eq!((asked[0].contents(), &asked[0].body["temperature"]), (vec!["Be brief.", "Hi"], &json!(0.5)));
    assert_eq!(asked[0].body["model"], "tiny");
    assert_eq!(server.get("/v1/users/anonymous/threads").ok()["threads"], json!([]));
}

#[test]
fn a_thread_remembers_and_takes_only_what_is_new() {
    let models = Models::start();
    let server = serve(&models);
    let client = in_thread(&server, "t");
    let say = |messages: &[Value]| client.post(AT, json!({"user": "ana", "messages": messages})).ok();
    let (first, hello, second) = (says("user", "One"), says("assistant", "Hello there."), says("user", "Two"));
    say(&[says("system", "Be brief."), first.clone()]);
    say(&[first, hello.clone(), second]);
    say(&[says("user", "Three")]);
    assert_eq!(server.said("ana", "t"), ["One", "Hello there.", "Two", "Hello there.", "Three", "Hello there."]);
    let asked = models.asked();
    assert_eq!(asked[0].contents(), ["Be brief.", "One"]);
    assert_eq!(asked[2].contents(), ["One", "Hello there.", "Two", "Hello there.", "Three"]);
    client.post(AT, json!({"user": "ana", "messages": [hello]})).refused(422, "invalid_field");
}

#[test]
fn a_stream_ends_with_done() {
    let models = Models::start();
    let server = serve(&models);
    let body = json!({"messages": [says("user", "Hi")], "stream": true, "stream_options": {"include_usage": true}});
    let answer = server.post(AT, &body);
    assert!(answer.header("content-type").unwrap().starts_with("text/event-stream"));
    let text = answer.text();
    let data: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
    assert_eq!((data.len(), data.last()), (7, Some(&"[DONE]")), "{text}");
    let frames: Vec<Value> = data[..6].iter().map(|data| serde_json::from_str(data).unwrap()).collect();
    assert_eq!(frames[0]["choices"][0]["delta"], json!({"role": "assistant", "content": ""}));
    assert_eq!(frames.iter().filter(|f| f["choices"][0]["delta"].get("role").is_some()).count(), 1, "{text}");
    assert!(frames[..5].iter().all(|frame| frame.get("usage") == Some(&Value::Null)), "{text}");
    let said: String = frames.iter().filter_map(|f| f["choices"][0]["delta"]["content"].as_str()).collect();
    assert_eq!((said.as_str(), &frames[4]["choices"][0]["finish_reason"]), ("Hello there.", &json!("stop")));
    assert_eq!(frames[4]["choices"][0]["delta"], json!({}));
    assert_eq!((&frames[5]["usage"]["total_tokens"], &frames[5]["choices"]), (&json!(13), &json!([])));
}

#[test]
fn tools_are_the_callers_to_run() {
    let models = Models::start();
    let server = serve(&models);
    let client = in_thread(&server, "t");
    let tools = json!([{"type": "function", "function": {"name": "weather", "parameters": {}}}]);
    models.play([Act::Calls(vec![("weather".into(), json!({"city": "Recife"}))]), Act::says(&["Warm."])]);
    let body = json!({"user": "ana", "messages": [says("user", "Weather?")], "tools": tools});
    let answer = client.post(AT, &body).ok();
    let message = &answer["choices"][0]["message"];
    assert_eq!(answer["choices"][0]["finish_reason"], "tool_calls");
    assert_eq!(message["tool_calls"][0]["function"]["arguments"], r#"{"city":"Recife"}"#);
    let result = json!({"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": "31 degrees"});
    let answer = client.post(AT, json!({"user": "ana", "messages": [result]})).ok();
    assert_eq!(answer["choices"][0]["message"]["content"], "Warm.");
    let asked = models.asked();
    let roles: Vec<&str> =
        asked[1].body["messages"].as_array().unwrap().iter().map(|m| m["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool"]);
    assert_eq!(asked[0].body["tools"], tools);
}

#[test]
fn who_wants_a_model_is_told_when_there_is_none() {
    let server = Server::start();
    let hi = json!({"messages": [says("user", "Hi")]});
    server.post(AT, &hi).refused_with(503, "no_model", &["models.answer.url"]);
    let models = Models::start();
    let server = serve(&models);
    models.play([Act::Status(400, "no".into()), Act::Status(400, "no".into())]);
    server.post(AT, &hi).refused(400, "model_refused");
    let streamed = json!({"messages": [says("user", "Hi")], "stream": true});
    server.post(AT, &streamed).refused(400, "model_refused");
    models.play([Act::DiesAfter(1, words(&["One"])), Act::DiesAfter(1, words(&["One"]))]);
    in_thread(&server, "t")
        .post(AT, json!({"user": "u", "messages": [says("user", "Hi")]}))
        .refused(502, "model_failed");
    assert_eq!(server.said("u", "t"), ["Hi", "One"], "what was said is kept");
    let text = server.post(AT, &streamed).text();
    assert!(text.contains("model_failed") && text.ends_with("data: [DONE]\n\n"), "{text}");
}

#[test]
fn what_is_wrong_is_named() {
    let models = Models::start();
    let server = serve(&models);
    for (body, words) in [
        (json!({}), "messages"),
        (json!({"messages": []}), "messages"),
        (json!({"messages": [{"role": "wizard", "content": "x"}]}), "messages[0]"),
        (json!({"messages": [says("user", "Hi")], "n": 2}), "n must be 1"),
    ] {
        server.post(AT, &body).refused_with(422, "invalid_field", &[words]);
    }
    let client = in_thread(&server, "t");
    client.post(AT, json!({"messages": [says("user", "Hi")]})).refused_with(422, "invalid_field", &["user"]);
    let admin = server.admin_key();
    let ana = in_thread(&server.user_key(&admin, "ana"), "t");
    ana.post(AT, json!({"user": "bia", "messages": [says("user", "Hi")]})).refused(403, "forbidden");
    ana.post(AT, json!({"messages": [says("user", "Hi")]})).ok();
    assert_eq!(models.asked().len(), 1);
}

#[test]
fn an_answer_without_words_is_passed_on() {
    let models = Models::start();
    let server = serve(&models);
    models.play([Act::says(&[""])]);
    let answer = in_thread(&server, "t").post(AT, json!({"user": "ana", "messages": [says("user", "One")]})).ok();
    assert_eq!(answer.pointer("/choices/0/message/content"), Some(&json!("")), "{answer}");
    assert_eq!(answer.pointer("/choices/0/finish_reason"), Some(&json!("stop")), "{answer}");
    assert_eq!(models.asked().len(), 1, "it is not asked for again");
}

#[test]
fn what_failed_can_be_sent_again_and_is_stored_once() {
    let models = Models::start();
    let server = serve(&models);
    let client = in_thread(&server, "t");
    let say = |messages: Value| client.post(AT, json!({"user": "ana", "messages": messages}));
    models.play([Act::Status(500, "no".into())]);
    say(json!([says("user", "One")])).refused(502, "model_failed");
    models.play([Act::Slowly(Duration::from_millis(300), words(&["Hello there."]))]);
    let forgetting = std::thread::spawn({
        let client = server.client();
        move || client.delete("/v1/users/ana/threads/other").ok()
    });
    say(json!([says("user", "One")])).ok();
    forgetting.join().unwrap();
    assert_eq!(server.said("ana", "t"), ["One", "Hello there."], "another thread was forgotten meanwhile");
    say(json!([says("user", "One"), says("assistant", "Hello there. "), says("user", "Two")])).ok();
    say(json!([says("user", "One"), says("assistant", "Hello there."), says("user", "Three")])).ok();
    let said = ["One", "Hello there.", "Two", "Hello there.", "Three", "Hello there."];
    assert_eq!(server.said("ana", "t"), said, "what was edited is new, and nothing else");
    say(json!([says("user", "Three")])).ok();
    assert_eq!(server.said("ana", "t").len(), 8, "a question that was answered may be asked again");
}

#[test]
fn a_shorter_prompt_says_nothing_twice() {
    let models = Models::start();
    let server = serve(&models);
    let long = "word ".repeat(200);
    server.append("ana", "t", &(0..20).map(|_| says("user", &long)).collect::<Vec<_>>());
    let refusal = json!({"error": {"type": "exceed_context_size_error", "message": "too long", "n_prompt_tokens": 9_000, "n_ctx": 6_000}});
    models.play([Act::Status(400, refusal.to_string())]);
    in_thread(&server, "t").post(AT, json!({"user": "ana", "messages": [says("user", "And now?")]})).ok();
    let asked = models.asked();
    let times = |at: usize| asked[at].contents().iter().filter(|content| **content == "And now?").count();
    assert_eq!((asked.len(), times(0), times(1)), (2, 1, 1));
}

#[test]
fn where_a_model_is_asked_is_not_the_callers_to_say() {
    let models = Models::start();
    let server = serve(&models);
    for name in ["api_base", "base_url", "api_key", "extra_headers", "extra_body"] {
        let body = json!({"messages": [says("user", "Hi")], name: "http://elsewhere"});
        server.post(AT, &body).refused_with(422, "invalid_field", &[name]);
    }
    assert_eq!(models.asked().len(), 0);
}
