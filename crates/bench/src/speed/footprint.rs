//! Footprint: memory when idle, time from start to the first answer, size of the binary.

use std::path::Path;
use std::time::{Duration, Instant};

use super::http::{ask, client};
use super::process::{ServerProcess, novelo};
use super::{BenchRow, RatioTarget, median};

const STARTS: usize = 7;

/// Measures the `novelo` beside this program, on a data directory that has the sample in it.
pub(crate) async fn measure() -> anyhow::Result<Vec<BenchRow>> {
    let dir = tempfile::tempdir()?;
    let mut starts_ms = Vec::new();
    let mut idle_mb = 0.0;
    for n in 0..=STARTS {
        let (server, took) = start(&dir.path().join("data")).await?;
        if n > 0 {
            starts_ms.push(took.as_secs_f64() * 1e3);
        }
        if n == STARTS {
            tokio::time::sleep(Duration::from_secs(1)).await;
            idle_mb = server.resident_mb()?;
        }
    }
    let binary_mb = std::fs::metadata(novelo()?)?.len() as f64 / 1e6;
    let row = |what: &str, ours: f64, most: f64, unit| BenchRow {
        name: "footprint",
        what: what.to_owned(),
        ours,
        raw: most,
        unit,
        ratio: ours / most,
        target: Some(RatioTarget::AtMost(1.0)),
    };
    Ok(vec![
        row("idle memory / its cap", idle_mb, 40.0, "MB"),
        row("start to first answer, after a kill / its cap", median(starts_ms), 150.0, "ms"),
        row("binary / its cap", binary_mb, 40.0, "MB"),
    ])
}

/// Starts the server and waits for its first context.
async fn start(data: &Path) -> anyhow::Result<(ServerProcess, Duration)> {
    let started = Instant::now();
    let server = ServerProcess::start_novelo(data)?;
    let at = format!("http://{}/v1/context", server.address);
    ask(&client(), &at, r#"{"user":"demo","thread":"welcome"}"#.to_owned()).await?;
    Ok((server, started.elapsed()))
}
