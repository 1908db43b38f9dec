//! The load of W1-HTTP: turns over keep-alive connections, one request at a time on each.
//!
//! Owns a client that does as little as it can, so that little of what is measured is its own: requests are
//! bytes that are written at once, and of an answer only the status and the length are read. All connections
//! share one thread. It is the same for both servers.

use std::time::{Duration, Instant};

use anyhow::Context;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::raw::message;
use super::thread::LAST;

/// What a load measured.
pub(crate) struct TurnLoad {
    /// How long each turn took, sorted.
    pub turns_us: Vec<f64>,
    pub took: Duration,
}

impl TurnLoad {
    pub(crate) fn per_second(&self) -> f64 {
        self.turns_us.len() as f64 / self.took.as_secs_f64()
    }

    /// The time within which this share of the turns was done.
    pub(crate) fn within_us(&self, share: f64) -> f64 {
        let at = (self.turns_us.len() as f64 * share) as usize;
        self.turns_us.get(at).or(self.turns_us.last()).copied().unwrap_or(f64::NAN)
    }
}

/// Runs turns on that many connections, each with a thread of its own below `name`.
pub(crate) fn run_turns(address: String, name: String, connections: usize, time: Duration) -> anyhow::Result<TurnLoad> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    runtime.block_on(async {
        let mut open = Vec::new();
        for n in 0..connections {
            open.push(TurnConnection::open(&address, &format!("{name}-{n}")).await?);
        }
        let started = Instant::now();
        let mut running: JoinSet<_> = open.into_iter().map(|connection| connection.run(started, time)).collect();
        let mut turns_us = Vec::new();
        while let Some(ended) = running.join_next().await {
            turns_us.extend(ended??);
        }
        let took = started.elapsed();
        turns_us.sort_by(f64::total_cmp);
        Ok(TurnLoad { turns_us, took })
    })
}

struct TurnConnection {
    stream: TcpStream,
    /// The two appends and the list of one turn, ready to be sent.
    user: Vec<u8>,
    last: Vec<u8>,
    assistant: Vec<u8>,
    answer: Vec<u8>,
}

impl TurnConnection {
    async fn open(address: &str, user: &str) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let path = format!("/v1/users/{user}/threads/t/turns");
        let append = |role: &str| {
            let message = message(role, user.len());
            let body = format!(r#"{{"messages":[{}]}}"#, String::from_utf8_lossy(&message));
            let head = format!("POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n");
            format!("{head}content-length: {}\r\n\r\n{body}", body.len()).into_bytes()
        };
        let last = format!("GET {path}?last={LAST} HTTP/1.1\r\nhost: {address}\r\n\r\n").into_bytes();
        Ok(Self { stream, user: append("user"), last, assistant: append("assistant"), answer: vec![0; 64 * 1024] })
    }

    /// Turns until the time is over, and how long each took.
    async fn run(mut self, started: Instant, time: Duration) -> anyhow::Result<Vec<f64>> {
        let mut turns_us = Vec::new();
        let mut now = started.elapsed();
        while now < time {
            for request in [&self.user, &self.last, &self.assistant] {
                self.stream.write_all(request).await?;
                read_answer(&mut self.stream, &mut self.answer).await?;
            }
            let before = std::mem::replace(&mut now, started.elapsed());
            turns_us.push((now - before).as_secs_f64() * 1e6);
        }
        Ok(turns_us)
    }
}

/// Reads one answer to its end.
async fn read_answer(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> anyhow::Result<()> {
    let (mut filled, mut needed) = (0, None);
    while needed.is_none_or(|needed| filled < needed) {
        if filled == buffer.len() {
            buffer.resize(2 * filled, 0);
        }
        let more = stream.read(buffer.get_mut(filled..).unwrap_or_default()).await?;
        anyhow::ensure!(more > 0, "the server closed the connection");
        filled += more;
        if needed.is_none() {
            needed = answer_bytes(buffer.get(..filled).unwrap_or_default())?;
        }
    }
    Ok(())
}

/// The length of an answer with its head, once the head is there.
fn answer_bytes(read: &[u8]) -> anyhow::Result<Option<usize>> {
    let Some(head) = read.windows(4).position(|end| end == b"\r\n\r\n") else { return Ok(None) };
    let text = std::str::from_utf8(read.get(..head).unwrap_or_default())?;
    anyhow::ensure!(text.starts_with("HTTP/1.1 200"), "answered {}", text.lines().next().unwrap_or_default());
    let length = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>())
    });
    Ok(Some(head + 4 + length.context("an answer without a length")??))
}
