//! `novelo bench load`: an open load on a running server or cluster.
//!
//! Owns the clock of the load. Turns begin at fixed times, whether or not earlier ones have ended, and the
//! response time of a turn counts from when it should have begun. A server that stalls is so charged for
//! every turn that had to wait (coordinated omission). The service time, from when a turn did begin, is
//! printed beside it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use hdrhistogram::Histogram;
use hyper::Method;
use novelo_conversation::ids;
use novelo_conversation::outbound::{Outbound, Unanswered};
use novelo_server::cli::{LoadArgs, LoadWork, Output, progress_bar};
use novelo_server::{complain, say};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::raw::message;
use super::thread::LAST;

/// How long one request may take.
const REQUEST_WAIT: Duration = Duration::from_secs(30);
/// How long turns that have begun may take when no more begin.
const END_WAIT: Duration = Duration::from_secs(60);
/// Forgets that run at once at the end.
const FORGETS: usize = 16;
/// Longer times count as this one.
const HOUR_US: u64 = 3_600_000_000;
const RATE_MAX: f64 = 1_000_000.0;
const CONTEXT_TOKENS: u32 = 4_000;
const SHARES: [(&str, f64); 5] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999), ("max", 1.0)];

pub(crate) async fn run(args: &LoadArgs, out: &Output) -> anyhow::Result<()> {
    ensure!(args.rate > 0.0 && args.rate <= RATE_MAX, "--rate must be above 0 and at most {RATE_MAX}");
    ensure!(args.users > 0, "--users must be at least 1");
    ensure!(args.connections > 0, "--connections must be at least 1");
    ensure!(args.seconds > 0.0 && args.seconds.is_finite(), "--seconds must be above 0");
    let load = Arc::new(Load::open(args).await?);
    let took = load.begin_turns(args).await;
    if !args.keep {
        load.forget_users(args).await?;
    }
    let measured = load.measured();
    ensure!(measured.done() > 0, "no turn was done\ncause: {}", measured.first_failure.as_deref().unwrap_or("none"));
    print(args, &measured, took, out);
    Ok(())
}

/// What all turns of a load share.
struct Load {
    nodes: Vec<Outbound>,
    /// What the names of its users begin with.
    name: String,
    work: LoadWork,
    running: Semaphore,
    measured: Mutex<Measured>,
}

struct Measured {
    /// Microseconds from when a turn should have begun.
    response: Histogram<u64>,
    /// Microseconds from when it began.
    service: Histogram<u64>,
    /// Microseconds by which the clock of the load was late.
    late: Histogram<u64>,
    failed: BTreeMap<String, u64>,
    first_failure: Option<String>,
}

impl Measured {
    fn new() -> anyhow::Result<Self> {
        let histogram = || Histogram::new_with_bounds(1, HOUR_US, 3).context("no histogram");
        let (failed, first_failure) = (BTreeMap::new(), None);
        Ok(Self { response: histogram()?, service: histogram()?, late: histogram()?, failed, first_failure })
    }

    fn done(&self) -> u64 {
        self.response.len()
    }

    fn failed(&self) -> u64 {
        self.failed.values().sum()
    }

    fn fail(&mut self, kind: &str, text: impl FnOnce() -> String) {
        *self.failed.entry(kind.to_owned()).or_default() += 1;
        self.first_failure.get_or_insert_with(text);
    }
}

impl Load {
    async fn open(args: &LoadArgs) -> anyhow::Result<Self> {
        let nodes: Vec<Outbound> =
            args.url.iter().map(|url| Outbound::new(url.trim(), &args.key)).collect::<Result<_, _>>()?;
        ensure!(!nodes.is_empty(), "--url needs an address");
        for node in &nodes {
            node.call(Method::GET, "/health/ready", String::new(), REQUEST_WAIT).await?;
        }
        let measured = Mutex::new(Measured::new()?);
        let running = Semaphore::new(args.connections);
        Ok(Self { nodes, name: format!("load-{}", ids::short()), work: args.work, running, measured })
    }

    fn measured(&self) -> std::sync::MutexGuard<'_, Measured> {
        self.measured.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins all turns at their times, and waits for their ends. Returns how long that took.
    async fn begin_turns(self: &Arc<Self>, args: &LoadArgs) -> Duration {
        let started = Instant::now();
        let turns = (args.rate * args.seconds).ceil() as u64;
        let bar = progress_bar(turns);
        let mut running = JoinSet::new();
        for turn in 0..turns {
            let due = started + Duration::from_secs_f64(turn as f64 / args.rate);
            if Instant::now() < due {
                tokio::time::sleep_until(due.into()).await;
            }
            self.measured().late.saturating_record(micros(due.elapsed()));
            let (load, user) = (Arc::clone(self), turn % args.users);
            running.spawn(async move { load.turn(turn, user, due).await });
            while running.try_join_next().is_some() {
                bar.inc(1);
            }
        }
        let ends = tokio::time::timeout(END_WAIT, async {
            while running.join_next().await.is_some() {
                bar.inc(1);
            }
        });
        if ends.await.is_err() {
            let (left, mut measured) = (running.len(), self.measured());
            (0..left).for_each(|_| measured.fail("not ended", || format!("turns took longer than {END_WAIT:?}")));
        }
        bar.finish_and_clear();
        started.elapsed()
    }

    async fn turn(&self, turn: u64, user: u64, due: Instant) {
        let Ok(_permit) = self.running.acquire().await else { return };
        let began = Instant::now();
        let node = self.nodes.get(turn as usize % self.nodes.len());
        let result = match node {
            Some(node) => self.requests(node, user).await,
            None => Ok(()),
        };
        let mut measured = self.measured();
        match result {
            Ok(()) => {
                measured.response.saturating_record(micros(due.elapsed()));
                measured.service.saturating_record(micros(began.elapsed()));
            }
            Err(failure) => measured.fail(&kind(&failure), || failure.to_string()),
        }
    }

    async fn requests(&self, node: &Outbound, user: u64) -> Result<(), Unanswered> {
        let name = format!("{}-{user}", self.name);
        let turns = format!("/v1/users/{name}/threads/t/turns");
        let append = |role: &str| format!(r#"{{"messages":[{}]}}"#, String::from_utf8_lossy(&message(role, 1)));
        node.call(Method::POST, &turns, append("user"), REQUEST_WAIT).await?;
        match self.work {
            LoadWork::Turn => {
                node.call(Method::GET, &format!("{turns}?last={LAST}"), String::new(), REQUEST_WAIT).await?;
            }
            LoadWork::Context => {
                let body = json!({"user": name, "thread": "t", "preset": "chat", "budget_tokens": CONTEXT_TOKENS});
                node.call(Method::POST, "/v1/context", body.to_string(), REQUEST_WAIT).await?;
            }
        }
        node.call(Method::POST, &turns, append("assistant"), REQUEST_WAIT).await?;
        Ok(())
    }

    /// Forgets every user of the load. What cannot be forgotten is said, with the names.
    async fn forget_users(self: &Arc<Self>, args: &LoadArgs) -> anyhow::Result<()> {
        let begun = ((args.rate * args.seconds).ceil() as u64).min(args.users);
        let bar = progress_bar(begun);
        bar.set_message("forgetting");
        let permits = Arc::new(Semaphore::new(FORGETS));
        let mut running = JoinSet::new();
        for user in 0..begun {
            let permit = Arc::clone(&permits).acquire_owned().await?;
            let load = Arc::clone(self);
            running.spawn(async move {
                let _permit = permit;
                let (path, node) = (format!("/v1/users/{}-{user}", load.name), load.nodes.first());
                match node {
                    Some(node) => node.call(Method::DELETE, &path, String::new(), REQUEST_WAIT).await.map(drop),
                    None => Ok(()),
                }
            });
        }
        let mut left = 0;
        while let Some(ended) = running.join_next().await {
            left += u64::from(!matches!(ended, Ok(Ok(()))));
            bar.inc(1);
        }
        bar.finish_and_clear();
        if left > 0 {
            complain!("warning: {left} users of the load were not forgotten; their names begin with {}-", self.name);
        }
        Ok(())
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// What failures are counted by.
fn kind(failure: &Unanswered) -> String {
    match failure {
        Unanswered::Slow(..) => "too slow".to_owned(),
        Unanswered::Down(..) => "not reached".to_owned(),
        Unanswered::Refused(_, status, _) => format!("status {status}"),
    }
}

fn print(args: &LoadArgs, measured: &Measured, took: Duration, out: &Output) {
    let rate = measured.done() as f64 / took.as_secs_f64();
    let times = [("response", &measured.response), ("service", &measured.service), ("late", &measured.late)];
    let at = |histogram: &Histogram<u64>, share| histogram.value_at_quantile(share) as f64 / 1e3;
    if out.json {
        let times = times.map(|(name, histogram)| {
            let shares = SHARES.map(|(share, at_share)| (share.to_owned(), json!(at(histogram, at_share))));
            (format!("{name}_ms"), Value::Object(shares.into_iter().collect()))
        });
        let mut report = json!({
            "rate": args.rate, "done_per_second": rate, "turns": measured.done(), "failed": measured.failed(),
            "failures": measured.failed, "first_failure": measured.first_failure, "seconds": took.as_secs_f64(),
        });
        if let Value::Object(report) = &mut report {
            report.extend(times);
        }
        say!("{report}");
        return;
    }
    let (done, failed) = (measured.done(), measured.failed());
    say!("{} turns/s asked for, {rate:.1} done: {done} turns, {failed} failed, {:.1} s", args.rate, took.as_secs_f64());
    say!("\n| ms | {} |\n|---{}|", SHARES.map(|(name, _)| name).join(" | "), "|---".repeat(SHARES.len()));
    for (name, histogram) in times {
        say!("| {name} | {} |", SHARES.map(|(_, share)| format!("{:.2}", at(histogram, share))).join(" | "));
    }
    for (kind, count) in &measured.failed {
        say!("\nfailed, {kind}: {count}");
    }
    if let Some(first) = &measured.first_failure {
        say!("first: {first}");
    }
}
