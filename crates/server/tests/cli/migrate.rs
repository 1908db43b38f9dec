//! Documents from a data directory into Redis and back: all of them, whatever comes between.

use std::process::Stdio;
use std::sync::Arc;

use bytes::Bytes;
use novelo_conversation::telemetry::now;
use novelo_engine::path::{CollectionPath, DocumentPath};
use novelo_store::{AppendTerms, LocalOptions, NewDocument, NewId, PutTerms, RedisOptions, Store};
use tokio::runtime::Runtime;

use crate::arg;
use crate::support::redis::{Cluster, Redis};
use crate::support::{Home, Ran, Server, Value, eventually, json, says};

const ODD: [&str; 7] = ["a", "a b", "a!", "a/b", "{a}:seqs", "é😀", "%2F"];

/// Something with a store, and a runtime for it.
fn with<T>(store: impl Future<Output = Store>, run: impl AsyncFnOnce(&Store) -> T) -> T {
    Runtime::new().unwrap().block_on(async {
        let store = store.await;
        let done = run(&store).await;
        store.close().await.unwrap();
        done
    })
}

async fn local(home: &Home) -> Store {
    Store::open_local(&home.data(), LocalOptions::default()).await.unwrap()
}

async fn shared(url: &str) -> Store {
    let timeout = std::time::Duration::from_secs(10);
    Store::open_redis(RedisOptions { url: url.to_owned(), prefix: String::new(), timeout, hot_bytes_max: 1 << 20 })
        .await
        .unwrap()
}

fn path(text: &str) -> DocumentPath {
    DocumentPath::new(&text.split('/').collect::<Vec<_>>()).unwrap()
}

fn turn(id: &str) -> NewDocument {
    let value = says("user", id).to_string().into();
    NewDocument { id: NewId::Given(id.into()), create_time: 7.25, value, expires_at: None }
}

async fn append(store: &Store, of: &CollectionPath, turns: usize) {
    let turns = (1..=turns).map(|n| turn(&format!("m{n}"))).collect();
    store.append(of, turns, AppendTerms::default()).await.unwrap();
}

async fn put(store: &Store, at: &str, value: &str, expires_at: Option<f64>) {
    let terms = PutTerms { now: 3.5, expires_at, ..PutTerms::default() };
    store.put(&path(at), Bytes::copy_from_slice(value.as_bytes()), terms).await.unwrap();
}

/// Users with odd names, forks, gaps, versions, expiries, and what belongs to nodes.
async fn fill(store: &Store) {
    for user in ODD {
        let threads =
            |thread: &str| CollectionPath::new(&["users", user, "convo.sessions", thread, "messages"]).unwrap();
        append(store, &threads("t"), 12).await;
        store.fork(&threads("t"), 5, &threads("fork")).await.unwrap();
        for id in ["m1", "m7", "m12"] {
            store.delete(&threads("t").document(id).unwrap(), None).await.unwrap();
        }
        append(store, &threads("gone"), 3).await;
        for id in ["m1", "m2", "m3"] {
            store.delete(&threads("gone").document(id).unwrap(), None).await.unwrap();
        }
    }
    for version in ["1", "2", "{\"a\":\n 3.10}"] {
        put(store, "users/a/memories/m", version, None).await;
    }
    put(store, "users/a/memories/m/vectors/1", "[1]", None).await;
    put(store, "users/a/documents/d/passages/p", "{}", None).await;
    put(store, "users/a/convo.sessions/t/traces/t", "{}", Some(now() + 3_600.0)).await;
    put(store, "users/a/data/expired", "{}", Some(now() - 1.0)).await;
    put(store, "users/only-this", "{}", None).await;
    put(store, "keys/k", "{}", None).await;
    put(store, "novelo.nodes/n", "{\"url\":\"http://127.0.0.1:1\"}", None).await;
}

/// What `fill` makes, less what is not moved.
const DOCUMENTS: usize = ODD.len() * (9 + 5) + 6;

fn filled() -> Arc<Home> {
    let home = Home::new();
    with(local(&home), async |store| fill(store).await);
    home
}

fn migrate(home: &Home, url: &str, args: &[&str]) -> Ran {
    Ran::of(home.command(&[&["migrate"], args].concat()).env("REDIS_URL", url))
}

/// What a store exports, without what is not moved.
async fn exported(store: &Store) -> Vec<novelo_store::Exported> {
    let all = store.export(&novelo_engine::path::Prefix::all()).await.unwrap().all().await.unwrap();
    let is_moved = |d: &novelo_store::Exported| {
        &*d.path.segments()[0] != "novelo.nodes" && d.expires_at.is_none_or(|at| at > now())
    };
    all.into_iter().filter(is_moved).collect()
}

fn of_home(home: &Home) -> Vec<novelo_store::Exported> {
    with(local(home), async |store| exported(store).await)
}

fn of_redis(url: &str) -> Vec<novelo_store::Exported> {
    with(shared(url), async |store| exported(store).await)
}

fn there_and_back(url: &str) {
    let (home, other) = (filled(), Home::new());
    let before = of_home(&home);
    assert_eq!(before.len(), DOCUMENTS);
    let ran = migrate(&home, url, &["--to", "redis"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    assert!(ran.out.contains(&format!("{DOCUMENTS} documents were moved from ")), "{ran:?}");
    let counts = ["users      8", "turns      98", "memories   1", "passages   1", "vectors    1", "traces     1"];
    for line in counts.into_iter().chain(["verified: each is the same", "set store = \"redis\""]) {
        assert!(ran.out.contains(line), "{line:?} is not in {ran:?}");
    }
    assert!(of_redis(url) == before, "Redis exports what the directory did, in the same order");
    assert!(of_home(&home) == before, "the source is as it was");

    let back = migrate(&other, url, &["--to", "local", "--json"]);
    assert_eq!(back.code, Some(0), "{back:?}");
    let answer = back.json();
    assert_eq!((&answer["new"], &answer["existed"], &answer["verified"]), (&json!(DOCUMENTS), &json!(0), &json!(true)));
    assert_eq!(answer["counts"]["documents"], DOCUMENTS);
    assert!(of_home(&other) == before, "there and back again");
    let next = |store: Store| {
        with(async { store }, async |store| {
            let mut seqs = Vec::new();
            for thread in ["t", "gone", "fork"] {
                let of = CollectionPath::new(&["users", "a", "convo.sessions", thread, "messages"]).unwrap();
                seqs.push(store.append(&of, vec![turn("next")], AppendTerms::default()).await.unwrap()[0].seq);
            }
            seqs
        })
    };
    let runtime = Runtime::new().unwrap();
    assert_eq!(next(runtime.block_on(shared(url))), [13, 4, 6], "no seq is given twice");
    assert_eq!(next(runtime.block_on(local(&other))), [13, 4, 6]);
}

#[test]
fn there_and_back_again_gives_the_same_bytes() {
    there_and_back(&Redis::start().url());
}

#[test]
fn there_and_back_again_by_way_of_a_cluster() {
    there_and_back(&Cluster::start().url());
}

#[test]
fn a_server_goes_on_where_the_documents_went() {
    let (redis, server) = (Redis::start(), Server::start());
    server.append("u", "t", &[says("user", "before")]);
    let key = server.admin_key().post("/v1/keys", json!({"user": "u"})).ok();
    let home = crate::stopped(server);
    assert_eq!(migrate(&home, &redis.url(), &["--to", "redis"]).code, Some(0));
    let node = home.serve_with(&[("NOVELO_STORE", "redis"), ("REDIS_URL", &redis.url())]);
    let client = node.client().with("authorization", &format!("Bearer {}", key["key"].as_str().unwrap()));
    client.append("u", "t", &[says("user", "after")]);
    assert_eq!(client.said("u", "t"), ["before", "after"]);
    crate::stopped(node);

    let other = Home::new();
    let ran = migrate(&other, &redis.url(), &["--to", "local", "--from", "redis"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(other.done(&["key", "list"]).lines().count(), 2);
    assert!(other.done(&["thread", "show", "u", "t"]).contains("after"));
}

#[test]
fn a_migration_that_was_killed_goes_on() {
    const USERS: usize = 150;
    let (redis, home) = (Redis::start(), Home::new());
    with(local(&home), async |store| {
        for user in 0..USERS {
            let of = CollectionPath::new(&["users", &format!("u{user}"), "convo.sessions", "t", "messages"]).unwrap();
            append(store, &of, 20).await;
        }
    });
    let stored = || redis.cli(&["ZCARD", "novelo:roots"]).parse::<usize>().unwrap();
    let mut cut_short = 0;
    for users in [10, 40, 80] {
        let mut command = home.command(&["migrate", "--to", "redis"]);
        command.env("REDIS_URL", redis.url()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        assert!(eventually(|| stored() >= users));
        child.kill().unwrap();
        child.wait().unwrap();
        cut_short += usize::from(stored() < USERS);
    }
    assert!(cut_short > 0, "it was killed on its way");
    let node = [("NOVELO_STORE", "redis"), ("NOVELO_REDIS_URL", &redis.url())];
    let marked = ["is incomplete: a migration", "hint: to resume it, run `novelo migrate --to redis --data "];
    for args in [&["serve", "--addr", "127.0.0.1:0"][..], &["thread", "list", "u1"]] {
        Ran::of(home.command(args).envs(node)).failed(&marked);
    }
    let answer = migrate(&home, &redis.url(), &["--to", "redis", "--json"]).json();
    let count = |name: &str| answer[name].as_u64().unwrap();
    assert!(count("existed") > 0 && count("new") + count("existed") == 20 * USERS as u64, "{answer}");
    assert_eq!((&answer["verified"], &answer["counts"]["users"]), (&json!(true), &json!(USERS)));
    assert!(of_redis(&redis.url()) == of_home(&home));

    assert_eq!(
        Ran::of(home.command(&["thread", "list", "u1"]).envs(node)).out,
        "      20 turns  t\n",
        "it is whole now"
    );

    let again = migrate(&home, &redis.url(), &["--to", "redis"]);
    assert!(again.out.starts_with("0 documents were moved"), "{again:?}");
    assert!(again.out.contains("3000 were there already\n"), "{again:?}");
}

#[test]
fn a_target_that_stops_on_the_way_is_gone_on_with() {
    let (redis, home) = (Redis::with(&["--maxmemory", "8mb"]), Home::new());
    with(local(&home), async |store| {
        for n in 0..80 {
            let large = format!("\"{}\"", "x".repeat(100_000));
            put(store, &format!("users/u/data/large{n}"), &large, None).await;
        }
    });
    migrate(&home, &redis.url(), &["--to", "redis"])
        .failed(&["OOM", "hint: what was moved is stored; the same command again"]);
    assert!((1..80).contains(&of_redis(&redis.url()).len()));
    redis.cli(&["CONFIG", "SET", "maxmemory", "0"]);
    let answer = migrate(&home, &redis.url(), &["--to", "redis", "--json"]).json();
    assert_eq!((&answer["verified"], &answer["counts"]["documents"]), (&json!(true), &json!(80)));
}

#[test]
fn what_the_target_holds_is_never_overwritten() {
    let (redis, home) = (Redis::start(), filled());
    with(shared(&redis.url()), async |store| put(store, "users/a/memories/m", "\"other\"", None).await);
    let before = of_redis(&redis.url());
    let words = ["users/a/memories/m: the bytes differ", "nothing was written", "hint: migrate into an empty place"];
    migrate(&home, &redis.url(), &["--to", "redis", "--yes"]).failed(&words);
    assert!(of_redis(&redis.url()) == before);
    assert_eq!(of_home(&home).len(), DOCUMENTS);
    let dry = migrate(&home, &redis.url(), &["--to", "redis", "--dry-run"]);
    assert_eq!(dry.code, Some(1), "{dry:?}");
    assert!(dry.out.contains("1 differ, so nothing would be moved:\nusers/a/memories/m: the bytes differ"), "{dry:?}");

    let ran = Ran::of(
        home.command(&["migrate", "--to", "redis"]).env("REDIS_URL", redis.url()).env("NOVELO_REDIS_PREFIX", "other:"),
    );
    assert_eq!(ran.code, Some(0), "an empty place: {ran:?}");
}

#[test]
fn documents_that_are_only_there_stay_and_are_asked_about() {
    let (redis, home) = (Redis::start(), filled());
    with(shared(&redis.url()), async |store| put(store, "users/z/data/x", "1", None).await);
    migrate(&home, &redis.url(), &["--to", "redis"]).failed(&[
        "holds 1 documents that",
        "nothing was written",
        "--yes",
    ]);
    assert_eq!(of_redis(&redis.url()).len(), 1);
    let answer = migrate(&home, &redis.url(), &["--to", "redis", "--yes", "--json"]).json();
    assert_eq!((&answer["verified"], &answer["only_in_target"]), (&json!(true), &json!(1)));
    assert_eq!(of_redis(&redis.url()).len(), DOCUMENTS + 1);
}

#[test]
fn what_is_not_the_same_in_both_is_listed() {
    let (redis, home) = (Redis::start(), filled());
    // The same document, with the seq of another history: nothing to import, and not the same.
    with(shared(&redis.url()), async |store| {
        put(store, "users/a/memories/first", "1", None).await;
        for version in ["1", "2", "{\"a\":\n 3.10}"] {
            put(store, "users/a/memories/m", version, None).await;
        }
    });
    migrate(&home, &redis.url(), &["--to", "redis", "--yes"])
        .failed(&["users/a/memories/m: another document has its seq", "nothing was written"]);
    let first = path("users/a/memories/first");
    with(shared(&redis.url()), async |store| store.delete(&first, None).await.unwrap());
    let ran = migrate(&home, &redis.url(), &["--to", "redis", "--yes"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.out.contains("1 differ:\nusers/a/memories/m: only the source has it"), "{ran:?}");
    assert!(ran.err.contains("hint: ") && !ran.out.contains("verified"), "{ran:?}");
}

#[test]
fn a_dry_run_only_counts() {
    let (redis, home, other) = (Redis::start(), filled(), Home::new());
    let dry = migrate(&home, &redis.url(), &["--to", "redis", "--dry-run"]);
    assert_eq!(dry.code, Some(0), "{dry:?}");
    assert!(dry.out.contains(&format!("{DOCUMENTS} documents would be moved")), "{dry:?}");
    assert!(dry.out.contains("are there already\nusers      8\n"), "{dry:?}");
    assert_eq!(redis.cli(&["DBSIZE"]), "0");
    assert_eq!(migrate(&home, &redis.url(), &["--to", "redis"]).code, Some(0));
    let dry: Value = migrate(&other, &redis.url(), &["--to", "local", "--dry-run", "--json"]).json();
    assert_eq!((&dry["new"], &dry["dry_run"]), (&json!(DOCUMENTS), &json!(true)));
    assert!(!other.data().exists(), "no directory was made");
}

#[test]
fn what_cannot_be_opened_is_said() {
    let (redis, server) = (Redis::start(), Server::start());
    migrate(&server.home, &redis.url(), &["--to", "redis"])
        .failed(&["is in use by another process", "hint: stop the server that has it open"]);
    migrate(&server.home, &redis.url(), &["--to", "local"]).failed(&["is in use by another process"]);
    let empty = Home::new();
    migrate(&empty, &redis.url(), &["--to", "redis"]).failed(&["there is no store in", "--data"]);
    assert!(!empty.data().exists());
    migrate(&filled(), "redis://127.0.0.1:1", &["--to", "redis"]).failed(&["redis.url, redis://127.0.0.1:1", "hint: "]);
    migrate(&empty, &redis.url(), &["--to", "local", "--from", "local"]).failed(&["both places are local"]);
    let unknown = migrate(&empty, arg(&empty.data()), &["--to", "disk"]);
    assert_eq!(unknown.code, Some(2), "{unknown:?}");
}

#[test]
fn a_directory_that_is_half_filled_is_refused_until_the_migration_is_done() {
    let (redis, home) = (Redis::start(), Home::new());
    with(shared(&redis.url()), async |store| put(store, "users/u/data/one", "1", None).await);
    // A store that takes no write breaks the migration off after it began.
    let mut command = home.command(&["migrate", "--to", "local"]);
    Ran::of(command.env("REDIS_URL", redis.url()).env("NOVELO_FREE_BYTES_MIN", u64::MAX.to_string()))
        .failed(&["the disk is full", "hint: what was moved is stored; the same command again"]);
    for args in [&["serve", "--addr", "127.0.0.1:0"][..], &["thread", "list", "u"], &["restore", "x.jsonl"]] {
        home.write("x.jsonl", "");
        home.run(args).failed(&["is incomplete: a migration", "novelo migrate --to local --data "]);
    }
    let answer = migrate(&home, &redis.url(), &["--to", "local", "--json"]).json();
    assert_eq!((&answer["verified"], &answer["new"]), (&json!(true), &json!(1)));
    home.done(&["thread", "list", "u"]);
}
