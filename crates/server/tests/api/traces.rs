//! Traces, and making an old prompt again.

use crate::support::{Client, Server, Value, json, says};

const SUMMARY: &str = "/v1/docs/users/u/convo.sessions/t/memory/summary";

fn fill(client: &Client) -> Vec<Value> {
    client.put(SUMMARY, json!({"text": "They met."})).ok();
    let call = json!({"id": "c", "type": "function", "function": {"name": "f", "arguments": "{ }"}});
    client.append(
        "u",
        "t",
        &[
            says("user", "first"),
            json!({"role": "assistant", "content": null, "tool_calls": [call]}),
            json!({"role": "tool", "tool_call_id": "c", "content": "fine"}),
        ],
    )
}

fn context(client: &Client, preset: &str) -> Value {
    client.context(json!({"user": "u", "thread": "t", "question": "and now?", "preset": preset, "budget_tokens": 5000}))
}

fn replay(client: &Client, made: &Value) -> Value {
    client.post(&format!("/v1/traces/{}/replay", made["trace_id"].as_str().unwrap()), "").ok()
}

fn read(client: &Client, made: &Value) -> Value {
    client.get(&format!("/v1/traces/{}", made["trace_id"].as_str().unwrap())).ok()
}

fn check_same(client: &Client, made: &Value) {
    assert_eq!(replay(client, made), json!({"messages": made["messages"], "identical": true}));
}

#[test]
fn a_trace_says_what_went_in_and_why() {
    let server = Server::start();
    fill(&server);
    let made = context(&server, "agent");
    let trace = read(&server, &made);
    assert_eq!((&trace["id"], &trace["preset"]), (&made["trace_id"], &json!("agent")));
    assert_eq!((&trace["user"], &trace["thread"], &trace["question"]), (&json!("u"), &json!("t"), &json!("and now?")));
    assert_eq!((&trace["tokens"], &trace["messages"]), (&made["tokens"], &json!(5)));
    assert_eq!((&trace["budget_tokens"], &trace["identical"]), (&json!(5000), &json!(true)));
    assert_eq!(trace["recipe"]["filters"][0]["name"], "fileContentsLimiter");
    assert_eq!(trace["explain"]["pieces"].as_array().unwrap().len(), 5);
    for id in ["nothing", "AAAA", "!!", "AAAAAAAAAAAAAAAAAAAAAHUAdA"] {
        server.get(&format!("/v1/traces/{id}")).refused(404, "not_found");
        server.post(&format!("/v1/traces/{id}/replay"), "").refused(404, "not_found");
    }
}

#[test]
fn an_old_prompt_is_made_again_whatever_came_after() {
    let server = Server::start();
    fill(&server);
    let made: Vec<Value> = ["chat", "agent", "stable"].iter().map(|preset| context(&server, preset)).collect();
    made.iter().for_each(|made| check_same(&server, made));

    server.say("u", "t", &["second", "third"]);
    server.put(SUMMARY, json!({"text": "They parted."})).ok();
    server.put("/v1/users/u/data", json!({"name": "Ada"})).ok();
    made.iter().for_each(|made| check_same(&server, made));

    server.signal("TERM");
    let (status, home) = server.ended();
    assert!(status.success());
    let server = home.serve();
    made.iter().for_each(|made| check_same(&server, made));
}

#[test]
fn a_prompt_whose_turn_was_changed_is_not_the_same_and_goes_with_a_turn_that_is_deleted() {
    let server = Server::start();
    let turns = fill(&server);
    let made = context(&server, "chat");
    let turn = format!("/v1/docs/users/u/convo.sessions/t/messages/{}", turns[0]["id"].as_str().unwrap());
    server.put(&turn, says("user", "changed")).ok();
    let again = replay(&server, &made);
    assert_eq!(again["identical"], json!(false));
    assert_eq!(again["messages"][1]["content"], "changed");
    assert_eq!(read(&server, &made)["identical"], json!(false));
    server.put(&turn, r#"{"role":"user","content":"first"}"#).ok();
    server.delete(&turn).ok();
    let id = made["trace_id"].as_str().unwrap();
    server.post(&format!("/v1/traces/{id}/replay"), "").refused(404, "not_found");
}

#[test]
fn a_stateless_prompt_is_made_again_while_it_is_remembered() {
    let server = Server::start();
    let messages = [says("user", "a"), says("assistant", "b")];
    let made = server.context(json!({"messages": messages, "filters": ["dedupe"], "tokenizer": "approx"}));
    check_same(&server, &made);
    let id = made["trace_id"].as_str().unwrap().to_owned();
    server.restart().get(&format!("/v1/traces/{id}")).refused(404, "not_found");
}

#[test]
fn a_prompt_made_again_is_the_same_trace() {
    let server = Server::start();
    server.say("u", "t", &["a", "b"]);
    let ask =
        |budget: u32| server.context(json!({"user": "u", "thread": "t", "budget_tokens": budget}))["trace_id"].clone();
    ask(900);
    let (second, third) = (ask(900), ask(900));
    assert_eq!(second, third);
    assert_ne!(ask(901), third);
    server.say("u", "t", &["c"]);
    assert_ne!(ask(900), third);
    assert_eq!(server.delete("/v1/users/u/threads/t").ok()["forgotten"]["traces"], json!(4));
    server.say("u", "t", &["a", "b"]);
    let again = server.context(json!({"user": "u", "thread": "t", "budget_tokens": 900}));
    check_same(&server, &again);
}

#[test]
fn prompts_of_other_inputs_are_other_traces() {
    let server = Server::start();
    let made = |first: &str| {
        let messages = [says("user", first), says("assistant", "ok"), says("user", "end")];
        let filters = json!([{"name": "historyWindow", "options": {"turns": 1}}]);
        server.context(json!({"messages": messages, "filters": filters}))["trace_id"].clone()
    };
    assert_ne!(made("aaa"), made("bbb"));
    let nothing = server.context(json!({"user": "u", "thread": "none"}));
    server.get(&format!("/v1/traces/{}", nothing["trace_id"].as_str().unwrap())).refused(404, "not_found");
}

#[test]
fn a_forgotten_user_leaves_no_stateless_trace() {
    let server = Server::start();
    let made = server.context(json!({"user": "u", "messages": [says("user", "secret")]}));
    let path = format!("/v1/traces/{}", made["trace_id"].as_str().unwrap());
    server.get(&path).ok();
    assert_eq!(server.delete("/v1/users/u").ok()["forgotten"]["traces"], json!(1));
    server.get(&path).refused(404, "not_found");
}

#[test]
fn a_trace_keeps_the_spelling_of_what_went_in() {
    let server = Server::start();
    server.put("/v1/users/u/data", r#"{"height":1.50}"#).ok();
    let odd = r#"{"role":"user","content":"half \ud83d of a pair","huge":1e400}"#;
    let made = server.post("/v1/context", format!(r#"{{"user":"u","thread":"t","messages":[{odd}]}}"#)).text();
    let id = made.split("\"trace_id\":\"").nth(1).unwrap().trim_end_matches("\"}");
    let trace = server.get(&format!("/v1/traces/{id}"));
    assert_eq!(trace.status, 200, "{}", trace.text());
    assert!(trace.text().contains(odd) && trace.text().contains(r#"{"height":1.50}"#), "{}", trace.text());
    let replayed = server.post(&format!("/v1/traces/{id}/replay"), "").text();
    assert!(replayed.contains(odd) && replayed.ends_with(r#","identical":true}"#), "{replayed}");
}

#[test]
fn a_trace_tells_how_much_of_the_front_stayed_the_same() {
    let server = Server::start();
    fill(&server);
    let unchanged = || read(&server, &context(&server, "stable"))["unchanged_tokens"].clone();
    assert_eq!(unchanged(), Value::Null, "nothing to compare with");
    let all = read(&server, &context(&server, "stable"))["tokens"].clone();
    assert_eq!(unchanged(), all);
    server.say("u", "t", &["more"]);
    // All but the question, which now stands after one turn more: 36 units at four to a token, and 8.
    assert_eq!(unchanged().as_u64().unwrap(), all.as_u64().unwrap() - 17);
}

#[test]
fn a_document_that_is_no_trace_is_not_found_as_one() {
    let server = Server::start();
    server.say("u", "t", &["hi"]);
    let trace = server.context(json!({"user": "u", "thread": "t"}))["trace_id"].as_str().unwrap().to_owned();
    let traces = "/v1/docs/users/u/convo.sessions/t/traces";
    let stored = || server.get(traces).ok()["documents"][0]["id"].as_str().map(str::to_owned);
    assert!(crate::support::eventually(|| stored().is_some()), "the trace is stored in its own time");
    server.put(&format!("{traces}/{}", stored().unwrap()), json!("x")).ok();
    server.get(&format!("/v1/traces/{trace}")).refused(404, "not_found");
    server.post(&format!("/v1/traces/{trace}/replay"), json!({})).refused(404, "not_found");
}
