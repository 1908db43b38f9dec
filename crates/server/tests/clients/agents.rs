//! Agents: frameworks that run tools and send the whole conversation again, each in its own spelling.

use crate::conversation::{ONE_CALL, TWO_CALLS};
use crate::script::{Script, Setting};
use crate::support::{Value, json};

const SAO_PAULO: &str = "What is the weather in Sao Paulo?";
const BELEM: &str = "And in Belem?";
const BOTH: &str = "Compare both.";
const STATION: &str = "And at the station in Recife?";

/// Two questions and then two calls at once, whole and streamed, each in a thread of its own.
fn runs() -> Value {
    let run = |thread: &str, stream: bool, questions: &[&str]| json!({"thread": thread, "stream": stream, "questions": questions});
    json!({"runs": [
        run("whole", false, &[SAO_PAULO, BELEM]),
        run("streamed", true, &[SAO_PAULO, BELEM]),
        run("both", false, &[BOTH, SAO_PAULO]),
        run("both streamed", true, &[BOTH, SAO_PAULO]),
        run("station", false, &[STATION, BELEM]),
    ]})
}

fn check(script: Script) {
    let setting = Setting::start();
    let told = setting.run(script, runs());
    let sao_paulo = "It is 31 degrees in São Paulo for 1.";
    let belem = "It is 31 degrees in Belém 🌴 for 10.";
    let both = "It is 31 degrees in São Paulo for 1 and 31 degrees in Belém 🌴 for 10.";
    for (thread, answers) in [
        ("whole", [sao_paulo, belem]),
        ("streamed", [sao_paulo, belem]),
        ("both", [both, sao_paulo]),
        ("both streamed", [both, sao_paulo]),
    ] {
        assert_eq!(told[thread], json!(answers), "{thread}");
    }
    let two = [ONE_CALL, ONE_CALL].concat();
    assert_eq!(two.len(), 8);
    let stored = setting.holds("whole", &two);
    // What the model wrote is what is kept, however the client wrote it afterwards.
    let arguments = &stored[1]["tool_calls"][0]["function"]["arguments"];
    assert_eq!(arguments, r#"{"city": "S\u00e3o Paulo", "days": 1.0}"#);
    assert_eq!(stored[5]["content"], "Let me look.");
    setting.holds("streamed", &two);
    let both = [&TWO_CALLS[..], &ONE_CALL].concat();
    setting.holds("both", &both);
    setting.holds("both streamed", &both);
    let stored = setting.holds("station", &two);
    let arguments = &stored[1]["tool_calls"][0]["function"]["arguments"];
    assert_eq!(arguments, r#"{"city":"Recife","station":12345678901234567890}"#);
    setting.was_sent(&stored);
    for asked in setting.models.asked() {
        let instructs = asked.body["messages"].as_array().unwrap().iter().map(|m| m["role"] == "system");
        assert_eq!(instructs.collect::<Vec<_>>().iter().rposition(|is| *is), Some(0), "{:#?}", asked.body);
        assert_eq!(asked.contents()[0], "Be brief.");
    }
    assert_eq!(setting.models.asked().len(), 5 * 4, "two requests for each question");
}

#[test]
fn langgraph_keeps_its_thread() {
    check(Script::Python("langgraph_agent.py"));
}

#[test]
fn openai_agents_keep_their_thread() {
    check(Script::Python("openai_agents.py"));
}

#[test]
fn pydantic_ai_keeps_its_thread() {
    check(Script::Python("pydantic_ai_agent.py"));
}

#[test]
fn llama_index_keeps_its_thread() {
    check(Script::LlamaIndex("llama_index_agent.py"));
}

#[test]
fn vercel_ai_sdk_keeps_its_thread() {
    check(Script::Node("vercel.mjs"));
}

#[test]
fn openai_for_javascript_keeps_its_thread() {
    check(Script::Node("run_tools.mjs"));
}

#[test]
fn openai_for_python_keeps_its_thread() {
    check(Script::Python("openai_tools.py"));
}
