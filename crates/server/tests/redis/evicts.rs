//! A Redis server that drops documents when memory is short is refused, and named.

use crate::support::redis::{Cluster, Redis};
use crate::support::{Home, Ran, Server, eventually};

const SHARED: (&str, &str) = ("NOVELO_STORE", "redis");

fn set(redis: &Redis, name: &str, value: &str) {
    assert_eq!(redis.cli(&["CONFIG", "SET", name, value]), "OK");
}

fn run(url: &str, args: &[&str]) -> Ran {
    Ran::of(Home::new().command(args).envs([SHARED, ("NOVELO_REDIS_URL", url)]))
}

fn ready(server: &Server) -> (u16, String) {
    let answer = server.get("/health/ready");
    (answer.status, answer.text())
}

#[test]
fn a_node_does_not_start_where_turns_can_be_dropped() {
    let redis = Redis::with(&["--maxmemory", "64mb", "--maxmemory-policy", "allkeys-lru"]);
    let place = format!("redis 127.0.0.1:{} drops documents", redis.port());
    for policy in ["allkeys-lru", "volatile-ttl", "allkeys-random"] {
        set(&redis, "maxmemory-policy", policy);
        for args in [&["serve", "--addr", "127.0.0.1:0"][..], &["thread", "list", "u"]] {
            run(&redis.url(), args).failed(&[&place, policy, "hint: set maxmemory-policy noeviction"]);
        }
        let doctor = run(&redis.url(), &["doctor"]);
        assert_eq!(doctor.code, Some(1), "{doctor:?}");
        assert!(
            doctor.out.contains(&place) && doctor.out.contains("hint: set maxmemory-policy noeviction"),
            "{doctor:?}"
        );
    }
    let allowed = [SHARED, ("NOVELO_REDIS_URL", &*redis.url()), ("NOVELO_REDIS_ALLOW_EVICTION", "true")];
    let server = Home::new().serve_with(&allowed);
    assert_eq!(ready(&server).0, 200, "it was told to");
    set(&redis, "maxmemory-policy", "noeviction");
    run(&redis.url(), &["thread", "list", "u"]);
}

#[test]
fn a_policy_that_is_changed_later_takes_the_node_out_and_lets_it_in_again() {
    let redis = Redis::start();
    let server = Home::new().serve_with(&[SHARED, ("NOVELO_REDIS_URL", &redis.url())]);
    assert_eq!(ready(&server).0, 200);
    set(&redis, "maxmemory-policy", "allkeys-lfu");
    let doctor = run(&redis.url(), &["doctor"]);
    assert_eq!(doctor.code, Some(0), "without a bound nothing is dropped: {doctor:?}");
    assert!(doctor.out.contains("nothing is dropped while maxmemory is 0"), "{doctor:?}");
    set(&redis, "maxmemory", "64mb");
    assert!(eventually(|| ready(&server).0 == 503), "{:?}", ready(&server));
    let (_, why) = ready(&server);
    assert!(why.contains("maxmemory-policy is allkeys-lfu"), "{why}");
    server.say("u", "t", &["writes go on"]);
    set(&redis, "maxmemory-policy", "noeviction");
    assert!(eventually(|| ready(&server).0 == 200), "{:?}", ready(&server));
}

#[test]
fn one_server_of_a_cluster_is_enough() {
    let cluster = Cluster::start();
    let odd = &cluster.nodes()[2];
    set(odd, "maxmemory", "64mb");
    set(odd, "maxmemory-policy", "allkeys-lru");
    run(&cluster.url(), &["thread", "list", "u"]).failed(&[&format!("redis 127.0.0.1:{} drops documents", odd.port())]);
}

#[test]
fn a_server_that_forbids_config_is_known_by_its_info() {
    let redis = Redis::with(&["--maxmemory", "64mb", "--maxmemory-policy", "allkeys-lru"]);
    assert_eq!(redis.cli(&["ACL", "SETUSER", "u", "on", ">pw", "~*", "&*", "+@all", "-config"]), "OK");
    let url = redis.url().replace("redis://", "redis://u:pw@");
    run(&url, &["thread", "list", "u"]).failed(&["drops documents"]);
}
