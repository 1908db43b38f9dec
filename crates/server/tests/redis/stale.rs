//! A node that keeps a thread warm shows every change of another in its very next read.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::support::nodes::{Nodes, cluster};
use crate::support::{Client, Home, Value, json, says, thread, user};
use crate::{SetOnDrop, turns_of};

const CHANGES: usize = 500;

/// A turn as it should be.
type Turn = (String, String);

fn message(id: &str) -> String {
    format!("/v1/docs/users/u/convo.sessions/t/messages/{id}")
}

/// Does the nth change through a node, and the same to what should be there.
fn change(node: &Client, n: usize, expected: &mut Vec<Turn>) {
    let (id, text) = (format!("m{n}"), format!("change {n}"));
    match n % 5 {
        1 if !expected.is_empty() => {
            let at = n * 7 % expected.len();
            node.put(&message(&expected[at].0), says("user", &text)).ok();
            expected[at].1 = text;
        }
        2 if expected.len() > 1 => {
            let (gone, _) = expected.remove(n * 3 % expected.len());
            node.delete(&message(&gone)).ok();
        }
        // With the user and all else that was its, or alone.
        3 if n % 50 == 3 => {
            node.delete(&if n % 100 == 3 { user("u", "") } else { thread("u", "t", "") }).ok();
            expected.clear();
        }
        _ => {
            let turn = json!({"role": "user", "content": text, "id": id});
            node.post(&turns_of("u", "t"), json!({"messages": [turn]})).ok();
            expected.push((id, text));
        }
    }
}

fn read(node: &Client) -> Vec<Turn> {
    let answer = node.get(&thread("u", "t", "/turns?last=1000")).ok();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    answer["turns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|turn| (text(&turn["id"]), text(&turn["message"]["content"])))
        .collect()
}

/// What a prompt shows of the thread, beside a summary that comes when it likes.
fn prompt(node: &Client) -> Vec<String> {
    let made = node.context(json!({"user": "u", "thread": "t"}));
    let text = |message: &Value| message["content"].as_str().unwrap().to_owned();
    made["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "user").map(text).collect()
}

/// Reads until told otherwise, so that the thread is always ready.
fn keep_warm(node: &Client, done: &AtomicBool) {
    while !done.load(Ordering::Relaxed) {
        read(node);
        prompt(node);
    }
}

#[test]
fn the_next_read_of_another_node_shows_every_change() {
    let nodes = Nodes::start(&Home::new(), &cluster().url(), &[]);
    let (done, mut expected) = (AtomicBool::new(false), Vec::new());
    std::thread::scope(|scope| {
        scope.spawn(|| keep_warm(nodes.node(1), &done));
        let _ends_the_reader = SetOnDrop(&done);
        for n in 0..CHANGES {
            change(nodes.node(if n % 9 == 8 { 2 } else { 0 }), n, &mut expected);
            assert_eq!(read(nodes.node(1)), expected, "after change {n}");
            let texts: Vec<&String> = expected.iter().map(|(_, text)| text).collect();
            assert_eq!(prompt(nodes.node(1)).iter().collect::<Vec<_>>(), texts, "a prompt after change {n}");
        }
    });
    assert!(expected.len() > 10, "threads grew: {}", expected.len());
}
