//! Real transcripts, in every window: no call is parted from its answers, and nothing is lost unaccounted.
//!
//! They stand beside the project where it is developed, and in CI. A clone without them skips this.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod laws;

use novelo_engine::{Loaded, Message, Recipe, Role};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Transcript {
    id: String,
    messages: Vec<Box<RawValue>>,
}

#[test]
fn every_window_of_every_prefix_is_paired() {
    each(|messages| {
        for end in 1..=messages.len() {
            // A wide window of a prefix has the front of some wide window of the whole, and the end of a
            // narrow one.
            let n_max = if end == messages.len() { end } else { 3 };
            for n in 1..=n_max {
                let window = json!({"name": "historyWindow", "options": {"turns": n}});
                check(&messages[..end], json!({"filters": [window, "toolCallBackfill"]}), None);
            }
        }
    });
}

#[test]
fn every_number_of_pairs_is_paired() {
    each(|messages| {
        let users = messages.iter().filter(|m| m.is(Role::User)).count();
        for n in 1..=users + 1 {
            let window = json!({"name": "historyWindow", "options": {"pairs": n}});
            check(messages, json!({"filters": [window]}), None);
        }
    });
}

#[test]
fn every_budget_is_kept_and_paired() {
    each(|messages| {
        for budget_tokens in (1..13).map(|step| step * 331) {
            check(messages, json!({"filters": ["toolCallBackfill"]}), Some(budget_tokens));
            let stable = json!({"name": "stableWindow", "options": {"maxTokens": budget_tokens}});
            check(messages, json!({"filters": [stable]}), None);
        }
    });
}

fn check(messages: &[Message], recipe: Value, budget_tokens: Option<u32>) {
    let recipe = Recipe::decode("recipe", &recipe).unwrap();
    let loaded = Loaded { inline: messages, ..Loaded::default() };
    if let Ok(assembly) = laws::assembled(&recipe, &loaded, budget_tokens) {
        laws::paired(&assembly);
    }
}

fn each(test: impl Fn(&[Message])) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/tool-transcripts.jsonl");
    let Ok(lines) = std::fs::read_to_string(path) else {
        eprintln!("SKIPPED: no {path}");
        return;
    };
    for line in lines.lines() {
        let transcript: Transcript = serde_json::from_str(line).unwrap();
        assert!(!transcript.messages.is_empty(), "{}", transcript.id);
        let accept = |raw: &RawValue| Message::accept(raw.get().to_owned().into()).unwrap();
        let mut messages: Vec<Message> = transcript.messages.iter().map(|raw| accept(raw)).collect();
        // The same long policy leads them all; its bytes only make this slow.
        if let Some(policy) = messages.first_mut().filter(|m| m.is(Role::System)) {
            *policy = Message::text(Role::System, "policy");
        }
        test(&messages);
    }
}
