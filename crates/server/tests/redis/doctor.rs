//! `novelo doctor` says what the servers of a shared store can lose.

use crate::support::redis::{Cluster, Redis};
use crate::support::{Home, Ran};

fn doctor(url: &str, args: &[&str]) -> Ran {
    let home = Home::new();
    let mut command = home.command(&[&["doctor"], args].concat());
    Ran::of(command.env("NOVELO_STORE", "redis").env("NOVELO_REDIS_URL", url))
}

#[test]
fn doctor_says_what_appendfsync_can_lose() {
    let redis = Redis::with(&["--appendonly", "yes", "--appendfsync", "always"]);
    let set = |name: &str, value: &str| assert_eq!(redis.cli(&["CONFIG", "SET", name, value]), "OK");
    let healthy = "store: redis, index: local\nhealthy\n";
    assert_eq!(doctor(&redis.url(), &[]).out, healthy, "nothing can be lost");
    let place = format!("note: redis 127.0.0.1:{}: ", redis.port());
    for (changes, loses) in [
        (
            [("appendonly", "yes"), ("appendfsync", "everysec")],
            "appendfsync is everysec: a power loss can take the last second",
        ),
        (
            [("appendonly", "yes"), ("appendfsync", "no")],
            "appendfsync is no: a power loss can take what the system had not written",
        ),
        (
            [("appendonly", "no"), ("save", "60 1")],
            "appendonly is no: a crash takes everything since the last snapshot",
        ),
        ([("appendonly", "no"), ("save", "")], "it keeps nothing on disk: a restart takes everything"),
    ] {
        changes.iter().for_each(|(name, value)| set(name, value));
        let ran = doctor(&redis.url(), &[]);
        assert_eq!(ran.code, Some(0), "it is a note and no fault: {ran:?}");
        assert!(ran.out.starts_with(&format!("{place}{loses}")), "{ran:?}");
        assert!(
            ran.out.contains("\nhint: set appendonly yes and appendfsync always") && ran.out.ends_with(healthy),
            "{ran:?}"
        );
        let notes = doctor(&redis.url(), &["--json"]).json()["notes"].clone();
        assert!(notes[0]["what"].as_str().unwrap().starts_with(loses), "{notes}");
    }
}

#[test]
fn doctor_tells_the_servers_of_a_cluster_apart() {
    let cluster = Cluster::start();
    let odd = &cluster.nodes()[1];
    assert_eq!(odd.cli(&["CONFIG", "SET", "appendfsync", "everysec"]), "OK");
    let ran = doctor(&cluster.url(), &[]);
    let notes: Vec<&str> = ran.out.lines().filter(|line| line.starts_with("note: ")).collect();
    assert_eq!(notes.len(), 1, "{ran:?}");
    assert!(notes[0].starts_with(&format!("note: redis 127.0.0.1:{}: appendfsync is everysec", odd.port())), "{ran:?}");
}

#[test]
fn doctor_says_that_redis_is_not_there() {
    let mut redis = Redis::start();
    redis.kill();
    let ran = doctor(&redis.url(), &[]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.out.starts_with("redis.url: ") && ran.out.contains("hint: start Redis there"), "{ran:?}");
}
