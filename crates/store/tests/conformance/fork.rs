//! Forks: cheap, independent, repeatable.

use bytes::Bytes;
use novelo_store::{AppendTerms, Error, PutTerms, Range};

use crate::fresh::{Fresh, Kind, collection, document, path};

async fn forked(kind: Kind) -> Fresh {
    let fresh = kind.fresh().await;
    fresh.append("users/a/log", &["1", "2", "3", "4", "5"]).await;
    let turns = fresh.store.fork(&collection("users/a/log"), 3, &collection("users/b/log")).await.unwrap();
    assert_eq!(turns, 3);
    fresh
}

pub async fn the_same_fork_again_is_the_first_answer_again(kind: Kind) {
    let fresh = forked(kind).await;
    let fork = async |fresh: &Fresh| fresh.store.fork(&collection("users/a/log"), 3, &collection("users/b/log")).await;
    assert_eq!(fork(&fresh).await.unwrap(), 3);
    assert_eq!(fresh.append("users/b/log", &["x"]).await[0].seq, 4);
    let fresh = fresh.reopened().await;
    assert_eq!(fork(&fresh).await.unwrap(), 3);
    assert_eq!(fresh.ids("users/b/log").await, ["1", "2", "3", "x"]);
    assert_eq!(fresh.ids("users/a/log").await, ["1", "2", "3", "4", "5"]);
    assert_eq!(fresh.all("users/b/log").await, ["1", "2", "3", "x"]);
    assert!(fresh.append("users/b/log", &["2"]).await[0].existed, "a shared id is known in the fork");
    assert!(!fresh.append("users/b/log", &["4"]).await[0].existed, "a later id of the parent is not");
}

pub async fn a_fork_onto_something_else_is_a_conflict(kind: Kind) {
    let fresh = forked(kind).await;
    let (from, to) = (collection("users/a/log"), collection("users/b/log"));
    assert!(matches!(fresh.store.fork(&from, 2, &to).await, Err(Error::Conflict { .. })));
    assert!(matches!(fresh.store.fork(&from, 6, &collection("users/c/log")).await, Err(Error::Invalid(_))));
    assert!(matches!(fresh.store.fork(&from, 0, &collection("users/c/log")).await, Err(Error::Invalid(_))));
    assert!(matches!(fresh.store.fork(&from, 1, &from).await, Err(Error::Invalid(_))));
    let nowhere = fresh.store.fork(&collection("users/z/log"), 1, &collection("users/c/log")).await;
    assert!(matches!(nowhere, Err(Error::NotFound { .. })));
}

pub async fn a_fork_outlives_its_parent(kind: Kind) {
    let fresh = forked(kind).await;
    fresh.append("users/b/log", &["x", "y"]).await;
    fresh.store.fork(&collection("users/b/log"), 4, &collection("users/c/log")).await.unwrap();
    let forgotten = fresh.store.forget(&path("users/a").prefix()).await.unwrap();
    assert_eq!(forgotten.documents(), 5);
    let fresh = fresh.reopened().await;
    assert!(fresh.ids("users/a/log").await.is_empty());
    assert_eq!(fresh.ids("users/b/log").await, ["1", "2", "3", "x", "y"]);
    assert_eq!(fresh.ids("users/c/log").await, ["1", "2", "3", "x"]);
    fresh.store.forget(&path("users/b").prefix()).await.unwrap();
    assert_eq!(fresh.ids("users/c/log").await, ["1", "2", "3", "x"]);
    assert_eq!(fresh.value("users/c/log/x").await.unwrap(), crate::fresh::text("x"));
    assert!(fresh.store.check().await.unwrap().is_empty());
}

pub async fn a_change_of_the_parent_does_not_reach_the_fork(kind: Kind) {
    let fresh = forked(kind).await;
    fresh.store.fork(&collection("users/b/log"), 2, &collection("users/c/log")).await.unwrap();
    fresh.put("users/a/log/1", "{\"new\":1}").await;
    fresh.store.delete(&path("users/a/log/2"), None).await.unwrap();
    let trim = AppendTerms { keep_last: Some(1), ..AppendTerms::default() };
    fresh.store.append(&collection("users/a/log"), vec![document("6", "{}")], trim).await.unwrap();
    assert_eq!(fresh.ids("users/a/log").await, ["6"]);
    assert_eq!(fresh.ids("users/b/log").await, ["1", "2", "3"]);
    assert_eq!(fresh.value("users/b/log/1").await.unwrap(), crate::fresh::text("1"));
    let terms = PutTerms::default();
    fresh.store.put(&path("users/c/log/1"), Bytes::from_static(b"{\"mine\":1}"), terms).await.unwrap();
    assert_eq!(fresh.value("users/c/log/1").await.unwrap(), "{\"mine\":1}");
    assert_eq!(fresh.value("users/b/log/1").await.unwrap(), crate::fresh::text("1"));
    let turns = fresh.store.turns(&collection("users/c/log"), Range::Last(9)).await.unwrap();
    assert_eq!(turns.iter().map(|turn| turn.seq).collect::<Vec<_>>(), [1, 2]);
    assert!(fresh.store.check().await.unwrap().is_empty());
}
