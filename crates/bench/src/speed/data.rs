//! W6: a follow-up answered from data, beside the bare query.

use std::time::Instant;

use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};

use super::http::{HttpClient, ask, client, start_ours};
use super::raw::{RawLog, message};
use super::{BenchRow, medians};
use novelo_conversation::app::{self, App};
use novelo_conversation::settings::Settings;
use novelo_server::router::router;
use novelo_server::server::Server;

const ROUNDS: usize = 301;
const ENTITY: &str = "fiis_quota_prices";
const AGGREGATION: &str = "list";
const SUBJECT: &str = "HGLG11";
const REMEMBERING: &str = "context: {enabled: true, last_reference: {enable_last_ticker: true}}\n";
const FORGETFUL: &str = "context: {enabled: false}\n";

pub(crate) async fn follow_up() -> anyhow::Result<Vec<BenchRow>> {
    let stored = measure(REMEMBERING, "e o preço?").await?;
    let unstored = measure(FORGETFUL, "qual o preço do HGLG11?").await?;
    let row = |what: &str, pairs: &[(f64, f64)]| {
        let (ours, raw, ratio) = medians(pairs);
        BenchRow { name: "W6", what: what.to_owned(), ours, raw, unit: "µs", ratio, target: None }
    };
    Ok(vec![
        row("a follow-up to /ask, both turns stored durably / the bare query, prepared, in process", &stored.anew),
        row("the same / the bare query and two durable appends to a file", &stored.beside_appends),
        row("the same, its rows found before / the bare query", &stored.again),
        row("a question to /ask with nothing stored / the bare query", &unstored.anew),
        row("the same, its rows found before / the bare query", &unstored.again),
    ])
}

/// Pairs of ours and raw, in microseconds: with the query, and with its rows found before.
struct FollowUpTimes {
    anew: Vec<(f64, f64)>,
    /// As `anew`, but raw is the query and two appends.
    beside_appends: Vec<(f64, f64)>,
    again: Vec<(f64, f64)>,
}

async fn measure(policy: &str, question: &str) -> anyhow::Result<FollowUpTimes> {
    let dir = tempfile::tempdir()?;
    let policies = dir.path().join("policies");
    std::fs::create_dir(&policies)?;
    std::fs::write(policies.join("context.yaml"), policy)?;
    let settings = Settings { data: dir.path().join("data"), policies, ..Settings::default() };
    let (app, tasks) = app::open(settings).await?;
    let server = Server::new(app.clone()).await?;
    let (address, (stop, served)) = start_ours(&server, router(server.clone())).await?;
    let (address, client) = (format!("{address}/ask"), client());
    let bare = BareQuery::open(&app)?;
    ask(&client, &address, body("qual o preço do HGLG11?")).await?;
    let (mut anew, mut beside_appends, mut again) = (Vec::new(), Vec::new(), Vec::new());
    let log = RawLog::create(&dir.path().join("log"), 1)?;
    for round in 0..ROUNDS {
        let raw = bare.time_us()?;
        let started = Instant::now();
        log.append(0, message("user", round)).await?;
        log.append(0, message("assistant", round)).await?;
        let appends = started.elapsed().as_secs_f64() * 1e6;
        if let Some(data) = &app.data {
            data.found.retain(|_| false);
        }
        let ours = timed(&client, &address, question).await?;
        anew.push((ours, raw));
        beside_appends.push((ours, raw + appends));
        again.push((timed(&client, &address, question).await?, raw));
    }
    drop(stop);
    served.await?;
    app::close(app, tasks).await?;
    Ok(FollowUpTimes { anew, beside_appends, again })
}

fn body(question: &str) -> String {
    json!({"question": question, "conversation_id": "c", "nickname": "bench", "client_id": "bench"}).to_string()
}

async fn timed(client: &HttpClient, at: &str, question: &str) -> anyhow::Result<f64> {
    let started = Instant::now();
    let answer = ask(client, at, body(question)).await?;
    let took = started.elapsed().as_secs_f64() * 1e6;
    let answer: Value = serde_json::from_slice(&answer)?;
    anyhow::ensure!(answer.pointer("/results/0/ticker") == Some(&json!(SUBJECT)), "answered {answer}");
    Ok(took)
}

/// The query that answers it, on a connection of its own.
struct BareQuery {
    connection: Connection,
    sql: String,
}

impl BareQuery {
    fn open(app: &App) -> anyhow::Result<Self> {
        let missing = || anyhow::anyhow!("there is no sample to ask");
        let data = app.data.as_ref().ok_or_else(missing)?;
        let catalogue = app.policies.catalogue().ok_or_else(missing)?;
        let sql = catalogue.entity(ENTITY).ok_or_else(missing)?.query(AGGREGATION).to_owned();
        let connection = Connection::open_with_flags(data.database.path(), OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        Ok(Self { connection, sql })
    }

    fn time_us(&self) -> anyhow::Result<f64> {
        let started = Instant::now();
        let mut statement = self.connection.prepare_cached(&self.sql)?;
        for index in 1..=statement.parameter_count() {
            match statement.parameter_name(index) {
                Some(":tickers") => statement.raw_bind_parameter(index, json!([SUBJECT]).to_string())?,
                Some(":ticker") => statement.raw_bind_parameter(index, SUBJECT)?,
                _ => statement.raw_bind_parameter(index, rusqlite::types::Null)?,
            }
        }
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next()? {
            std::hint::black_box(row.get_ref(0)?);
        }
        Ok(started.elapsed().as_secs_f64() * 1e6)
    }
}
