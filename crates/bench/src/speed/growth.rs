//! Growth: a cycle in a store of a million turns or threads beside one in an almost empty store, what they take
//! on disk and in memory, and how long the forget of a large user holds up others.
//!
//! Nothing is flushed per write, so that the disk does not hide what a cycle itself costs.

use std::path::Path;
use std::time::{Duration, Instant};

use novelo_engine::scope;
use novelo_store::{AppendTerms, LocalOptions, Op, Range, Store};

use super::process::resident_mb;
use super::raw::message;
use super::thread::{LAST, cycle_us, document};
use super::{BenchRow, RatioTarget, medians};

const CYCLES: usize = 1_000;
/// Documents of one write while a store is filled.
const FILLED_AT_ONCE: usize = 400;
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

async fn threads(count: usize) -> anyhow::Result<Vec<BenchRow>> {
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("full");
    let before_mb = resident_mb(std::process::id())?;
    let (full, empty) = (open(&path).await?, open(&dir.path().join("empty")).await?);
    let name = |n: usize| scope::turns(&format!("user{}", n / 10), &format!("t{}", n % 10));
    for chunk in 0..count / FILLED_AT_ONCE {
        let append = |n: usize| {
            let documents = vec![document(message("user", n))];
            anyhow::Ok(Op::Append { to: name(n)?, documents, terms: AppendTerms::default() })
        };
        let first = chunk * FILLED_AT_ONCE;
        full.write((first..first + FILLED_AT_ONCE).map(append).collect::<Result<_, _>>()?).await?;
    }
    let mut pairs = Vec::new();
    for n in 0..CYCLES {
        let short = scope::turns("bench", &format!("short{n}"))?;
        empty.append(&short, vec![document(message("user", n))], AppendTerms::default()).await?;
        // Far apart, so that few of them are cached.
        let old = name(n * (count / CYCLES))?;
        pairs.push((cycle_us(&full, &old, n).await?, cycle_us(&empty, &short, n).await?));
    }
    let grown_mb = resident_mb(std::process::id())? - before_mb;
    full.close().await?;
    empty.close().await?;
    let (each, text) = (count as f64, message("user", 1).len());
    Ok(vec![
        cycle_row(&pairs, format!("a cycle in one of {count} threads / in a new one, another store")),
        size_row(grown_mb * 1e6 / each, text, "memory of a thread of one turn"),
        size_row(directory_bytes(&path)? / each, text, "disk of a thread of one turn"),
    ])
}

/// The longest cycle of others while the large user is forgotten.
async fn hold_up(store: &Store) -> anyhow::Result<BenchRow> {
    let forgetting = tokio::spawn({
        let (store, what) = (store.clone(), scope::user("large")?.prefix());
        async move { store.forget(&what).await }
    });
    let other = scope::turns("other", "t")?;
    let (mut longest_us, mut n) = (0.0_f64, 0);
    let started = Instant::now();
    while !forgetting.is_finished() || started.elapsed() < Duration::from_secs(1) {
        longest_us = longest_us.max(cycle_us(store, &other, n).await?);
        n += 1;
    }
    forgetting.await??;
    let ours = longest_us / 1e3;
    Ok(BenchRow {
        name: "growth",
        what: "longest cycle of another user while those turns are forgotten / its cap".to_owned(),
        ours,
        raw: HOLD_UP_MAX_MS,
        unit: "ms",
        ratio: ours / HOLD_UP_MAX_MS,
        target: Some(RatioTarget::AtMost(1.0)),
    })
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
