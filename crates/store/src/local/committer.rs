//! The one writer.
//!
//! Owns the order of all writes. It takes what is waiting, applies it to one transaction, makes that durable
//! with one flush, publishes it to readers and only then answers. A job that is refused contributes nothing
//! and disturbs nobody. Between two groups it removes a few documents of forgotten collections. After a
//! failed commit nothing is written until the database was reopened, which is tried on a timer and for a
//! write that waits.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use tokio::sync::mpsc::error::TryRecvError;
use tokio::sync::{mpsc, oneshot};

use super::apply::{PreparedOp, apply};
use super::db::{COMMIT, Space};
use super::doomed::DoomedSweep;
use super::open::Opened;
use super::recovery;
use super::state::LocalState;
use super::txn::{TouchedCollection, Txn};
use super::witness::Witness;
use crate::Error;
use crate::op::Outcome;

/// Jobs and bytes that one flush may carry.
const GROUP_JOBS_MAX: usize = 1_024;
const GROUP_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Documents of forgotten collections that are removed between two groups.
const STEP_DOCUMENTS: usize = 1_000;
/// How often the database is asked whether one of its threads failed.
const LOOK: Duration = Duration::from_secs(1);
const SWEEP_RETRY: Duration = Duration::from_secs(1);

/// A write that waits, and where its answer goes.
pub(super) struct Job {
    pub ops: Vec<PreparedOp>,
    pub answer: oneshot::Sender<Result<Vec<Outcome>, Error>>,
}

type StagedAnswer = (oneshot::Sender<Result<Vec<Outcome>, Error>>, Vec<Outcome>);

pub(super) struct Committer {
    pub shared: Arc<LocalState>,
    pub queue: mpsc::Receiver<Job>,
    pub witness: Witness,
    /// Waits for jobs with a time limit.
    pub timer: Runtime,
    /// The number of the last commit.
    pub commit: u64,
    /// While documents of forgotten collections are stored, and when the next of them are removed.
    pub sweep: Option<(DoomedSweep, Instant)>,
    /// What was logged of it last.
    pub sweep_error: String,
}

/// What there is to do.
enum NextWork {
    Job(Job),
    Nothing,
    Closed,
}

impl Committer {
    /// Runs until every sender is gone and the queue is empty.
    pub fn run(mut self) {
        loop {
            let job = match self.next() {
                NextWork::Job(job) => Some(job),
                NextWork::Nothing => None,
                NextWork::Closed => return,
            };
            if !self.is_writing(job.is_some()) {
                job.into_iter().for_each(|job| reply(job.answer, Err(self.shared.refusal())));
                continue;
            }
            let shared = self.shared.clone();
            if catch_unwind(AssertUnwindSafe(|| self.work(job))).is_err() {
                shared.outage.begin("the committer met something unexpected".into());
            }
        }
    }

    fn next(&mut self) -> NextWork {
        if self.sweep_is_due() {
            return match self.queue.try_recv() {
                Ok(job) => NextWork::Job(job),
                Err(TryRecvError::Empty) => NextWork::Nothing,
                Err(TryRecvError::Disconnected) => NextWork::Closed,
            };
        }
        let wait = self.shared.outage.next_try_in(false).unwrap_or(LOOK).min(LOOK);
        match self.timer.block_on(async { tokio::time::timeout(wait, self.queue.recv()).await }) {
            Ok(Some(job)) => NextWork::Job(job),
            Ok(None) => NextWork::Closed,
            Err(_) => NextWork::Nothing,
        }
    }

    fn sweep_is_due(&self) -> bool {
        self.sweep.as_ref().is_some_and(|(_, due)| *due <= Instant::now()) && !self.shared.outage.is_on()
    }

    /// Whether there is a database that can be written to; tries to reopen it if need be.
    fn is_writing(&mut self, for_a_write: bool) -> bool {
        if !for_a_write && let Some(Err(error)) = self.shared.cell.peek().map(|db| db.check_alive()) {
            self.shared.outage.begin(error.to_string());
        }
        match self.shared.outage.next_try_in(for_a_write) {
            None => return true,
            Some(wait) if !wait.is_zero() => return false,
            Some(_) => {}
        }
        match recovery::reopen(&self.shared) {
            Ok(opened) => self.resume(opened),
            Err(error) => {
                self.shared.outage.continues(&error);
                return false;
            }
        }
        true
    }

    fn resume(&mut self, Opened { db, commit, erases }: Opened) {
        self.commit = commit;
        self.sweep = erases.then(|| (DoomedSweep::default(), Instant::now()));
        self.shared.cell.put(db);
        self.shared.change_counters.add_to_all();
        self.shared.outage.end();
        self.shared.erasure.resume(erases);
    }

    fn work(&mut self, job: Option<Job>) {
        if let Some(first) = job {
            self.group(first);
        }
        if self.sweep_is_due() {
            self.sweep();
        }
    }

    /// One flush for everything that waits. `make instructions` counts it by its name.
    #[inline(never)]
    fn group(&mut self, first: Job) {
        let shared = self.shared.clone();
        let mut txn = match shared.cell.get() {
            Ok(db) => Txn::new(db, &shared.cache),
            Err(error) => return reply(first.answer, Err(error)),
        };
        let mut answers = Vec::new();
        let mut next = Some(first);
        while let Some(job) = next {
            stage(&mut txn, job, &mut answers);
            let full = answers.len() >= GROUP_JOBS_MAX || txn.bytes >= GROUP_BYTES_MAX;
            next = if full { None } else { self.queue.try_recv().ok() };
        }
        self.settle(txn, answers);
    }

    /// Commits a group and answers its jobs.
    fn settle(&mut self, txn: Txn<'_>, answers: Vec<StagedAnswer>) {
        let shared = self.shared.clone();
        if txn.writes.is_empty() {
            return answers.into_iter().for_each(|(answer, outcomes)| reply(answer, Ok(outcomes)));
        }
        let needed = 2 * txn.bytes as u64;
        if shared.room_for(needed).is_err() {
            let refused = || shared.room_for(needed).err().unwrap_or(Error::Busy);
            return answers.into_iter().for_each(|(answer, _)| reply(answer, Err(refused())));
        }
        let erases = txn.erases;
        if erases {
            shared.erasure.announce();
        }
        match self.commit(txn, shared.options.relaxed) {
            Ok(touched) => {
                publish(&shared, touched);
                if erases {
                    self.sweep = Some((DoomedSweep::default(), Instant::now()));
                }
                answers.into_iter().for_each(|(answer, outcomes)| reply(answer, Ok(outcomes)));
            }
            Err(error) => {
                let why = format!("{error}; whether this write is stored is known when the store has recovered");
                answers.into_iter().for_each(|(answer, _)| reply(answer, Err(Error::ReadOnly { why: why.clone() })));
            }
        }
    }

    /// Makes a transaction durable. If that fails, there is an outage.
    fn commit(&mut self, mut txn: Txn<'_>, relaxed: bool) -> Result<Vec<TouchedCollection>, Error> {
        let shared = &self.shared;
        let number = self.commit + 1;
        txn.put(Space::Meta, COMMIT, number.to_be_bytes().to_vec());
        let (db, writes, touched) = txn.finish();
        touched.iter().filter(|t| t.changed).for_each(|t| shared.cache.begin_change(&t.cached));
        let done = db.commit(writes, relaxed).and_then(|()| match relaxed {
            true => Ok(()),
            false => attest(shared, &self.witness, number),
        });
        match done {
            Ok(()) => {
                self.commit = number;
                Ok(touched)
            }
            Err(error) => {
                shared.outage.begin(error.to_string());
                shared.note_failure();
                touched.iter().filter(|t| t.changed).for_each(|t| shared.cache.abandon_change(&t.cached));
                touched.iter().for_each(|t| shared.change_counters.add(&t.cached.key));
                Err(error)
            }
        }
    }

    /// Removes some documents of forgotten collections. Nobody waits for the flush: after a power loss they
    /// are removed again.
    fn sweep(&mut self) {
        let shared = self.shared.clone();
        let Some((mut sweep, _)) = self.sweep.take() else { return };
        let stepped = shared.cell.get().and_then(|db| {
            shared.room_for(0)?;
            let mut txn = Txn::new(db, &shared.cache);
            let is_done = txn.job(|txn| sweep.step(txn, STEP_DOCUMENTS))?;
            if !txn.writes.is_empty() {
                self.commit(txn, true)?;
            }
            Ok(is_done)
        });
        match stepped {
            Ok(true) => shared.erasure.request(),
            Ok(false) => self.sweep = Some((sweep, Instant::now())),
            Err(error) => {
                let why = error.to_string();
                if self.sweep_error != why {
                    tracing::warn!(%why, "what was forgotten is still stored, where nobody reaches it; this is tried again");
                    self.sweep_error = why;
                }
                self.sweep = Some((DoomedSweep::default(), Instant::now() + SWEEP_RETRY));
            }
        }
    }
}

fn stage(txn: &mut Txn<'_>, job: Job, answers: &mut Vec<StagedAnswer>) {
    let ops = job.ops;
    match txn.job(|txn| ops.into_iter().map(|op| apply(txn, op)).collect::<Result<Vec<_>, _>>()) {
        Ok(outcomes) => answers.push((job.answer, outcomes)),
        Err(error) => reply(job.answer, Err(error)),
    }
}

fn attest(shared: &LocalState, witness: &Witness, number: u64) -> Result<(), Error> {
    witness.write(number).map_err(|e| Error::io(&shared.cell.dir.join(super::witness::NAME), e))
}

/// Publishes first and counts afterwards. A reader that took the counter before may have read the old state
/// and must read again; one that takes it afterwards finds what is published. In the other order a reader
/// could keep the old state under the new counter.
fn publish(shared: &LocalState, touched: Vec<TouchedCollection>) {
    for TouchedCollection { cached, known, appended, changed } in touched {
        let written = changed || !appended.is_empty();
        shared.cache.publish(&cached, known, changed, appended);
        if written {
            shared.change_counters.add(&cached.key);
        }
    }
}

/// A caller that stopped waiting does not undo its write.
fn reply(answer: oneshot::Sender<Result<Vec<Outcome>, Error>>, outcome: Result<Vec<Outcome>, Error>) {
    drop(answer.send(outcome));
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use novelo_engine::path::DocumentPath;

    use crate::{Error, Local, LocalOptions, PutTerms, Store};

    #[tokio::test]
    async fn after_a_failed_commit_reads_go_on_and_the_store_recovers() {
        let dir = tempfile::tempdir().unwrap();
        let local = Local::open(dir.path(), LocalOptions::default()).await.unwrap();
        let store = Store::Local(local.clone());
        let put = async |store: &Store, id, value: &'static str| {
            store.put(&DocumentPath::new(&["notes", id]).unwrap(), value.into(), PutTerms::default()).await
        };
        put(&store, "a", "1").await.unwrap();
        local.shared().cell.peek().unwrap().fails.store(true, Ordering::Relaxed);
        assert!(matches!(put(&store, "a", "2").await, Err(Error::ReadOnly { .. })));
        assert!(matches!(put(&store, "b", "3").await, Err(Error::ReadOnly { .. })), "too early to try");
        let health = store.health();
        assert!(!health.writable && health.why.unwrap().contains("tries again by itself"));
        let at = DocumentPath::new(&["notes", "a"]).unwrap();
        assert_eq!(store.get(&at).await.unwrap().unwrap().value, "1");
        let started = std::time::Instant::now();
        while !store.health().writable {
            assert!(started.elapsed() < std::time::Duration::from_secs(30), "{:?}", store.health().why);
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        assert_eq!(put(&store, "a", "2").await.unwrap().version, 2);
    }
}
