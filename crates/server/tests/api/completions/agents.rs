//! Agents send all of their conversation with each step, in a spelling of their own.

use super::{AT, in_thread, serve};
use crate::support::models::{Act, Models, words};
use crate::support::stream::Stream;
use crate::support::{Client, Server, Value, eventually, json, says};

/// A client that keeps the conversation and spells it in its own way.
struct Agent {
    client: Client,
    messages: Vec<Value>,
    respell: fn(&Value) -> Value,
}

impl Agent {
    fn new(server: &Server, respell: fn(&Value) -> Value) -> Self {
        Self { client: in_thread(server, "t"), messages: vec![says("system", "Use tools.")], respell }
    }

    /// Sends all of it, and keeps the answer as it would spell it.
    fn step(&mut self, new: &[Value]) -> Value {
        self.messages.extend_from_slice(new);
        let answer = self.client.post(AT, json!({"user": "ana", "messages": self.messages})).ok();
        let message = answer["choices"][0]["message"].clone();
        self.messages.push((self.respell)(&message));
        message
    }

    fn ask(&mut self, question: &str) {
        let calls = self.step(&[says("user", question)]);
        let results: Vec<Value> = calls["tool_calls"].as_array().unwrap().iter().map(result).collect();
        self.step(&results);
    }
}

fn result(call: &Value) -> Value {
    json!({"role": "tool", "tool_call_id": call["id"], "content": format!("of {}", call["id"])})
}

/// The arguments written anew.
fn with_arguments(message: &Value, write: fn(&Value) -> String) -> Value {
    let mut message = message.clone();
    for call in message["tool_calls"].as_array_mut().into_iter().flatten() {
        let arguments: Value = serde_json::from_str(call["function"]["arguments"].as_str().unwrap()).unwrap();
        call["function"]["arguments"] = write(&arguments).into();
    }
    message
}

fn check(respell: fn(&Value) -> Value) {
    let models = Models::start();
    let server = serve(&models);
    let arguments = r#"{"city":"Recife","days":3,"near":{"lat":-8.05}}"#;
    let call = || Act::Calls(vec![("weather".to_owned(), json!(arguments))]);
    models.play([call(), Act::says(&["Warm."]), call(), Act::says(&["Still warm."])]);
    let mut agent = Agent::new(&server, respell);
    agent.ask("Weather?");
    agent.ask("And tomorrow?");
    let stored = server.get("/v1/users/ana/threads/t/turns?last=100").ok();
    let turns = stored["turns"].as_array().unwrap();
    let roles: Vec<&str> = turns.iter().map(|turn| turn["message"]["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant"].repeat(2), "{stored}");
    let spelt = &turns[1]["message"]["tool_calls"][0]["function"]["arguments"];
    assert_eq!(spelt, arguments, "the first bytes stay");
    for asked in models.asked() {
        let sent = asked.body["messages"].to_string();
        assert!(!sent.contains("failed to respond"), "{sent}");
    }
}

#[test]
fn arguments_with_blanks_are_the_same_call() {
    check(|message| with_arguments(message, |arguments| arguments.to_string().replace(':', ": ").replace(',', ", ")));
}

#[test]
fn arguments_in_another_order_are_the_same_call() {
    check(|message| {
        with_arguments(message, |a| {
            let (city, days, near) = (&a["city"], &a["days"], &a["near"]);
            format!("{{\"near\":{near}, \"days\":{days}.0,\n\"city\":{city}}}")
        })
    });
}

#[test]
fn members_that_are_null_or_missing_are_alike() {
    check(|message| {
        let mut message = message.clone();
        let is_call = message.get("tool_calls").is_some();
        let members = message.as_object_mut().unwrap();
        members.extend(
            [("refusal", json!(null)), ("audio", json!(null)), ("function_call", json!(null))]
                .map(|(k, v)| (k.to_owned(), v)),
        );
        members.insert("name".to_owned(), json!("agent"));
        match is_call {
            true => members.insert("content".to_owned(), json!("")),
            false => {
                let text = members["content"].clone();
                members.insert("content".to_owned(), json!([{"type": "text", "text": text}]))
            }
        };
        message
    });
}

#[test]
fn results_of_parallel_calls_may_come_in_any_order() {
    let models = Models::start();
    let server = serve(&models);
    let calls = vec![("a".to_owned(), json!({})), ("b".to_owned(), json!({"x": 1}))];
    models.play([Act::Calls(calls), Act::says(&["Done."]), Act::says(&["Again."])]);
    let mut agent = Agent::new(&server, Value::clone);
    let message = agent.step(&[says("user", "Both!")]);
    let mut results: Vec<Value> = message["tool_calls"].as_array().unwrap().iter().map(result).collect();
    agent.step(&results);
    results.reverse();
    agent.messages.splice(3..5, results);
    agent.step(&[says("user", "More?")]);
    let stored = server.get("/v1/users/ana/threads/t/turns?last=100").ok();
    assert_eq!(stored["turns"].as_array().unwrap().len(), 7, "{stored}");
}

#[test]
fn an_edited_question_and_dropped_history_are_told_apart() {
    let models = Models::start();
    let server = serve(&models);
    let client = in_thread(&server, "t");
    let say = |messages: &[Value]| client.post(AT, json!({"user": "ana", "messages": messages})).ok();
    let (one, two, hello) = (says("user", "One"), says("user", "Two"), says("assistant", "Hello there."));
    say(std::slice::from_ref(&one));
    say(&[one.clone(), hello.clone(), two.clone()]);
    say(&[two, hello.clone(), says("user", "Three")]);
    assert_eq!(server.said("ana", "t").len(), 6, "a client may drop what is old");
    say(&[one, hello, says("user", "Two, edited")]);
    let said = ["One", "Hello there.", "Two", "Hello there.", "Three", "Hello there.", "Two, edited", "Hello there."];
    assert_eq!(server.said("ana", "t"), said);
}

/// Leaves a stream when it has heard the first word, and goes on at once with what it heard.
fn leaves_and_goes_on(heard: &str) {
    let models = Models::start();
    let server = serve(&models);
    let client = in_thread(&server, "t");
    let story = words(&["Once", " upon", " a", " time"]);
    models.play([Act::StallsAfter(3, story), Act::says(&["Now."])]);
    let question = says("user", "Tell me a story");
    let mut stream = Stream::open(&client, "POST", AT, json!({"user": "ana", "messages": [question], "stream": true}));
    while stream.next().unwrap().data["choices"][0]["delta"]["content"] != " a" {}
    drop(stream);
    let messages = [question, says("assistant", heard), says("user", "And now?")];
    client.post(AT, json!({"user": "ana", "messages": messages})).ok();
    let stored = server.get("/v1/users/ana/threads/t/turns?last=100").ok();
    let said: Vec<&str> =
        stored["turns"].as_array().unwrap().iter().map(|turn| turn["message"]["content"].as_str().unwrap()).collect();
    assert_eq!((said.len(), said[0], said[2], said[3]), (4, "Tell me a story", "And now?", "Now."), "{stored}");
    assert!("Once upon a".starts_with(said[1]), "{stored}");
    assert!(eventually(|| models.hangups().len() == 1), "the first call was ended");
    assert_eq!(server.said("ana", "t").len(), 4, "nothing comes behind it later");
}

#[test]
fn who_leaves_a_stream_and_goes_on_has_its_words_once() {
    leaves_and_goes_on("Once upon a");
}

#[test]
fn who_heard_only_the_beginning_has_its_words_once() {
    leaves_and_goes_on("Once");
}

#[test]
fn calls_come_one_in_each_chunk() {
    let models = Models::start();
    let server = serve(&models);
    models.play([Act::Calls(vec![("a".to_owned(), json!({})), ("b".to_owned(), json!({"x": 1}))])]);
    let body = json!({"messages": [says("user", "Both!")], "stream": true});
    let frames = Stream::open(&server, "POST", AT, body).rest();
    let calls: Vec<&Value> =
        frames.iter().map(|frame| &frame.data["choices"][0]["delta"]["tool_calls"]).filter(|c| !c.is_null()).collect();
    let indices: Vec<&Value> = calls.iter().map(|calls| &calls[0]["index"]).collect();
    assert_eq!(
        (indices, calls.iter().all(|calls| calls.as_array().unwrap().len() == 1)),
        (vec![&json!(0), &json!(1)], true)
    );
    assert!(
        calls
            .iter()
            .all(|c| c[0]["type"] == "function" && c[0]["id"].is_string() && c[0]["function"]["name"].is_string())
    );
}
