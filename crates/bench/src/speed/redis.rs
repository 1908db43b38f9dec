//! W1 on Redis: the cost of turns in a store that several nodes share.
//!
//! The raw equivalent is `RPUSH` and `LRANGE` of the same bytes at the same server, pipelined through the
//! same connections. The server is the one that `redis.url` names, or else a temporary one. All keys have a
//! prefix of their own and are removed at the end; no others are touched.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use bytes::Bytes;
use novelo_engine::path::Prefix;
use novelo_engine::scope;
use novelo_store::{AppendTerms, Range, Redis, RedisOptions, Store};

use super::raw::message;
use super::thread::{LAST, ROUNDS, WRITERS, document, rate};
use super::{BenchRow, RatioTarget, medians};
use novelo_conversation::settings::{Settings, ValueSource};
use novelo_server::complain;

const START_TRIES: usize = 5;
const START_MAX: Duration = Duration::from_secs(10);
const LOG: &str = "redis.log";

/// Ends the server when its standard input does, however this process ended.
const GUARD: &str = r#""$@" >/dev/null 2>&1 & pid=$!; echo started; exec >&-; read -r _; kill -9 "$pid"; wait "$pid""#;

/// Whether the threads that are written at once belong to one user.
#[derive(Debug, Clone, Copy)]
enum UserSpread {
    /// In a cluster, all on one server.
    One,
    Each,
}

/// W1 with the documents in Redis; no rows if there is no server to measure.
pub(crate) async fn cycle(settings: &Settings, time: Duration) -> anyhow::Result<Vec<BenchRow>> {
    if settings.redis.url.source != ValueSource::Default {
        return measure(&settings.redis.url, time).await;
    }
    match RedisServer::start() {
        Ok(server) => measure(&server.url(), time).await,
        Err(error) => {
            complain!("bench redis is left out: {error:#}\nhint: install redis-server, or set redis.url (REDIS_URL)");
            Ok(Vec::new())
        }
    }
}

async fn measure(url: &str, time: Duration) -> anyhow::Result<Vec<BenchRow>> {
    let prefix = format!("novelo-bench:{}:", novelo_conversation::ids::short());
    let options =
        RedisOptions { url: url.to_owned(), prefix, timeout: Duration::from_secs(10), hot_bytes_max: 64 << 20 };
    let prefix = options.prefix.clone();
    let store = Store::open_redis(options).await?;
    let measured = rows(&store, &prefix, time).await;
    let removed = store.forget(&Prefix::all()).await;
    store.close().await?;
    removed?;
    measured
}

async fn rows(store: &Store, prefix: &str, time: Duration) -> anyhow::Result<Vec<BenchRow>> {
    let Store::Redis(redis) = store else { bail!("the store is not in Redis") };
    let mut rows = Vec::new();
    for (users, of) in [(UserSpread::One, "of one user"), (UserSpread::Each, "each of its own user")] {
        let mut pairs = Vec::new();
        for round in 0..ROUNDS {
            let ours = store.clone();
            let ours = rate(WRITERS, time, move |writer, n| cycle_ours(ours.clone(), users, round, writer, n)).await;
            let list = format!("{prefix}raw:{round}");
            let (raw, to) = (redis.clone(), list.clone());
            let raw = rate(WRITERS, time, move |writer, n| cycle_raw(raw.clone(), format!("{to}:{writer}"), n)).await;
            for writer in 0..WRITERS {
                redis.remove_raw(&format!("{list}:{writer}")).await?;
            }
            pairs.push((ours, raw));
        }
        let (ours, raw, ratio) = medians(&pairs);
        let what = format!(
            "W1 on Redis: append, load last {LAST}, append; {WRITERS} conversations, {of} / pipelined RPUSH, LRANGE, RPUSH"
        );
        let target = Some(RatioTarget::AtLeast(0.4));
        rows.push(BenchRow { name: "redis", what, ours, raw, unit: "cycles/s", ratio, target });
    }
    Ok(rows)
}

async fn cycle_ours(store: Store, users: UserSpread, round: usize, writer: usize, n: usize) -> anyhow::Result<()> {
    let thread = match users {
        UserSpread::One => scope::turns("bench", &format!("thread{round}-{writer}"))?,
        UserSpread::Each => scope::turns(&format!("bench{writer}"), &format!("thread{round}"))?,
    };
    let append = |value: Bytes| store.append(&thread, vec![document(value)], AppendTerms::default());
    append(message("user", n)).await?;
    std::hint::black_box(store.turns(&thread, Range::Last(LAST)).await?);
    append(message("assistant", n)).await?;
    Ok(())
}

async fn cycle_raw(redis: Redis, list: String, n: usize) -> anyhow::Result<()> {
    redis.push_raw(&list, &message("user", n)).await?;
    std::hint::black_box(redis.last_raw(&list, LAST).await?);
    redis.push_raw(&list, &message("assistant", n)).await?;
    Ok(())
}

/// A temporary server, which keeps an append-only file and flushes it every second.
struct RedisServer {
    guard: Child,
    port: u16,
    /// Removed when the server has ended.
    dir: tempfile::TempDir,
}

impl RedisServer {
    fn start() -> anyhow::Result<Self> {
        let version = Command::new("redis-server").arg("--version").stdout(Stdio::null()).status();
        version.context("redis-server does not run")?;
        for _ in 0..START_TRIES {
            let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
            let dir = tempfile::tempdir()?;
            let guard = spawn(port, dir.path())?;
            let server = Self { guard, port, dir };
            if server.is_ready() {
                return Ok(server);
            }
        }
        bail!("redis-server did not start")
    }

    fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Reads its own log, because another process may have taken the port.
    fn is_ready(&self) -> bool {
        let deadline = Instant::now() + START_MAX;
        while Instant::now() < deadline {
            let log = std::fs::read_to_string(self.dir.path().join(LOG)).unwrap_or_default();
            if log.contains("Ready to accept connections") {
                return true;
            }
            if log.contains("Address already in use") {
                return false;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        false
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        if let Err(error) = self.guard.wait() {
            tracing::warn!(%error, "the redis-server of the bench may still run");
        }
    }
}

fn spawn(port: u16, dir: &Path) -> anyhow::Result<Child> {
    let mut guard = Command::new("sh")
        .args(["-c", GUARD, "redis-guard", "redis-server", "--port", &port.to_string(), "--bind", "127.0.0.1"])
        .args(["--appendonly", "yes", "--appendfsync", "everysec", "--save", "", "--logfile", LOG, "--dir"])
        .arg(dir)
        .current_dir(dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .context("sh does not run")?;
    if let Some(said) = guard.stdout.take() {
        BufReader::new(said).read_line(&mut String::new())?;
    }
    Ok(guard)
}
