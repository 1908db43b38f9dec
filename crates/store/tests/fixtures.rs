//! L10: what a released version stored still opens and reads the same.
//!
//! `tests/fixtures/v1.store` is a database of the first format in one file: for each file its path and its
//! bytes, lengths as 4 bytes, big-endian, with the zeros at a journal's end left out. `cargo test -p
//! novelo-store --test fixtures -- --ignored` writes it again; a released one is never changed.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a panic is how a test fails")]

use std::path::{Path, PathBuf};

use bytes::Bytes;
use novelo_engine::path::{CollectionPath, DocumentPath, Prefix};
use novelo_store::{AppendTerms, Exported, LocalOptions, NewDocument, NewId, PutTerms, Range, Store};

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/v1.store");

fn collection(path: &str) -> CollectionPath {
    CollectionPath::new(&path.split('/').collect::<Vec<_>>()).unwrap()
}

fn document(path: &str) -> DocumentPath {
    DocumentPath::new(&path.split('/').collect::<Vec<_>>()).unwrap()
}

async fn fill(store: &Store) {
    let turn = |n: u32| NewDocument {
        id: NewId::Given(format!("turn-{n}").into()),
        create_time: f64::from(n) + 0.5,
        value: Bytes::from(format!("{{\"role\":\"user\",\"content\":\"número {n}\", \"n\":{n}.0}}")),
        expires_at: n.is_multiple_of(5).then_some(2e9),
    };
    let log = collection("users/ana/convo.sessions/s1/messages");
    store.append(&log, (1..=40).map(turn).collect(), AppendTerms::default()).await.unwrap();
    store.fork(&log, 20, &collection("users/ana/convo.sessions/s2/messages")).await.unwrap();
    store.delete(&document("users/ana/convo.sessions/s1/messages/turn-30"), None).await.unwrap();
    for value in ["{\"name\":\"Ana\"}", "{\"langs\":[\"pt\"]}"] {
        let terms = PutTerms { merge: true, now: 7.25, ..PutTerms::default() };
        store.put(&document("users/ana"), Bytes::from_static(value.as_bytes()), terms).await.unwrap();
    }
}

/// What the fixture must read as, whatever the version: the same steps on the model.
async fn expected() -> Vec<Exported> {
    let model = Store::memory();
    fill(&model).await;
    model.export(&Prefix::all()).await.unwrap().all().await.unwrap()
}

#[tokio::test]
async fn the_first_format_opens() {
    let dir = tempfile::tempdir().unwrap();
    unpack(&std::fs::read(FIXTURE).unwrap(), dir.path());
    let store = Store::open_local(dir.path(), LocalOptions::default()).await.unwrap();
    let exported = store.export(&Prefix::all()).await.unwrap().all().await.unwrap();
    assert_eq!(exported, expected().await);
    assert_eq!(store.check().await.unwrap(), []);
    let fork = collection("users/ana/convo.sessions/s2/messages");
    assert_eq!(store.turns(&fork, Range::Last(99)).await.unwrap().len(), 20);
    assert_eq!(store.sweep(2e9).await.unwrap(), 7 + 4);
}

#[tokio::test]
#[ignore = "writes the fixture"]
async fn write_the_fixture() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open_local(dir.path(), LocalOptions::default()).await.unwrap();
    fill(&store).await;
    store.close().await.unwrap();
    std::fs::create_dir_all(Path::new(FIXTURE).parent().unwrap()).unwrap();
    std::fs::write(FIXTURE, pack(dir.path())).unwrap();
}

fn pack(dir: &Path) -> Vec<u8> {
    let mut out = Vec::new();
    for file in files(dir) {
        let name = file.strip_prefix(dir).unwrap().to_str().unwrap().as_bytes().to_vec();
        let mut bytes = std::fs::read(&file).unwrap();
        if file.extension().is_some_and(|extension| extension == "jnl") {
            bytes.truncate(bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1));
        }
        for part in [name, bytes] {
            out.extend_from_slice(&(part.len() as u32).to_be_bytes());
            out.extend_from_slice(&part);
        }
    }
    out
}

fn unpack(mut packed: &[u8], dir: &Path) {
    let mut next = || {
        let (len, rest) = packed.split_first_chunk::<4>()?;
        let (part, rest) = rest.split_at(u32::from_be_bytes(*len) as usize);
        packed = rest;
        Some(part)
    };
    while let Some(name) = next() {
        let path = dir.join(std::str::from_utf8(name).unwrap());
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, next().unwrap()).unwrap();
    }
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.push(path),
        }
    }
    found.sort();
    found
}
