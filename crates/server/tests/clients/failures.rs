//! What goes wrong behind the server, as clients see it: their own error classes, few requests, and a thread
//! that still works afterwards.

use std::time::Duration;

use crate::model::text;
use crate::script::{Script, Setting};
use crate::support::models::{Act, words};
use crate::support::{eventually, json};

const PYTHON: Script = Script::Python("openai_failures.py");
const NODE: Script = Script::Node("openai.mjs");

/// The class of error of each status, and how many requests of the model's server one call of the client
/// costs: clients ask three times where another try may help, and the server adds none of its own.
const EXPECTED: [(u16, &[&str], usize); 5] = [
    (400, &["BadRequestError"], 1),
    (401, &["AuthenticationError", "PermissionDeniedError"], 1),
    (404, &["NotFoundError"], 1),
    (429, &["RateLimitError"], 3),
    (500, &["InternalServerError"], 3),
];

fn check_statuses(script: Script) {
    let setting = Setting::start();
    let told = setting.run(script, json!({"part": "statuses", "statuses": EXPECTED.map(|(status, ..)| status)}));
    for (way, (status, classes, requests)) in
        ["whole", "streamed"].into_iter().flat_map(|way| EXPECTED.map(|e| (way, e)))
    {
        let question = format!("{way} status {status}");
        let told = &told[&question];
        assert!(classes.contains(&told["class"].as_str().unwrap()), "{question}: {told}");
        let asked = setting.models.asked();
        let cost = asked.iter().filter(|asked| asked.contents().contains(&question.as_str())).count();
        assert_eq!(cost, requests, "{question}");
        let message = told["message"].as_str().unwrap();
        assert!(!message.contains("sk-secret"), "{message}");
        match status {
            400 => assert!(message.contains("temperature is out of range"), "{message}"),
            429 => assert_eq!(told["retry_after"], "1", "{told}"),
            _ => (),
        }
    }
}

#[test]
fn statuses_are_the_errors_of_the_python_client() {
    check_statuses(PYTHON);
}

#[test]
fn statuses_are_the_errors_of_the_javascript_client() {
    check_statuses(NODE);
}

#[test]
fn a_refused_image_does_not_break_its_thread() {
    let setting = Setting::start();
    let told = setting.part(PYTHON, "image");
    assert_eq!(told["class"], "BadRequestError", "{told}");
    assert!(told["message"].as_str().unwrap().contains("does not take images"), "{told}");
    assert_eq!(told["answers"], json!(["You said: One", "You said: Two", "You said: Three"]));
    // The question with the image is stored once, although the client sent it three times.
    let stored = setting.stored("image");
    let said: Vec<String> = stored.iter().map(|message| text(&message["content"])).collect();
    let expected = ["One", "You said: One", "What is this?", "Two", "You said: Two", "Three", "You said: Three"]
        .map(str::to_owned);
    assert_eq!(said, expected);
    let asked = setting.models.asked();
    let sent: Vec<String> =
        asked.last().unwrap().body["messages"].as_array().unwrap().iter().map(|m| text(&m["content"])).collect();
    assert_eq!(sent, ["One", "You said: One", "Two", "You said: Two", "Three"]);
}

#[test]
fn a_stream_that_breaks_off_is_an_error_and_its_words_are_stored() {
    for script in [PYTHON, NODE] {
        let setting = Setting::start();
        let told = setting.part(script, "break");
        assert_eq!((&told["class"], &told["heard"]), (&json!("APIError"), &json!("Once upon")), "{told}");
        assert_eq!(told["answer"], "You said: And now?");
        let said: Vec<String> = setting.stored("break").iter().map(|message| text(&message["content"])).collect();
        assert_eq!(said, ["Please break off", "Once upon", "And now?", "You said: And now?"]);
    }
}

/// The client gives up, and its second try is answered; the model then answers the first one too, to nobody.
#[test]
fn a_call_that_the_client_tried_again_is_stored_once() {
    let setting = Setting::start();
    let late = Act::Slowly(Duration::from_millis(1500), words(&["Too", " late"]));
    setting.models.play([late]);
    let told = setting.part(PYTHON, "timeout");
    assert_eq!(told["answer"], "You said: Hi");
    setting.run(PYTHON, json!({"part": "more", "thread": "timeout", "question": "More?"}));
    let said: Vec<String> = setting.stored("timeout").iter().map(|message| text(&message["content"])).collect();
    assert_eq!(said, ["Hi", "You said: Hi", "More?", "You said: More?"]);
}

/// A client closes a stream after some words, and asks again with what it heard.
fn check_closed(script: Script, after: &str) {
    let setting = Setting::start();
    let told = setting.run(script, json!({"part": "cancel", "after": after}));
    assert_eq!((&told["heard"], &told["answer"]), (&json!(after), &json!("You said: And now?")));
    assert!(eventually(|| !setting.models.hangups().is_empty()), "the model is still asked");
    let last = setting.models.asked().pop().unwrap();
    let heard = |text: &&str| text.starts_with("Once");
    assert_eq!(last.contents().into_iter().filter(heard).count(), 1, "{last:#?}");
    // What is left of the first answer may be stored after the second request; a third tells that it was.
    setting.run(script, json!({"part": "more", "thread": "cancel", "question": "More?"}));
    let stored = setting.stored("cancel");
    let said: Vec<String> = stored.iter().map(|message| text(&message["content"])).collect();
    assert_eq!(said.iter().filter(|said| said.starts_with("Once")).count(), 1, "{stored:#?}");
    assert!(said[1].starts_with(after), "{stored:#?}");
    let rest = ["And now?", "You said: And now?", "More?", "You said: More?"];
    assert_eq!((said[0].as_str(), &said[2..]), ("Tell me a long story", &rest.map(str::to_owned)[..]));
}

#[test]
fn a_stream_closed_by_the_python_client_is_stored_once() {
    check_closed(PYTHON, "Once upon a");
}

#[test]
fn a_stream_closed_by_the_javascript_client_is_stored_once() {
    check_closed(NODE, "Once upon a");
}

#[test]
fn a_stream_closed_before_all_was_heard_is_stored_once() {
    check_closed(PYTHON, "Once");
    check_closed(NODE, "Once");
}
