//! Input that is within the caps and made to hurt.
//!
//! The sizes are such that work which grows with the square of the input would not end.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use novelo_engine::{Assembly, Loaded, Message, Recipe, assemble};
use serde_json::{Value, json};

fn accept(raw: String) -> Message {
    Message::accept(raw.into()).unwrap()
}

fn assembled(inline: &[Message], recipe: Value, then: impl FnOnce(&Assembly<'_>)) {
    let recipe = Recipe::decode("recipe", &recipe).unwrap();
    let loaded = Loaded { inline, ..Loaded::default() };
    then(&assemble(&recipe, &loaded, None).unwrap());
}

#[test]
fn a_message_of_many_keys() {
    let keys: String = (0..200_000).map(|n| format!(r#","k{n}":0"#)).collect();
    accept(format!(r#"{{"role":"user"{keys}}}"#));
}

#[test]
fn a_message_of_many_calls_and_as_many_answers() {
    let ids = || (0..50_000).map(|n| format!("c{n}"));
    let calls: Vec<String> = ids().map(|id| format!(r#"{{"id":"{id}"}}"#)).collect();
    let answers = ids().map(|id| accept(format!(r#"{{"role":"tool","tool_call_id":"{id}"}}"#)));
    let calling = accept(format!(r#"{{"role":"assistant","tool_calls":[{}]}}"#, calls.join(",")));
    let messages: Vec<Message> = answers.chain([calling]).collect();
    assembled(&messages, json!({"filters": ["toolCallBackfill"]}), |assembly| {
        assert_eq!(assembly.messages().count(), 50_001);
    });
    assembled(&messages[50_000..], json!({"filters": ["toolCallBackfill"]}), |assembly| {
        assert_eq!(assembly.messages().count(), 50_001);
    });
}

#[test]
fn a_message_of_many_files() {
    let file = |n: usize| json!({"filepath": "f", "content": n}).to_string();
    let call = |n: usize| json!({"id": format!("c{n}"), "function": {"arguments": file(n)}});
    let message = json!({"role": "assistant", "tool_calls": (0..30_000).map(call).collect::<Vec<_>>()});
    let limiter = json!({"name": "fileContentsLimiter", "options": {"filesLimit": 0}});
    let recipe = json!({"filters": [limiter, limiter], "tokenizer": "o200k_base"});
    assembled(&[accept(message.to_string())], recipe, |assembly| {
        let why = &assembly.explain().pieces[0].why;
        assert_eq!(why.matches("contents of f hidden").count(), 60_000);
    });
}

#[test]
fn many_different_instructions() {
    let messages: Vec<Message> =
        (0..80_000).map(|n| accept(format!(r#"{{"role":"system","content":"{n}"}}"#))).collect();
    assembled(&messages, json!({"filters": ["dedupe"]}), |assembly| assert_eq!(assembly.messages().count(), 80_000));
}

#[test]
fn a_name_of_many_letters() {
    let name = "n".repeat(4_000_000);
    let error = Recipe::decode("recipe", &json!({name: 1})).unwrap_err();
    assert_eq!(error.problem, "is not known");
}

#[test]
fn costs_past_counting_are_over_every_budget() {
    let total = novelo_engine::tokens::total([u32::MAX, 1].into_iter());
    assert_eq!(total, u32::MAX);
}
