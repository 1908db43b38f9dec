//! The process that writes: this test again, with the shim loaded.

use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use novelo_store::{Error, LocalOptions, Store};

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
