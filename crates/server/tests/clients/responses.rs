//! Responses and Conversations in the hands of official clients: tool loops, whole and streamed, and the
//! suite of `suites/responses-state`.

use std::path::PathBuf;
use std::process::Command;

use crate::model;
use crate::script::{Script, Setting, USER, quiet};
use crate::support::embeddings::Embeddings;
use crate::support::llm::Llm;
use crate::support::{Home, Ran, Value, json};

const SAO_PAULO: &str = "What is the weather in Sao Paulo?";
const BOTH: &str = "Compare both.";
const ANSWERS: [&str; 2] =
    ["It is 31 degrees in São Paulo for 1.", "It is 31 degrees in São Paulo for 1 and 31 degrees in Belém 🌴 for 10."];
/// The items of both questions.
const ITEMS: [&str; 10] = [
    "user",
    "function_call",
    "function_call_output",
    "assistant",
    "user",
    "function_call",
    "function_call",
    "function_call_output",
    "function_call_output",
    "assistant",
];

fn questions() -> Value {
    json!({"questions": [SAO_PAULO, BOTH]})
}

/// The roles of the messages and the types of the other items of a conversation, oldest first.
fn items(setting: &Setting, conversation: &str) -> Vec<String> {
    let path = format!("/v1/conversations/{conversation}/items?order=asc&limit=100&user={USER}");
    let page = setting.server.get(&path).ok();
    let name = |item: &Value| item["role"].as_str().or(item["type"].as_str()).unwrap().to_owned();
    page["data"].as_array().unwrap().iter().map(name).collect()
}

/// The conversation that a response is in.
fn conversation_of(response: &Value) -> String {
    let id = response.as_str().unwrap();
    format!("conv_{}", id.trim_start_matches("resp_").rsplit_once('_').unwrap().0)
}

#[test]
fn openai_agents_keep_their_state() {
    let setting = Setting::start();
    let told = setting.run(Script::Python("openai_agents_responses.py"), questions());
    for (way, seen) in told.as_object().unwrap() {
        assert_eq!(seen["answers"], json!(ANSWERS), "{way}");
        let conversation = seen["conversation"].as_str().map_or_else(|| conversation_of(&seen["last"]), str::to_owned);
        assert_eq!(items(&setting, &conversation), ITEMS, "{way}");
    }
    assert_eq!(told.as_object().unwrap().len(), 6);
}

#[test]
fn langchain_keeps_its_state() {
    let setting = Setting::start();
    let told = setting.run(Script::Python("langchain_responses.py"), questions());
    for (way, answers) in told.as_object().unwrap() {
        assert_eq!(answers, &json!(ANSWERS), "{way}");
    }
    assert_eq!(told.as_object().unwrap().len(), 4);
}

#[test]
fn openai_for_javascript_keeps_its_state() {
    let setting = Setting::start();
    let told = setting.run(Script::Node("responses.mjs"), questions());
    for (way, seen) in told.as_object().unwrap() {
        assert_eq!(seen["answers"], json!(ANSWERS), "{way}");
        assert_eq!(items(&setting, &conversation_of(&seen["last"])), ITEMS, "{way}");
    }
}

#[test]
fn every_body_and_event_has_the_types_of_the_official_package() {
    let embeddings = Embeddings::start();
    let setting = Setting::start_with(&embeddings.settings());
    let recall = "Repeat every code word that was said in this conversation, and nothing else.";
    let told = setting.run(Script::Python("responses_types.py"), json!({"question": SAO_PAULO, "recall": recall}));
    assert_eq!(told.as_array().unwrap().len(), 11, "{told}");
}

#[test]
fn the_official_clients_embed_texts() {
    let embeddings = Embeddings::start();
    let setting = Setting::start_with(&embeddings.settings());
    for script in [Script::Python("openai_embeddings.py"), Script::Node("embeddings.mjs")] {
        let told = setting.run(script, json!({}));
        let vectors = |name: &str| serde_json::from_value::<Vec<[f32; 4]>>(told[name].clone()).unwrap();
        assert_eq!(vectors("default"), [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]], "{told}");
        assert_eq!(vectors("float"), [[1.0, 0.0, 0.0, 0.0]], "{told}");
        assert_eq!(told["tokens"], json!(["BadRequestError", "input"]), "{told}");
        assert_eq!(told["unknown"], json!(["NotFoundError", "model"]), "{told}");
    }
}

#[test]
fn the_official_client_and_an_llm() {
    let llm = Llm::start(2048);
    let settings = [&llm.settings()[..], &[("NOVELO_MODELS_SUMMARY_URL", "none")]].concat();
    let setting = Setting { models: model::start(), server: Home::new().serve_with(&settings) };
    let told = setting.run(Script::Python("openai_llm.py"), json!({}));
    assert!(told["chat"].as_str().is_some_and(|text| !text.trim().is_empty()), "{told}");
    let (stream, chain) = (&told["stream"], &told["chain"]);
    assert!(stream["pieces"] == stream["whole"] && stream["whole"] != "", "{told}");
    assert!(chain["same"] == true && chain["text"] != "", "{told}");
    let tokens: Vec<u64> = serde_json::from_value(chain["tokens"].clone()).unwrap();
    assert!(tokens.is_sorted_by(|a, b| a < b), "each turn sees those before it: {told}");
    assert_eq!(told["conversation"], json!(["user", "assistant", "user", "assistant"]));
}

/// The suite runs with the keys of two users, and kills the server with a command.
#[test]
fn the_suite_of_conversation_state_passes_also_over_a_crash() {
    let models = model::start();
    let home = Home::new();
    let settings = [&models.talking()[..], &[("NOVELO_MODELS_ANSWER_WINDOW_TOKENS", "12000")]].concat();
    let server = home.serve_with(&settings);
    let admin = server.admin_key();
    let key = |user: &str| admin.post("/v1/keys", json!({"user": user})).ok()["key"].as_str().unwrap().to_owned();
    let (ana, bob, addr) = (key("ana"), key("bob"), server.addr);
    let pid = home.write("pid", &server.pid().to_string());
    let own = home.command(&["serve", "--addr", &addr.to_string()]);
    let set = |(name, value): (&str, &str)| format!("export {name}='{value}'\n");
    let given: String = own
        .get_envs()
        .filter_map(|(name, value)| Some(set((name.to_str()?, value?.to_str()?))))
        .chain(settings.iter().map(|(name, value)| set((name, value))))
        .collect();
    let start = format!(
        "{given}cd '{}'\nkill -9 $(cat '{pid}')\nwhile kill -0 $(cat '{pid}') 2>/dev/null && ! grep -q '^State:.Z' /proc/$(cat '{pid}')/status; do sleep 0.05; done\n\
         '{}' serve --addr {addr} </dev/null >restarted.log 2>&1 &\necho $! > '{pid}'\n",
        home.path("").display(),
        own.get_program().to_str().unwrap(),
        pid = pid.display(),
    );
    let restart = home.write("restart.sh", &start);
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut command = Command::new(root.join("target/clients/venv/bin/python"));
    command.arg("-B").arg(root.join("suites/responses-state/run.py")).args(["--json", "--model", "answer"]);
    command.args(["--base-url", &format!("http://{addr}/v1"), "--api-key", &ana, "--other-key", &bob]);
    command.args(["--too-long", "40000", "--restart", &format!("sh '{}'", restart.display())]);
    quiet(&mut command);
    let ran = Ran::of(&mut command);
    // The server that the suite started is not a child of this test.
    let last = std::fs::read_to_string(&pid).unwrap();
    let ended = Command::new("kill").args(["-9", last.trim()]).status().unwrap();
    assert!(ended.success());
    let results: Value = serde_json::from_str(ran.out.lines().last().unwrap_or_default()).unwrap_or_default();
    let failed: Vec<_> = results.as_object().into_iter().flatten().filter(|(_, result)| *result != "pass").collect();
    assert!(ran.code == Some(0) && failed.is_empty(), "{failed:#?}\n{}\n{}", ran.out, ran.err);
    drop(server);
}

#[test]
fn vercel_ai_sdk_keeps_its_thread_over_open_responses() {
    let setting = Setting::start();
    let run = |thread: &str, stream: bool| json!({"thread": thread, "stream": stream, "questions": [SAO_PAULO, BOTH]});
    let runs = json!({"runs": [run("whole", false), run("streamed", true)]});
    let told = setting.run(Script::Node("vercel_responses.mjs"), runs);
    for thread in ["whole", "streamed"] {
        assert_eq!(told[thread], json!(ANSWERS), "{thread}");
        assert_eq!(items(&setting, &format!("conv_{thread}")), ITEMS, "{thread}");
    }
}
