//! A store in Redis that had a key stays closed, whatever becomes of Redis.

use std::sync::Arc;

use crate::support::redis::Redis;
use crate::support::{CONFIRM, Client, Home, Server, json};

/// A node with a data directory of its own.
fn node(home: &Arc<Home>, redis: &Redis) -> Server {
    home.serve_with(&settings(&redis.url()))
}

fn settings(url: &str) -> [(&'static str, &str); 2] {
    [("NOVELO_STORE", "redis"), ("NOVELO_REDIS_URL", url)]
}

/// Runs a command of the operator on the machine of a node.
fn run(home: &Home, redis: &Redis, args: &[&str]) -> String {
    let ran = crate::support::Ran::of(home.command(args).envs(settings(&redis.url())));
    assert_eq!(ran.code, Some(0), "{args:?}: {ran:?}");
    ran.out
}

#[track_caller]
fn is_closed(client: &Client) {
    client.get("/v1/keys").refused_with(401, "unauthorized", &["has had keys", "novelo key open"]);
    client.with(CONFIRM.0, CONFIRM.1).post("/v1/keys", json!({"admin": true})).refused(401, "unauthorized");
}

#[test]
fn a_redis_that_is_suddenly_empty_opens_nothing() {
    let (redis, homes) = (Redis::start(), [Home::new(), Home::new()]);
    let [one, other] = [&homes[0], &homes[1]].map(|home| node(home, &redis));
    let admin = one.admin_key();
    let bob = one.user_key(&admin, "bob");
    other.get("/v1/keys").refused(401, "unauthorized");
    assert_eq!(redis.cli(&["FLUSHALL"]), "OK");
    for client in [&one.client(), &bob, &admin, &other.client(), &bob.at(other.addr)] {
        is_closed(client);
    }
    drop((one.kill(), other.kill()));
    assert_eq!(redis.cli(&["FLUSHALL"]), "OK");
    let other = node(&homes[1], &redis);
    is_closed(&other);
    // It has told the store, so that a node that knows of nothing is closed too.
    let third = Home::new();
    is_closed(&node(&third, &redis));

    let secret = run(&homes[1], &redis, &["key", "create", "--admin"]);
    let admin = other.with("authorization", &format!("Bearer {}", secret.trim()));
    admin.get("/v1/keys").ok();
}

#[test]
fn an_opening_counts_on_every_node_and_only_until_the_next_key() {
    let (redis, homes) = (Redis::start(), [Home::new(), Home::new()]);
    let [one, other] = [&homes[0], &homes[1]].map(|home| node(home, &redis));
    let close = |node: &Server| {
        let admin = node.admin_key();
        let id = admin.get("/v1/keys").ok()["keys"][0]["id"].as_str().unwrap().to_owned();
        admin.delete(&format!("/v1/keys/{id}")).ok();
    };
    close(&one);
    is_closed(&other);
    run(&homes[0], &redis, &["key", "open", "--yes"]);
    one.get("/v1/keys").ok();
    other.get("/v1/keys").ok();
    assert!(!homes[0].data().join("closed.json").exists() && !homes[1].data().join("closed.json").exists());
    close(&other);
    is_closed(&one);
    is_closed(&other);
    assert!(homes.iter().all(|home| home.data().join("closed.json").exists()));
}
