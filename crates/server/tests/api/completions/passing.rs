//! What the model's server says reaches the client.

use super::{AT, in_thread, serve};
use crate::support::models::{Act, Models};
use crate::support::{Value, json, says};

fn chunk(more: Value, delta: Value, choice: Value) -> String {
    let mut one = json!({"index": 0, "delta": delta, "finish_reason": null});
    one.as_object_mut().unwrap().extend(choice.as_object().unwrap().clone());
    let mut chunk = json!({
        "id": "theirs", "object": "chat.completion.chunk", "created": 1, "model": "real-model-2026",
        "system_fingerprint": "fp_7", "service_tier": "default", "choices": [one],
    });
    chunk.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    format!("data: {chunk}\n\n")
}

fn logprob(token: &str) -> Value {
    json!({"token": token, "logprob": -0.31725305, "bytes": [72], "top_logprobs": []})
}

fn usage() -> Value {
    json!({
        "prompt_tokens": 20, "completion_tokens": 9, "total_tokens": 29,
        "prompt_tokens_details": {"cached_tokens": 16}, "completion_tokens_details": {"reasoning_tokens": 5},
    })
}

/// An answer with all that servers are known to say.
fn full() -> Act {
    let none = || json!({});
    let said = |word: &str| json!({"logprobs": {"content": [logprob(word)], "refusal": null}});
    let chunks = [
        chunk(none(), json!({"role": "assistant", "content": ""}), none()),
        chunk(none(), json!({"reasoning_content": "Let me "}), none()),
        chunk(none(), json!({"reasoning_content": "see."}), none()),
        chunk(none(), json!({"content": "Hi"}), said("Hi")),
        chunk(none(), json!({"content": "!", "annotations": [{"type": "url_citation"}]}), said("!")),
        chunk(none(), none(), json!({"finish_reason": "stop", "matched_stop": 7})),
        chunk(json!({"choices": [], "usage": usage(), "timings": {"ms": 1.5}}), none(), none()),
        "data: [DONE]\n\n".to_owned(),
    ];
    Act::Raw(chunks.into_iter().map(String::into_bytes).collect())
}

#[test]
fn a_whole_answer_has_all_of_it() {
    let models = Models::start();
    let server = serve(&models);
    models.play([full()]);
    let body = json!({"user": "ana", "messages": [says("user", "Hi")], "logprobs": true, "store": false});
    let answer = in_thread(&server, "t").post(AT, body).ok();
    let head = ["model", "system_fingerprint", "service_tier"].map(|name| answer[name].as_str().unwrap());
    assert_eq!(head, ["real-model-2026", "fp_7", "default"]);
    assert_eq!((&answer["usage"], &answer["timings"]["ms"]), (&usage(), &json!(1.5)));
    let choice = &answer["choices"][0];
    assert_eq!(choice["logprobs"]["content"], json!([logprob("Hi"), logprob("!")]));
    assert_eq!(choice["matched_stop"], 7);
    let message = json!({
        "role": "assistant", "content": "Hi!", "reasoning_content": "Let me see.",
        "annotations": [{"type": "url_citation"}],
    });
    assert_eq!(choice["message"], message);
    assert!(answer["id"].as_str().unwrap().starts_with("chatcmpl-"), "the id is ours");
    let turns = server.get("/v1/users/ana/threads/t/turns?last=1").ok();
    assert_eq!(turns["turns"][0]["message"], message, "it is stored as it came");
    let sent = &models.asked()[0].body;
    assert_eq!((&sent["user"], &sent["logprobs"], &sent["store"]), (&json!("ana"), &json!(true), &json!(false)));
}

#[test]
fn a_stream_has_all_of_it_in_order() {
    let models = Models::start();
    let server = serve(&models);
    models.play([full()]);
    let body = json!({"messages": [says("user", "Hi")], "stream": true, "stream_options": {"include_usage": true}});
    let text = server.post(AT, body).text();
    let data = text.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|data| *data != "[DONE]");
    let chunks: Vec<Value> = data.map(|data| serde_json::from_str(data).unwrap()).collect();
    assert!(
        chunks.iter().all(|chunk| chunk["model"] == "real-model-2026" && chunk["system_fingerprint"] == "fp_7"),
        "{text}"
    );
    let said = |member: &str| {
        let pieces = chunks.iter().filter_map(|chunk| chunk["choices"][0]["delta"][member].as_str());
        pieces.filter(|piece| !piece.is_empty()).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        (said("reasoning_content"), said("content")),
        (vec!["Let me ".into(), "see.".into()], vec!["Hi".into(), "!".into()])
    );
    let at = |find: &str| text.find(find).unwrap_or_else(|| panic!("{find}: {text}"));
    assert!(at("\"role\"") < at("Let me ") && at("see.") < at("\"content\":\"Hi\""), "{text}");
    let logprobs: Vec<&Value> =
        chunks.iter().map(|chunk| &chunk["choices"][0]["logprobs"]["content"][0]).filter(|l| !l.is_null()).collect();
    assert_eq!(logprobs, [&logprob("Hi"), &logprob("!")]);
    let last = chunks.last().unwrap();
    assert_eq!((&last["usage"], &last["choices"]), (&usage(), &json!([])), "{text}");
}

#[test]
fn a_refusal_is_a_refusal() {
    let models = Models::start();
    let server = serve(&models);
    let refuses = || {
        let pieces =
            [json!({"role": "assistant", "content": null}), json!({"refusal": "I can"}), json!({"refusal": "not."})];
        let chunks = pieces.map(|delta| chunk(json!({}), delta, json!({})));
        let end = chunk(json!({}), json!({}), json!({"finish_reason": "stop"}));
        Act::Raw(chunks.into_iter().chain([end, "data: [DONE]\n\n".into()]).map(String::into_bytes).collect())
    };
    models.play([refuses(), refuses()]);
    let client = in_thread(&server, "t");
    let answer = client.post(AT, json!({"user": "ana", "messages": [says("user", "Hi")]})).ok();
    let message = json!({"role": "assistant", "content": null, "refusal": "I cannot."});
    assert_eq!(answer["choices"][0]["message"], message);
    let again = json!({"user": "ana", "messages": [says("user", "Hi"), message, says("user", "Why?")]});
    client.post(AT, again).ok();
    let stored = server.get("/v1/users/ana/threads/t/turns?last=100").ok();
    assert_eq!(stored["turns"].as_array().unwrap().len(), 4, "{stored}");
    let asked = server.post("/api/ask", json!({"question": "Well?", "thread_id": "x"}));
    assert_eq!(asked.status, 200, "{}", asked.text());
}

#[test]
fn calls_keep_what_their_server_puts_on_them() {
    let models = Models::start();
    let server = serve(&models);
    let signature = json!({"google": {"thought_signature": "c2ln"}});
    let call = json!({"index": 0, "id": "c1", "type": "function", "extra_content": signature, "function": {"name": "f", "arguments": "{}"}});
    let chunks = [
        chunk(json!({}), json!({"role": "assistant", "tool_calls": [call]}), json!({})),
        chunk(json!({}), json!({}), json!({"finish_reason": "tool_calls"})),
        "data: [DONE]\n\n".to_owned(),
    ];
    let act = || Act::Raw(chunks.clone().map(String::into_bytes).to_vec());
    models.play([act(), act()]);
    let client = in_thread(&server, "t");
    let answer = client.post(AT, json!({"user": "ana", "messages": [says("user", "Hi")]})).ok();
    assert_eq!(answer["choices"][0]["message"]["tool_calls"][0]["extra_content"], signature);
    let streamed = server.post(AT, json!({"messages": [says("user", "Hi")], "stream": true})).text();
    assert!(streamed.contains("thought_signature") && streamed.contains("\"index\":0,"), "{streamed}");
    let result = json!({"role": "tool", "tool_call_id": "c1", "content": "1"});
    client.post(AT, json!({"user": "ana", "messages": [result]})).ok();
    assert_eq!(models.asked()[2].body["messages"][1]["tool_calls"][0]["extra_content"], signature, "it comes back");
}

#[test]
fn an_answer_that_ends_for_another_reason_is_one() {
    let models = Models::start();
    let server = serve(&models);
    let chunks = [
        chunk(json!({}), json!({"role": "assistant", "content": ""}), json!({})),
        chunk(json!({}), json!({}), json!({"finish_reason": "content_filter"})),
        "data: [DONE]\n\n".to_owned(),
    ];
    models.play([Act::Raw(chunks.map(String::into_bytes).to_vec())]);
    let answer = server.post(AT, json!({"messages": [says("user", "Hi")]})).ok();
    let choice = &answer["choices"][0];
    assert_eq!((&choice["finish_reason"], &choice["message"]["content"]), (&json!("content_filter"), &json!("")));
}
