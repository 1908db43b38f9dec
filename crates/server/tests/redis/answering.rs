//! One response at a time in a conversation, whichever node makes it.

use crate::support::models::{Act, Models};
use crate::support::nodes::{Nodes, cluster};
use crate::support::{Home, eventually, json};
use crate::until;

const AT: &str = "/v1/responses";

#[test]
fn a_second_node_does_not_answer_meanwhile() {
    let models = Models::start();
    let mut nodes = Nodes::start(&Home::new(), &cluster().url(), &models.talking());
    let user = "answering";
    let made = nodes.node(0).post("/v1/conversations", json!({"user": user})).ok();
    let body = |text: &str| json!({"input": text, "user": user, "conversation": made["id"]});
    models.play([Act::Hangs]);
    let mut first = body("One");
    first["background"] = true.into();
    let running = nodes.node(0).post(AT, &first).ok()["id"].as_str().unwrap().to_owned();
    assert!(eventually(|| !models.asked().is_empty()));
    for node in nodes.all() {
        node.post(AT, body("Two")).refused_with(409, "conversation_locked", &[&running]);
    }
    nodes.node(1).post(&format!("{AT}/{running}/cancel?user={user}"), "").ok();
    nodes.node(1).post(AT, body("Two")).ok();
    nodes.node(2).post(AT, body("Three")).ok();
    // The lease of a node that dies runs out.
    models.play([Act::Hangs]);
    let asked = models.asked().len();
    nodes.node(0).post(AT, &first).ok();
    assert!(eventually(|| models.asked().len() > asked));
    nodes.kill_node(0);
    nodes.node(1).post(AT, body("Four")).refused(409, "conversation_locked");
    until("the lease has run out", || nodes.node(1).post(AT, body("Four")).status == 200);
}

/// Two continuations of one response at the same time are two branches, also on two nodes.
#[test]
fn two_nodes_continue_one_response_as_branches() {
    let models = Models::start();
    let nodes = Nodes::start(&Home::new(), &cluster().url(), &models.talking());
    let user = "branching";
    let first = nodes.node(0).post(AT, json!({"input": "One", "user": user})).ok();
    let body = |n: usize| json!({"input": format!("Branch {n}"), "user": user, "previous_response_id": first["id"]});
    std::thread::scope(|scope| {
        let branches = [0, 1, 2].map(|n| {
            (
                n,
                scope.spawn({
                    let (nodes, body) = (&nodes, &body);
                    move || nodes.node(n).post(AT, body(n))
                }),
            )
        });
        for (n, branch) in branches {
            let made = branch.join().unwrap().ok();
            let items =
                nodes.node(0).get(&format!("{AT}/{}/input_items?user={user}", made["id"].as_str().unwrap())).ok();
            assert_eq!(items["data"][0]["content"][0]["text"], format!("Branch {n}"));
        }
    });
}
