//! W1-HTTP: a whole turn over a socket, durable, beside a bare axum server that has the turns in a hash map.

use std::time::Duration;

use super::load::{TurnLoad, run_turns};
use super::process::ServerProcess;
use super::thread::LAST;
use super::{BenchRow, RatioTarget, medians};

const ROUNDS: usize = 5;
const BUSY: usize = 64;
const CONNECTIONS: [usize; 3] = [1, 8, BUSY];
const P50: f64 = 0.5;
const P99: f64 = 0.99;

/// Append a user turn, load the last 20, append the answer; each server in a process of its own.
pub(crate) async fn cycle(time: Duration) -> anyhow::Result<Vec<BenchRow>> {
    let dir = tempfile::tempdir()?;
    let ours = ServerProcess::start_novelo(&dir.path().join("data"))?;
    let bare = ServerProcess::start_bare()?;
    let mut rows = Vec::new();
    for connections in CONNECTIONS {
        let mut rounds = Vec::new();
        for round in 0..ROUNDS {
            let name = format!("c{connections}-r{round}");
            rounds.push((
                measure(&ours, &name, connections, time).await?,
                measure(&bare, &name, connections, time).await?,
            ));
        }
        rows.extend(rows_of(connections, &rounds));
    }
    Ok(rows)
}

/// One side of a round.
struct TurnRound {
    load: TurnLoad,
    /// Of the server alone.
    cpu_us: f64,
}

async fn measure(server: &ServerProcess, name: &str, connections: usize, time: Duration) -> anyhow::Result<TurnRound> {
    let (address, name) = (server.address.clone(), name.to_owned());
    let before_us = server.cpu_us()?;
    let load = tokio::task::spawn_blocking(move || run_turns(address, name, connections, time)).await??;
    let cpu_us = (server.cpu_us()? - before_us) / load.turns_us.len() as f64;
    Ok(TurnRound { load, cpu_us })
}

fn rows_of(connections: usize, rounds: &[(TurnRound, TurnRound)]) -> Vec<BenchRow> {
    let row = |what: String, unit, target, figure: &dyn Fn(&TurnRound) -> f64| {
        let pairs: Vec<(f64, f64)> = rounds.iter().map(|(ours, bare)| (figure(ours), figure(bare))).collect();
        let (ours, raw, ratio) = medians(&pairs);
        BenchRow { name: "W1-HTTP", what, ours, raw, unit, ratio, target }
    };
    let target = |target| Some(target).filter(|_| connections == BUSY);
    let turn = format!("append, load last {LAST}, append over HTTP, durable, {connections} connections");
    vec![
        row(
            format!("{turn} / a bare axum server with a hash map"),
            "turns/s",
            target(RatioTarget::AtLeast(0.6)),
            &|round| round.load.per_second(),
        ),
        row("the same, time of a turn, p50".to_owned(), "µs", None, &|round| round.load.within_us(P50)),
        row("the same, time of a turn, p99".to_owned(), "µs", None, &|round| round.load.within_us(P99)),
        row(
            "the same, processor time of a turn, server alone".to_owned(),
            "µs",
            target(RatioTarget::AtMost(2.0)),
            &|round| round.cpu_us,
        ),
    ]
}
