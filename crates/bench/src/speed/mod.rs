//! `novelo bench`: speed, as ratios.
//!
//! Owns the measurements behind every figure in the README. Each is taken side by side with a raw equivalent
//! in the same run, in turns, and the median of the ratios counts: machines are noisy, ratios are less so.

pub(crate) mod bare;
pub(crate) mod context;
mod data;
mod footprint;
mod growth;
mod guide;
pub(crate) mod http;
mod load;
mod open_loop;
mod process;
pub mod raw;
pub(crate) mod recall;
mod redis;
mod thread;
mod turn_http;

use std::time::{Duration, Instant};

use novelo_conversation::settings::Settings;
use novelo_server::cli::{BenchArgs, BenchCommand, Output, progress_bar};
use novelo_server::say;
use serde_json::json;

/// One line of the table.
pub(crate) struct BenchRow {
    pub name: &'static str,
    pub what: String,
    /// Ours and the raw equivalent, in `unit`.
    pub ours: f64,
    pub raw: f64,
    pub unit: &'static str,
    pub ratio: f64,
    pub target: Option<RatioTarget>,
}

#[derive(Clone, Copy)]
pub(crate) enum RatioTarget {
    AtLeast(f64),
    AtMost(f64),
}

impl RatioTarget {
    fn met(self, ratio: f64) -> bool {
        match self {
            Self::AtLeast(bound) => ratio >= bound,
            Self::AtMost(bound) => ratio <= bound,
        }
    }

    fn text(self) -> String {
        match self {
            Self::AtLeast(bound) => format!("≥ {bound}"),
            Self::AtMost(bound) => format!("≤ {bound}"),
        }
    }
}

/// The last takes minutes and some GB of disk, so it only runs if it is named.
const NAMES: [&str; 14] =
    ["W1", "W1-HTTP", "redis", "W2", "W3", "W4", "W5", "W6", "W7", "HTTP", "footprint", "appends", "contexts", GROWTH];
const GROWTH: &str = "growth";
const GROWN_TO: usize = 1_000_000;

pub async fn run(args: BenchArgs, settings: &Settings, out: &Output) -> anyhow::Result<()> {
    if let Some(BenchCommand::Load(args)) = args.command {
        return open_loop::run(&args, out).await;
    }
    let chosen: Vec<&str> = match args.names.is_empty() {
        true => NAMES.into_iter().filter(|name| *name != GROWTH).collect(),
        false => args.names.iter().map(|name| known(name)).collect::<anyhow::Result<_>>()?,
    };
    let time = Duration::from_secs_f64(args.seconds);
    let bar = progress_bar(chosen.len() as u64);
    let mut rows = Vec::new();
    for name in chosen {
        bar.set_message(name);
        rows.extend(match name {
            "W1" => thread::cycle(time).await?,
            "W1-HTTP" => turn_http::cycle(time).await?,
            "redis" => redis::cycle(settings, time).await?,
            "W2" => context::agent()?,
            "W3" => thread::long_against_short().await?,
            "W4" => recall::search_and_index().await?,
            "W5" => http::topic(time).await?,
            "W6" => data::follow_up().await?,
            "W7" => guide::message().await?,
            "HTTP" => http::context(time).await?,
            "footprint" => footprint::measure().await?,
            "appends" => thread::appends(time).await?,
            GROWTH => growth::measure(GROWN_TO).await?,
            _ => context::sizes().await?,
        });
        bar.inc(1);
    }
    bar.finish_and_clear();
    print(&rows, out);
    Ok(())
}

fn known(name: &str) -> anyhow::Result<&'static str> {
    let found = NAMES.iter().find(|known| known.eq_ignore_ascii_case(name));
    found.copied().ok_or_else(|| anyhow::anyhow!("there is no bench {name}\nhint: {}", NAMES.join(" ")))
}

fn print(rows: &[BenchRow], out: &Output) {
    if out.json {
        let rows = rows.iter().map(|row| {
            json!({
                "name": row.name, "what": row.what, "ours": row.ours, "raw": row.raw, "unit": row.unit,
                "ratio": row.ratio, "target": row.target.map(RatioTarget::text),
                "met": row.target.map(|target| target.met(row.ratio)),
            })
        });
        say!("{}", json!({"rows": rows.collect::<Vec<_>>()}));
        return;
    }
    say!("| | what | ours | raw | ratio | target |\n|---|---|---|---|---|---|");
    for row in rows {
        let target = match row.target {
            Some(target) if target.met(row.ratio) => target.text(),
            Some(target) => format!("{} missed", target.text()),
            None => String::new(),
        };
        let (name, what, unit) = (row.name, &row.what, row.unit);
        let figures = format!("{} {unit} | {} {unit} | {:.2}", figure(row.ours), figure(row.raw), row.ratio);
        say!("| {name} | {what} | {figures} | {target} |");
    }
}

fn figure(value: f64) -> String {
    match value {
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Microseconds that one call takes.
pub(crate) fn time_us<T>(work: impl FnOnce() -> T) -> f64 {
    let started = Instant::now();
    std::hint::black_box(work());
    started.elapsed().as_secs_f64() * 1e6
}

/// The medians of pairs, and of their ratios.
pub(crate) fn medians(pairs: &[(f64, f64)]) -> (f64, f64, f64) {
    let of = |pick: fn(&(f64, f64)) -> f64| median(pairs.iter().map(pick).collect());
    (of(|p| p.0), of(|p| p.1), of(|p| p.0 / p.1))
}
