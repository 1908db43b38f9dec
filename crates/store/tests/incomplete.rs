//! A directory that is still being filled does not open as a whole store.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use novelo_engine::path::DocumentPath;
use novelo_store::{Error, FillKind, Incomplete, LocalOptions, PutTerms, Store};

fn marker(documents: u64) -> Incomplete {
    Incomplete {
        kind: FillKind::Restore,
        source: "backup.jsonl".into(),
        command: "novelo restore backup.jsonl --data d".into(),
        documents,
    }
}

#[tokio::test]
async fn a_marked_directory_opens_only_for_what_resumes_it() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("made/by/the/marker");
    marker(0).write(&dir).unwrap();
    let resumes = LocalOptions { opens_incomplete: true, ..LocalOptions::default() };
    let at = DocumentPath::new(&["notes", "a"]).unwrap();
    let store = Store::open_local(&dir, resumes).await.unwrap();
    store.put(&at, "1".into(), PutTerms::default()).await.unwrap();
    marker(1).write(&dir).unwrap();
    store.close().await.unwrap();

    assert_eq!(Incomplete::read(&dir).unwrap(), Some(marker(1)));
    let refused = Store::open_local(&dir, LocalOptions::default()).await.unwrap_err();
    assert!(matches!(&refused, Error::Incomplete { marker: found, .. } if *found == marker(1)));
    let text = refused.to_string();
    assert!(text.contains("a restore from backup.jsonl broke off after 1 documents"), "{text}");
    assert!(text.contains("hint: to resume it, run `novelo restore backup.jsonl --data d`; to give it up"), "{text}");

    Incomplete::clear(&dir).unwrap();
    Incomplete::clear(&dir).unwrap();
    assert_eq!(Incomplete::read(&dir).unwrap(), None);
    let store = Store::open_local(&dir, LocalOptions::default()).await.unwrap();
    assert_eq!(store.get(&at).await.unwrap().unwrap().value, "1");
}

#[tokio::test]
async fn a_marker_that_cannot_be_read_keeps_the_directory_closed() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("incomplete"), "{\"kind\":\"rest").unwrap();
    let refused = Store::open_local(dir.path(), LocalOptions::default()).await.unwrap_err();
    assert!(matches!(&refused, Error::Damaged { place, .. } if place.ends_with("incomplete")), "{refused}");
}
