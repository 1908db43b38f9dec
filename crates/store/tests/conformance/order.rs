//! L2: appends are atomic and dense.

use novelo_store::{AppendTerms, Error, Op, Outcome, Range, Reserved, SEQ_MAX};

use crate::fresh::{Kind, collection, document, path, text};

pub async fn appends_give_a_dense_seq_from_one(kind: Kind) {
    let fresh = kind.fresh().await;
    let first = fresh.append("users/a/log", &["1", "2"]).await;
    let second = fresh.append("users/a/log", &["3"]).await;
    let seqs: Vec<_> = first.iter().chain(&second).map(|stamp| (stamp.seq, stamp.version, stamp.existed)).collect();
    assert_eq!(seqs, [(1, 1, false), (2, 1, false), (3, 1, false)]);
    assert_eq!(fresh.append("users/b/log", &["1"]).await[0].seq, 1);
}

pub async fn concurrent_appends_never_interleave_inside_a_batch(kind: Kind) {
    let fresh = kind.fresh().await;
    let writers: Vec<_> = (0..16)
        .map(|writer| {
            let store = fresh.store.clone();
            tokio::spawn(async move {
                for round in 0..10 {
                    let batch = (0..3).map(|n| document(&format!("{writer}-{round}-{n}"), "{}")).collect();
                    store.append(&collection("users/a/log"), batch, AppendTerms::default()).await.unwrap();
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let turns = fresh.store.turns(&collection("users/a/log"), Range::Last(1_000)).await.unwrap();
    let turns: Vec<_> = turns.iter().map(|turn| (turn.seq, turn.id.to_string())).collect();
    assert_eq!(turns.iter().map(|(seq, _)| *seq).collect::<Vec<_>>(), (1..=480).collect::<Vec<_>>());
    for batch in turns.chunks(3) {
        let stem = batch[0].1.strip_suffix("-0").unwrap();
        assert_eq!(batch[1].1, format!("{stem}-1"));
        assert_eq!(batch[2].1, format!("{stem}-2"));
    }
}

pub async fn a_stale_if_seq_is_refused(kind: Kind) {
    let fresh = kind.fresh().await;
    fresh.append("users/a/log", &["1", "2"]).await;
    let append = async |if_seq, id: &str| {
        let terms = AppendTerms { if_seq: Some(if_seq), keep_last: None };
        fresh.store.append(&collection("users/a/log"), vec![document(id, &text(id))], terms).await
    };
    assert!(matches!(append(1, "3").await, Err(Error::Stale { expected: 1, actual: 2 })));
    assert_eq!(append(2, "3").await.unwrap()[0].seq, 3);
    assert!(append(2, "3").await.unwrap()[0].existed, "a retry is the first answer again");
    assert_eq!(fresh.ids("users/a/log").await, ["1", "2", "3"]);
}

pub async fn keep_last_trims_in_the_same_write(kind: Kind) {
    let fresh = kind.fresh().await;
    fresh.append("users/a/log", &["1", "2", "3"]).await;
    let append = async |ids: &[&str], keep_last| {
        let batch = ids.iter().map(|id| document(id, &text(id))).collect();
        let terms = AppendTerms { if_seq: None, keep_last: Some(keep_last) };
        fresh.store.append(&collection("users/a/log"), batch, terms).await.unwrap()
    };
    assert_eq!(append(&["4"], 2).await[0].seq, 4);
    assert_eq!(fresh.ids("users/a/log").await, ["3", "4"]);
    assert_eq!(append(&["5", "6", "7", "8"], 3).await[3].seq, 8);
    assert_eq!(fresh.ids("users/a/log").await, ["6", "7", "8"]);
    assert_eq!(fresh.all("users/a/log").await, ["6", "7", "8"]);
    assert_eq!(append(&["9"], 0).await[0].seq, 9);
    assert!(fresh.ids("users/a/log").await.is_empty());
    let fresh = fresh.reopened().await;
    assert_eq!(fresh.append("users/a/log", &["10"]).await[0].seq, 10);
}

pub async fn a_deleted_newest_seq_is_not_given_again(kind: Kind) {
    let fresh = kind.fresh().await;
    fresh.append("users/a/log", &["1", "2"]).await;
    assert!(fresh.store.delete(&path("users/a/log/2"), None).await.unwrap());
    assert!(!fresh.store.delete(&path("users/a/log/2"), None).await.unwrap());
    let fresh = fresh.reopened().await;
    assert_eq!(fresh.store.turns(&collection("users/a/log"), Range::Last(1)).await.unwrap().last_seq, 2);
    assert_eq!(fresh.append("users/a/log", &["2"]).await[0].seq, 3);
    assert_eq!(fresh.ids("users/a/log").await, ["1", "2"]);
}

pub async fn a_reserved_seq_is_not_given(kind: Kind) {
    let fresh = kind.fresh().await;
    fresh.append("users/a/log", &["1", "2"]).await;
    let reserve = |of: &str, last_seq| Op::Reserve(Reserved { of: collection(of), last_seq });
    let version = fresh.store.version(&collection("users/a/log")).await.unwrap();
    let wishes = vec![reserve("users/a/log", 1), reserve("users/a/new", 300)];
    assert_eq!(fresh.store.write(wishes).await.unwrap(), [Outcome::Reserved, Outcome::Reserved]);
    assert_eq!(fresh.store.version(&collection("users/a/log")).await.unwrap().last_seq, version.last_seq);
    fresh.store.write(vec![reserve("users/a/log", 9), reserve("users/a/log", 5)]).await.unwrap();
    let fresh = fresh.reopened().await;
    assert_eq!(fresh.append("users/a/log", &["3"]).await[0].seq, 10);
    assert_eq!(fresh.append("users/a/new", &["1"]).await[0].seq, 301);
    assert_eq!(fresh.ids("users/a/log").await, ["1", "2", "3"]);
    assert_eq!(fresh.exported().await.len(), 4);
    assert!(matches!(fresh.store.write(vec![reserve("users/a/log", SEQ_MAX + 1)]).await, Err(Error::Invalid(_))));
    assert!(fresh.store.check().await.unwrap().is_empty());
}
