//! Durable appends per second at 1, 8 and 64 writers, beside a raw file that is appended and flushed in groups.
//!
//! `cargo run --release -p novelo-store --example appends [DIR]`

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use bytes::Bytes;
use novelo_engine::path::CollectionPath;
use novelo_store::{AppendTerms, LocalOptions, NewDocument, NewId, Range, Store};
use tokio::sync::{mpsc, oneshot};

const RUN: Duration = Duration::from_secs(2);
const VALUE_BYTES: usize = 500;

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let base = std::env::args().nth(1).unwrap_or_else(|| ".".into());
    let dir = tempfile::tempdir_in(base)?;
    let store = Store::open_local(&dir.path().join("store"), LocalOptions::default()).await?;
    println!("writers  raw/s    store/s  ratio  last-20/s");
    for writers in [1, 8, 64] {
        let raw = raw(&dir.path().join(format!("raw-{writers}")), writers).await?;
        let ours = appends(&store, writers).await?;
        let reads = reads(&store, writers).await?;
        println!("{writers:7}  {raw:7.0}  {ours:7.0}  {:5.2}  {reads:9.0}", ours / raw);
    }
    store.close().await?;
    Ok(())
}

fn thread(writers: usize, writer: usize) -> Result<CollectionPath, Failure> {
    Ok(CollectionPath::new(&["users", &format!("{writers}-{writer}"), "sessions", "s", "messages"])?)
}

fn message() -> Bytes {
    format!("{{\"role\":\"user\",\"content\":\"{}\"}}", "x".repeat(VALUE_BYTES)).into()
}

async fn appends(store: &Store, writers: usize) -> Result<f64, Failure> {
    let begin = Instant::now();
    let tasks: Vec<_> = (0..writers)
        .map(|writer| {
            let store = store.clone();
            tokio::spawn(async move {
                let to = thread(writers, writer)?;
                let mut count = 0u64;
                while begin.elapsed() < RUN {
                    let id = NewId::Fresh(format!("{count:032}").into());
                    let document = NewDocument { id, create_time: 1.0, value: message(), expires_at: None };
                    store.append(&to, vec![document], AppendTerms::default()).await?;
                    count += 1;
                }
                Ok::<_, Failure>(count)
            })
        })
        .collect();
    rate(tasks, begin).await
}

async fn reads(store: &Store, writers: usize) -> Result<f64, Failure> {
    let begin = Instant::now();
    let mut count = 0u64;
    while begin.elapsed() < RUN / 4 {
        for writer in 0..writers {
            store.turns(&thread(writers, writer)?, Range::Last(20)).await?;
            count += 1;
        }
    }
    Ok(count as f64 / begin.elapsed().as_secs_f64())
}

async fn raw(path: &Path, writers: usize) -> Result<f64, Failure> {
    let mut file = File::create(path)?;
    let (sender, mut queue) = mpsc::channel::<(Bytes, oneshot::Sender<()>)>(1_024);
    let committer = std::thread::spawn(move || -> std::io::Result<()> {
        while let Some(first) = queue.blocking_recv() {
            let mut group = vec![first];
            group.extend(std::iter::from_fn(|| queue.try_recv().ok()));
            let bytes: Vec<u8> = group.iter().flat_map(|(bytes, _)| bytes.iter().copied()).collect();
            file.write_all(&bytes)?;
            file.sync_data()?;
            for (_, done) in group {
                done.send(()).map_err(|()| std::io::Error::other("a writer stopped waiting"))?;
            }
        }
        Ok(())
    });
    let begin = Instant::now();
    let tasks: Vec<_> = (0..writers)
        .map(|_| {
            let sender = sender.clone();
            tokio::spawn(async move {
                let mut count = 0u64;
                while begin.elapsed() < RUN {
                    let (done, wait) = oneshot::channel();
                    sender.send((message(), done)).await?;
                    wait.await?;
                    count += 1;
                }
                Ok::<_, Failure>(count)
            })
        })
        .collect();
    drop(sender);
    let rate = rate(tasks, begin).await?;
    committer.join().map_err(|_| "the raw writer panicked")??;
    Ok(rate)
}

async fn rate(tasks: Vec<tokio::task::JoinHandle<Result<u64, Failure>>>, begin: Instant) -> Result<f64, Failure> {
    let mut count = 0;
    for task in tasks {
        count += task.await??;
    }
    Ok(count as f64 / begin.elapsed().as_secs_f64())
}
