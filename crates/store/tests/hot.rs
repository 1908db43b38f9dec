//! Hot threads: warm reads touch no disk, memory is bounded, nothing is stale.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a panic is how a test fails")]

use bytes::Bytes;
use novelo_engine::path::CollectionPath;
use novelo_store::{AppendTerms, LocalOptions, NewDocument, NewId, PutTerms, Range, Store};

fn log(n: usize) -> CollectionPath {
    CollectionPath::new(&["users", &n.to_string(), "log"]).unwrap()
}

fn documents(from: usize, count: usize) -> Vec<NewDocument> {
    let document = |n: usize| NewDocument {
        id: NewId::Fresh(n.to_string().into()),
        create_time: n as f64,
        value: Bytes::from(format!("{{\"role\":\"user\",\"content\":\"{n}\"}}")),
        expires_at: None,
    };
    (from..from + count).map(document).collect()
}

fn disk_reads(store: &Store) -> u64 {
    match store {
        Store::Local(local) => local.disk_reads(),
        Store::Memory(_) | Store::Redis(_) => 0,
    }
}

async fn open(dir: &std::path::Path, hot_bytes_max: usize) -> Store {
    Store::open_local(dir, LocalOptions { hot_bytes_max, ..LocalOptions::default() }).await.unwrap()
}

#[tokio::test]
async fn a_warm_read_touches_no_disk() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), 1 << 20).await;
    store.append(&log(0), documents(0, 100), AppendTerms::default()).await.unwrap();
    let before = disk_reads(&store);
    for n in 100..200 {
        store.append(&log(0), documents(n, 1), AppendTerms::default()).await.unwrap();
        assert_eq!(store.turns(&log(0), Range::Last(20)).await.unwrap().len(), 20);
        assert_eq!(store.turns(&log(0), Range::After { seq: 0, limit: 500 }).await.unwrap().len(), n + 1);
    }
    assert_eq!(disk_reads(&store), before, "a thread that was written here is warm");
    store.close().await.unwrap();

    let store = open(dir.path(), 1 << 20).await;
    assert_eq!(store.turns(&log(0), Range::Last(20)).await.unwrap().len(), 20);
    let cold = disk_reads(&store);
    assert!(cold > 0);
    assert_eq!(store.turns(&log(0), Range::Last(64)).await.unwrap().len(), 64);
    assert_eq!(disk_reads(&store), cold, "the first read warmed it");
    assert_eq!(store.turns(&log(0), Range::Last(150)).await.unwrap().len(), 150);
    assert_eq!(disk_reads(&store), cold + 1, "older turns are read once");
    assert_eq!(store.turns(&log(0), Range::Last(150)).await.unwrap().len(), 150);
    assert_eq!(disk_reads(&store), cold + 1);
}

#[tokio::test]
async fn a_document_read_again_touches_no_disk_and_is_never_stale() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), 1 << 20).await;
    let (here, absent) = (log(0).document("here").unwrap(), log(0).document("absent").unwrap());
    let elsewhere = log(1).document("x").unwrap();
    for n in 0..3 {
        let value = Bytes::from(format!("{{\"n\":{n}}}"));
        store.put(&here, value.clone(), PutTerms::default()).await.unwrap();
        assert_eq!(store.get(&here).await.unwrap().unwrap().value, value);
        assert_eq!(store.get(&absent).await.unwrap(), None);
        assert_eq!(store.get(&elsewhere).await.unwrap(), None);
        let before = disk_reads(&store);
        assert_eq!(store.get(&here).await.unwrap().unwrap().value, value);
        assert_eq!(store.get(&absent).await.unwrap(), None);
        assert_eq!(store.get(&elsewhere).await.unwrap(), None);
        assert_eq!(disk_reads(&store), before);
    }
    store.append(&log(0), documents(0, 1), AppendTerms::default()).await.unwrap();
    assert!(store.get(&log(0).document("0").unwrap()).await.unwrap().is_some());
    store.put(&absent, Bytes::from_static(b"1"), PutTerms::default()).await.unwrap();
    assert!(store.get(&absent).await.unwrap().is_some());
    assert!(store.delete(&here, None).await.unwrap());
    assert_eq!(store.get(&here).await.unwrap(), None);
}

#[tokio::test]
async fn version_and_change_counter_read_no_disk() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), 100_000).await;
    store.append(&log(0), documents(0, 9), AppendTerms::default()).await.unwrap();
    store.close().await.unwrap();
    let store = open(dir.path(), 100_000).await;
    let (first, counter) =
        (store.version(&log(0)).await.unwrap(), store.change_counter(log(0).segments()).await.unwrap());
    assert_eq!(first.last_seq, 9);
    let before = disk_reads(&store);
    store.append(&log(1), documents(0, 1), AppendTerms::default()).await.unwrap();
    store.fork(&log(0), 5, &log(9_000)).await.unwrap();
    assert_eq!(
        (store.version(&log(0)).await.unwrap(), store.change_counter(log(0).segments()).await.unwrap()),
        (first, counter)
    );
    store.append(&log(0), documents(9, 1), AppendTerms::default()).await.unwrap();
    let second = store.version(&log(0)).await.unwrap();
    assert_eq!((second.last_seq, second.epoch), (10, first.epoch));
    assert_ne!(store.change_counter(log(0).segments()).await.unwrap(), counter);
    let kind = store.change_counter_of_kind(log(0).segments(), "traces").await.unwrap();
    store.append(&log(0), documents(10, 1), AppendTerms::default()).await.unwrap();
    assert_eq!(
        store.change_counter_of_kind(log(0).segments(), "traces").await.unwrap(),
        kind,
        "another kind is another counter"
    );
    assert_eq!(disk_reads(&store), before);
    for n in 2..2_000 {
        assert!(store.turns(&log(n), Range::Last(1)).await.unwrap().is_empty());
    }
    assert_ne!(store.version(&log(0)).await.unwrap().epoch, second.epoch, "it was let go meanwhile");
}

#[tokio::test]
async fn memory_is_bounded_and_what_was_let_go_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    let hot_bytes_max = 200_000;
    let store = open(dir.path(), hot_bytes_max).await;
    for n in 0..200 {
        store.append(&log(n), documents(0, 20), AppendTerms::default()).await.unwrap();
    }
    let health = store.health();
    assert!(health.hot_bytes <= hot_bytes_max + 20_000, "{health:?}");
    assert!((1..200).contains(&health.hot_threads), "{health:?}");
    for n in 0..200 {
        assert_eq!(store.turns(&log(n), Range::Last(30)).await.unwrap().len(), 20);
    }
    for n in 200..2_000 {
        assert!(store.turns(&log(n), Range::Last(30)).await.unwrap().is_empty());
    }
    let health = store.health();
    assert!(
        health.hot_bytes <= hot_bytes_max + 20_000,
        "asking for what is not there costs nothing lasting: {health:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_never_miss_an_acknowledged_turn() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), 30_000).await;
    let writer = {
        let store = store.clone();
        tokio::spawn(async move {
            for n in 0..400 {
                let thread = n % 4;
                store.append(&log(thread), documents(n, 1), AppendTerms::default()).await.unwrap();
                let turns = store.turns(&log(thread), Range::Last(5)).await.unwrap();
                assert_eq!(&*turns.iter().next_back().unwrap().id, n.to_string());
                store.turns(&log(n + 10), Range::Last(5)).await.unwrap();
            }
        })
    };
    while !writer.is_finished() {
        for thread in 0..4 {
            let turns = store.turns(&log(thread), Range::Last(1_000)).await.unwrap();
            let seqs: Vec<_> = turns.iter().map(|turn| turn.seq).collect();
            assert_eq!(seqs, (1..=turns.last_seq).collect::<Vec<_>>());
        }
        tokio::task::yield_now().await;
    }
    writer.await.unwrap();
}

#[tokio::test]
async fn a_full_queue_is_busy_and_a_closed_store_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let options = LocalOptions { writes_waiting_max: 1, ..LocalOptions::default() };
    let store = Store::open_local(dir.path(), options).await.unwrap();
    let writes = (0..64).map(|n| {
        let store = store.clone();
        tokio::spawn(async move { store.append(&log(n), documents(0, 1), AppendTerms::default()).await.is_ok() })
    });
    let mut done = 0;
    for write in writes.collect::<Vec<_>>() {
        done += usize::from(write.await.unwrap());
    }
    assert!((1..64).contains(&done), "{done}");
    store.clone().close().await.unwrap();
    let refused = store.append(&log(0), documents(0, 1), AppendTerms::default()).await;
    assert!(matches!(refused, Err(novelo_store::Error::ReadOnly { .. })));
    assert!(store.turns(&log(0), Range::Last(1)).await.is_ok(), "reads go on");
}
