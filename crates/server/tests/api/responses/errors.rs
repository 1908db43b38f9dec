//! Bad input, models that fail, and prompts that are too long: in OpenAI's form.

use super::{AT, ask, ask_after, id, serve, text};
use crate::support::models::{Act, Models, words};
use crate::support::stream::Stream;
use crate::support::{Home, json};

#[test]
fn bad_input_is_a_400_that_names_the_field() {
    let models = Models::start();
    let server = serve(&models);
    let made = id(&server.post(AT, ask("One")).ok());
    let asked = models.asked().len();
    for (more, param) in [
        (json!({"input": null}), "input"),
        (json!({"input": 7}), "input"),
        (json!({"input": [{"role": "parrot", "content": "x"}]}), "input[0].role"),
        (json!({"truncation": "some"}), "truncation"),
        (json!({"tools": [{"type": "web_search"}]}), "tools[0].type"),
        (json!({"include": ["file_search_call.results"]}), "include"),
        (json!({"metadata": {"a": 1}}), "metadata.a"),
        (json!({"background": true, "store": false}), "background"),
        (json!({"conversation": "conv_t", "previous_response_id": made}), "previous_response_id"),
        (json!({"prompt": {"id": "p"}}), "prompt"),
        (json!({"max_output_tokens": 0}), "max_output_tokens"),
        (json!({"text": {"format": {"type": "grammar"}}}), "text.format.type"),
        (json!({"stream": "yes"}), "stream"),
        (json!({"temperature": "hot"}), "temperature"),
    ] {
        let mut body = ask("x");
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let answer = server.post(AT, &body);
        let error = &answer.json()["error"];
        assert_eq!((answer.status, &error["type"]), (400, &json!("invalid_request_error")), "{more}: {error}");
        assert_eq!(error["param"], param, "{more}: {error}");
        assert_eq!(answer.header("x-novelo-thread"), Some("none"));
    }
    server.post(AT, "{").refused(400, "invalid_json");
    server.post(AT, ask_after("resp_nowhere", "x")).refused(400, "previous_response_not_found");
    server.post(AT, json!({"input": "x", "user": "ana", "conversation": "conv_nowhere"})).refused(404, "not_found");
    server.get(&format!("{AT}/resp_nowhere")).refused(404, "not_found");
    server.get(&format!("{AT}/{made}?user=ana&starting_after=1")).refused(400, "invalid_value");
    assert_eq!(models.asked().len(), asked, "what is refused here does not reach the model");
}

#[test]
fn a_model_that_fails_leaves_its_question_and_no_response() {
    let models = Models::start();
    let server = serve(&models);
    models.play([Act::Status(404, r#"{"error":{"message":"retired"}}"#.into())]);
    assert_eq!(server.post(AT, ask("One")).status, 404);
    assert!(!server.get("/v1/users/ana/export").text().contains("/responses/"));
    models.play([Act::ErrorAfter(2, words(&["Once", " upon"]))]);
    let mut body = ask("Two");
    body["stream"] = true.into();
    let frames = Stream::open(&server, "POST", AT, &body).rest();
    let last = frames.last().unwrap();
    assert_eq!((last.event.as_str(), &last.data["response"]["status"]), ("response.failed", &json!("failed")));
    assert!(last.data["response"]["error"]["message"].is_string());
    let stored = server.get(&format!("{AT}/{}?user=ana", id(&last.data["response"]))).ok();
    assert_eq!(stored, last.data["response"]);
}

#[test]
fn a_prompt_that_is_too_long_is_an_error_or_is_shortened() {
    let models = Models::start();
    let server =
        Home::new().serve_with(&[&models.talking()[..], &[("NOVELO_MODELS_ANSWER_WINDOW_TOKENS", "2000")]].concat());
    let long = "tea ".repeat(1_000);
    let first = id(&server.post(AT, ask(&long)).ok());
    let second = id(&server.post(AT, ask_after(&first, "Short")).ok());
    let third = server.post(AT, ask_after(&second, long.as_str()));
    third.refused(400, "context_length_exceeded");
    let mut body = ask_after(&second, long.as_str());
    body["truncation"] = "auto".into();
    let made = server.post(AT, &body).ok();
    assert_eq!(text(&made), "Hello there.");
    let explained = server.get(&format!("{AT}/{}/explain?user=ana", id(&made))).ok();
    let fates: Vec<&str> = explained["explain"]["pieces"]
        .as_array()
        .unwrap()
        .iter()
        .map(|piece| piece["fate"].as_str().unwrap())
        .collect();
    assert!(fates.contains(&"dropped"), "{explained}");
    let warning = made["metadata"]["novelo_warning"].as_str();
    assert_eq!(warning, None, "a short prompt is not suspected");
    let counted = server.post(&format!("{AT}/input_tokens"), ask_after(&second, "x")).ok();
    assert_eq!(counted["object"], "response.input_tokens");
    assert!(counted["input_tokens"].as_u64().unwrap() > 1_000, "{counted}");
}

#[test]
fn a_server_that_cuts_the_prompt_without_a_word_is_noticed() {
    let models = Models::start();
    let server = serve(&models);
    let made = server.post(AT, ask(&"tea ".repeat(4_000))).ok();
    let warning = made["metadata"]["novelo_warning"].as_str().unwrap();
    assert!(warning.contains("read 10 tokens"), "{warning}");
    assert_eq!(server.metric("novelo_prompts_cut_total"), 1);
    assert_eq!(server.get(&format!("{AT}/{}?user=ana", id(&made))).ok(), made);
    assert!(server.post(AT, ask("Hi")).ok()["metadata"].get("novelo_warning").is_none());
}
