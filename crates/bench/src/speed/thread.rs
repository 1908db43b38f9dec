//! W1, W3 and appends: the cost of turns on the embedded store.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use novelo_engine::path::CollectionPath;
use novelo_engine::scope;
use novelo_store::{AppendTerms, LocalOptions, NewDocument, NewId, Range, Store};

use super::raw::{RawLog, message};
use super::{BenchRow, RatioTarget, medians};

pub(crate) const ROUNDS: usize = 5;
pub(crate) const WRITERS: usize = 64;
pub(crate) const LAST: usize = 20;

/// W1: append a user turn, load the last 20, append the answer; 64 conversations at once.
pub(crate) async fn cycle(time: Duration) -> anyhow::Result<Vec<BenchRow>> {
    let dir = tempfile::tempdir()?;
    let mut pairs = Vec::new();
    for round in 0..ROUNDS {
        let store = open(&dir.path().join(format!("store{round}"))).await?;
        let ours = rate(WRITERS, time, {
            let store = store.clone();
            move |writer, n| cycle_ours(store.clone(), writer, n)
        });
        let ours = ours.await;
        store.close().await?;
        let log = RawLog::create(&dir.path().join(format!("raw{round}")), WRITERS)?;
        let raw = rate(WRITERS, time, move |writer, n| cycle_raw(log.clone(), writer, n)).await;
        pairs.push((ours, raw));
    }
    let (ours, raw, ratio) = medians(&pairs);
    let what = format!("append, load last {LAST}, append; {WRITERS} conversations / group-committed file appends");
    Ok(vec![BenchRow { name: "W1", what, ours, raw, unit: "cycles/s", ratio, target: Some(RatioTarget::AtLeast(0.5)) }])
}

/// Append throughput at 1, 8 and 64 writers.
pub(crate) async fn appends(time: Duration) -> anyhow::Result<Vec<BenchRow>> {
    let dir = tempfile::tempdir()?;
    let mut rows = Vec::new();
    for writers in [1, 8, 64] {
        let mut pairs = Vec::new();
        for round in 0..ROUNDS {
            let store = open(&dir.path().join(format!("store{writers}-{round}"))).await?;
            let appended = store.clone();
            let ours = rate(writers, time, move |writer, n| append_ours(appended.clone(), writer, n)).await;
            store.close().await?;
            let log = RawLog::create(&dir.path().join(format!("raw{writers}-{round}")), writers)?;
            let raw = rate(writers, time, move |writer, n| append_raw(log.clone(), writer, n)).await;
            pairs.push((ours, raw));
        }
        let (ours, raw, ratio) = medians(&pairs);
        let what = format!("durable appends, {writers} writers / group-committed file appends");
        rows.push(BenchRow { name: "appends", what, ours, raw, unit: "turns/s", ratio, target: None });
    }
    Ok(rows)
}

/// W3: a turn late in a long thread against one early in a short thread.
pub(crate) async fn long_against_short() -> anyhow::Result<Vec<BenchRow>> {
    const CYCLES: usize = 300;
    let dir = tempfile::tempdir()?;
    let store = open(&dir.path().join("store")).await?;
    let long = scope::turns("bench", "long")?;
    for chunk in 0..20 {
        let documents = (0..500).map(|n| document(message("user", chunk * 500 + n))).collect();
        store.append(&long, documents, AppendTerms::default()).await?;
    }
    store.turns(&long, Range::Last(LAST)).await?;
    let mut pairs = Vec::new();
    for n in 0..CYCLES {
        let short = scope::turns("bench", &format!("short{n}"))?;
        let documents = (0..10).map(|n| document(message("user", n))).collect();
        store.append(&short, documents, AppendTerms::default()).await?;
        store.turns(&short, Range::Last(LAST)).await?;
        let (late, early) = (cycle_us(&store, &long, n).await?, cycle_us(&store, &short, n).await?);
        pairs.push((late, early));
    }
    store.close().await?;
    let (ours, raw, ratio) = medians(&pairs);
    let what = "a cycle at turn 10,000 / at turn 10".to_owned();
    Ok(vec![BenchRow { name: "W3", what, ours, raw, unit: "µs", ratio, target: Some(RatioTarget::AtMost(1.2)) }])
}

pub(crate) async fn open(dir: &Path) -> anyhow::Result<Store> {
    Ok(Store::open_local(dir, LocalOptions::default()).await?)
}

pub(crate) fn document(value: Bytes) -> NewDocument {
    let id = NewId::Fresh(novelo_conversation::ids::fresh_text().into());
    NewDocument { id, create_time: novelo_conversation::telemetry::now(), value, expires_at: None }
}

/// Microseconds of one cycle.
pub(crate) async fn cycle_us(store: &Store, thread: &CollectionPath, n: usize) -> anyhow::Result<f64> {
    let started = Instant::now();
    store.append(thread, vec![document(message("user", n))], AppendTerms::default()).await?;
    std::hint::black_box(store.turns(thread, Range::Last(LAST)).await?);
    store.append(thread, vec![document(message("assistant", n))], AppendTerms::default()).await?;
    Ok(started.elapsed().as_secs_f64() * 1e6)
}

async fn cycle_ours(store: Store, writer: usize, n: usize) -> anyhow::Result<()> {
    let thread = scope::turns("bench", &format!("thread{writer}"))?;
    cycle_us(&store, &thread, n).await.map(drop)
}

async fn cycle_raw(log: RawLog, writer: usize, n: usize) -> anyhow::Result<()> {
    log.append(writer, message("user", n)).await?;
    std::hint::black_box(log.last(writer, LAST));
    log.append(writer, message("assistant", n)).await
}

async fn append_ours(store: Store, writer: usize, n: usize) -> anyhow::Result<()> {
    let thread = scope::turns("bench", &format!("thread{writer}"))?;
    store.append(&thread, vec![document(message("user", n))], AppendTerms::default()).await?;
    Ok(())
}

async fn append_raw(log: RawLog, writer: usize, n: usize) -> anyhow::Result<()> {
    log.append(writer, message("user", n)).await
}

/// Calls per second of all writers together. A writer that fails stops, which lowers the rate.
pub(crate) async fn rate<W>(
    writers: usize,
    time: Duration,
    work: impl Fn(usize, usize) -> W + Clone + Send + Sync + 'static,
) -> f64
where
    W: Future<Output = anyhow::Result<()>> + Send,
{
    let done = Arc::new(AtomicU64::new(0));
    let started = Instant::now();
    let tasks: Vec<_> = (0..writers)
        .map(|writer| {
            let (done, work) = (done.clone(), work.clone());
            tokio::spawn(async move {
                let mut n = 0;
                while started.elapsed() < time && work(writer, n).await.is_ok() {
                    n += 1;
                    done.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    for task in tasks {
        if let Err(error) = task.await {
            tracing::error!(%error, "a writer ended early");
        }
    }
    done.load(Ordering::Relaxed) as f64 / started.elapsed().as_secs_f64()
}
