//! W2 and contexts: the cost of building a context that is warm.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use novelo_engine::time_scope::TimeScope;
use novelo_engine::{Loaded, Message, Recipe, Turn, assemble, scope};
use novelo_store::AppendTerms;
use serde_json::json;

use super::http::open;
use super::raw::{agent_thread, message};
use super::thread::document;
use super::{BenchRow, RatioTarget, medians, time_us};
use novelo_conversation::app;
use novelo_conversation::context;
use novelo_conversation::context::request::Request;

const ROUNDS: usize = 401;

/// W2: an agent's thread of 1,000 messages to 20,000 tokens, against copying and writing the same bytes.
pub(crate) fn agent() -> anyhow::Result<Vec<BenchRow>> {
    let mut sink = SocketSink::open()?;
    let turns: Vec<Turn> = agent_thread(1_000)
        .into_iter()
        .zip(1..)
        .map(|(raw, seq)| Turn { seq, id: "x".into(), create_time: 0.0, message: Message::from_stored(raw) })
        .collect();
    let recipe = agent_recipe()?;
    let build = || -> anyhow::Result<Vec<u8>> {
        let loaded = Loaded { turns: turns.iter().collect(), ..Loaded::default() };
        let assembly = assemble(&recipe, &loaded, Some(24_000))?;
        let mut out = Vec::with_capacity(80 * 1024);
        assembly.write(&mut out);
        Ok(out)
    };
    let bytes = build()?;
    let mut pairs = Vec::new();
    for _ in 0..ROUNDS {
        let ours = time_us(|| build().is_ok_and(|out| sink.write(&out)));
        let raw = time_us(|| {
            let mut out = Vec::with_capacity(80 * 1024);
            out.extend_from_slice(&bytes);
            sink.write(&out)
        });
        pairs.push((ours, raw));
    }
    let (ours, raw, ratio) = medians(&pairs);
    let kilobytes = bytes.len() / 1024;
    let what =
        format!("1,000 messages with calls and files to 20k tokens ({kilobytes} KB) / memcpy + write to a socket");
    Ok(vec![BenchRow { name: "W2", what, ours, raw, unit: "µs", ratio, target: Some(RatioTarget::AtMost(3.0)) }])
}

/// The filters of an agent that reads and writes files.
pub(crate) fn agent_recipe() -> anyhow::Result<Recipe> {
    let filters = json!([
        "fileContentsLimiter",
        {"name": "sizeLimiter", "options": {"maxTokens": 20_000}},
        "toolCallBackfill",
    ]);
    Ok(Recipe::decode("recipe", &json!({"components": [{"kind": "history"}], "filters": filters}))?)
}

/// Where answers go: a loopback connection whose other end reads and forgets.
struct SocketSink(TcpStream);

impl SocketSink {
    fn open() -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let sink = TcpStream::connect(listener.local_addr()?)?;
        let (mut other, _) = listener.accept()?;
        std::thread::spawn(move || {
            let mut buffer = vec![0; 256 * 1024];
            while other.read(&mut buffer).is_ok_and(|count| count > 0) {}
        });
        Ok(Self(sink))
    }

    fn write(&mut self, bytes: &[u8]) -> bool {
        self.0.write_all(bytes).is_ok()
    }
}

/// `/v1/context` without the socket, for whole threads of growing length, against copying the same bytes.
pub(crate) async fn sizes() -> anyhow::Result<Vec<BenchRow>> {
    let dir = tempfile::tempdir()?;
    let (app, tasks) = open(dir.path()).await?;
    let mut rows = Vec::new();
    for messages in [100, 1_000, 10_000] {
        let name = format!("thread{messages}");
        let to = scope::turns("bench", &name)?;
        for chunk in (0..messages).collect::<Vec<_>>().chunks(500) {
            let documents =
                chunk.iter().map(|n| document(message(if n % 2 == 0 { "user" } else { "assistant" }, *n))).collect();
            app.store.append(&to, documents, AppendTerms::default()).await?;
        }
        let bytes = context::context(&app, request(&name)).await?.body;
        let mut pairs = Vec::new();
        for _ in 0..ROUNDS.min(200_000 / messages) {
            app.made.retain(|_| false);
            let started = std::time::Instant::now();
            std::hint::black_box(context::context(&app, request(&name)).await?);
            let ours = started.elapsed().as_secs_f64() * 1e6;
            pairs.push((ours, time_us(|| bytes.to_vec())));
        }
        let (ours, raw, ratio) = medians(&pairs);
        let what = format!("context of {messages} messages, all kept ({} KB) / memcpy of them", bytes.len() / 1024);
        rows.push(BenchRow { name: "contexts", what, ours, raw, unit: "µs", ratio, target: None });
    }
    app::close(app, tasks).await?;
    Ok(rows)
}

fn request(thread: &str) -> Request {
    let (user, reach) = (Some("bench".to_owned()), TimeScope::thread(thread, 0.0));
    Request { user, reach, budget_tokens: Some(10_000_000), ..Request::default() }
}
