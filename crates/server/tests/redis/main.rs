//! Several nodes over one Redis: what one wrote the others read at once, and neither a node nor a server of
//! Redis that is killed takes anything along that was acknowledged.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a panic is how a test fails")]

#[path = "../support/mod.rs"]
mod support;

mod answering;
mod closed;
mod doctor;
mod evicts;
mod fails_over;
mod killed;
mod load;
mod outage;
mod read;
mod stale;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use support::{Answer, Client, Value, thread};

/// For as long as anyone would wait for a cluster to find itself again.
const PATIENCE: Duration = Duration::from_secs(120);

/// What a client does that got no answer, or was asked to come back: it sends the same to the next node.
fn insist(client: &Client, method: &str, path: &str, body: &Value) -> Answer {
    let started = Instant::now();
    loop {
        let outcome = client.try_call(method, path, body.to_string().as_bytes());
        match outcome {
            Ok(answer) if answer.status != 503 => return answer,
            last => assert!(started.elapsed() < PATIENCE, "{method} {path}: {last:?}"),
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Ends the threads that run until `done` is set, also when the thread that holds this panics: a scope waits
/// for its threads, so without this a failed assertion would hang the test.
struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Asks again and again until it is so.
#[track_caller]
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < PATIENCE, "{what}: not in {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Where the turns of a thread are.
fn turns_of(user: &str, of: &str) -> String {
    thread(user, of, "/turns")
}
