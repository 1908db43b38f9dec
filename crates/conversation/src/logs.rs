//! Logs: lines on standard error.
//!
//! Owns the set-up of logging, and the line of each request. A busy server writes many of these, so they are
//! written here and not by `tracing`, whose formatting takes as long as reading and answering a small
//! request; they look the same. Lines gather for a moment and are written together. A warning or an error is
//! written at once, behind the lines before it. Invariant: lines come out in the order in which they went in.

use std::cell::Cell;
use std::io::{self, IsTerminal, Write};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tracing::{Level, Metadata};
use tracing_subscriber::fmt::MakeWriter;

use crate::settings::{LogFormat, LogSettings};

/// How long the first line waits for others.
const GATHER: Duration = Duration::from_millis(20);
/// With so many bytes waiting, the next line waits until they are written.
const WAITING_BYTES_MAX: usize = 1024 * 1024;

/// Lines that wait to be written.
static WAITING: Mutex<Vec<u8>> = Mutex::new(Vec::new());
/// Notified when the first line waits. Only the writer waits for it.
static GATHERED: Condvar = Condvar::new();
/// Held from taking lines to having written them.
static WRITING: Mutex<()> = Mutex::new(());
/// The format of request lines that are written here; none while `tracing` writes them.
static REQUEST_FORMAT: OnceLock<LogFormat> = OnceLock::new();

/// Starts logging, as lines for people or as JSON.
pub fn start_logs(settings: &LogSettings) -> anyhow::Result<()> {
    let filter = tracing_subscriber::EnvFilter::try_new(format!("{},fjall=warn,lsm_tree=warn", settings.level.name()))?;
    // A terminal shows colours.
    let is_terminal = io::stderr().is_terminal();
    let logs = tracing_subscriber::fmt().with_env_filter(filter).with_writer(LogLines).with_ansi(is_terminal);
    let started = match settings.format {
        LogFormat::Json => logs.json().flatten_event(true).try_init(),
        LogFormat::Text => logs.with_target(false).try_init(),
    };
    started.map_err(|e| anyhow::anyhow!("{e}"))?;
    if !is_terminal && tracing::enabled!(Level::INFO) {
        REQUEST_FORMAT.get_or_init(|| settings.format);
    }
    std::thread::Builder::new().name("logs".to_owned()).spawn(write_gathered)?;
    Ok(())
}

/// Writes what waits. The process calls it before it ends.
pub fn flush_logs() {
    let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let lines = std::mem::take(&mut *waiting());
    // There is nowhere to report that standard error is closed.
    let _is_written = io::stderr().write_all(&lines).is_ok();
}

fn write_gathered() {
    loop {
        let is_empty = |lines: &mut Vec<u8>| lines.is_empty();
        drop(GATHERED.wait_while(waiting(), is_empty).unwrap_or_else(PoisonError::into_inner));
        std::thread::sleep(GATHER);
        flush_logs();
    }
}

fn waiting() -> MutexGuard<'static, Vec<u8>> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds a line.
fn add(line: &[u8]) {
    let mut lines = waiting();
    let is_first = lines.is_empty();
    lines.extend_from_slice(line);
    let is_full = lines.len() > WAITING_BYTES_MAX;
    drop(lines);
    match (is_full, is_first) {
        (true, _) => flush_logs(),
        (false, true) => GATHERED.notify_one(),
        (false, false) => {}
    }
}

/// Where `tracing` writes.
struct LogLines;

/// The writer of one line.
struct LineWriter {
    is_urgent: bool,
}

impl MakeWriter<'_> for LogLines {
    type Writer = LineWriter;

    fn make_writer(&self) -> LineWriter {
        LineWriter { is_urgent: true }
    }

    fn make_writer_for(&self, about: &Metadata<'_>) -> LineWriter {
        LineWriter { is_urgent: *about.level() <= Level::WARN }
    }
}

impl Write for LineWriter {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        add(line);
        if self.is_urgent {
            flush_logs();
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An answered request, for its line.
#[derive(Debug, Clone, Copy)]
pub struct AnsweredRequest<'r> {
    /// The HTTP method.
    pub method: &'r str,
    /// The pattern of the route, not the address.
    pub route: &'r str,
    /// The HTTP status.
    pub status: u16,
    /// Microseconds from the first byte to the response.
    pub took_us: u64,
    /// The id of the request.
    pub request_id: &'r str,
}

/// Logs an answered request.
pub fn log_request(answered: AnsweredRequest<'_>) {
    let AnsweredRequest { method, route, status, took_us, request_id } = answered;
    match REQUEST_FORMAT.get().filter(|_| status < 500) {
        Some(format) => {
            let mut line = Vec::with_capacity(256);
            // Writing to memory does not fail.
            let _is_written = answered.write(&mut line, *format, SystemTime::now()).is_ok();
            add(&line);
        }
        None if status < 500 => tracing::info!(%method, route, status, took_us, request_id, "answered"),
        None => tracing::error!(%method, route, status, took_us, request_id, "answered"),
    }
}

impl AnsweredRequest<'_> {
    fn write(&self, line: &mut Vec<u8>, format: LogFormat, at: SystemTime) -> serde_json::Result<()> {
        let [before, level, route, status, took, id, after]: [&[u8]; 7] = match format {
            LogFormat::Text => {
                [b"", b"  INFO answered method=", b" route=", b" status=", b" took_us=", b" request_id=", b"\n"]
            }
            LogFormat::Json => [
                b"{\"timestamp\":\"",
                b"\",\"level\":\"INFO\",\"message\":\"answered\",\"method\":\"",
                b"\",\"route\":",
                b",\"status\":",
                b",\"took_us\":",
                b",\"request_id\":",
                b",\"target\":\"novelo_server::router\"}\n",
            ],
        };
        line.extend_from_slice(before);
        write_time(line, at);
        line.extend_from_slice(level);
        line.extend_from_slice(self.method.as_bytes());
        line.extend_from_slice(route);
        serde_json::to_writer(&mut *line, self.route)?;
        line.extend_from_slice(status);
        serde_json::to_writer(&mut *line, &self.status)?;
        line.extend_from_slice(took);
        serde_json::to_writer(&mut *line, &self.took_us)?;
        line.extend_from_slice(id);
        serde_json::to_writer(&mut *line, self.request_id)?;
        line.extend_from_slice(after);
        Ok(())
    }
}

/// Bytes of a time up to its second.
const SECOND_BYTES: usize = 19;

/// Writes a time in UTC to the microsecond. The text of the last second is kept, since many lines share it.
fn write_time(line: &mut Vec<u8>, at: SystemTime) {
    thread_local! {
        static LAST: Cell<(u64, [u8; SECOND_BYTES])> = const { Cell::new((u64::MAX, [0; SECOND_BYTES])) };
    }
    let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (mut second, mut text) = LAST.get();
    if second != since.as_secs() {
        second = since.as_secs();
        let (date, of_day) = (novelo_language::iso_date(second as f64), second % 86_400);
        let shown = format!("{date}T{:02}:{:02}:{:02}", of_day / 3_600, of_day / 60 % 60, of_day % 60);
        shown.bytes().zip(&mut text).for_each(|(byte, to)| *to = byte);
        LAST.set((second, text));
    }
    line.extend_from_slice(&text);
    let micros = since.subsec_micros();
    let digit = |place: u32| b'0' + (micros / 10_u32.pow(place) % 10) as u8;
    line.extend_from_slice(&[b'.', digit(5), digit(4), digit(3), digit(2), digit(1), digit(0), b'Z']);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_line_looks_as_one_of_tracing() {
        let at = UNIX_EPOCH + Duration::from_micros(1_763_467_952_000_045);
        let request_id = r#"a"b\"#;
        let answered = AnsweredRequest { method: "GET", route: "/v1/{user}", status: 200, took_us: 7, request_id };
        let line = |format| {
            let mut line = Vec::new();
            answered.write(&mut line, format, at).unwrap();
            String::from_utf8(line).unwrap()
        };
        assert_eq!(
            line(LogFormat::Text),
            "2025-11-18T12:12:32.000045Z  INFO answered method=GET route=\"/v1/{user}\" status=200 took_us=7 \
             request_id=\"a\\\"b\\\\\"\n"
        );
        let json: serde_json::Value = serde_json::from_str(&line(LogFormat::Json)).unwrap();
        let expected = serde_json::json!({
            "timestamp": "2025-11-18T12:12:32.000045Z", "level": "INFO", "message": "answered", "method": "GET",
            "route": "/v1/{user}", "status": 200, "took_us": 7, "request_id": request_id,
            "target": "novelo_server::router",
        });
        assert_eq!(json, expected);
    }

    #[test]
    fn each_second_has_its_own_text() {
        let shown = |micros: u64| {
            let mut line = Vec::new();
            write_time(&mut line, UNIX_EPOCH + Duration::from_micros(micros));
            String::from_utf8(line).unwrap()
        };
        assert_eq!(shown(0), "1970-01-01T00:00:00.000000Z");
        assert_eq!(shown(999_999), "1970-01-01T00:00:00.999999Z");
        assert_eq!(shown(86_400_000_000 + 3_661_000_001), "1970-01-02T01:01:01.000001Z");
    }
}
