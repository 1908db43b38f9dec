//! What must hold of a thread after a client was through with it, and of every prompt that the model was
//! sent.

use std::collections::BTreeSet;

use crate::model::text;
use crate::script::{Setting, USER};
use crate::support::models::Asked;
use crate::support::{Value, thread};

/// What a question with calls leaves in a thread.
pub const ONE_CALL: [&str; 4] = ["user", "assistant+1", "tool", "assistant"];
pub const TWO_CALLS: [&str; 5] = ["user", "assistant+2", "tool", "tool", "assistant"];

impl Setting {
    /// The messages of a thread.
    pub fn stored(&self, of: &str) -> Vec<Value> {
        let turns = self.server.get(&thread(USER, of, "/turns?last=1000")).ok();
        turns["turns"].as_array().unwrap().iter().map(|turn| turn["message"].clone()).collect()
    }

    /// Asserts that a thread holds these turns and no call twice, and that no prompt held anything else.
    #[track_caller]
    pub fn holds(&self, of: &str, shape: &[&str]) -> Vec<Value> {
        let stored = self.stored(of);
        assert_eq!(roles(&stored), shape, "{stored:#?}");
        assert_paired(&stored);
        for asked in self.models.asked() {
            assert_sound(&asked);
        }
        stored
    }

    /// Asserts that the model was last sent this thread, without the answer that it then gave.
    #[track_caller]
    pub fn was_sent(&self, stored: &[Value]) {
        let asked = self.models.asked();
        let sent = asked.last().unwrap().body["messages"].as_array().unwrap();
        let plain = |messages: &[Value]| -> Vec<(String, String)> {
            let said = messages.iter().filter(|m| m["role"] != "system");
            said.map(|m| (m["role"].as_str().unwrap().to_owned(), text(&m["content"]))).collect()
        };
        assert_eq!(plain(sent), plain(&stored[..stored.len() - 1]));
    }
}

/// The roles of messages, with the number of calls.
fn roles(messages: &[Value]) -> Vec<String> {
    let role = |message: &Value| {
        let role = message["role"].as_str().unwrap().to_owned();
        match message["tool_calls"].as_array() {
            Some(calls) if !calls.is_empty() => format!("{role}+{}", calls.len()),
            _ => role,
        }
    };
    messages.iter().map(role).collect()
}

/// Every call has an id of its own and one result, which stands right after it.
#[track_caller]
fn assert_paired(messages: &[Value]) {
    let (mut seen, mut open) = (BTreeSet::new(), BTreeSet::new());
    for message in messages {
        if message["role"] == "tool" {
            let id = message["tool_call_id"].as_str().unwrap();
            assert!(open.remove(id), "{id} answers no call that waits: {messages:#?}");
            continue;
        }
        assert!(open.is_empty(), "{open:?} have no result: {messages:#?}");
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let id = call["id"].as_str().unwrap();
            assert!(seen.insert(id) && open.insert(id), "{id} is there twice: {messages:#?}");
        }
    }
    assert!(open.is_empty(), "{open:?} have no result: {messages:#?}");
}

#[track_caller]
fn assert_sound(asked: &Asked) {
    let messages = asked.body["messages"].as_array().unwrap();
    assert_paired(messages);
    assert!(!asked.body.to_string().contains("failed to respond"), "{messages:#?}");
    let questions: Vec<String> = messages.iter().filter(|m| m["role"] == "user").map(|m| text(&m["content"])).collect();
    let different: BTreeSet<&String> = questions.iter().collect();
    assert_eq!(different.len(), questions.len(), "a question is there twice: {questions:?}");
}
