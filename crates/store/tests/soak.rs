//! Random operations on a store and on the model: every read agrees. The local store is closed and opened in
//! between; a shared one is written through one node and read through another.
//!
//! `PROPTEST_CASES=1000 cargo nextest run -p novelo-store --test soak` runs longer.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a panic is how a test fails")]

#[path = "support/redis.rs"]
mod redis;

use std::collections::BTreeSet;
use std::time::Duration;

use bytes::Bytes;
use novelo_engine::path::{CollectionPath, DocumentPath, Prefix};
use novelo_store::{
    AppendTerms, Cursor, Error, Exported, LocalOptions, NewDocument, NewId, Newest, Op, Outcome, PutTerms, Range,
    RedisOptions, Store, Turns, Window,
};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

#[derive(Debug, Clone)]
enum Step {
    Write(Vec<Op>),
    Reopen,
}

fn log(n: u8) -> CollectionPath {
    let user = ["a", "ab"][usize::from(n % 2)];
    CollectionPath::new(&["users", user, "s", &n.to_string(), "log"]).unwrap()
}

fn value(n: u8) -> Bytes {
    Bytes::from(format!("{{\"k{}\":{{\"v\":{n}}}}}", n % 3))
}

fn document() -> impl Strategy<Value = NewDocument> {
    let id = prop_oneof![(0..12u8).prop_map(|n| n.to_string())];
    (id, 0..6u8, 0..4u8, proptest::option::of(0..10u8)).prop_map(|(id, time, v, expires)| NewDocument {
        id: NewId::Given(id.into()),
        create_time: f64::from(time),
        value: value(v),
        expires_at: expires.map(f64::from),
    })
}

fn simple() -> impl Strategy<Value = Op> {
    let append = (0..4u8, proptest::collection::vec(document(), 1..6), proptest::option::of(0..8u64), any::<bool>());
    let append = append.prop_map(|(to, documents, n, is_seq)| Op::Append {
        to: log(to),
        documents,
        terms: if is_seq {
            AppendTerms { if_seq: n, keep_last: None }
        } else {
            AppendTerms { if_seq: None, keep_last: n }
        },
    });
    let put = (
        0..4u8,
        0..12u8,
        0..4u8,
        any::<bool>(),
        proptest::option::weighted(0.2, 0..3u64),
        proptest::option::of(0..6u8),
    );
    let put = put.prop_map(|(to, id, v, merge, if_version, time)| Op::Put {
        at: log(to).document(&id.to_string()).unwrap(),
        value: value(v),
        terms: PutTerms {
            merge,
            if_version,
            create_time: time.map(f64::from),
            now: 1.0,
            expires_at: time.map(f64::from),
        },
    });
    let delete = (0..4u8, 0..12u8)
        .prop_map(|(to, id)| Op::Delete { at: log(to).document(&id.to_string()).unwrap(), if_version: None });
    prop_oneof![4 => append, 2 => put, 1 => delete]
}

fn step() -> impl Strategy<Value = Step> {
    let fork =
        (0..4u8, 1..10u64, 0..4u8).prop_map(|(from, at_seq, to)| Op::Fork { from: log(from), at_seq, to: log(to) });
    let exported = (0..4u8, 0..12u8, 1..15u64, 0..4u8).prop_map(|(to, id, seq, v)| Exported {
        path: log(to).document(&id.to_string()).unwrap(),
        seq,
        create_time: 2.0,
        version: 3,
        expires_at: None,
        value: value(v),
    });
    let import = proptest::collection::vec(exported, 1..4).prop_map(|documents| Op::Import { documents });
    let sweep = (0..10u8).prop_map(|now| Op::Sweep { now: f64::from(now) });
    let alone = |op: Op| Step::Write(vec![op]);
    prop_oneof![
        12 => proptest::collection::vec(simple(), 1..4).prop_map(Step::Write),
        3 => fork.prop_map(alone),
        2 => import.prop_map(alone),
        1 => sweep.prop_map(alone),
        1 => Just(Step::Reopen),
    ]
}

/// An error by what a caller would do.
fn outcome(result: Result<Vec<Outcome>, Error>) -> Result<Vec<Outcome>, String> {
    result.map_err(|error| match error {
        Error::Conflict { path } => format!("conflict {path}"),
        Error::Stale { expected, actual } => format!("stale {expected} {actual}"),
        Error::NotFound { path } => format!("not found {path}"),
        Error::Invalid(text) => text,
        other => panic!("{other}"),
    })
}

type Listed = (Vec<(u64, String, Bytes)>, (u64, u64), bool);

async fn turns(store: &Store, of: &CollectionPath, range: Range) -> Listed {
    listed(&store.turns(of, range).await.unwrap())
}

fn listed(turns: &Turns) -> Listed {
    let list = turns.iter().map(|t| (t.seq, t.id.to_string(), t.message.raw().clone())).collect();
    (list, (turns.last_seq, turns.count), turns.has_more)
}

async fn compare(local: &Store, model: &Store, n: u8) {
    let of = log(n);
    for range in
        [Range::Last(3), Range::Last(50), Range::After { seq: 2, limit: 3 }, Range::Between { first: 2, last: 6 }]
    {
        assert_eq!(turns(local, &of, range).await, turns(model, &of, range).await, "{range:?} of {of}");
    }
    let all = Newest { begin: None, end: None, first_seq: 0, last_seq: u64::MAX, limit: 4 };
    for choice in [all, Newest { begin: Some(1.0), end: Some(4.0), first_seq: 2, last_seq: 9, limit: 2 }] {
        let newest = async |store: &Store| listed(&store.newest_turns(&of, choice).await.unwrap());
        assert_eq!(newest(local).await, newest(model).await, "{choice:?} of {of}");
        let count = async |store: &Store| store.count_within(&of, choice.begin, choice.end).await.unwrap();
        assert_eq!(count(local).await, count(model).await, "{choice:?} of {of}");
    }
    let after = Some(Cursor { create_time: 2.0, seq: 3 });
    for window in
        [Window { limit: 50, ..Window::default() }, Window { begin: Some(1.0), end: Some(4.0), after, limit: 2 }]
    {
        assert_eq!(
            local.scan(&of, window).await.unwrap(),
            model.scan(&of, window).await.unwrap(),
            "{window:?} of {of}"
        );
    }
    for id in 0..12 {
        let at = of.document(&id.to_string()).unwrap();
        assert_eq!(local.get(&at).await.unwrap(), model.get(&at).await.unwrap(), "{at}");
    }
}

async fn compare_all(local: &Store, model: &Store) {
    for n in 0..4 {
        compare(local, model, n).await;
    }
    let export = async |store: &Store, what| store.export(&what).await.unwrap().all().await.unwrap();
    assert_eq!(export(local, Prefix::all()).await, export(model, Prefix::all()).await);
    let user = DocumentPath::new(&["users", "a"]).unwrap().prefix();
    assert_eq!(export(local, user.clone()).await, export(model, user).await);
    let under = CollectionPath::new(&["users", "a", "s"]).unwrap();
    let (ours, theirs) = (local.threads(&under, "log", None, 1).await, model.threads(&under, "log", None, 1).await);
    assert_eq!(ours.unwrap(), theirs.unwrap());
    assert_eq!(local.check().await.unwrap(), []);
}

async fn soak(steps: Vec<Step>) {
    let dir = tempfile::tempdir().unwrap();
    let options = LocalOptions { hot_bytes_max: 4_000, relaxed: true, ..LocalOptions::default() };
    let mut local = Store::open_local(dir.path(), options.clone()).await.unwrap();
    let model = Store::memory();
    for step in steps {
        match step {
            Step::Write(ops) => {
                let (ours, theirs) = (local.write(ops.clone()).await, model.write(ops.clone()).await);
                assert_eq!(outcome(ours), outcome(theirs), "{ops:?}");
                compare(&local, &model, 0).await;
            }
            Step::Reopen => {
                drop(local);
                local = Store::open_local(dir.path(), options.clone()).await.unwrap();
                compare_all(&local, &model).await;
            }
        }
    }
    compare_all(&local, &model).await;
}

fn is_of_one_user(ops: &[Op]) -> bool {
    let users = ops.iter().flat_map(|op| match op {
        Op::Append { to, .. } => vec![to.segments()[1].clone()],
        Op::Put { at, .. } | Op::Delete { at, .. } => vec![at.segments()[1].clone()],
        Op::Import { documents } => documents.iter().map(|document| document.path.segments()[1].clone()).collect(),
        _ => Vec::new(),
    });
    users.collect::<BTreeSet<_>>().len() <= 1
}

/// Two nodes of one server take turns: what one wrote, the other reads.
async fn soak_nodes(steps: Vec<Step>, url: &str, case: usize) {
    let options = RedisOptions {
        url: url.to_owned(),
        prefix: format!("{case}:"),
        timeout: Duration::from_secs(5),
        hot_bytes_max: 4_000,
    };
    let mut nodes =
        [Store::open_redis(options.clone()).await.unwrap(), Store::open_redis(options.clone()).await.unwrap()];
    let model = Store::memory();
    for step in steps {
        nodes.reverse();
        match step {
            Step::Write(ops) => {
                let (ours, theirs) = (nodes[0].write(ops.clone()).await, model.write(ops.clone()).await);
                // Of several reasons to refuse, in several users' documents or in one import, any may be
                // named.
                match is_of_one_user(&ops) && !matches!(ops.as_slice(), [Op::Import { .. }]) {
                    true => assert_eq!(outcome(ours), outcome(theirs), "{ops:?}"),
                    false => assert_eq!(outcome(ours).map_err(drop), outcome(theirs).map_err(drop), "{ops:?}"),
                }
                compare(&nodes[1], &model, 0).await;
            }
            Step::Reopen => {
                nodes[0] = Store::open_redis(options.clone()).await.unwrap();
                compare_all(&nodes[0], &model).await;
            }
        }
    }
    compare_all(&nodes[0], &model).await;
    compare_all(&nodes[1], &model).await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: std::env::var("PROPTEST_CASES").map_or(40, |n| n.parse().unwrap()), ..ProptestConfig::default() })]

    #[test]
    fn the_local_store_agrees_with_the_model(steps in proptest::collection::vec(step(), 1..40)) {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(soak(steps));
    }
}

#[test]
fn a_shared_store_agrees_with_the_model() {
    let redis = redis::Redis::with(&["--appendonly", "yes", "--appendfsync", "always"]);
    let cases = std::env::var("PROPTEST_CASES").map_or(40, |n| n.parse().unwrap());
    let mut runner = TestRunner::new(ProptestConfig { cases, ..ProptestConfig::default() });
    let case = std::cell::Cell::new(0);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let done = runner.run(&proptest::collection::vec(step(), 1..40), |steps| {
        case.set(case.get() + 1);
        runtime.block_on(soak_nodes(steps, &redis.url(), case.get()));
        Ok(())
    });
    done.unwrap();
}
