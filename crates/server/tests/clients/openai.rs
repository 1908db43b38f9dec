//! OpenAI's own clients with nothing changed but the address: names of models, threads, and what the model
//! tells beside its text.

use crate::conversation::{ONE_CALL, TWO_CALLS};
use crate::model::{FINGERPRINT, NAME};
use crate::script::{Script, Setting, USER};
use crate::support::{json, thread};

const PYTHON: Script = Script::Python("openai_basics.py");
const NODE: Script = Script::Node("openai.mjs");

#[test]
fn a_model_works_by_its_own_name_from_the_first_call() {
    for script in [PYTHON, NODE] {
        let setting = Setting::start();
        let told = setting.part(script, "models");
        assert_eq!(told["first"], "You said: Hi");
        assert_eq!(setting.models.asked()[0].body["model"], NAME);
        let listed: Vec<&str> = told["listed"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
        assert!(listed.contains(&NAME) && listed.contains(&"answer"), "{listed:?}");
        assert_eq!(told["retrieved"], json!(["answer", NAME]));
        assert_eq!(told["unknown"], "NotFoundError");
    }
}

#[test]
fn every_answer_says_which_thread_was_used() {
    let setting = Setting::start();
    let told = setting.part(PYTHON, "threads");
    let expected = json!({
        "header": "by%20header", "header_streamed": "by%20header", "metadata": "by%20metadata",
        "both": "by%20header", "neither": "none", "neither_streamed": "none",
    });
    assert_eq!(told, expected);
    let threads = setting.server.get(&format!("/v1/users/{USER}/threads")).ok();
    let mut names: Vec<&str> =
        threads["threads"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["by header", "by metadata"], "a call that names no thread leaves nothing");
    assert_eq!(setting.stored("by header").len(), 6);
    assert_eq!(setting.stored("by metadata").len(), 2);
    // OpenAI refuses metadata of a completion that it does not store.
    assert!(setting.models.asked().iter().all(|asked| asked.body["metadata"]["thread_id"].is_null()));
}

#[test]
fn a_key_says_who_asks() {
    let setting = Setting::start();
    let admin = setting.server.admin_key();
    let key = admin.post("/v1/keys", json!({"user": USER})).ok()["key"].clone();
    let told = setting.run(PYTHON, json!({"part": "keys", "key": key}));
    let said = "You said: Hi";
    let expected =
        json!({"own": said, "named": said, "other": "PermissionDeniedError", "wrong": "AuthenticationError"});
    assert_eq!(told, expected);
    let turns = admin.get(&thread(USER, "keyed", "/turns")).ok();
    assert_eq!(turns["turns"].as_array().unwrap().len(), 4);
    assert_eq!(setting.models.asked().len(), 2, "what is refused here does not reach the model");
}

#[test]
fn a_thread_for_each_user_is_never_one_for_several() {
    let setting = Setting::start_with(&[("NOVELO_COMPLETIONS_DEFAULT_THREAD", "user")]);
    let told = setting.part(PYTHON, "default");
    assert_eq!(told, json!({"ana": "default", "bob": "default", "nobody": "none", "again": "default"}));
    let asked = setting.models.asked();
    assert_eq!(asked[1].contents(), ["Two"]);
    assert_eq!(asked[2].contents(), ["Three"]);
    assert_eq!(asked[3].contents(), ["One", "You said: One", "Four"]);
}

#[test]
fn what_the_model_tells_beside_its_text_arrives() {
    let setting = Setting::start();
    let told = setting.part(PYTHON, "details");
    for way in ["whole", "streamed"] {
        let details = json!({
            "text": "You said: Hi", "fingerprint": FINGERPRINT, "logprob": -0.25, "cached": 32, "reasoning": 7,
            "usage": [40, 20, 60], "first_role": "assistant",
        });
        assert_eq!(told[way], details, "{way}");
    }
    for asked in setting.models.asked() {
        assert_eq!((&asked.body["user"], &asked.body["logprobs"]), (&json!(USER), &json!(true)));
    }
}

#[test]
fn an_answer_in_a_schema_is_parsed() {
    let setting = Setting::start();
    let told = setting.part(PYTHON, "parse");
    assert_eq!(told, json!({"whole": ["Recife", 31], "streamed": ["Recife", 31]}));
    assert_eq!(setting.models.asked()[0].body["response_format"]["json_schema"]["name"], "Weather");
    assert_eq!(setting.stored("parse").len(), 4);
}

#[test]
fn the_stream_of_the_javascript_client_ends_in_a_completion() {
    let setting = Setting::start();
    let told = setting.part(NODE, "stream");
    assert_eq!(told["content"], "You said: Hi");
    assert_eq!(told["first_roles"], json!(["assistant", "assistant"]), "of a text and of a call");
    assert_eq!(told["role"], "assistant");
    assert_eq!(told["reasoning"], 7);
}

#[test]
fn clients_take_turns_in_one_thread() {
    let setting = Setting::start();
    let mut messages = json!([]);
    let questions = ["What is the weather in Sao Paulo?", "And in Belem?", "Compare both.", "Again in Sao Paulo?"];
    let scripts = [PYTHON, Script::Node("vercel_turn.mjs"), Script::Python("langchain_turn.py"), PYTHON];
    for (script, question) in scripts.into_iter().zip(questions) {
        let task = json!({"part": "turn", "thread": "shared", "question": question, "messages": messages});
        messages = setting.run(script, task)["messages"].clone();
    }
    let shape = [&ONE_CALL[..], &ONE_CALL, &TWO_CALLS, &ONE_CALL].concat();
    let stored = setting.holds("shared", &shape);
    setting.was_sent(&stored);
    assert_eq!(setting.models.asked().len(), 8);
    assert_eq!(setting.server.get(&thread(USER, "shared", "/turns?last=1000")).status, 200);
}
