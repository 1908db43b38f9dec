//! A directory that is only read: everything can be read, and nothing in it changes.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a panic is how a test fails")]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use novelo_engine::path::{DocumentPath, Prefix};
use novelo_store::{Error, LocalOptions, PutTerms, Store};

fn at(n: u32) -> DocumentPath {
    DocumentPath::new(&["notes", &n.to_string()]).unwrap()
}

async fn put(store: &Store, n: u32) -> Result<(), Error> {
    store.put(&at(n), format!("{n}").into(), PutTerms::default()).await.map(drop)
}

/// Every file with its length and the time of its last change.
fn files(dir: &Path) -> Vec<(PathBuf, u64, SystemTime)> {
    let mut found = Vec::new();
    for path in std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
        let file = path.metadata().unwrap();
        found.push((path.clone(), file.len(), file.modified().unwrap()));
        if path.is_dir() {
            found.extend(files(&path));
        }
    }
    found.sort();
    found
}

#[tokio::test]
async fn a_store_is_read_without_a_change_to_its_directory() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open_local(dir.path(), LocalOptions::default()).await.unwrap();
    for n in 0..20 {
        put(&store, n).await.unwrap();
    }
    store.close().await.unwrap();
    let store = Store::open_local(dir.path(), LocalOptions::default()).await.unwrap();
    for n in 20..30 {
        put(&store, n).await.unwrap();
    }
    let in_use = Store::open_read_only(dir.path(), LocalOptions::default()).await;
    assert!(matches!(in_use, Err(Error::Locked { .. })));
    drop(store);

    let before = files(dir.path());
    let store = Store::open_read_only(dir.path(), LocalOptions::default()).await.unwrap();
    assert!(matches!(Store::open_local(dir.path(), LocalOptions::default()).await, Err(Error::Locked { .. })));
    assert_eq!(store.export(&Prefix::all()).await.unwrap().all().await.unwrap().len(), 30);
    assert_eq!(store.check().await.unwrap(), []);
    assert_eq!(store.get(&at(25)).await.unwrap().unwrap().value, "25");
    let refused = put(&store, 30).await.unwrap_err();
    assert!(refused.to_string().contains("opened for reading only"), "{refused}");
    let health = store.health();
    assert!(!health.writable && health.why.is_none());
    store.close().await.unwrap();
    assert_eq!(files(dir.path()), before);
    let store = Store::open_local(dir.path(), LocalOptions::default()).await.unwrap();
    put(&store, 30).await.unwrap();
}

#[tokio::test]
async fn a_directory_without_a_store_is_no_store_to_read() {
    let dir = tempfile::tempdir().unwrap();
    let missing = Store::open_read_only(dir.path(), LocalOptions::default()).await;
    assert!(matches!(missing, Err(Error::Damaged { place, .. }) if place.ends_with("lock")));
    assert!(files(dir.path()).is_empty());
}

#[tokio::test]
async fn an_open_directory_is_closed_to_other_users() {
    let dir = tempfile::tempdir().unwrap();
    let mode = |dir: &Path| dir.metadata().unwrap().permissions().mode() & 0o777;
    let made = dir.path().join("made");
    drop(Store::open_local(&made, LocalOptions::default()).await.unwrap());
    assert_eq!(mode(&made), 0o700);
    std::fs::set_permissions(&made, std::fs::Permissions::from_mode(0o755)).unwrap();
    drop(Store::open_local(&made, LocalOptions::default()).await.unwrap());
    assert_eq!(mode(&made), 0o700);
}
