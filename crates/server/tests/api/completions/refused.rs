//! A message that the model refuses stays stored, and breaks nothing that follows.

use super::{AT, in_thread, serve};
use crate::support::models::{Act, Models};
use crate::support::{Client, Server, Value, json, says};

const NO_IMAGES: &str = "this model does not take images";

fn image() -> Value {
    let parts = json!([{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}]);
    json!({"role": "user", "content": parts})
}

fn refusal() -> Act {
    Act::Status(400, json!({"error": {"message": NO_IMAGES, "type": "invalid_request_error"}}).to_string())
}

fn say(client: &Client, messages: &[Value]) -> crate::support::Answer {
    client.post(AT, json!({"user": "ana", "messages": messages}))
}

fn stored(server: &Server) -> Vec<Value> {
    let turns = server.get("/v1/users/ana/threads/t/turns?last=100").ok();
    turns["turns"].as_array().unwrap().iter().map(|turn| turn["message"].clone()).collect()
}

#[test]
fn it_is_left_out_of_later_prompts_and_explained() {
    let models = Models::start();
    let server = serve(&models);
    let client = in_thread(&server, "t");
    say(&client, &[says("user", "Hi")]).ok();
    models.play([refusal()]);
    say(&client, &[image()]).refused_with(400, "model_refused", &[NO_IMAGES]);
    assert_eq!(stored(&server)[2], image(), "it stays as it came");
    say(&client, &[says("user", "And in words?")]).ok();
    assert_eq!(models.asked()[2].contents(), ["Hi", "Hello there.", "And in words?"]);
    let made = server.post("/v1/context", json!({"user": "ana", "thread": "t", "explain": true})).ok();
    let dropped: Vec<&Value> =
        made["explain"]["pieces"].as_array().unwrap().iter().filter(|piece| piece["fate"] == "dropped").collect();
    assert_eq!((dropped.len(), &dropped[0]["seq"], &dropped[0]["by"]), (1, &json!(3), &json!("refused")), "{made}");
    assert!(dropped[0]["why"].as_str().unwrap().contains(NO_IMAGES), "{made}");
    let replayed = server.post(&format!("/v1/traces/{}/replay", made["trace_id"].as_str().unwrap()), "{}").ok();
    assert_eq!((&replayed["identical"], &replayed["messages"]), (&json!(true), &made["messages"]));
    let answer = server.post("/api/ask", json!({"question": "More?", "thread_id": "t", "user_id": "ana"}));
    assert_eq!(answer.status, 200, "{}", answer.text());
    let sent = models.asked().last().unwrap().body.to_string();
    assert!(!sent.contains("What is this?"), "no door shows it: {sent}");
}

#[test]
fn a_client_may_send_it_again_or_drop_it() {
    let models = Models::start();
    let server = serve(&models);
    let client = in_thread(&server, "t");
    let (hi, hello, next) = (says("user", "Hi"), says("assistant", "Hello there."), says("user", "Next"));
    say(&client, std::slice::from_ref(&hi)).ok();
    models.play([refusal()]);
    say(&client, &[hi.clone(), hello.clone(), image()]).refused(400, "model_refused");
    say(&client, &[hi.clone(), hello.clone(), image(), next.clone()]).ok();
    assert_eq!(stored(&server).len(), 5);
    say(&client, &[hi, hello.clone(), next, hello, says("user", "Last")]).ok();
    assert_eq!(stored(&server).len(), 7, "{:?}", stored(&server));
    let asked = models.asked();
    assert_eq!(asked[2].contents(), ["Hi", "Hello there.", "Next"]);
    assert_eq!(asked[3].contents(), ["Hi", "Hello there.", "Next", "Hello there.", "Last"]);
}

#[test]
fn who_sends_it_once_more_asks_once_more() {
    let models = Models::start();
    let server = serve(&models);
    let client = in_thread(&server, "t");
    models.play([refusal(), refusal()]);
    say(&client, &[image()]).refused(400, "model_refused");
    say(&client, &[image()]).refused(400, "model_refused");
    say(&client, &[image()]).ok();
    assert_eq!(stored(&server).len(), 2, "stored once");
    say(&client, &[says("user", "Thanks")]).ok();
    assert_eq!(models.asked()[3].body["messages"][0], image(), "it was answered, and is no longer left out");
}

#[test]
fn only_what_is_about_the_message_marks_it() {
    let models = Models::start();
    let server = serve(&models);
    let client = in_thread(&server, "t");
    let error = |status: u16, param: Value| {
        Act::Status(status, json!({"error": {"message": "no", "param": param}}).to_string())
    };
    for act in [
        error(401, Value::Null),
        error(404, Value::Null),
        error(429, Value::Null),
        error(500, Value::Null),
        error(400, json!("temperature")),
    ] {
        models.play([act]);
        assert!(say(&client, &[says("user", "Hi")]).status >= 400);
    }
    say(&client, &[says("user", "Ho")]).ok();
    assert_eq!(models.asked().last().unwrap().contents(), ["Hi", "Ho"]);
    models.play([error(422, json!("messages[2].content"))]);
    say(&client, &[says("user", "Bad words")]).refused(422, "model_refused");
    say(&client, &[says("user", "Good words")]).ok();
    assert_eq!(models.asked().last().unwrap().contents(), ["Hi", "Ho", "Hello there.", "Good words"]);
}

#[test]
fn a_fork_knows_of_it_and_a_forget_forgets_it() {
    let models = Models::start();
    let server = serve(&models);
    let client = in_thread(&server, "t");
    models.play([refusal()]);
    say(&client, &[image()]).refused(400, "model_refused");
    say(&client, &[says("user", "Hi")]).ok();
    server.post("/v1/users/ana/threads/t/fork", json!({"at_seq": 2, "to": "f"})).ok();
    let made = server.post("/v1/context", json!({"user": "ana", "thread": "f"})).ok();
    assert_eq!(made["messages"].as_array().unwrap().len(), 1, "{made}");
    server.delete("/v1/users/ana/threads/t").ok();
    server.get("/v1/docs/users/ana/convo.sessions/t/memory/refused").refused(404, "not_found");
}
