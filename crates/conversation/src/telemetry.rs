//! What the server says about itself: metrics, logs and the clock.
//!
//! Owns the counters behind `/metrics` and the set-up of logging. The clock is read here and passed on as a
//! value.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use novelo_store::Health;

use crate::settings::{LogFormat, LogSettings};

/// Seconds since 1970.
pub fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

const BUCKETS_S: [f64; 12] = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10.0];

/// Counters, all since the start.
#[derive(Debug, Default)]
pub struct Metrics {
    requests: Mutex<BTreeMap<(String, u16), u64>>,
    latency: [AtomicU64; BUCKETS_S.len()],
    latency_count: AtomicU64,
    latency_us: AtomicU64,
    pub turns: AtomicU64,
    pub contexts: AtomicU64,
    pub traces_lost: AtomicU64,
    /// Prompts that a model's server cut without a word.
    pub prompts_cut: AtomicU64,
}

impl Metrics {
    /// Counts one answered request.
    pub fn request(&self, route: &str, status: u16, took: Duration) {
        let mut requests = self.requests.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match requests.get_mut(&(route.to_owned(), status)) {
            Some(count) => *count += 1,
            None => drop(requests.insert((route.to_owned(), status), 1)),
        }
        let seconds = took.as_secs_f64();
        for (bucket, bound) in self.latency.iter().zip(BUCKETS_S) {
            if seconds <= bound {
                bucket.fetch_add(1, Ordering::Relaxed);
            }
        }
        self.latency_count.fetch_add(1, Ordering::Relaxed);
        self.latency_us.fetch_add(took.as_micros() as u64, Ordering::Relaxed);
    }

    /// The page that Prometheus reads.
    pub fn page(&self, store: &Health) -> String {
        let mut out = String::new();
        self.write_requests(&mut out);
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let rows = [
            ("turns_appended_total", "counter", read(&self.turns)),
            ("contexts_total", "counter", read(&self.contexts)),
            ("traces_lost_total", "counter", read(&self.traces_lost)),
            ("prompts_cut_total", "counter", read(&self.prompts_cut)),
            ("messages_scanned_total", "counter", novelo_engine::message::scanned()),
            ("texts_counted_total", "counter", novelo_engine::tokens::counted()),
            ("store_writable", "gauge", store.writable.into()),
            ("store_erasing", "gauge", store.erasing.into()),
            ("store_hot_bytes", "gauge", store.hot_bytes as u64),
            ("store_hot_threads", "gauge", store.hot_threads as u64),
            ("store_queue_length", "gauge", store.queue_len as u64),
            ("store_disk_bytes", "gauge", store.disk_bytes),
        ];
        for (name, kind, value) in rows {
            put(&mut out, format_args!("# TYPE novelo_{name} {kind}\nnovelo_{name} {value}\n"));
        }
        out
    }

    fn write_requests(&self, out: &mut String) {
        put(out, format_args!("# TYPE novelo_http_requests_total counter\n"));
        let requests = self.requests.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        for ((route, status), count) in requests.iter() {
            let labels = format!("route=\"{route}\",status=\"{status}\"");
            put(out, format_args!("novelo_http_requests_total{{{labels}}} {count}\n"));
        }
        put(out, format_args!("# TYPE novelo_http_request_seconds histogram\n"));
        for (bucket, bound) in self.latency.iter().zip(BUCKETS_S) {
            let count = bucket.load(Ordering::Relaxed);
            put(out, format_args!("novelo_http_request_seconds_bucket{{le=\"{bound}\"}} {count}\n"));
        }
        let count = self.latency_count.load(Ordering::Relaxed);
        let seconds = self.latency_us.load(Ordering::Relaxed) as f64 / 1e6;
        put(out, format_args!("novelo_http_request_seconds_bucket{{le=\"+Inf\"}} {count}\n"));
        put(
            out,
            format_args!("novelo_http_request_seconds_sum {seconds}\nnovelo_http_request_seconds_count {count}\n"),
        );
    }
}

fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to a string does not fail");
}

/// Starts logging to standard error, as lines for people or as JSON.
pub fn start_logs(settings: &LogSettings) -> anyhow::Result<()> {
    let filter = tracing_subscriber::EnvFilter::try_new(format!("{},fjall=warn,lsm_tree=warn", settings.level.name()))?;
    let logs = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let logs = logs.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()));
    let started = match settings.format {
        LogFormat::Json => logs.json().flatten_event(true).try_init(),
        LogFormat::Text => logs.with_target(false).try_init(),
    };
    started.map_err(|e| anyhow::anyhow!("{e}"))
}
