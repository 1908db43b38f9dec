//! Footprint: memory when idle, time from start to the first answer, size of the binary.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;
use axum::body::Body;
use hyper::Request;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;

use super::{BenchRow, RatioTarget, median};

const STARTS: usize = 7;

/// Measures the `novelo` beside this program, on a data directory that has the sample in it.
pub async fn measure() -> anyhow::Result<Vec<BenchRow>> {
    let dir = tempfile::tempdir()?;
    let mut starts_ms = Vec::new();
    let mut idle_mb = 0.0;
    for n in 0..=STARTS {
        let (mut child, took) = start(&dir.path().join("data").display().to_string()).await?;
        if n > 0 {
            starts_ms.push(took.as_secs_f64() * 1e3);
        }
        if n == STARTS {
            tokio::time::sleep(Duration::from_secs(1)).await;
            idle_mb = resident_mb(&child)?;
        }
        child.kill()?;
        child.wait()?;
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

fn novelo() -> anyhow::Result<PathBuf> {
    let program = std::env::current_exe()?.with_file_name("novelo");
    anyhow::ensure!(program.exists(), "there is no {}\nhint: `cargo build --release` builds it", program.display());
    Ok(program)
}

/// Starts the server and waits for its first context.
async fn start(data: &str) -> anyhow::Result<(Child, Duration)> {
    let started = Instant::now();
    let mut child = Command::new(novelo()?)
        .args(["serve", "--addr", "127.0.0.1:0", "--data", data])
        .env("NOVELO_LOG_LEVEL", "error")
        .stdout(Stdio::piped())
        .spawn()?;
    let mut line = String::new();
    BufReader::new(child.stdout.take().context("the server has no output")?).read_line(&mut line)?;
    let addr = line.trim().rsplit(' ').next().context("the server said nothing")?;
    let client = Client::builder(TokioExecutor::new()).build_http::<Body>();
    let ask = Body::from(r#"{"user":"demo","thread":"welcome"}"#);
    let response = client.request(Request::post(format!("{addr}/v1/context")).body(ask)?).await?;
    anyhow::ensure!(response.status().is_success(), "the first answer was {}", response.status());
    Ok((child, started.elapsed()))
}

fn resident_mb(child: &Child) -> anyhow::Result<f64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id()))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    let kilobytes: f64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kilobytes / 1e3)
}
