//! Damaged, missing and foreign files: a clear error or no harm, never a panic, never a silent loss.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a panic is how a test fails")]

use std::path::{Path, PathBuf};

use bytes::Bytes;
use novelo_engine::path::{CollectionPath, DocumentPath, Prefix};
use novelo_store::{AppendTerms, Error, Exported, LocalOptions, NewDocument, NewId, PutTerms, Range, Store};

fn log(user: u64) -> CollectionPath {
    CollectionPath::new(&["users", &user.to_string(), "log"]).unwrap()
}

async fn open(dir: &Path) -> Result<Store, Error> {
    Store::open_local(dir, LocalOptions::default()).await
}

async fn append(store: &Store, user: u64, id: u64) {
    let value = Bytes::from(format!("{{\"role\":\"user\",\"content\":\"{id} {}\"}}", "word ".repeat(20)));
    let document =
        NewDocument { id: NewId::Given(id.to_string().into()), create_time: id as f64, value, expires_at: None };
    store.append(&log(user), vec![document], AppendTerms::default()).await.unwrap();
}

/// A store with flushed tables, and writes that are in the journal only.
async fn filled(dir: &Path) {
    let store = open(dir).await.unwrap();
    for id in 0..40 {
        append(&store, id % 4, id).await;
    }
    store.close().await.unwrap();
    let store = open(dir).await.unwrap();
    for id in 40..80 {
        append(&store, id % 4, id).await;
    }
    let doomed = DocumentPath::new(&["users", "0", "log", "8"]).unwrap();
    store.delete(&doomed, None).await.unwrap();
    store.put(&DocumentPath::new(&["users", "0"]).unwrap(), "{}".into(), PutTerms::default()).await.unwrap();
}

async fn everything(dir: &Path) -> Result<Vec<Exported>, Error> {
    let store = open(dir).await?;
    let exported = store.export(&Prefix::all()).await?.all().await?;
    for document in &exported {
        let found = store.get(&document.path).await?;
        assert!(found.is_some_and(|found| found.value == document.value));
    }
    for user in 0..4 {
        store.turns(&log(user), Range::Last(100)).await?;
    }
    let findings = store.check().await?;
    match findings.into_iter().next() {
        Some(finding) => Err(Error::Damaged { place: finding.place, what: finding.what }),
        None => Ok(exported),
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

fn copy(from: &Path, to: &Path) {
    for file in files(from) {
        let target = to.join(file.strip_prefix(from).unwrap());
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        let mut bytes = std::fs::read(&file).unwrap();
        let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        if file.extension().is_some_and(|extension| extension == "jnl") {
            bytes.truncate(used);
        }
        std::fs::write(target, bytes).unwrap();
    }
}

/// Damages a copy and says whether nothing was lost silently.
async fn check(original: &Path, expected: &[Exported], what: &str, damage: impl FnOnce(&Path)) {
    let dir = tempfile::tempdir().unwrap();
    copy(original, dir.path());
    damage(dir.path());
    let dir_path = dir.path().to_path_buf();
    let outcome = tokio::spawn(async move { everything(&dir_path).await }).await;
    match outcome.unwrap_or_else(|_| panic!("{what}: panicked")) {
        Ok(found) => assert_eq!(found, expected, "{what}: silent loss"),
        Err(Error::Damaged { .. } | Error::Io { .. } | Error::Invalid(_)) => {}
        Err(other) => panic!("{what}: {other}"),
    }
}

/// The same places every time.
struct Places(u64);

impl Places {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn flips_cuts_and_missing_files_lose_nothing_silently() {
    let dir = tempfile::tempdir().unwrap();
    filled(dir.path()).await;
    let expected = everything(dir.path()).await.unwrap();
    assert_eq!(expected.len(), 80);
    let rounds: usize = std::env::var("NOVELO_DAMAGE_ROUNDS").map_or(4, |rounds| rounds.parse().unwrap());
    let mut places = Places(7);
    for file in files(dir.path()) {
        let name = file.strip_prefix(dir.path()).unwrap().to_path_buf();
        let len = std::fs::metadata(&file).unwrap().len() as usize;
        check(dir.path(), &expected, &format!("{} removed", name.display()), |copy| {
            std::fs::remove_file(copy.join(&name)).unwrap();
        })
        .await;
        for _ in 0..rounds {
            let (at, bit) = (places.below(len.min(20_000)), places.below(8));
            check(dir.path(), &expected, &format!("{} flipped at {at}.{bit}", name.display()), |copy| {
                let mut bytes = std::fs::read(copy.join(&name)).unwrap();
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << bit;
                }
                std::fs::write(copy.join(&name), bytes).unwrap();
            })
            .await;
            check(dir.path(), &expected, &format!("{} cut at {at}", name.display()), |copy| {
                let bytes = std::fs::read(copy.join(&name)).unwrap();
                std::fs::write(copy.join(&name), &bytes[..at.min(bytes.len())]).unwrap();
            })
            .await;
        }
    }
}

#[tokio::test]
async fn damage_before_a_whole_write_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    filled(dir.path()).await;
    let journal = files(dir.path()).into_iter().find(|file| file.extension().is_some_and(|e| e == "jnl")).unwrap();
    let mut bytes = std::fs::read(&journal).unwrap();
    let at = bytes.windows(4).position(|window| window == b"word").unwrap();
    bytes[at] ^= 1;
    std::fs::write(&journal, &bytes).unwrap();
    let refused = open(dir.path()).await;
    assert!(matches!(&refused, Err(Error::Damaged { place, .. }) if place.ends_with(".jnl")), "{refused:?}");
    assert_eq!(std::fs::read(&journal).unwrap(), bytes, "nothing was touched");
}

#[tokio::test]
async fn an_unacknowledged_end_is_cut_off_and_an_acknowledged_one_is_not() {
    let dir = tempfile::tempdir().unwrap();
    filled(dir.path()).await;
    let whole = tempfile::tempdir().unwrap();
    copy(dir.path(), whole.path());
    let journal = files(whole.path()).into_iter().find(|file| file.extension().is_some_and(|e| e == "jnl")).unwrap();
    let mut bytes = std::fs::read(&journal).unwrap();
    let used = bytes.len();
    bytes.extend_from_slice(&[1, 9, 0, 0, 0, 77]);
    std::fs::write(&journal, &bytes).unwrap();
    assert_eq!(everything(whole.path()).await.unwrap().len(), 80);

    std::fs::write(&journal, &bytes[..used - 1]).unwrap();
    assert!(matches!(open(whole.path()).await, Err(Error::Damaged { .. })));
    assert_eq!(std::fs::metadata(&journal).unwrap().len(), used as u64 - 1, "nothing was touched");
}

#[tokio::test]
async fn a_second_process_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let _first = open(dir.path()).await.unwrap();
    assert!(matches!(open(dir.path()).await, Err(Error::Locked { .. })));
}

#[tokio::test]
async fn a_file_in_place_of_the_directory_is_an_error_with_its_path() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("data");
    std::fs::write(&file, "x").unwrap();
    assert!(matches!(open(&file).await, Err(Error::Io { place, .. }) if place.ends_with("data")));
}

#[tokio::test]
async fn a_newer_format_is_a_clear_error() {
    let dir = tempfile::tempdir().unwrap();
    open(dir.path()).await.unwrap().close().await.unwrap();
    std::fs::write(dir.path().join("novelo"), "novelo store format 2\n").unwrap();
    assert!(matches!(open(dir.path()).await, Err(Error::Invalid(text)) if text.contains("format 2")));
}

#[tokio::test]
async fn a_full_disk_refuses_writes_and_reads_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await.unwrap();
    append(&store, 1, 1).await;
    drop(store);
    let full = LocalOptions { free_bytes_min: u64::MAX, ..LocalOptions::default() };
    let store = Store::open_local(dir.path(), full).await.unwrap();
    let put = store.put(&DocumentPath::new(&["a", "b"]).unwrap(), "1".into(), PutTerms::default()).await;
    assert!(matches!(put, Err(Error::DiskFull { .. })));
    assert_eq!(store.turns(&log(1), Range::Last(5)).await.unwrap().len(), 1);
    let health = store.health();
    assert!(!health.writable && health.why.unwrap().starts_with("the disk is full"));
    drop(store);
    append(&open(dir.path()).await.unwrap(), 1, 2).await;
}
