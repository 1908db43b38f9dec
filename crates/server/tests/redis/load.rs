//! Many threads at once while nodes and a server of Redis are killed; then every acknowledged turn is
//! counted.
//!
//! `NOVELO_SOAK_SECONDS=60 NOVELO_SOAK_THREADS=1000 cargo test -p novelo-server --test redis load --
//! --nocapture` runs for longer.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::support::batches::turns;
use crate::support::nodes::{NODES, Nodes};
use crate::support::redis::Cluster;
use crate::support::{Client, Home, Value, json};
use crate::{SetOnDrop, insist, turns_of};

const SECONDS: usize = 10;
const THREADS: usize = 200;
/// Users share the threads, so that servers of the cluster share the users.
const USERS: usize = 50;

fn setting(name: &str, default: usize) -> usize {
    std::env::var(name).map_or(default, |value| value.parse().unwrap())
}

fn user_of(thread: usize) -> String {
    format!("u{}", thread % USERS)
}

/// Says one thing after the other until told otherwise; the seq that each was acknowledged with, which never
/// goes back.
fn talk(client: &Client, thread: usize, done: &AtomicBool, count: &AtomicUsize) -> Vec<u64> {
    let _ends_the_others = SetOnDrop(done);
    let mut seqs = Vec::new();
    while !done.load(Ordering::Relaxed) {
        let n = seqs.len();
        let pair =
            [0, 1].map(|m| json!({"role": "user", "content": format!("{thread} {n} {m}"), "id": format!("{n}-{m}")}));
        let answer =
            insist(client, "POST", &turns_of(&user_of(thread), &thread.to_string()), &json!({"messages": pair}));
        let answer = answer.ok();
        let rows: Vec<u64> =
            answer["turns"].as_array().unwrap().iter().map(|row: &Value| row["seq"].as_u64().unwrap()).collect();
        assert_eq!(rows.len(), 2, "{answer}");
        seqs.push(rows[0]);
        count.fetch_add(2, Ordering::Relaxed);
    }
    seqs
}

/// Kills one node after the other, and once a server of Redis, for as long as the load is to last; how many
/// of each. What comes between is time for the others, and nothing is asserted about it.
fn trouble(nodes: &mut Nodes, cluster: &mut Cluster, seconds: usize) -> (usize, usize) {
    let (started, pause) = (Instant::now(), Duration::from_millis(700));
    let lasts = |share: f64| started.elapsed() < Duration::from_secs_f64(seconds as f64 * share);
    let (mut kills, mut servers) = (0, 0);
    while lasts(1.0) {
        std::thread::sleep(pause);
        nodes.kill_node(kills % NODES);
        kills += 1;
        // Once in the middle of it, and with nodes that are gone as well.
        let is_turn = servers == 0 && !lasts(0.4);
        if is_turn {
            cluster.kill(servers);
            servers += 1;
        }
        std::thread::sleep(pause);
        if is_turn {
            cluster.node(0).start_again();
        }
        nodes.start_node((kills - 1) % NODES);
    }
    (kills, servers)
}

#[test]
fn a_load_with_kills_keeps_every_acknowledged_turn_once_and_in_order() {
    let (seconds, threads) = (setting("NOVELO_SOAK_SECONDS", SECONDS), setting("NOVELO_SOAK_THREADS", THREADS));
    let mut cluster = Cluster::start();
    let mut nodes = Nodes::start(&Home::new(), &cluster.url(), &[]);
    let (client, done, count) = (nodes.client(), AtomicBool::new(false), AtomicUsize::new(0));
    let (said, kills) = std::thread::scope(|scope| {
        let (client, done, count) = (&client, &done, &count);
        let talkers: Vec<_> =
            (0..threads).map(|thread| scope.spawn(move || talk(client, thread, done, count))).collect();
        let ends_talkers = SetOnDrop(done);
        let kills = trouble(&mut nodes, &mut cluster, seconds);
        drop(ends_talkers);
        let said: Vec<Vec<u64>> = talkers.into_iter().map(|talker| talker.join().unwrap()).collect();
        (said, kills)
    });
    let mut found = 0;
    for (thread, acknowledged) in said.iter().enumerate() {
        let there = turns(&nodes, &user_of(thread), &thread.to_string());
        let sent = (0..acknowledged.len()).flat_map(|n| [0, 1].map(|m| format!("{thread} {n} {m}")));
        let expected: Vec<(u64, String)> = (1..).zip(sent).collect();
        assert_eq!(there, expected, "thread {thread}");
        assert!(acknowledged.iter().copied().eq((0..acknowledged.len() as u64).map(|n| 2 * n + 1)), "thread {thread}");
        found += there.len();
    }
    assert_eq!(found, count.load(Ordering::Relaxed));
    assert!(kills.0 >= 2 && kills.1 == 1, "{kills:?}");
    assert!(said.iter().all(|acknowledged| !acknowledged.is_empty()), "every thread was heard");
    assert_eq!(nodes.get("/v1/doctor").ok()["findings"], json!([]));
    println!(
        "{threads} threads, {seconds} s, {} nodes and {} server of Redis killed: {found} turns, all there",
        kills.0, kills.1
    );
}
