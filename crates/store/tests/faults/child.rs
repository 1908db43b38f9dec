//! The process that writes: this test again, with the shim loaded.

use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use novelo_engine::path::DocumentPath;
use novelo_store::{Error, LocalOptions, PutTerms, Store, Window};

use crate::history::History;

/// How long an operation is repeated after errors that should pass.
const PATIENCE: Duration = Duration::from_secs(15);

/// Does nothing in an ordinary run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn child() {
    let Ok(dir) = std::env::var("NOVELO_FAULT_CHILD") else { return };
    let history = History::of_name(&std::env::var("NOVELO_FAULT_HISTORY").unwrap());
    let progress = std::env::var("NOVELO_FAULT_PROGRESS").unwrap();
    let mut progress = std::fs::OpenOptions::new().create(true).append(true).open(progress).unwrap();
    let mut say = |line: String| progress.write_all(format!("{line}\n").as_bytes()).unwrap();
    let mut store = open(Path::new(&dir), &mut say).await;
    for (n, ops) in history.ops().into_iter().enumerate() {
        if n == history.reopens_before() {
            if let Err(error) = store.close().await {
                say(format!("error {error}"));
            }
            store = open(Path::new(&dir), &mut say).await;
        }
        let deadline = Instant::now() + PATIENCE;
        loop {
            match store.write(ops.clone()).await {
                Ok(_) => break,
                Err(Error::Conflict { .. } | Error::Stale { .. } | Error::NotFound { .. } | Error::Invalid(_)) => break,
                Err(error) => say(format!("error {error}")),
            }
            assert!(Instant::now() < deadline, "operation {n} never succeeded");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        say(format!("acknowledged {}", n + 1));
    }
    say("finished".into());
    // As a kill would: nothing is closed.
    std::process::exit(0);
}

/// What the erasure test forgets.
pub const SECRET: &str = "xyzzy-plugh-4711";

struct Broken(std::path::PathBuf);

impl Broken {
    fn begin() -> Option<(std::path::PathBuf, Self)> {
        let (dir, broken) = (std::env::var("NOVELO_FAULT_CHILD").ok()?, std::env::var("FAULT_WHILE").ok()?);
        Some((dir.into(), Self(broken.into())))
    }

    fn breaks(&self) {
        std::fs::write(&self.0, b"").unwrap();
    }

    fn is_mended(&self) {
        std::fs::remove_file(&self.0).unwrap();
    }

    fn finished(&self) -> ! {
        std::fs::write(std::env::var("NOVELO_FAULT_PROGRESS").unwrap(), "finished\n").unwrap();
        std::process::exit(0);
    }
}

/// A write is refused while the disk fails, a read is not, and neither needs a restart.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn outage() {
    let Some((dir, broken)) = Broken::begin() else { return };
    let at = |id: &str| DocumentPath::new(&["notes", id]).unwrap();
    let store = Store::open_local(&dir, LocalOptions { hot_bytes_max: 0, ..LocalOptions::default() }).await.unwrap();
    store.put(&at("a"), "1".into(), PutTerms::default()).await.unwrap();
    broken.breaks();
    for _ in 0..40 {
        let refused = store.put(&at("b"), "2".into(), PutTerms::default()).await.unwrap_err();
        assert!(matches!(refused, Error::ReadOnly { .. }), "{refused}");
        assert_eq!(store.get(&at("a")).await.unwrap().unwrap().value, "1", "reads go on");
        let health = store.health();
        assert!(!health.writable && health.why.unwrap().ends_with("it tries again by itself"));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    broken.is_mended();
    let deadline = Instant::now() + PATIENCE;
    while !store.health().writable {
        assert!(Instant::now() < deadline, "{:?}", store.health().why);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let stamp = store.put(&at("b"), "2".into(), PutTerms::default()).await.unwrap();
    assert_eq!((stamp.seq, stamp.version), (2, 1));
    let page = store.scan(&at("a").collection(), Window { limit: 9, ..Window::default() }).await.unwrap();
    assert_eq!(page.items.len(), 2);
    broken.finished();
}

/// What cannot be erased yet is erased later.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn erasure() {
    let Some((dir, broken)) = Broken::begin() else { return };
    let store = Store::open_local(&dir, LocalOptions::default()).await.unwrap();
    let at = DocumentPath::new(&["users", SECRET]).unwrap();
    store.put(&at, format!("\"{SECRET}\"").into(), PutTerms::default()).await.unwrap();
    broken.breaks();
    store.forget(&at.prefix()).await.unwrap();
    assert!(store.health().erasing, "the first try failed");
    broken.is_mended();
    let deadline = Instant::now() + PATIENCE;
    while store.health().erasing {
        assert!(Instant::now() < deadline, "it is not erased");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    store.close().await.unwrap();
    broken.finished();
}

/// A store that does not open is opened again, as an operator would.
async fn open(dir: &Path, say: &mut impl FnMut(String)) -> Store {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match Store::open_local(dir, LocalOptions::default()).await {
            Ok(store) => return store,
            Err(error) => say(format!("error open: {error}")),
        }
        assert!(Instant::now() < deadline, "the store never opened");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
