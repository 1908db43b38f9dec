//! What the server says about itself in numbers: metrics and the clock.
//!
//! Owns the counters behind `/metrics`. The clock is read here and passed on as a value.

use std::fmt::Write;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use novelo_store::Health;

/// Seconds since 1970.
pub fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

const BUCKETS_S: [f64; 12] = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10.0];

/// Counters, all since the start.
#[derive(Debug, Default)]
pub struct Metrics {
    /// Locked when a route is declared and when the page is read, by no request.
    routes: Mutex<Vec<Arc<RouteCounts>>>,
    /// Requests that took no longer than the bound, and longer than the one before it.
    latency: [AtomicU64; BUCKETS_S.len()],
    latency_count: AtomicU64,
    latency_us: AtomicU64,
    /// Turns that were stored.
    pub turns: AtomicU64,
    /// Contexts that were made.
    pub contexts: AtomicU64,
    /// Traces that were not stored because too many waited.
    pub traces_lost: AtomicU64,
    /// Prompts that a model's server cut without a word.
    pub prompts_cut: AtomicU64,
}

/// The answered requests of one route, by status.
#[derive(Debug)]
pub struct RouteCounts {
    route: Box<str>,
    /// The first places are taken, each by the first request with its status.
    statuses: [StatusCount; STATUSES_MAX],
}

#[derive(Debug, Default)]
struct StatusCount {
    /// 0 while the place is free.
    status: AtomicU16,
    count: AtomicU64,
}

/// More statuses than any route answers with. One too many is counted in the latencies alone.
const STATUSES_MAX: usize = 24;

impl RouteCounts {
    fn add(&self, status: u16) {
        let taken = |place: &&StatusCount| {
            let before = place.status.load(Ordering::Relaxed);
            before == status || before == 0 && place.take(status)
        };
        if let Some(place) = self.statuses.iter().find(taken) {
            place.count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Statuses with their counts, in order.
    fn list(&self) -> Vec<(u16, u64)> {
        let read = |place: &StatusCount| (place.status.load(Ordering::Relaxed), place.count.load(Ordering::Relaxed));
        let mut list: Vec<_> = self.statuses.iter().map(read).filter(|(_, count)| *count > 0).collect();
        list.sort_unstable();
        list
    }
}

impl StatusCount {
    /// Takes a free place for a status; whether it is the place of this status now.
    fn take(&self, status: u16) -> bool {
        let taken = self.status.compare_exchange(0, status, Ordering::Relaxed, Ordering::Relaxed);
        taken.is_ok() || taken == Err(status)
    }
}

impl Metrics {
    /// The counters of a route.
    pub fn route(&self, route: &str) -> Arc<RouteCounts> {
        let mut routes = self.routes();
        let known = routes.iter().find(|counts| &*counts.route == route).cloned();
        known.unwrap_or_else(|| {
            let counts = Arc::new(RouteCounts { route: route.into(), statuses: Default::default() });
            routes.push(counts.clone());
            counts
        })
    }

    /// Counts one answered request.
    pub fn request(&self, route: &RouteCounts, status: u16, took: Duration) {
        route.add(status);
        let seconds = took.as_secs_f64();
        if let Some((bucket, _)) = self.latency.iter().zip(BUCKETS_S).find(|(_, bound)| seconds <= *bound) {
            bucket.fetch_add(1, Ordering::Relaxed);
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
        let mut routes = self.routes().clone();
        routes.sort_unstable_by(|a, b| a.route.cmp(&b.route));
        for (route, (status, count)) in routes.iter().flat_map(|c| c.list().into_iter().map(|row| (&c.route, row))) {
            let labels = format!("route=\"{route}\",status=\"{status}\"");
            put(out, format_args!("novelo_http_requests_total{{{labels}}} {count}\n"));
        }
        put(out, format_args!("# TYPE novelo_http_request_seconds histogram\n"));
        let mut count = 0;
        for (bucket, bound) in self.latency.iter().zip(BUCKETS_S) {
            count += bucket.load(Ordering::Relaxed);
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

    fn routes(&self) -> MutexGuard<'_, Vec<Arc<RouteCounts>>> {
        self.routes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to a string does not fail");
}
