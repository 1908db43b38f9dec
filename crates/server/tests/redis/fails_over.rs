//! A server of the cluster that dies: its replica goes on with all that was acknowledged, or it comes back
//! with it itself.

use crate::support::nodes::{NODES, Nodes};
use crate::support::redis::{Cluster, Redis};
use crate::support::{Home, Value, json};
use crate::{insist, turns_of, until};

/// As many as it takes for every server to have some.
const USERS: usize = 12;

fn message(of: &str, n: usize) -> Value {
    json!({"messages": [{"role": "user", "content": format!("{n}"), "id": format!("{of}-{n}")}]})
}

/// Appends the nth turn of every user, through whichever node will take it.
fn append_all(nodes: &Nodes, n: usize) {
    for of in users() {
        insist(nodes, "POST", &turns_of(&of, "t"), &message(&of, n)).ok();
    }
}

fn users() -> impl Iterator<Item = String> {
    (0..USERS).map(|n| format!("u{n}"))
}

/// Every turn of every user is there once and in order, whichever node is asked.
#[track_caller]
fn check(nodes: &Nodes, count: usize) {
    let expected: Vec<String> = (0..count).map(|n| n.to_string()).collect();
    for node in nodes.all() {
        for of in users() {
            assert_eq!(node.said(&of, "t"), expected, "{of}");
        }
    }
}

/// A number that a server says of its replication.
fn offset(server: &Redis, name: &str) -> u64 {
    let said = server.cli(&["INFO", "replication"]);
    let line = said.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.unwrap_or_else(|| panic!("no {name} in {said}")).trim().parse().unwrap()
}

/// The server that has what is of a user.
fn master_of(cluster: &Cluster, of: &str) -> usize {
    cluster.master_of(&format!("{{{of}}}"))
}

#[test]
fn a_failover_loses_nothing_that_was_acknowledged() {
    let mut cluster = Cluster::with_replicas();
    let nodes = Nodes::start(&Home::new(), &cluster.url(), &[]);
    (0..20).for_each(|n| append_all(&nodes, n));
    let master = master_of(&cluster, "u0");
    let replica = master + NODES;
    let written = offset(&cluster.nodes()[master], "master_repl_offset");
    until("the replica has all of it", || offset(&cluster.nodes()[replica], "slave_repl_offset") >= written);
    cluster.kill(master);
    append_all(&nodes, 20);
    assert_eq!(master_of(&cluster, "u0"), replica, "the replica took over");
    check(&nodes, 21);
    (21..30).for_each(|n| append_all(&nodes, n));
    check(&nodes, 30);
    // The old one comes back as the replica of the new.
    cluster.node(master).start_again();
    until("it follows", || cluster.nodes()[master].cli(&["INFO", "replication"]).contains("role:slave"));
    append_all(&nodes, 30);
    check(&nodes, 31);
    for node in nodes.all() {
        until("a node is ready", || node.get("/health/ready").status == 200);
    }
    assert_eq!(nodes.get("/v1/doctor").ok()["findings"], json!([]));
}

#[test]
fn a_server_without_a_replica_comes_back_with_all_that_was_acknowledged() {
    let mut cluster = Cluster::start();
    let nodes = Nodes::start(&Home::new(), &cluster.url(), &[]);
    (0..20).for_each(|n| append_all(&nodes, n));
    let master = master_of(&cluster, "u0");
    cluster.kill(master);
    let refused = nodes.post(&turns_of("u0", "t"), message("u0", 20));
    assert_eq!((refused.status, refused.header("retry-after").is_some()), (503, true), "{}", refused.text());
    cluster.node(master).start_again();
    append_all(&nodes, 20);
    check(&nodes, 21);
    for node in nodes.all() {
        until("a node is ready", || node.get("/health/ready").status == 200);
    }
    assert_eq!(nodes.get("/v1/doctor").ok()["findings"], json!([]));
}
