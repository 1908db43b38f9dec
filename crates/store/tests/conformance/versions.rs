//! L4, L6 and L9: ids, versions and batches.

use bytes::Bytes;
use novelo_store::{AppendTerms, Error, Op, Outcome, PutTerms, Range};

use crate::fresh::{Fresh, Kind, collection, document, path};

pub async fn the_same_append_again_is_the_first_answer_again(kind: Kind) {
    let fresh = kind.fresh().await;
    let first = fresh.append("users/a/log", &["1", "2"]).await;
    fresh.append("users/a/log", &["3"]).await;
    for fresh in [fresh.reopened().await] {
        let again = fresh.append("users/a/log", &["1", "2", "4", "4"]).await;
        assert_eq!(
            again.iter().map(|s| (s.seq, s.existed)).collect::<Vec<_>>(),
            [(1, true), (2, true), (4, false), (4, true)]
        );
        assert_eq!(again[0].create_time, first[0].create_time);
        assert_eq!(fresh.ids("users/a/log").await, ["1", "2", "3", "4"]);
    }
}

pub async fn the_same_id_with_other_bytes_is_a_conflict(kind: Kind) {
    let fresh = kind.fresh().await;
    fresh.append("users/a/log", &["1"]).await;
    let other = vec![document("2", "{}"), document("1", "{\"other\":1}")];
    let refused = fresh.store.append(&collection("users/a/log"), other, AppendTerms::default()).await;
    assert!(matches!(refused, Err(Error::Conflict { .. })));
    assert_eq!(fresh.ids("users/a/log").await, ["1"], "nothing of the refused append is there");
    assert_eq!(fresh.append("users/a/log", &["3"]).await[0].seq, 2);
}

pub async fn a_put_merges_deeply_when_asked(kind: Kind) {
    let fresh = kind.fresh().await;
    let merge = async |value: &'static str| {
        let terms = PutTerms { merge: true, ..PutTerms::default() };
        fresh.store.put(&path("users/a/data/x"), Bytes::from_static(value.as_bytes()), terms).await
    };
    assert_eq!(merge("{\"a\":{\"b\":1.0}}").await.unwrap().version, 1);
    assert_eq!(merge("{\"a\":{\"c\":2},\"d\":[]}").await.unwrap().version, 2);
    assert_eq!(fresh.value("users/a/data/x").await.unwrap(), "{\"a\":{\"b\":1.0,\"c\":2},\"d\":[]}");
    assert_eq!(merge("{\"d\":[]}").await.unwrap().version, 2, "nothing changed");
    assert!(matches!(merge("not json").await, Err(Error::Invalid(_))));
    assert_eq!(fresh.put("users/a/data/x", "[1]").await.version, 3);
    assert_eq!(fresh.value("users/a/data/x").await.unwrap(), "[1]");
}

pub async fn if_version_refuses_a_lost_update(kind: Kind) {
    let fresh = kind.fresh().await;
    let put = async |if_version, value: &'static str| {
        let terms = PutTerms { if_version, now: 5.0, ..PutTerms::default() };
        fresh.store.put(&path("users/a/data/x"), Bytes::from_static(value.as_bytes()), terms).await
    };
    assert!(matches!(put(Some(1), "1").await, Err(Error::Stale { expected: 1, actual: 0 })));
    let first = put(Some(0), "1").await.unwrap();
    assert_eq!((first.version, first.create_time, first.existed), (1, 5.0, false));
    assert!(matches!(put(Some(0), "2").await, Err(Error::Stale { expected: 0, actual: 1 })));
    let second = put(Some(1), "2").await.unwrap();
    assert_eq!((second.version, second.seq, second.create_time, second.existed), (2, 1, 5.0, true));
    let delete = async |if_version| fresh.store.delete(&path("users/a/data/x"), if_version).await;
    assert!(matches!(delete(Some(1)).await, Err(Error::Stale { expected: 1, actual: 2 })));
    assert!(delete(Some(2)).await.unwrap());
    assert!(matches!(delete(Some(2)).await, Err(Error::Stale { expected: 2, actual: 0 })));
}

pub async fn values_keep_their_bytes(kind: Kind) {
    let fresh = kind.fresh().await;
    let odd = "{ \"z\" : 1.50e+02,\n\t\"a\":\"\\u00e9\", \"z\":null }";
    fresh.put("users/a/data/x", odd).await;
    let fresh = fresh.reopened().await;
    assert_eq!(fresh.value("users/a/data/x").await.unwrap(), odd);
}

pub async fn a_batch_is_all_or_nothing(kind: Kind) {
    let fresh = kind.fresh().await;
    fresh.put("users/a/data/x", "1").await;
    let stale = PutTerms { if_version: Some(9), ..PutTerms::default() };
    let refused = fresh.store.write(vec![
        Op::Append {
            to: collection("users/a/log"),
            documents: vec![document("1", "{}")],
            terms: AppendTerms::default(),
        },
        put("users/a/data/y", "2", PutTerms::default()),
        Op::Delete { at: path("users/a/data/x"), if_version: None },
        put("users/a/data/x", "3", stale),
    ]);
    assert!(matches!(refused.await, Err(Error::Stale { expected: 9, actual: 0 })));
    assert_eq!(fresh.value("users/a/data/x").await.unwrap(), "1");
    assert_eq!(fresh.value("users/a/data/y").await, None);
    assert!(fresh.ids("users/a/log").await.is_empty());
    assert_eq!(fresh.append("users/a/log", &["1"]).await[0].seq, 1);
    assert_eq!(fresh.put("users/a/data/z", "1").await.seq, 2);
}

pub async fn a_write_that_expects_a_document_is_refused_without_it(kind: Kind) {
    let fresh = kind.fresh().await;
    fresh.append("users/a/log", &["1"]).await;
    let write = async |expected: &str, id: &'static str| {
        let expect = Op::Expect { at: path(expected) };
        fresh.store.write(vec![expect, put(&format!("users/a/data/{id}"), "1", PutTerms::default())]).await
    };
    assert_eq!(write("users/a/log/1", "x").await.unwrap()[0], Outcome::Expected);
    assert!(matches!(write("users/a/log/2", "y").await, Err(Error::NotFound { path }) if path == "users/a/log/2"));
    fresh.store.forget(&collection("users/a/log").prefix()).await.unwrap();
    assert!(matches!(write("users/a/log/1", "z").await, Err(Error::NotFound { .. })));
    assert_eq!(fresh.all("users/a/data").await, ["x"]);
}

pub async fn a_batch_over_several_users_is_all_or_nothing(kind: Kind) {
    let fresh = kind.fresh().await;
    let batch = async |if_version| {
        let terms = PutTerms { if_version, ..PutTerms::default() };
        let ops = vec![
            put("users/a/data/x", "1", PutTerms::default()),
            put("users/b/data/x", "2", PutTerms::default()),
            Op::Expect { at: path("users/a/data/x") },
            put("sessions/s", "3", terms),
        ];
        fresh.store.write(ops).await
    };
    assert!(matches!(batch(Some(7)).await, Err(Error::Stale { expected: 7, actual: 0 })));
    assert!(fresh.exported().await.is_empty());
    let outcomes = batch(Some(0)).await.unwrap();
    assert!(matches!(&outcomes[1], Outcome::Put(stamp) if stamp.seq == 1 && &*stamp.id == "x"));
    assert!(matches!(&outcomes[3], Outcome::Put(stamp) if &*stamp.id == "s"));
    assert_eq!(fresh.exported().await.len(), 3);
}

pub async fn a_batch_reads_its_own_writes(kind: Kind) {
    let fresh = kind.fresh().await;
    let merge = PutTerms { merge: true, ..PutTerms::default() };
    let outcomes = fresh.store.write(vec![
        put("users/a/data/x", "{\"a\":1}", PutTerms::default()),
        put("users/a/data/x", "{\"b\":2}", merge),
        Op::Delete { at: path("users/a/data/x"), if_version: Some(2) },
        put("users/a/data/x", "{\"c\":3}", PutTerms { if_version: Some(0), ..merge }),
    ]);
    let outcomes = outcomes.await.unwrap();
    assert!(matches!(&outcomes[1], Outcome::Put(stamp) if stamp.version == 2 && stamp.seq == 1));
    assert_eq!(outcomes[2], Outcome::Deleted(true));
    assert!(matches!(&outcomes[3], Outcome::Put(stamp) if stamp.version == 1 && stamp.seq == 2));
    let fresh: Fresh = fresh.reopened().await;
    assert_eq!(fresh.value("users/a/data/x").await.unwrap(), "{\"c\":3}");
    assert_eq!(fresh.all("users/a/data").await, ["x"]);
    let turns = fresh.store.turns(&collection("users/a/data"), Range::Last(9)).await.unwrap();
    assert_eq!(turns.iter().map(|turn| turn.seq).collect::<Vec<_>>(), [2]);
}

pub async fn a_batch_merges_into_many_documents(kind: Kind) {
    let fresh = kind.fresh().await;
    let merge = PutTerms { merge: true, ..PutTerms::default() };
    let at = |n: usize| format!("users/a/data/{n}");
    let all = |value: &'static str, terms: PutTerms| (0..150).map(|n| put(&at(n), value, terms)).collect::<Vec<_>>();
    fresh.store.write(all("{\"a\":1}", merge)).await.unwrap();
    // What comes behind them in the same write finds them merged.
    let mut ops = all("{\"b\":2}", merge);
    ops.push(put(&at(7), "{\"c\":3}", PutTerms { if_version: Some(2), ..merge }));
    fresh.store.write(ops).await.unwrap();
    for n in 0..150 {
        let expected = if n == 7 { "{\"a\":1,\"b\":2,\"c\":3}" } else { "{\"a\":1,\"b\":2}" };
        assert_eq!(fresh.value(&at(n)).await.as_deref(), Some(expected), "{n}");
    }
    let mut stale = all("{\"d\":4}", merge);
    stale.push(put(&at(7), "{}", PutTerms { if_version: Some(3), ..merge }));
    assert!(matches!(fresh.store.write(stale).await, Err(Error::Stale { expected: 3, actual: 4 })));
    assert_eq!(fresh.value(&at(0)).await.unwrap(), "{\"a\":1,\"b\":2}", "all or nothing");
}

pub async fn what_can_never_be_right_is_refused(kind: Kind) {
    let fresh = kind.fresh().await;
    let at = collection("users/a/log");
    let mut timeless = document("1", "{}");
    timeless.create_time = f64::NAN;
    let refused = fresh.store.append(&at, vec![timeless], AppendTerms::default()).await;
    assert!(matches!(refused, Err(Error::Invalid(_))));
    let refused = fresh.store.append(&at, vec![document("a\0b", "{}")], AppendTerms::default()).await;
    assert!(matches!(refused, Err(Error::Invalid(_))));
    let alone = vec![Op::Sweep { now: 1.0 }, put("users/a/data/x", "1", PutTerms::default())];
    assert!(matches!(fresh.store.write(alone).await, Err(Error::Invalid(_))));
    assert!(fresh.exported().await.is_empty());
}

fn put(at: &str, value: &'static str, terms: PutTerms) -> Op {
    Op::Put { at: path(at), value: Bytes::from_static(value.as_bytes()), terms }
}
