//! A model that fails is asked once more, for the whole answer at once.

use std::time::Duration;

use crate::support::models::{Act, Asked, Models, words};
use crate::support::stream::{Frame, Stream};
use crate::support::{Home, Server, Value, json, says, thread};

fn serve(models: &Models) -> Server {
    Home::new().serve_with(&[models.talking().as_slice(), &[("NOVELO_MODELS_ANSWER_TIMEOUT_MS", "400")]].concat())
}

/// A completion in one piece.
fn whole(message: Value) -> Act {
    let choice = json!({"index": 0, "message": message, "finish_reason": "stop"});
    Act::Whole(json!({"choices": [choice], "usage": {"prompt_tokens": 5, "completion_tokens": 2}}))
}

fn dies_after(said: &[&str]) -> Act {
    Act::DiesAfter(said.len(), words(said))
}

/// Whether each call so far was for a stream.
fn streamed(models: &Models) -> Vec<bool> {
    models.asked().iter().map(|asked| asked.body["stream"].as_bool().unwrap()).collect()
}

fn stream(server: &Server) -> Vec<Frame> {
    let body = json!({"question": "Count!", "thread_id": "t", "stream": true});
    Stream::open(server, "POST", "/api/ask", body).rest()
}

fn events(frames: &[Frame]) -> Vec<&str> {
    frames.iter().map(|frame| frame.event.as_str()).collect()
}

fn stored(server: &Server, user: &str, of: &str) -> Vec<Value> {
    let turns = server.get(&thread(user, of, "/turns")).ok();
    turns["turns"].as_array().unwrap().iter().map(|turn| turn["message"].clone()).collect()
}

#[test]
fn a_stream_that_does_not_begin_is_asked_for_as_a_whole() {
    for act in [Act::Hangs, dies_after(&[]), Act::StallsAfter(0, Vec::new())] {
        let models = Models::start();
        let server = serve(&models);
        models.play([act.clone(), whole(says("assistant", "One, two."))]);
        let frames = stream(&server);
        assert_eq!(events(&frames), ["question", "sources", "text", "done"], "{act:?}");
        let done = &frames[3].data;
        assert_eq!((&done["answer"], &done["fallback"]), (&json!("One, two."), &json!(true)), "{done}");
        assert_eq!((&done["answered_by"], done.get("partial")), (&json!("tiny"), None));
        assert_eq!(done["notes"], json!(["the model did not answer; it was asked again"]));
        assert_eq!(done["usage"], json!({"prompt_tokens": 5, "completion_tokens": 2}));
        assert_eq!(stored(&server, "anonymous", "t")[1], says("assistant", "One, two."));
        let asked = models.asked();
        assert_eq!(streamed(&models), [true, false], "{act:?}");
        assert_eq!(asked[1].body.get("stream_options"), None);
        assert_eq!(asked[0].body["messages"], asked[1].body["messages"]);
    }
}

#[test]
fn a_stream_that_breaks_off_begins_anew() {
    for act in [dies_after(&["One", " tw"]), Act::StallsAfter(2, words(&["One", " tw"]))] {
        let models = Models::start();
        let server = serve(&models);
        models.play([act.clone(), whole(says("assistant", "One, two."))]);
        let frames = stream(&server);
        assert_eq!(events(&frames), ["question", "sources", "text", "text", "anew", "text", "done"], "{act:?}");
        assert_eq!((&frames[4].data, &frames[5].data), (&json!({}), &json!({"delta": "One, two."})));
        let done = &frames[6].data;
        assert_eq!((&done["answer"], &done["fallback"]), (&json!("One, two."), &json!(true)), "{done}");
        assert_eq!((done.get("partial"), &done["notes"][0]), (None, &json!("the model broke off; it was asked again")));
        assert_eq!(stored(&server, "anonymous", "t")[1], says("assistant", "One, two."));
        assert_eq!(streamed(&models), [true, false]);
    }
}

#[test]
fn where_both_fail_what_was_said_stays() {
    let fails = [dies_after(&["never"]), Act::Status(400, "no".into()), Act::Status(503, "no".into()), Act::Hangs];
    for act in fails.into_iter().chain([whole(says("assistant", " \n"))]) {
        let models = Models::start();
        let server = serve(&models);
        models.play([dies_after(&["One", " tw"]), act.clone()]);
        let frames = stream(&server);
        assert_eq!(events(&frames), ["question", "sources", "text", "text", "done"], "{act:?}");
        let done = &frames[4].data;
        assert_eq!((&done["answer"], &done["partial"]), (&json!("One tw"), &json!("model_failed")), "{act:?}");
        assert_eq!(done.get("fallback"), None);
        assert_eq!(streamed(&models), [true, false], "once, and not a second time: {act:?}");
    }
}

#[test]
fn where_nothing_was_said_and_both_fail_the_passages_answer() {
    let models = Models::start();
    let server = Home::new().serve_with(&models.talking());
    models.otherwise(Act::Status(503, "loading".into()));
    let answer = server.post("/api/ask", json!({"question": "When?"})).ok();
    assert_eq!((&answer["answered_by"], answer.get("fallback")), (&json!("passages"), None));
    assert_eq!(streamed(&models), [true, true, true, false], "its tries, and then a single one");
}

#[test]
fn what_is_refused_is_not_asked_again() {
    let models = Models::start();
    let server = serve(&models);
    for (at, act) in [Act::Status(400, "no".into()), Act::ErrorAfter(0, Vec::new())].into_iter().enumerate() {
        models.play([act]);
        let answer = server.post("/api/ask", json!({"question": "When?"})).ok();
        assert_eq!((&answer["answered_by"], models.asked().len()), (&json!("passages"), at + 1));
    }
}

#[test]
fn a_prompt_that_stays_too_long_is_not_sent_twice() {
    let models = Models::start();
    let server = serve(&models);
    let refusal = json!({"error": {"type": "exceed_context_size_error", "message": "the prompt is too long"}});
    models.otherwise(Act::Status(400, refusal.to_string()));
    let long = "word ".repeat(200);
    server.append("anonymous", "t", &(0..6).map(|_| says("assistant", &long)).collect::<Vec<_>>());
    for thread in ["t", "empty"] {
        let before = models.asked().len();
        let answer = server.post("/api/ask", json!({"question": "When?", "thread_id": thread})).ok();
        assert_eq!(answer["answered_by"], "passages", "{answer}");
        let asked = models.asked();
        let is_answer = |asked: &&Asked| asked.body["stream"] == true && asked.contents().last() == Some(&"When?");
        let asked: Vec<&Asked> = asked[before..].iter().filter(is_answer).collect();
        let sizes: Vec<usize> = asked.iter().map(|asked| asked.body["messages"].to_string().len()).collect();
        assert!(!sizes.is_empty() && sizes.len() <= 4 && sizes.is_sorted_by(|a, b| a > b), "{thread}: {sizes:?}");
    }
}

#[test]
fn what_a_callers_model_has_said_is_not_taken_back() {
    let models = Models::start();
    let server = serve(&models);
    let hi = |streams: bool| json!({"messages": [says("user", "Hi")], "temperature": 0, "stream": streams});
    for streams in [false, true] {
        models.play([dies_after(&[]), whole(says("assistant", "Well."))]);
        let answer = server.post("/v1/chat/completions", hi(streams));
        assert!(answer.status == 200 && answer.text().contains("Well."), "{}", answer.text());
    }
    assert_eq!(streamed(&models), [true, false, true, false]);
    assert!(models.asked().iter().all(|asked| asked.body["temperature"] == 0));
    models.play([dies_after(&["One"])]);
    let text = server.post("/v1/chat/completions", hi(true)).text();
    assert!(text.contains("One") && text.contains("model_failed") && text.ends_with("data: [DONE]\n\n"), "{text}");
    assert_eq!(models.asked().len(), 5, "not asked again");
}

#[test]
fn an_answer_with_skills_is_asked_again_once() {
    let models = Models::start();
    let server = serve(&models);
    let call = || Act::Calls(vec![("list_tasks".to_owned(), json!({}))]);
    let chat =
        |user: &str| server.post("/memory/chat", json!({"user_id": user, "message": "What is to be done?"})).ok();
    models.play([call(), dies_after(&["Noth"]), whole(says("assistant", "Nothing."))]);
    let answer = chat("ana");
    assert_eq!((&answer["answer"], &answer["fallback"]), (&json!("Nothing."), &json!(true)), "{answer}");
    assert_eq!(answer["calls"].as_array().unwrap().len(), 1, "what was done is not done again");
    assert_eq!(stored(&server, "ana", "default").len(), 4);

    let function = json!({"name": "list_tasks", "arguments": "{}"});
    let calls = json!({"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function", "function": function}]});
    models.play([dies_after(&["I lo"]), whole(calls), dies_after(&["Noth"])]);
    let answer = chat("bia");
    assert_eq!((&answer["answer"], &answer["partial"]), (&json!("Noth"), &json!("model_failed")), "{answer}");
    assert_eq!((answer["calls"].as_array().unwrap().len(), &answer["fallback"]), (1, &json!(true)));
    assert_eq!(streamed(&models), [true, true, false, true, false, true]);
}

#[test]
fn a_whole_answer_has_its_time() {
    let models = Models::start();
    let server = serve(&models);
    let began = std::time::Instant::now();
    models.play([Act::Hangs, Act::Repeats(b" ".to_vec(), Duration::from_millis(50))]);
    let answer = server.post("/api/ask", json!({"question": "When?"})).ok();
    assert_eq!(answer["answered_by"], "passages");
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    assert_eq!(streamed(&models), [true, false]);
}
