//! Growth: a cycle in a store of a million turns or threads beside one in an almost empty store, what they
//! take on disk and in memory, and how long the forget of a large user holds up others.
//!
//! Nothing is flushed per write, so that the disk does not hide what a cycle itself costs.

use std::path::Path;
use std::time::{Duration, Instant};

use novelo_engine::path::CollectionPath;
use novelo_engine::scope;
use novelo_store::{AppendTerms, LocalOptions, Op, Range, Store};

use super::process::resident_mb;
use super::raw::message;
use super::thread::{LAST, cycle_us, document};
use super::{BenchRow, RatioTarget, medians};

const CYCLES: usize = 1_000;
/// Documents of one write while a store is filled.
const FILLED_AT_ONCE: usize = 400;
/// A forget returns at once, and its documents follow within this time.
const FORGET_TIME: Duration = Duration::from_secs(5);
/// The longest that a forget may hold up others.
const HOLD_UP_MAX_MS: f64 = 20.0;

/// Fills a store with `count` turns in one thread, and one with `count` threads.
pub(crate) async fn measure(count: usize) -> anyhow::Result<Vec<BenchRow>> {
    let mut rows = turns(count).await?;
    rows.extend(threads(count).await?);
    Ok(rows)
}

async fn turns(count: usize) -> anyhow::Result<Vec<BenchRow>> {
    let dir = tempfile::tempdir()?;
    let before_mb = resident_mb(std::process::id())?;
    let (full, empty) = (open(&dir.path().join("full")).await?, open(&dir.path().join("empty")).await?);
    let long = scope::turns("large", "t")?;
    for chunk in 0..count / FILLED_AT_ONCE {
        let documents = (0..FILLED_AT_ONCE).map(|n| document(message("user", chunk * FILLED_AT_ONCE + n))).collect();
        full.append(&long, documents, AppendTerms::default()).await?;
    }
    let mut pairs = Vec::new();
    for n in 0..CYCLES {
        let short = scope::turns("bench", &format!("short{n}"))?;
        empty.append(&short, (0..10).map(|n| document(message("user", n))).collect(), AppendTerms::default()).await?;
        empty.turns(&short, Range::Last(LAST)).await?;
        pairs.push((cycle_us(&full, &long, n).await?, cycle_us(&empty, &short, n).await?));
    }
    let mut rows = vec![cycle_row(&pairs, format!("a cycle in a thread of {count} turns / of 10, another store"))];
    let grown_mb = resident_mb(std::process::id())? - before_mb;
    let (each, text) = (count as f64, message("user", 1).len());
    rows.push(size_row(grown_mb * 1e6 / each, text, "memory of a turn"));
    rows.push(size_row(directory_bytes(&dir.path().join("full"))? / each, text, "disk of a turn"));
    rows.push(hold_up(&full).await?);
    full.close().await?;
    empty.close().await?;
    Ok(rows)
}

/// Cycles in threads that are not cached: both stores are opened anew.
async fn threads(count: usize) -> anyhow::Result<Vec<BenchRow>> {
    let dir = tempfile::tempdir()?;
    let (many, few) = (dir.path().join("many"), dir.path().join("few"));
    fill(&many, count).await?;
    fill(&few, CYCLES).await?;
    let before_mb = resident_mb(std::process::id())?;
    let (full, small) = (open(&many).await?, open(&few).await?);
    let mut pairs = Vec::new();
    for n in 0..CYCLES {
        let (old, other) = (thread(n * (count / CYCLES))?, thread(n)?);
        pairs.push((cycle_us(&full, &old, n).await?, cycle_us(&small, &other, n).await?));
    }
    let grown_mb = resident_mb(std::process::id())? - before_mb;
    full.close().await?;
    small.close().await?;
    let (each, text) = (count as f64, message("user", 1).len());
    Ok(vec![
        cycle_row(&pairs, format!("a cycle in one of {count} threads / in one of {CYCLES}, none of them cached")),
        size_row(grown_mb * 1e6 / each, text, "memory of a thread of one turn"),
        size_row(directory_bytes(&many)? / each, text, "disk of a thread of one turn"),
    ])
}

fn thread(n: usize) -> anyhow::Result<CollectionPath> {
    Ok(scope::turns(&format!("user{}", n / 10), &format!("t{}", n % 10))?)
}

/// A store with that many threads of one turn.
async fn fill(dir: &Path, count: usize) -> anyhow::Result<()> {
    let store = open(dir).await?;
    let append = |n: usize| {
        let documents = vec![document(message("user", n))];
        anyhow::Ok(Op::Append { to: thread(n)?, documents, terms: AppendTerms::default() })
    };
    for first in (0..count).step_by(FILLED_AT_ONCE) {
        let last = count.min(first + FILLED_AT_ONCE);
        store.write((first..last).map(append).collect::<Result<_, _>>()?).await?;
    }
    Ok(store.close().await?)
}

/// The longest cycle of another user while the large one is forgotten, beside the longest of an equal time
/// before.
async fn hold_up(store: &Store) -> anyhow::Result<BenchRow> {
    let before_us = longest_us(store, |time| time < FORGET_TIME).await?;
    let forgetting = tokio::spawn({
        let (store, what) = (store.clone(), scope::user("large")?.prefix());
        async move { store.forget(&what).await }
    });
    let during_us = longest_us(store, |time| time < FORGET_TIME || !forgetting.is_finished()).await?;
    forgetting.await??;
    let (ours, raw) = (during_us / 1e3, before_us / 1e3);
    let what =
        format!("longest cycle of another user while those turns are forgotten / before; cap {HOLD_UP_MAX_MS} ms");
    Ok(BenchRow { name: "growth", what, ours, raw, unit: "ms", ratio: ours / raw, target: None })
}

async fn longest_us(store: &Store, goes_on: impl Fn(Duration) -> bool) -> anyhow::Result<f64> {
    let other = scope::turns("other", "t")?;
    let (started, mut longest, mut n) = (Instant::now(), 0.0_f64, 0);
    while goes_on(started.elapsed()) {
        longest = longest.max(cycle_us(store, &other, n).await?);
        n += 1;
    }
    Ok(longest)
}

fn cycle_row(pairs: &[(f64, f64)], what: String) -> BenchRow {
    let (ours, raw, ratio) = medians(pairs);
    BenchRow { name: "growth", what, ours, raw, unit: "µs", ratio, target: Some(RatioTarget::AtMost(1.2)) }
}

fn size_row(ours: f64, text: usize, what: &str) -> BenchRow {
    let (what, raw) = (format!("{what} / its message"), text as f64);
    BenchRow { name: "growth", what, ours, raw, unit: "B", ratio: ours / raw, target: None }
}

async fn open(dir: &Path) -> anyhow::Result<Store> {
    let options = LocalOptions { relaxed: true, ..LocalOptions::default() };
    Ok(Store::open_local(dir, options).await?)
}

fn directory_bytes(dir: &Path) -> anyhow::Result<f64> {
    let mut bytes = 0.0;
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let meta = entry.metadata()?;
        bytes += if meta.is_dir() { directory_bytes(&entry.path())? } else { meta.len() as f64 };
    }
    Ok(bytes)
}
