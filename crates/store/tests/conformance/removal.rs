//! L7 and L8: a path reaches its own documents only, and what is forgotten is gone.

use std::path::Path;

use bytes::Bytes;
use novelo_engine::path::{CollectionPath, DocumentPath, Prefix};
use novelo_store::{AppendTerms, Forgotten, NewDocument, NewId, PutTerms, Range};

use crate::fresh::{Home, Kind, collection, path};

const MARKER: &str = "xyzzy-plugh-4711";

pub async fn hostile_ids_reach_nothing_of_others(kind: Kind) {
    let fresh = kind.fresh().await;
    let long = "l".repeat(256);
    let ids = ["..", "/", "a/b", "%2f", "a", "ab", "a b", "😀", "users", "\u{7fff}", &long];
    for (n, user) in ids.iter().enumerate() {
        let at = DocumentPath::new(&["users", user, "log", "1"]).unwrap();
        fresh.store.put(&at, Bytes::from(n.to_string()), PutTerms::default()).await.unwrap();
    }
    for (n, user) in ids.iter().enumerate() {
        let log = CollectionPath::new(&["users", user, "log"]).unwrap();
        let turns = fresh.store.turns(&log, Range::Last(9)).await.unwrap();
        let values: Vec<_> = turns.iter().map(|turn| turn.message.raw().to_vec()).collect();
        assert_eq!(values, [n.to_string().into_bytes()], "{user}");
        let own = DocumentPath::new(&["users", user]).unwrap().prefix();
        assert_eq!(fresh.below(&own).await.len(), 1, "{user}");
    }
    for (n, user) in ["a", ".."].iter().enumerate() {
        let forgotten = fresh.store.forget(&DocumentPath::new(&["users", user]).unwrap().prefix()).await.unwrap();
        assert_eq!(forgotten.documents(), 1, "{user}");
        assert_eq!(fresh.exported().await.len(), ids.len() - n - 1, "{user}");
    }
}

fn counts(documents: &[(&str, u64)]) -> Forgotten {
    let documents_by_collection = documents.iter().map(|(name, count)| ((*name).into(), *count)).collect();
    Forgotten { documents_by_collection }
}

pub async fn forget_removes_a_user_and_nothing_else(kind: Kind) {
    let fresh = kind.fresh().await;
    for user in ["a", "ab"] {
        fresh.append(&format!("users/{user}/sessions/s/messages"), &["1", "2"]).await;
        fresh.append(&format!("users/{user}/traces"), &["t"]).await;
        fresh.put(&format!("users/{user}"), "{}").await;
    }
    let forgotten = fresh.store.forget(&path("users/a").prefix()).await.unwrap();
    assert_eq!(forgotten, counts(&[("messages", 2), ("traces", 1), ("users", 1)]));
    let fresh = fresh.reopened().await;
    assert_eq!(fresh.value("users/a").await, None);
    assert!(fresh.ids("users/a/sessions/s/messages").await.is_empty());
    assert_eq!(fresh.ids("users/ab/sessions/s/messages").await, ["1", "2"]);
    assert_eq!(fresh.value("users/ab").await.unwrap(), "{}");
    assert_eq!(fresh.append("users/a/sessions/s/messages", &["1"]).await[0].seq, 1, "it starts anew");
    assert_eq!(fresh.store.forget(&path("users/nobody").prefix()).await.unwrap(), Forgotten::default());
    let rest = fresh.store.forget(&Prefix::all()).await.unwrap();
    assert_eq!(rest, counts(&[("messages", 3), ("traces", 1), ("users", 1)]));
    assert!(fresh.exported().await.is_empty());
}

pub async fn forget_removes_a_collection_and_nothing_beside_it(kind: Kind) {
    let fresh = kind.fresh().await;
    fresh.append("users/a/memories", &["1", "2"]).await;
    fresh.append("users/a/memories/1/notes", &["n"]).await;
    fresh.append("users/a/memories2", &["1"]).await;
    fresh.put("users/a/memo/memories", "{}").await;
    fresh.put("users/a", "{}").await;
    let below = collection("users/a/memories").prefix();
    assert_eq!(fresh.below(&below).await.len(), 3);
    let forgotten = fresh.store.forget(&below).await.unwrap();
    assert_eq!(forgotten, counts(&[("memories", 2), ("notes", 1)]));
    assert_eq!(fresh.below(&below).await.len(), 0);
    let fresh = fresh.reopened().await;
    assert!(fresh.ids("users/a/memories").await.is_empty() && fresh.ids("users/a/memories/1/notes").await.is_empty());
    assert_eq!(fresh.exported().await.len(), 3, "what only looks like it stays");
    assert_eq!(fresh.append("users/a/memories", &["1"]).await[0].seq, 1, "it starts anew");
    assert_eq!(fresh.store.forget(&collection("users/a/none").prefix()).await.unwrap(), Forgotten::default());
}

pub async fn documents_are_counted_by_the_name_of_their_collection(kind: Kind) {
    let fresh = kind.fresh().await;
    fresh.put("users/a/documents/d", "{}").await;
    fresh.append("users/a/documents/d/passages", &["1", "2", "3"]).await;
    fresh.append("users/a/documents/d/vectors", &["1", "2"]).await;
    fresh.append("users/a/documents/e/vectors", &["1"]).await;
    let forgotten = fresh.store.forget(&path("users/a/documents/d").prefix()).await.unwrap();
    assert_eq!(forgotten, counts(&[("documents", 1), ("passages", 3), ("vectors", 2)]));
    let counter = fresh.store.change_counter(&["users", "a"]).await.unwrap();
    let vectors_only = fresh.store.forget(&path("users/a/documents/e").prefix()).await.unwrap();
    assert_eq!(vectors_only, counts(&[("vectors", 1)]));
    assert_ne!(fresh.store.change_counter(&["users", "a"]).await.unwrap(), counter, "a forget counts as a change");
    assert!(fresh.exported().await.is_empty());
}

pub async fn the_raw_files_hold_none_of_the_text(kind: Kind) {
    let fresh = kind.fresh().await;
    fresh.append("users/keep/log", &["kept"]).await;
    let secret = format!("users/{MARKER}/sessions/s-{MARKER}/messages");
    for n in 0..50 {
        let document = NewDocument {
            id: NewId::Given(format!("{MARKER}-{n}").into()),
            create_time: 1.0,
            value: Bytes::from(format!("{{\"content\":\"{MARKER}\"}}")),
            expires_at: Some(9e9),
        };
        fresh.store.append(&collection(&secret), vec![document], AppendTerms::default()).await.unwrap();
    }
    fresh.put(&format!("users/{MARKER}"), &format!("\"{MARKER}\"")).await;
    let files = |home: &Home| home.dirs().into_iter().map(|dir| files_with(dir, MARKER)).sum::<usize>();
    assert!(files(&fresh.home) > 0 || kind == Kind::Memory, "the marker can be found at all");
    let forgotten = fresh.store.forget(&path(&format!("users/{MARKER}")).prefix()).await.unwrap();
    assert_eq!(forgotten.documents(), 51);
    assert!(!fresh.store.health().erasing, "it was cleaned up in time");
    assert_eq!(files(&fresh.home), 0);
    let fresh = fresh.reopened().await;
    assert_eq!(files(&fresh.home), 0, "also after opening again");
    assert_eq!(fresh.ids("users/keep/log").await, ["kept"]);
    assert_eq!(fresh.append("users/keep/log", &["more"]).await[0].seq, 2);
}

pub async fn a_sweep_removes_what_expired(kind: Kind) {
    let fresh = kind.fresh().await;
    let at = |id: &str, expires_at| NewDocument {
        id: NewId::Given(id.into()),
        create_time: 1.0,
        value: Bytes::from_static(b"{}"),
        expires_at,
    };
    let documents = vec![at("1", Some(10.0)), at("2", None), at("3", Some(20.0)), at("4", Some(-5.0))];
    fresh.store.append(&collection("users/a/log"), documents, AppendTerms::default()).await.unwrap();
    fresh.store.fork(&collection("users/a/log"), 3, &collection("users/b/log")).await.unwrap();
    assert_eq!(fresh.store.sweep(-5.5).await.unwrap(), 0);
    assert_eq!(fresh.store.sweep(10.0).await.unwrap(), 3, "two here, and one of them in the fork as well");
    assert_eq!(fresh.ids("users/a/log").await, ["2", "3"]);
    assert_eq!(fresh.ids("users/b/log").await, ["2", "3"]);
    let fresh = fresh.reopened().await;
    assert_eq!(fresh.store.sweep(1e9).await.unwrap(), 2);
    assert_eq!(fresh.ids("users/a/log").await, ["2"]);
    assert_eq!(fresh.append("users/a/log", &["5"]).await[0].seq, 5);
    assert!(fresh.store.check().await.unwrap().is_empty());
}

/// How many files below a directory hold some text.
fn files_with(dir: &Path, text: &str) -> usize {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let count = |path: std::path::PathBuf| match path.is_dir() {
        true => files_with(&path, text),
        false => usize::from(holds(&std::fs::read(&path).unwrap(), text.as_bytes())),
    };
    entries.map(count).sum()
}

fn holds(bytes: &[u8], text: &[u8]) -> bool {
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|byte| *byte == text[0]) {
        rest = &rest[at..];
        if rest.starts_with(text) {
            return true;
        }
        rest = &rest[1..];
    }
    false
}
