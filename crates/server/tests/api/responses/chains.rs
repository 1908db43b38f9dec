//! Responses that continue each other.

use super::{AT, ask, ask_after, id, serve, text};
use crate::support::models::{Act, Models};
use crate::support::stream::Stream;
use crate::support::{Client, Value, json};

/// The server as the user's client sees it.
fn ana(client: &Client) -> Client {
    client.with("x-novelo-user", "ana")
}

#[test]
fn a_response_is_stored_and_read_back() {
    let models = Models::start();
    let server = serve(&models);
    let mut body = ask("Hi");
    body["instructions"] = "Be brief.".into();
    body["metadata"] = json!({"topic": "tea"});
    body["temperature"] = 0.5.into();
    let answer = server.post(AT, &body);
    let made = answer.ok();
    assert_eq!(
        (&made["object"], &made["status"], text(&made).as_str()),
        (&json!("response"), &json!("completed"), "Hello there.")
    );
    let usage = json!({
        "input_tokens": 10, "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": 3, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 13,
    });
    assert_eq!((&made["usage"], &made["model"], &made["error"]), (&usage, &json!("tiny"), &Value::Null));
    assert_eq!((&made["instructions"], &made["metadata"]["topic"]), (&json!("Be brief."), &json!("tea")));
    let thread = answer.header("x-novelo-thread").unwrap().to_owned();
    assert_eq!(server.said("ana", &thread), ["Hi", "Hello there."]);
    assert_eq!(models.asked()[0].contents(), ["Be brief.", "Hi"]);
    assert_eq!(models.asked()[0].body["temperature"], 0.5);
    let at = format!("{AT}/{}", id(&made));
    assert_eq!(ana(&server).get(&at).ok(), made);
    let items = ana(&server).get(&format!("{at}/input_items")).ok();
    assert_eq!(items["data"][0]["content"], json!([{"type": "input_text", "text": "Hi"}]));
    let trace = made["metadata"]["novelo_trace_id"].as_str().unwrap();
    assert_eq!(answer.header("x-novelo-trace-id"), Some(trace));
    let explained = ana(&server).get(&format!("{at}/explain")).ok();
    assert_eq!(explained["explain"]["pieces"].as_array().unwrap().len(), 2, "{explained}");
}

#[test]
fn a_chain_keeps_what_was_said_but_no_instructions() {
    let models = Models::start();
    let server = serve(&models);
    let mut body = ask("One");
    body["instructions"] = "Be brief.".into();
    let first = id(&server.post(AT, &body).ok());
    let answer = server.post(AT, ask_after(&first, "Two"));
    let second = id(&answer.ok());
    assert_eq!(models.asked()[1].contents(), ["One", "Hello there.", "Two"]);
    server.post(AT, ask_after(&second, "Three")).ok();
    let thread = answer.header("x-novelo-thread").unwrap();
    assert_eq!(server.said("ana", thread).len(), 6, "a chain that is continued at its end is one thread");
    let threads = server.get("/v1/users/ana/threads").ok();
    assert_eq!(threads["threads"].as_array().unwrap().len(), 1);
}

#[test]
fn one_response_is_continued_twice() {
    let models = Models::start();
    let server = serve(&models);
    let first = id(&server.post(AT, ask("One")).ok());
    let [left, right] = ["Left", "Right"].map(|said| id(&server.post(AT, ask_after(&first, said)).ok()));
    server.post(AT, ask_after(&left, "More left")).ok();
    server.post(AT, ask_after(&right, "More right")).ok();
    let asked = models.asked();
    assert_eq!(asked[2].contents(), ["One", "Hello there.", "Right"]);
    assert_eq!(asked[3].contents(), ["One", "Hello there.", "Left", "Hello there.", "More left"]);
    assert_eq!(asked[4].contents(), ["One", "Hello there.", "Right", "Hello there.", "More right"]);
}

#[test]
fn a_tool_loop_goes_along_the_chain() {
    let models = Models::start();
    let server = serve(&models);
    let call = ("weather".to_owned(), json!({"city": "Recife"}));
    models.play([Act::Calls(vec![call.clone(), call]), Act::says(&["Warm."])]);
    let tools = json!([{"type": "function", "name": "weather", "parameters": {"type": "object"}, "strict": true}]);
    let mut body = ask("Weather?");
    body["tools"] = tools.clone();
    let made = server.post(AT, &body).ok();
    let calls = made["output"].as_array().unwrap();
    assert_eq!(calls.len(), 2, "{made}");
    assert_eq!((&calls[0]["type"], &calls[0]["arguments"]), (&json!("function_call"), &json!(r#"{"city":"Recife"}"#)));
    let results: Vec<Value> = calls
        .iter()
        .map(|call| json!({"type": "function_call_output", "call_id": call["call_id"], "output": "31 degrees"}))
        .collect();
    let mut body = ask_after(&id(&made), results);
    body["tools"] = tools;
    assert_eq!(text(&server.post(AT, &body).ok()), "Warm.");
    let asked = models.asked();
    assert_eq!(asked[0].body["tools"][0]["function"]["name"], "weather");
    let roles: Vec<&str> =
        asked[1].body["messages"].as_array().unwrap().iter().map(|m| m["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "tool"]);
}

#[test]
fn a_stream_has_numbered_events_and_ends_with_the_response() {
    let models = Models::start();
    let server = serve(&models);
    let mut body = ask("Hi");
    body["stream"] = true.into();
    let frames = Stream::open(&server, "POST", AT, &body).rest();
    let names: Vec<&str> = frames.iter().map(|frame| frame.event.as_str()).collect();
    let expected = [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ];
    let deltas = names.iter().filter(|name| **name == "response.output_text.delta").count();
    let mut shortened = names.clone();
    shortened.dedup();
    let mut once = expected.to_vec();
    once.dedup();
    assert_eq!(shortened, once);
    assert!(deltas > 1);
    for (number, frame) in frames.iter().enumerate() {
        assert_eq!((&frame.data["sequence_number"], &frame.data["type"]), (&json!(number), &json!(frame.event)));
    }
    let done = &frames.last().unwrap().data["response"];
    assert_eq!(text(done), "Hello there.");
    let at = format!("{AT}/{}", id(done));
    assert_eq!(&ana(&server).get(&at).ok(), done, "the stream ends with what is stored");
    let resumed = Stream::open(&ana(&server), "GET", &format!("{at}?stream=true&starting_after=4"), "").rest();
    let rest: Vec<&Value> = frames.iter().skip(5).map(|frame| &frame.data).collect();
    assert_eq!(resumed.iter().map(|frame| &frame.data).collect::<Vec<_>>(), rest);
}

#[test]
fn what_is_not_stored_leaves_nothing() {
    let models = Models::start();
    let server = serve(&models);
    let first = server.post(AT, ask("One"));
    let before = server.get("/v1/users/ana/export").text();
    let mut body = ask_after(&id(&first.ok()), "Two");
    body["store"] = false.into();
    let answer = server.post(AT, &body);
    assert_eq!(text(&answer.ok()), "Hello there.");
    assert_eq!(answer.header("x-novelo-thread"), Some("none"));
    assert_eq!(models.asked()[1].contents(), ["One", "Hello there.", "Two"]);
    let without_traces = |export: String| export.lines().filter(|line| !line.contains("/traces/")).count();
    assert_eq!(without_traces(server.get("/v1/users/ana/export").text()), without_traces(before));
    ana(&server).get(&format!("{AT}/{}", id(&answer.ok()))).refused(404, "not_found");
}

/// What is not stored is not traced either, and explained in the response if that is asked for.
#[test]
fn what_is_not_stored_is_explained_in_the_response_alone() {
    let models = Models::start();
    let server = serve(&models);
    let first = id(&server.post(AT, ask("One")).ok());
    let mut body = ask_after(&first, "A secret");
    body["store"] = false.into();
    let silent = server.post(AT, &body);
    assert_eq!((silent.header("x-novelo-trace-id"), &silent.ok()["metadata"]), (None, &json!({})));
    assert_eq!(silent.ok().get("novelo_explain"), None);
    body["include"] = json!(["novelo.explain"]);
    let whole = server.post(AT, &body).ok();
    body["stream"] = true.into();
    let frames = Stream::open(&server, "POST", AT, &body).rest();
    for made in [&whole, &frames.last().unwrap().data["response"]] {
        let pieces = made["novelo_explain"]["pieces"].as_array().unwrap();
        assert!(pieces.len() == 3 && pieces.iter().all(|piece| piece["fate"] == "kept"), "{made}");
    }
    let mut stored = ask("Two");
    stored["include"] = json!(["novelo.explain"]);
    let stored = server.post(AT, &stored).ok();
    assert!(stored["novelo_explain"]["pieces"].is_array(), "{stored}");
    let read = ana(&server).get(&format!("{AT}/{}", id(&stored))).ok();
    assert_eq!(read.get("novelo_explain"), None, "{read}");
    assert!(!server.get("/v1/export").text().contains("A secret"));
}

/// Models that think may end before they say anything.
#[test]
fn a_response_of_thoughts_alone_is_stored() {
    let models = Models::start();
    let server = serve(&models);
    let chunk = |delta: Value, finish: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        format!("data: {}\n\n", json!({"choices": [choice]})).into_bytes()
    };
    models.play([Act::Raw(vec![
        chunk(json!({"role": "assistant", "reasoning_content": "Let me think."}), Value::Null),
        chunk(json!({}), json!("length")),
        b"data: [DONE]\n\n".to_vec(),
    ])]);
    let made = server.post(AT, ask("Hi")).ok();
    assert_eq!((&made["status"], &made["output"][0]["type"]), (&json!("incomplete"), &json!("reasoning")), "{made}");
    assert_eq!(ana(&server).get(&format!("{AT}/{}", id(&made))).ok(), made);
    server.post(AT, ask_after(&id(&made), "Go on")).ok();
}

#[test]
fn a_chain_survives_a_kill() {
    let models = Models::start();
    let server = serve(&models);
    let first = id(&server.post(AT, ask("One")).ok());
    let server = server.kill().serve_with(&models.talking());
    let made = server.post(AT, ask_after(&first, "Two")).ok();
    assert_eq!(models.asked()[1].contents(), ["One", "Hello there.", "Two"]);
    let server = server.kill().serve_with(&models.talking());
    assert_eq!(ana(&server).get(&format!("{AT}/{}", id(&made))).ok(), made);
}

#[test]
fn a_failed_call_that_is_made_again_is_stored_once() {
    let models = Models::start();
    let server = serve(&models);
    let first = id(&server.post(AT, ask("One")).ok());
    models.play([Act::Status(429, "{}".into())]);
    assert_eq!(server.post(AT, ask_after(&first, "Two")).status, 429);
    let answer = server.post(AT, ask_after(&first, "Two"));
    assert_eq!(text(&answer.ok()), "Hello there.");
    let thread = answer.header("x-novelo-thread").unwrap();
    assert_eq!(server.said("ana", thread), ["One", "Hello there.", "Two", "Hello there."]);
    let items = ana(&server).get(&format!("{AT}/{}/input_items", id(&answer.ok()))).ok();
    assert_eq!(items["data"].as_array().unwrap().len(), 1);
}

#[test]
fn a_deleted_response_is_gone_and_its_successors_go_on() {
    let models = Models::start();
    let server = serve(&models);
    let first = id(&server.post(AT, ask("One")).ok());
    let second = id(&server.post(AT, ask_after(&first, "Two")).ok());
    let at = |id: &str| format!("{AT}/{id}");
    let deleted = ana(&server).delete(&at(&first)).ok();
    assert_eq!(deleted, json!({"id": first, "object": "response", "deleted": true}));
    ana(&server).get(&at(&first)).refused(404, "not_found");
    server.post(AT, ask_after(&first, "Again")).refused(400, "previous_response_not_found");
    let third = server.post(AT, ask_after(&second, "Three"));
    assert_eq!(models.asked()[2].contents().len(), 5, "later responses rest on its turns");
    ana(&server).delete(&at(&id(&third.ok()))).ok();
    assert_eq!(server.said("ana", third.header("x-novelo-thread").unwrap()).len(), 4, "nothing rests on the last ones");
}

#[test]
fn a_thought_is_an_item_of_its_own() {
    let models = Models::start();
    let server = serve(&models);
    let chunk = |delta: Value, finish: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        format!("data: {}\n\n", json!({"choices": [choice]})).into_bytes()
    };
    let raw = || {
        Act::Raw(vec![
            chunk(json!({"role": "assistant", "reasoning_content": "Let me "}), Value::Null),
            chunk(json!({"reasoning_content": "think."}), Value::Null),
            chunk(json!({"content": "Tea."}), Value::Null),
            chunk(json!({}), json!("stop")),
            b"data: [DONE]\n\n".to_vec(),
        ])
    };
    models.play([raw(), raw()]);
    let whole = server.post(AT, ask("Hi")).ok();
    let mut body = ask("Hi");
    body["stream"] = true.into();
    let frames = Stream::open(&server, "POST", AT, &body).rest();
    for made in [&whole, &frames.last().unwrap().data["response"]] {
        assert_eq!(made["output"][0]["type"], "reasoning");
        assert_eq!(made["output"][0]["content"], json!([{"type": "reasoning_text", "text": "Let me think."}]));
        assert_eq!(made["output"][1]["content"][0]["text"], "Tea.");
    }
    let done = frames.iter().filter(|frame| frame.event == "response.output_item.done");
    let items: Vec<Value> = done.map(|frame| frame.data["item"].clone()).collect();
    assert_eq!(json!(items), frames.last().unwrap().data["response"]["output"]);
}

#[test]
fn items_are_referred_to_by_their_ids() {
    let models = Models::start();
    let server = serve(&models);
    let made = server.post(AT, ask("One")).ok();
    let reference = json!({"type": "item_reference", "id": made["output"][0]["id"]});
    let input = json!([{"role": "user", "content": "One"}, reference, {"role": "user", "content": "Two"}]);
    server.post(AT, json!({"model": "answer", "input": input, "user": "ana"})).ok();
    assert_eq!(models.asked()[1].contents(), ["One", "Hello there.", "Two"]);
    let unknown = json!([{"type": "item_reference", "id": "msg_nowhere"}]);
    server.post(AT, json!({"model": "answer", "input": unknown, "user": "ana"})).refused(400, "invalid_value");
}
