//! A forget and other work at the same time: other writers are not blocked, and an export does not make the
//! store write without end.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a panic is how a test fails")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use novelo_engine::path::{CollectionPath, DocumentPath, Prefix};
use novelo_store::{AppendTerms, LocalOptions, NewDocument, NewId, PutTerms, Range, Store};

/// The whole text of a forget is written at most so often, beside the journal that it fills twice.
const REWRITES_MAX: u64 = 4;
const JOURNAL_BYTES: u64 = 64_000_000;

fn log(user: &str) -> CollectionPath {
    CollectionPath::new(&["users", user, "log"]).unwrap()
}

async fn fill(store: &Store, user: &str, turns: usize, text: &str) {
    let all: Vec<usize> = (0..turns).collect();
    for some in all.chunks(1_000) {
        let documents = some.iter().map(|n| NewDocument {
            id: NewId::Fresh(n.to_string().into()),
            create_time: *n as f64,
            value: Bytes::from(format!("\"{n} {text}\"")),
            expires_at: Some(1e9 + *n as f64),
        });
        store.append(&log(user), documents.collect(), AppendTerms::default()).await.unwrap();
    }
}

async fn until_erased(store: &Store) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while store.health().erasing {
        assert!(Instant::now() < deadline, "it is not erased");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// `NOVELO_FORGET_TURNS=200000` measures more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_forget_lets_other_writers_in_between() {
    let turns: usize = std::env::var("NOVELO_FORGET_TURNS").map_or(20_000, |turns| turns.parse().unwrap());
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open_local(dir.path(), LocalOptions::default()).await.unwrap();
    fill(&store, "a", turns, "text").await;
    let stops = Arc::new(AtomicBool::new(false));
    let writer = tokio::spawn({
        let (store, stops) = (store.clone(), stops.clone());
        async move {
            let mut longest = Duration::ZERO;
            while !stops.load(Ordering::Relaxed) {
                let begun = Instant::now();
                let at = DocumentPath::new(&["users", "b"]).unwrap();
                store.put(&at, format!("{begun:?}").into(), PutTerms::default()).await.unwrap();
                longest = longest.max(begun.elapsed());
            }
            longest
        }
    });
    let begun = Instant::now();
    let forgotten = store.forget(&DocumentPath::new(&["users", "a"]).unwrap().prefix()).await.unwrap();
    assert_eq!(forgotten.documents(), turns as u64);
    assert!(store.turns(&log("a"), Range::Last(9)).await.unwrap().is_empty());
    until_erased(&store).await;
    stops.store(true, Ordering::Relaxed);
    let longest = writer.await.unwrap();
    println!("forgot and erased {turns} turns in {:?}; another writer waited {longest:?} at most", begun.elapsed());
    assert!(longest < Duration::from_millis(600), "another writer waited {longest:?}");
    assert_eq!(store.check().await.unwrap(), []);
    assert_eq!(store.export(&Prefix::all()).await.unwrap().all().await.unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_crash_left_of_a_forget_is_removed_at_the_next_opening() {
    let (dir, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = Store::open_local(dir.path(), LocalOptions::default()).await.unwrap();
    fill(&store, "a", 20_000, "text").await;
    store.fork(&log("a"), 2, &log("b")).await.unwrap();
    let forget = tokio::spawn({
        let store = store.clone();
        async move { store.forget(&DocumentPath::new(&["users", "a"]).unwrap().prefix()).await.unwrap() }
    });
    while store.turns(&log("a"), Range::Last(1)).await.unwrap().len() == 1 {
        tokio::task::yield_now().await;
    }
    copy_journal(dir.path(), copy.path());
    forget.await.unwrap();
    let crashed = Store::open_local(copy.path(), LocalOptions::default()).await.unwrap();
    assert!(crashed.turns(&log("a"), Range::Last(1)).await.unwrap().is_empty());
    assert_eq!(crashed.check().await.unwrap(), [], "documents on their way out are no damage");
    assert_eq!(crashed.sweep(2e9).await.unwrap(), 2, "what is forgotten does not expire as well");
    until_erased(&crashed).await;
    assert_eq!(crashed.check().await.unwrap(), []);
    assert_eq!(crashed.export(&Prefix::all()).await.unwrap().all().await.unwrap().len(), 0);
}

/// All files as they are now, as a kill would leave them.
fn copy_journal(from: &std::path::Path, to: &std::path::Path) {
    for entry in std::fs::read_dir(from).unwrap().map(|entry| entry.unwrap()) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            std::fs::create_dir(&target).unwrap();
            copy_journal(&entry.path(), &target);
            continue;
        }
        let mut bytes = std::fs::read(entry.path()).unwrap_or_default();
        let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        if entry.path().extension().is_some_and(|extension| extension == "jnl") {
            bytes.truncate(used);
        }
        std::fs::write(target, bytes).unwrap();
    }
}

/// Bytes that this process wrote.
fn written_bytes() -> u64 {
    let io = std::fs::read_to_string("/proc/self/io").unwrap();
    io.lines().find_map(|line| line.strip_prefix("wchar: ")).unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_export_beside_a_forget_makes_it_wait_and_not_write() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open_local(dir.path(), LocalOptions::default()).await.unwrap();
    fill(&store, "a", 5_000, &"word ".repeat(200)).await;
    fill(&store, "keep", 5_000, &"word ".repeat(200)).await;
    let mut export = store.export(&Prefix::all()).await.unwrap();
    export.next().await.unwrap().unwrap();
    let before = written_bytes();
    let forget = tokio::spawn({
        let store = store.clone();
        async move { store.forget(&DocumentPath::new(&["users", "a"]).unwrap().prefix()).await.unwrap() }
    });
    while !store.health().erasing {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    // Nothing may be written for as long as the export is held, so there is no event to wait for.
    tokio::time::sleep(Duration::from_secs(3)).await;
    let meanwhile = written_bytes() - before;
    assert!(meanwhile < 20_000_000, "{meanwhile} bytes were written while the export was held");
    let mut exported = 1;
    while let Some(document) = export.next().await {
        document.unwrap();
        exported += 1;
    }
    assert_eq!(exported, 10_000, "it is of one moment");
    drop(export);
    forget.await.unwrap();
    until_erased(&store).await;
    let (written, stored) = (written_bytes() - before, store.health().disk_bytes);
    println!("{meanwhile} bytes written while an export was held, {written} in all; {stored} stored");
    assert!(written < 2 * JOURNAL_BYTES + REWRITES_MAX * stored, "{written} bytes for {stored} stored");
}
