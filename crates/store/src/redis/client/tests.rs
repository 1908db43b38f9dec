//! Against real servers.

#[path = "../../../tests/support/redis.rs"]
mod harness;

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;

use self::harness::{Cluster, Redis};
use super::{Client, ClientOptions, Command, Reply, Script};
use crate::Error;

const TIMEOUT: Duration = Duration::from_millis(400);

async fn open(url: impl Into<String>) -> Client {
    try_open(url).await.expect("it opens")
}

async fn try_open(url: impl Into<String>) -> Result<Client, Error> {
    open_within(Duration::from_secs(30), url).await
}

async fn open_within(recovery_wait_max: Duration, url: impl Into<String>) -> Result<Client, Error> {
    let url = url.into();
    Client::open(ClientOptions { url, timeout: TIMEOUT, recovery_wait_max }).await
}

/// The error of a client that does not wait for servers to recover.
async fn refused_at_once(url: impl Into<String>) -> String {
    assert_unavailable(open_within(Duration::ZERO, url).await.map(|_| Reply::Nil))
}

fn text(text: &str) -> Reply {
    Reply::Text(Bytes::copy_from_slice(text.as_bytes()))
}

async fn set(client: &Client, key: &str, value: &str) -> Result<Reply, Error> {
    client.call(key.as_bytes(), Command::new("SET").arg(key).arg(value)).await
}

async fn get(client: &Client, key: &str) -> Result<Reply, Error> {
    client.call(key.as_bytes(), Command::new("GET").arg(key)).await
}

fn assert_unavailable(outcome: Result<Reply, Error>) -> String {
    match outcome {
        Err(Error::Unavailable { why, retry_after_s: 1 }) => why,
        other => panic!("{other:?}"),
    }
}

/// Tries again for as long as the server is said to be unavailable.
async fn until_answered<F: Future<Output = Result<Reply, Error>>>(call: impl Fn() -> F) -> Reply {
    let mut why = String::new();
    for _ in 0..400 {
        match call().await {
            Ok(reply) => return reply,
            Err(Error::Unavailable { why: now, .. }) => why = now,
            Err(error) => panic!("{error}"),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("it did not come back: {why}");
}

#[tokio::test]
async fn speaks_to_a_server() {
    let server = Redis::start();
    let client = open(server.url()).await;
    assert!(!client.is_cluster());
    assert_eq!(set(&client, "a", "1").await.unwrap(), text("OK"));
    assert_eq!(get(&client, "a").await.unwrap(), text("1"));
    assert_eq!(get(&client, "none").await.unwrap(), Reply::Nil);
    let refused = client.call(b"a", Command::new("LPUSH").arg("a").int(7)).await.unwrap();
    assert!(matches!(refused, Reply::Refused(why) if why.starts_with("WRONGTYPE")));
    assert_eq!(client.fault(), None);
}

static ECHO: Script = Script::new("return {KEYS[1], ARGV[1], redis.call('INCR', KEYS[1])}");

#[tokio::test]
async fn runs_scripts_also_after_the_server_forgot_them() {
    let server = Redis::start();
    let client = open(server.url()).await;
    let keys = [Bytes::from_static(b"n")];
    for time in 1..=3 {
        if time == 2 {
            server.cli(&["SCRIPT", "FLUSH"]);
        }
        let reply = client.run(&ECHO, &keys, vec![Bytes::from_static(b"x")]).await.unwrap();
        assert_eq!(reply, Reply::List(vec![text("n"), text("x"), Reply::Int(time)]));
    }
}

#[tokio::test]
async fn a_dead_server_is_told_and_found_again() {
    let mut server = Redis::start();
    let client = open(server.url()).await;
    set(&client, "a", "1").await.unwrap();
    server.kill();
    for _ in 0..200 {
        assert_unavailable(get(&client, "a").await);
    }
    let fault = client.fault().unwrap();
    assert!(fault.contains("connection refused") && fault.contains(&server.port().to_string()), "{fault}");
    server.start_again();
    until_answered(|| set(&client, "a", "2")).await;
    assert_eq!(client.fault(), None);
}

#[tokio::test]
async fn what_was_sent_to_a_server_that_hangs_is_not_sent_again() {
    let server = Redis::start();
    let client = open(server.url()).await;
    set(&client, "n", "0").await.unwrap();
    server.signal("STOP");
    let why = assert_unavailable(client.call(b"n", Command::new("INCR").arg("n")).await);
    assert!(why.contains("no answer within 400 ms"), "{why}");
    let why = assert_unavailable(client.call(b"n", Command::new("INCR").arg("n")).await);
    assert!(why.contains("no connection within 400 ms"), "{why}");
    server.signal("CONT");
    assert_eq!(until_answered(|| get(&client, "n")).await, text("1"), "the first was received, the second never sent");
}

#[tokio::test]
async fn a_call_that_is_given_up_leaves_the_others_their_answers() {
    let server = Redis::start();
    let client = open(server.url()).await;
    let mut calls = tokio::task::JoinSet::new();
    for number in 0..2000 {
        let client = client.clone();
        let call = calls.spawn(async move {
            let said = number.to_string();
            let heard = client.call(b"", Command::new("ECHO").arg(&said)).await.unwrap();
            assert_eq!(heard, text(&said));
        });
        if number % 3 == 0 {
            tokio::task::yield_now().await;
            call.abort();
        }
    }
    while let Some(done) = calls.join_next().await {
        assert!(done.is_ok() || done.is_err_and(|error| error.is_cancelled()));
    }
    assert_eq!(client.call(b"", Command::new("ECHO").arg("end")).await.unwrap(), text("end"));
}

#[tokio::test]
async fn large_values_go_both_ways() {
    let server = Redis::start();
    let url = server.url();
    let patient = Duration::from_secs(20);
    let options = ClientOptions { url, timeout: patient, recovery_wait_max: patient };
    let client = Client::open(options).await.unwrap();
    let large = Bytes::from(vec![b'x'; 64 << 20]);
    client.call(b"a", Command::new("SET").arg("a").arg(&large)).await.unwrap();
    let both = ["a", "a"].map(|key| (Bytes::from(key), Command::new("GET").arg(key)));
    let replies = client.all(both.into()).await.unwrap();
    assert!(replies == [Reply::Text(large.clone()), Reply::Text(large)], "they come back as they were");
}

#[tokio::test]
async fn a_server_that_asks_for_patience_gets_it() {
    let server = Redis::start();
    let client = open(server.url()).await;
    server.cli(&["REPLICAOF", "127.0.0.1", "1"]);
    let why = assert_unavailable(set(&client, "a", "1").await);
    assert!(why.contains("READONLY"), "{why}");
    assert!(client.fault().unwrap().contains("READONLY"));
    let waiting = tokio::spawn({
        let client = client.clone();
        async move { until_answered(|| set(&client, "a", "2")).await }
    });
    server.cli(&["REPLICAOF", "NO", "ONE"]);
    assert_eq!(waiting.await.unwrap(), text("OK"));
    assert_eq!(client.fault(), None);
}

#[tokio::test]
async fn passwords_and_databases() {
    let server = Redis::with(&["--requirepass", "p@ss word"]);
    let at = |before: &str, after: &str| format!("redis://{before}127.0.0.1:{}{after}", server.port());
    for (url, words) in [
        (at("", ""), "NOAUTH"),
        (at(":wrong@", ""), "WRONGPASS"),
        (at("nobody:wrong@", ""), "WRONGPASS"),
        (at(":p%40ss%20word@", "/99"), "DB index"),
        (at(":p%40ss%20word@", ",127.0.0.1:1"), "not a cluster"),
    ] {
        match try_open(&url).await {
            Err(Error::Invalid(why)) => {
                assert!(why.contains(words) && !why.contains("p@ss") && !why.contains("wrong@"), "{url}: {why}");
            }
            other => panic!("{url}: {:?}", other.err()),
        }
    }
    let client = open(at("default:p%40ss%20word@", "/3")).await;
    set(&client, "a", "1").await.unwrap();
    let found = server.cli(&["-a", "p@ss word", "--no-auth-warning", "-n", "3", "GET", "a"]);
    assert_eq!(found, "1");
    assert!(!format!("{client:?}").contains("p@ss"));
}

#[tokio::test]
async fn nothing_listens() {
    let mut server = Redis::start();
    server.kill();
    let started = Instant::now();
    let why = assert_unavailable(try_open(server.url()).await.map(|_| Reply::Nil));
    assert!(why.contains("connection refused"), "{why}");
    assert!(started.elapsed() < Duration::from_secs(10), "it does not wait as it does for a server that recovers");
}

#[tokio::test]
async fn opening_waits_for_a_cluster_that_recovers() {
    let mut cluster = Cluster::start();
    let gone = cluster.master_of("a");
    cluster.kill(gone);
    let why = refused_at_once(cluster.url()).await;
    assert!(why.contains("connection refused") || why.contains("CLUSTERDOWN"), "{why}");
    cluster.node(gone).start_again();
    // A master that starts refuses every key for two seconds; this machine may be slower than that.
    if let Err(Error::Unavailable { why, .. }) = open_within(Duration::ZERO, cluster.url()).await {
        assert!(why.contains("CLUSTERDOWN"), "{why}");
    }
    let client = open(cluster.url()).await;
    assert_eq!(set(&client, "a", "1").await.unwrap(), text("OK"));
    assert_eq!(client.each_master(&Command::new("PING")).await.unwrap().len(), 3);
}

#[tokio::test]
async fn a_busy_server_is_waited_for() {
    let server = Arc::new(Redis::with(&["--busy-reply-threshold", "1"]));
    let client = open(server.url()).await;
    let run_endless_script = {
        let server = server.clone();
        move || server.cli(&["EVAL", "while true do end", "0"])
    };
    let script = tokio::task::spawn_blocking(run_endless_script);
    while !server.cli(&["PING"]).starts_with("BUSY") {
        assert!(!script.is_finished(), "the script runs until it is killed");
        tokio::task::yield_now().await;
    }
    let why = refused_at_once(server.url()).await;
    assert!(why.contains("BUSY"), "{why}");
    let opening = tokio::spawn(try_open(server.url()));
    let asking = tokio::spawn(async move { client.each_master(&Command::new("PING")).await });
    tokio::task::yield_now().await;
    assert_eq!(server.cli(&["SCRIPT", "KILL"]), "OK");
    assert_eq!(opening.await.unwrap().unwrap().fault(), None);
    assert!(matches!(asking.await.unwrap().unwrap().as_slice(), [(_, Reply::Text(pong))] if pong == "PONG"));
    script.await.unwrap();
}

#[tokio::test]
async fn a_cluster_without_slots_is_waited_for() {
    let server = Redis::with(&["--cluster-enabled", "yes"]);
    let why = refused_at_once(server.url()).await;
    assert!(why.contains("the cluster has no slots yet"), "{why}");
    let opening = tokio::spawn(try_open(server.url()));
    assert_eq!(server.cli(&["CLUSTER", "ADDSLOTSRANGE", "0", "16383"]), "OK");
    let client = opening.await.unwrap().unwrap();
    assert_eq!(set(&client, "a", "1").await.unwrap(), text("OK"));
}

#[tokio::test]
async fn the_last_handle_ends_the_tasks() {
    let server = Redis::start();
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let before = tasks();
    let client = open(server.url()).await;
    set(&client.clone(), "a", "1").await.unwrap();
    assert!(tasks() > before);
    drop(client);
    while tasks() > before {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn speaks_to_a_cluster() {
    let cluster = Cluster::start();
    let client = open(cluster.url()).await;
    assert!(client.is_cluster());
    let keys: Vec<String> = (0..100).map(|number| format!("key{number}")).collect();
    let sets = keys.iter().map(|key| (Bytes::from(key.clone()), Command::new("SET").arg(key).arg(key)));
    assert_eq!(client.all(sets.collect()).await.unwrap(), vec![text("OK"); 100]);
    let gets = keys.iter().map(|key| (Bytes::from(key.clone()), Command::new("GET").arg(key)));
    let expected: Vec<_> = keys.iter().map(|key| text(key)).collect();
    assert_eq!(client.all(gets.collect()).await.unwrap(), expected);
    for number in 0..10 {
        let keys = [Bytes::from(format!("count{number}"))];
        let reply = client.run(&ECHO, &keys, vec![Bytes::new()]).await.unwrap();
        assert!(matches!(reply, Reply::List(_)), "{reply:?}");
    }
    let sizes = client.each_master(&Command::new("DBSIZE")).await.unwrap();
    assert_eq!(sizes.len(), 3);
    let size = |reply: &Reply| if let Reply::Int(size) = reply { *size } else { panic!("{reply:?}") };
    assert_eq!(sizes.iter().map(|(_, reply)| size(reply)).sum::<i64>(), 110);
}

#[tokio::test]
async fn finds_the_replica_that_took_over() {
    let mut cluster = Cluster::with_replicas();
    let client = open(cluster.url()).await;
    set(&client, "a", "1").await.unwrap();
    client.call(b"a", Command::new("WAIT").int(1).int(1000)).await.unwrap();
    let master = cluster.master_of("a");
    cluster.kill(master);
    assert_eq!(until_answered(|| get(&client, "a")).await, text("1"));
    assert_ne!(cluster.master_of("a"), master);
    assert_eq!(client.fault(), None);
}

/// A key of a slot in which nothing is, and who has it.
fn empty_slot(cluster: &Cluster) -> (&'static str, String, usize, usize) {
    let key = "{wanders}";
    let from = cluster.master_of(key);
    (key, cluster.nodes()[0].cli(&["CLUSTER", "KEYSLOT", key]), from, (from + 1) % 3)
}

#[tokio::test]
async fn follows_a_slot_while_it_moves_and_after() {
    let cluster = Cluster::start();
    let client = open(cluster.url()).await;
    let (key, slot, from, to) = empty_slot(&cluster);
    let id = |index: usize| cluster.nodes()[index].cli(&["CLUSTER", "MYID"]);
    let setslot = |at: usize, how: &str, with: usize| {
        assert_eq!(cluster.nodes()[at].cli(&["CLUSTER", "SETSLOT", &slot, how, &id(with)]), "OK");
    };
    setslot(to, "IMPORTING", from);
    setslot(from, "MIGRATING", to);
    let asked = || {
        let stats = cluster.nodes()[to].cli(&["INFO", "commandstats"]);
        stats.lines().any(|line| line.starts_with("cmdstat_asking:"))
    };
    assert!(!asked());
    assert_eq!(set(&client, key, "1").await.unwrap(), text("OK"));
    assert!(asked(), "the source has not this key, and sent us on");
    setslot(to, "NODE", to);
    setslot(from, "NODE", to);
    let twice = [Bytes::from(key), Bytes::from(key)].map(|key| (key.clone(), Command::new("GET").arg(key)));
    assert_eq!(client.all(twice.into()).await.unwrap(), [text("1"), text("1")]);
    let moved = cluster.nodes()[from].cli(&["INFO", "errorstats"]);
    assert!(moved.contains("errorstat_MOVED:count=2"), "the two that went to the old server: {moved}");
    assert_eq!(get(&client, key).await.unwrap(), text("1"));
    let still = cluster.nodes()[from].cli(&["INFO", "errorstats"]);
    assert!(still.contains("errorstat_MOVED:count=2"), "the map is new: {still}");
}

#[tokio::test]
async fn a_dead_master_without_a_replica_takes_only_its_own_keys() {
    let mut cluster = Cluster::start();
    cluster.nodes().iter().for_each(|node| {
        assert_eq!(node.cli(&["CONFIG", "SET", "cluster-require-full-coverage", "no"]), "OK");
    });
    let client = open(cluster.url()).await;
    let gone = cluster.master_of("a");
    let other = (0..).map(|number| format!("b{number}")).find(|key| cluster.master_of(key) != gone).unwrap();
    set(&client, "a", "1").await.unwrap();
    cluster.kill(gone);
    assert_unavailable(get(&client, "a").await);
    assert_eq!(set(&client, &other, "1").await.unwrap(), text("OK"));
    let port = cluster.nodes()[gone].port().to_string();
    assert!(client.fault().unwrap().contains(&port), "one server is still missing");
    cluster.node(gone).start_again();
    assert_eq!(until_answered(|| get(&client, "a")).await, text("1"));
    assert_eq!(client.fault(), None);
}

#[tokio::test]
async fn a_cluster_has_no_databases() {
    let cluster = Cluster::shared();
    let error = try_open(format!("{}/1", cluster.url())).await.err();
    assert!(matches!(&error, Some(Error::Invalid(why)) if why.contains("cluster")), "{error:?}");
}

/// A certificate for the loopback address, made for this test alone.
fn certificate(dir: &std::path::Path) {
    let made = std::process::Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"])
        .args(["-addext", "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE"])
        .args(["-keyout", "key.pem", "-out", "cert.pem"])
        .current_dir(dir)
        .output()
        .expect("openssl is there");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

#[tokio::test]
async fn speaks_tls_and_trusts_nobody_else() {
    let server = Redis::start();
    certificate(server.dir());
    let port = (server.port() + 1..).find(|port| std::net::TcpListener::bind(("127.0.0.1", *port)).is_ok()).unwrap();
    let tls = ["tls-cert-file", "cert.pem", "tls-key-file", "key.pem", "tls-ca-cert-file", "cert.pem"];
    let rest = ["tls-auth-clients", "no", "tls-port", &port.to_string()];
    assert_eq!(server.cli(&[["CONFIG", "SET"].as_slice(), &tls, &rest].concat()), "OK");
    let url = format!("rediss://127.0.0.1:{port}");
    let why = assert_unavailable(try_open(&url).await.map(|_| Reply::Nil));
    assert!(why.contains("certificate"), "{why}");
    let ca = server.dir().join("cert.pem");
    let client = open(format!("{url}?ca={}", ca.display())).await;
    let large = "x".repeat(1 << 20);
    set(&client, "a", &large).await.unwrap();
    assert_eq!(get(&client, "a").await.unwrap(), text(&large));
    let error = try_open(format!("{url}?ca={}", server.dir().join("key.pem").display())).await.err();
    assert!(matches!(&error, Some(Error::Invalid(why)) if why.contains("there is none")), "{error:?}");
}
