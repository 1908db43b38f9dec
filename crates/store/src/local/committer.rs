//! The one writer.
//!
//! Owns the order of all writes. It takes what is waiting, applies it to one transaction, makes that durable with one
//! flush, publishes it to readers and only then answers. A job that is refused contributes nothing and disturbs nobody.
//! After a failed commit nothing is written any more: what reached the disk is then unknown until a restart.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use super::Shared;
use super::apply::{Prepared, apply};
use super::db::{COMMIT, Space};
use super::txn::{Touched, Txn};
use super::witness::Witness;
use crate::Error;
use crate::op::Outcome;

/// Jobs and bytes that one flush may carry.
const GROUP_JOBS_MAX: usize = 1_024;
const GROUP_BYTES_MAX: usize = 8 * 1024 * 1024;

/// A write that waits, and where its answer goes.
pub(super) struct Job {
    pub ops: Vec<Prepared>,
    pub answer: oneshot::Sender<Result<Vec<Outcome>, Error>>,
}

type Answer = (oneshot::Sender<Result<Vec<Outcome>, Error>>, Vec<Outcome>);

/// Runs until every sender is gone and the queue is empty.
pub(super) fn run(shared: &Arc<Shared>, mut queue: mpsc::Receiver<Job>, witness: &Witness, mut commit: u64) {
    while let Some(first) = queue.blocking_recv() {
        if let Some(why) = shared.why_read_only() {
            reply(first.answer, Err(Error::ReadOnly { why }));
            continue;
        }
        let group = AssertUnwindSafe(|| group(shared, first, &mut queue, witness, commit));
        match catch_unwind(group) {
            Ok(number) => commit = number,
            Err(_) => shared.stop_writing("the committer met something unexpected".into()),
        }
    }
}

/// One flush for everything that waits; gives the number of the last commit.
fn group(shared: &Arc<Shared>, first: Job, queue: &mut mpsc::Receiver<Job>, witness: &Witness, commit: u64) -> u64 {
    let mut txn = Txn::new(&shared.db, &shared.colls);
    let mut answers = Vec::new();
    let mut next = Some(first);
    while let Some(job) = next {
        stage(&mut txn, job, &mut answers);
        let full = answers.len() >= GROUP_JOBS_MAX || txn.bytes >= GROUP_BYTES_MAX;
        next = if full { None } else { queue.try_recv().ok() };
    }
    settle(shared, txn, answers, witness, commit)
}

fn stage(txn: &mut Txn<'_>, job: Job, answers: &mut Vec<Answer>) {
    let ops = job.ops;
    match txn.job(|txn| ops.into_iter().map(|op| apply(txn, op)).collect::<Result<Vec<_>, _>>()) {
        Ok(outcomes) => answers.push((job.answer, outcomes)),
        Err(error) => reply(job.answer, Err(error)),
    }
}

/// Commits a group and answers its jobs.
fn settle(shared: &Arc<Shared>, mut txn: Txn<'_>, answers: Vec<Answer>, witness: &Witness, commit: u64) -> u64 {
    if txn.writes.is_empty() {
        answers.into_iter().for_each(|(answer, outcomes)| reply(answer, Ok(outcomes)));
        return commit;
    }
    if let Err((free_bytes, needed_bytes)) = shared.room_for(txn.bytes as u64) {
        let full = || Error::DiskFull { free_bytes, needed_bytes };
        answers.into_iter().for_each(|(answer, _)| reply(answer, Err(full())));
        return commit;
    }
    let (number, erases) = (commit + 1, txn.erases);
    txn.put(Space::Meta, COMMIT, number.to_be_bytes().to_vec());
    if erases {
        shared.erasure.announce();
    }
    let (writes, touched) = txn.finish();
    touched.iter().filter(|t| t.changed).for_each(|t| shared.colls.begin_change(&t.coll));
    let done = shared.db.commit(writes, shared.options.relaxed).and_then(|()| attest(shared, witness, number));
    match done {
        Ok(()) => {
            publish(shared, touched);
            if erases {
                shared.erasure.request();
            }
            answers.into_iter().for_each(|(answer, outcomes)| reply(answer, Ok(outcomes)));
            number
        }
        Err(error) => {
            tracing::error!(%error, "a commit failed; the store no longer writes");
            shared.stop_writing(error.to_string());
            touched.iter().filter(|t| t.changed).for_each(|t| shared.colls.abandon_change(&t.coll));
            touched.iter().for_each(|t| shared.pulses.beat(&t.coll.key));
            answers.into_iter().for_each(|(answer, _)| reply(answer, Err(again(&error))));
            commit
        }
    }
}

fn attest(shared: &Shared, witness: &Witness, number: u64) -> Result<(), Error> {
    match shared.options.relaxed {
        true => Ok(()),
        false => witness.write(number).map_err(|e| Error::io(&shared.db.dir.join(super::witness::NAME), e)),
    }
}

/// Publishes, and then beats the pulses. A reader that took a pulse before the beat may have read what was there before
/// and must read again; one that took it after the beat finds what is published. The other way round, a reader could
/// keep the old under the new pulse for good.
fn publish(shared: &Shared, touched: Vec<Touched>) {
    for Touched { coll, known, appended, changed } in touched {
        let written = changed || !appended.is_empty();
        shared.colls.publish(&coll, known, changed, appended);
        if written {
            shared.pulses.beat(&coll.key);
        }
    }
}

/// One error for each of those who share it.
fn again(error: &Error) -> Error {
    match error {
        Error::Io { place, source } => {
            Error::Io { place: place.clone(), source: std::io::Error::new(source.kind(), source.to_string()) }
        }
        other => Error::ReadOnly { why: other.to_string() },
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
    async fn after_a_failed_commit_nothing_is_written_and_reads_go_on() {
        let dir = tempfile::tempdir().unwrap();
        let local = Local::open(dir.path(), LocalOptions::default()).await.unwrap();
        let store = Store::Local(local.clone());
        let put = async |store: &Store, id, value: &'static str| {
            store.put(&DocumentPath::new(&["notes", id]).unwrap(), value.into(), PutTerms::default()).await
        };
        put(&store, "a", "1").await.unwrap();
        local.shared().db.fails.store(true, Ordering::Relaxed);
        assert!(matches!(put(&store, "a", "2").await, Err(Error::Io { .. })));
        local.shared().db.fails.store(false, Ordering::Relaxed);
        assert!(matches!(put(&store, "b", "3").await, Err(Error::ReadOnly { .. })));
        assert!(!store.health().writable);
        let at = DocumentPath::new(&["notes", "a"]).unwrap();
        assert_eq!(store.get(&at).await.unwrap().unwrap().value, "1");
        drop((store, local));
        let store = Store::open_local(dir.path(), LocalOptions::default()).await.unwrap();
        assert_eq!(put(&store, "a", "2").await.unwrap().version, 2);
    }
}
