//! The store over a disk that fails: every write, sync, open and rename of a history is, one after the other,
//! the last before a kill or a power loss, torn in its middle, or refused by the operating system.
//!
//! The law: what was acknowledged is there afterwards; what was not is there as a whole or not at all; and
//! after a failure that passes, the same process goes on writing. `shim.c` is the disk; it is loaded into a
//! child, which is this test again. The parent knows the operations of the child, and opens what the child
//! left, as it is and as a power loss would leave it.
//!
//! By default every call of the first history is the last before a kill, every second one fails, and some
//! calls of the longer history with a forget do either; `NOVELO_FAULTS=all cargo nextest run -p novelo-store
//! --test faults` tries every call of both.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a panic is how a test fails")]

mod child;
mod disk;
mod history;

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use novelo_engine::path::Prefix;
use novelo_store::{Exported, LocalOptions, Store};

use disk::{Disk, Fault};
use history::History;

/// What the store holds after each operation of a history.
type States = Vec<Vec<Exported>>;

async fn states(history: History) -> States {
    let model = Store::memory();
    let mut states = vec![Vec::new()];
    for op in history.ops() {
        drop(model.write(op).await);
        states.push(everything(&model).await);
    }
    states
}

async fn everything(store: &Store) -> Vec<Exported> {
    store.export(&Prefix::all()).await.unwrap().all().await.unwrap()
}

/// Opens what is left of a store, and says what it holds; a finding of the check is an error.
async fn reopened(dir: &Path) -> Result<Vec<Exported>, String> {
    let store = Store::open_local(dir, LocalOptions::default()).await.map_err(|error| error.to_string())?;
    match store.check().await.unwrap().first() {
        Some(finding) => Err(format!("{}: {}", finding.place, finding.what)),
        None => Ok(everything(&store).await),
    }
}

/// Runs the history with one fault, and says what is wrong with what is left.
async fn try_fault(history: History, states: &States, fault: Fault) -> Result<(), String> {
    let disk = Disk::new();
    let done = disk.run_child(history, fault)?;
    let expected = match (fault, done.is_finished) {
        (_, true) => &states[states.len() - 1..],
        (Fault::Fail { .. }, false) => {
            return Err(format!("the child gave up after {} operations: {}", done.acknowledged, done.last_error));
        }
        (_, false) => &states[done.acknowledged..=(done.acknowledged + 1).min(states.len() - 1)],
    };
    for (how, dir) in [("a power loss", disk.after_power_loss()), ("the end of the process", disk.dir())] {
        let found = reopened(&dir).await.map_err(|error| format!("after {how} it does not open: {error}"))?;
        if !expected.contains(&found) {
            let (count, acked) = (found.len(), done.acknowledged);
            let wanted = expected[0].len();
            return Err(format!("after {how} {count} documents, not the {wanted} of {acked} acknowledged operations"));
        }
    }
    Ok(())
}

/// Tries faults on both cores, and reports all that went wrong.
fn try_all(history: History, faults: &[Fault]) {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let states = runtime().block_on(states(history));
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let runtime = runtime();
                while let Some(fault) = faults.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(what) = runtime.block_on(try_fault(history, &states, *fault)) {
                        wrong.lock().unwrap().push(format!("{fault:?}: {what}"));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {} faults:\n{}", wrong.len(), faults.len(), wrong.join("\n"));
}

fn tries_all() -> bool {
    std::env::var("NOVELO_FAULTS").is_ok_and(|faults| faults == "all")
}

/// The calls of a history without a fault, by their letters.
fn calls(history: History) -> Vec<char> {
    let disk = Disk::new();
    let done = disk.run_child(history, Fault::None).unwrap();
    assert!(done.is_finished, "{}", done.last_error);
    let calls = disk.calls();
    for class in ['o', 'w', 's'] {
        assert!(calls.contains(&class), "the layer sees no call of class {class}");
    }
    calls
}

fn kills(calls: &[char]) -> impl Iterator<Item = Fault> + '_ {
    calls.iter().enumerate().map(|(at, class)| match class {
        'w' => Fault::Torn { at: at + 1 },
        _ => Fault::Kill { at: at + 1 },
    })
}

fn failures(calls: &[char]) -> impl Iterator<Item = Fault> + '_ {
    calls.iter().enumerate().map(|(at, class)| Fault::Fail { at: at + 1, class: *class })
}

#[test]
fn what_was_acknowledged_survives_a_kill_and_a_power_loss_at_every_call() {
    let calls = calls(History::Short);
    try_all(History::Short, &kills(&calls).collect::<Vec<_>>());
}

#[test]
fn after_any_call_that_fails_once_the_same_process_goes_on_writing() {
    let calls = calls(History::Short);
    let step = if tries_all() { 1 } else { 2 };
    try_all(History::Short, &failures(&calls).step_by(step).collect::<Vec<_>>());
}

#[test]
fn while_the_disk_fails_reads_go_on_and_then_writes_by_themselves() {
    const EMFILE: i32 = 24;
    const ENOSPC: i32 = 28;
    const EIO: i32 = 5;
    for (classes, errno) in [("ows", EMFILE), ("w", ENOSPC), ("s", EIO), ("owsrtum", EIO)] {
        let disk = Disk::new();
        disk.run_outage("child::outage", classes, errno);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        for dir in [disk.after_power_loss(), disk.dir()] {
            let found = runtime.block_on(reopened(&dir)).unwrap();
            let values: Vec<_> = found.iter().map(|document| &*document.value).collect();
            assert_eq!(values, [&b"1"[..], b"2"], "{classes} {errno}");
        }
    }
}

#[test]
fn an_erasure_that_fails_is_tried_again_until_it_is_done() {
    let disk = Disk::new();
    disk.run_outage("child::erasure", "m", 28);
    assert_eq!(disk.files_with(child::SECRET), 0);
}

/// A forget fills a whole journal, so each try takes longer.
#[test]
fn a_forget_survives_a_kill_a_power_loss_and_a_failure() {
    let calls = calls(History::Forgetting);
    let step = if tries_all() { 1 } else { (calls.len() / 6).max(1) };
    let faults: Vec<_> = kills(&calls).step_by(step).chain(failures(&calls).skip(step / 2).step_by(step)).collect();
    try_all(History::Forgetting, &faults);
}
