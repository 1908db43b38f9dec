//! Writes: one script call on one root, all or nothing.
//!
//! Owns the answers of the scripts. A deep merge is made here, since a script would not keep the bytes that
//! it does not touch: the script returns the stored value, and the write is sent again with the merged one;
//! if another write comes between, this is repeated. Invariant: no answer is given before the root is listed
//! and its next expiry is known, so nothing acknowledged is passed over by an export or a sweep.

use bytes::Bytes;
use novelo_engine::path::CollectionPath;
use novelo_engine::{Message, Turn};

use super::client::Command;
use super::names::RootKeys;
use super::read::with_server_run;
use super::reply_list::{ReplyList, parse, read_version};
use super::script::{APPEND, LIST, WRITE};
use super::write_args::{MergedValues, WriteArgs, WriteMode, WriteStep, copied, digits, optional, optional_time, time};
use super::{Redis, random};
use crate::Error;
use crate::merge::merge;
use crate::op::{AppendTerms, NewDocument, NewId, Op, Outcome, Stamp, check_value};
use crate::read::Version;
use crate::record::Record;
use crate::root::root;

/// Writes that come between a merge and what it was made from, before the write gives up.
const TRIES_MAX: usize = 100;

/// A script takes so many words in one command.
const APPENDED_AT_ONCE_MAX: usize = 1_000;

/// The answers to steps, and the versions of the collections that they name, as these are then.
type StepResults = (Vec<ReplyList>, Vec<Version>);

impl Redis {
    /// Writes operations that do not stand alone.
    pub(super) async fn write_together(&self, ops: &[Op]) -> Result<Vec<Outcome>, Error> {
        if let [Op::Append { to, documents, terms: AppendTerms { if_seq, keep_last: None } }] = ops
            && (1..=APPENDED_AT_ONCE_MAX).contains(&documents.len())
            && documents.iter().all(|document| matches!(document.id, NewId::Fresh(_)))
            && let Some(stamps) = self.append_fresh(to, documents, *if_seq).await?
        {
            return Ok(vec![Outcome::Appended(stamps)]);
        }
        let steps: Vec<WriteStep<'_>> = ops.iter().filter_map(WriteStep::from_op).collect();
        let server_run = steps.first().map_or(0, |step| self.server_run_of(step.collection()));
        let (answers, versions) = self.run_steps(&steps).await?;
        let outcomes = ops.iter().zip(answers).map(|(op, answer)| outcome(op, answer));
        let outcomes: Vec<Outcome> = outcomes.collect::<Result<_, _>>()?;
        if let ([Op::Append { to, documents, terms }], [Outcome::Appended(stamps)], [version]) =
            (ops, outcomes.as_slice(), versions.as_slice())
        {
            self.warm(to, documents, stamps, *version, server_run, terms.keep_last.is_some());
        }
        Ok(outcomes)
    }

    /// Runs steps: the answer to each, and the versions of the collections that they name. Where they are of
    /// several roots, which may be at several servers, each root is all or nothing, and all are checked
    /// before the first is written.
    pub(super) async fn run_steps(&self, steps: &[WriteStep<'_>]) -> Result<StepResults, Error> {
        let mut by_root: Vec<(&[Box<str>], Vec<usize>)> = Vec::new();
        for (number, step) in steps.iter().enumerate() {
            let of = root(step.collection());
            match by_root.iter_mut().find(|(root, _)| *root == of) {
                Some((_, numbers)) => numbers.push(number),
                None => by_root.push((of, vec![number])),
            }
        }
        let of_root = |numbers: &[usize]| numbers.iter().filter_map(|n| steps.get(*n)).collect::<Vec<_>>();
        for (_, numbers) in by_root.iter().filter(|_| by_root.len() > 1) {
            self.run_root(&of_root(numbers), WriteMode::Check).await?;
        }
        let (mut answers, mut versions) = (Vec::with_capacity(steps.len()), Vec::new());
        for (_, numbers) in &by_root {
            let (some, of_some) = self.run_root(&of_root(numbers), WriteMode::Do).await?;
            answers.extend(numbers.iter().copied().zip(some));
            versions.extend(of_some);
        }
        answers.sort_by_key(|(number, _)| *number);
        Ok((answers.into_iter().map(|(_, answer)| answer).collect(), versions))
    }

    /// Appends turns with generated ids, which need no search for duplicates. `None` if the script cannot.
    async fn append_fresh(
        &self,
        to: &CollectionPath,
        documents: &[NewDocument],
        if_seq: Option<u64>,
    ) -> Result<Option<Vec<Stamp>>, Error> {
        let (root, keys) = (self.0.names.root(to.segments()), self.0.names.collection(to));
        let (path, kind) = (to.segments().join("\0"), to.segments().last().map_or("", |kind| kind));
        let mut args = vec![digits(random()), path.into(), copied(kind), optional(if_seq)];
        for document in documents {
            args.extend([copied(document.id.as_str()), time(document.create_time)]);
            args.extend([optional_time(document.expires_at), document.value.clone()]);
        }
        let keys: Vec<Bytes> = root.all().into_iter().chain(keys.all()).collect();
        let server_run = self.0.client.server_run(&root.counters);
        let mut answer = ReplyList::from_reply(self.0.client.run(&APPEND, &keys, args).await?)?;
        match answer.text()?.as_ref() {
            b"ok" => {}
            b"stale" => return Err(Error::Stale { expected: answer.number()?, actual: answer.number()? }),
            _ => return Ok(None),
        }
        let unlisted = answer.text()?;
        let version = Version { last_seq: answer.number()?, epoch: answer.number()? };
        let soonest = documents.iter().filter_map(|d| d.expires_at).min_by(f64::total_cmp);
        self.tell_of(&root, unlisted, soonest).await?;
        let first = version.last_seq.saturating_sub(documents.len() as u64) + 1;
        let stamp = |(seq, document): (u64, &NewDocument)| Record::appended(document).stamp(seq, false);
        let stamps: Vec<Stamp> = (first..).zip(documents).map(stamp).collect();
        self.warm(to, documents, &stamps, version, server_run, false);
        Ok(Some(stamps))
    }

    /// Runs the steps of one root.
    async fn run_root(&self, steps: &[&WriteStep<'_>], mode: WriteMode) -> Result<StepResults, Error> {
        let mut merged = MergedValues::new();
        for _ in 0..TRIES_MAX {
            let words = WriteArgs::from_steps(steps, &merged);
            let Some(root) = words.collections.first().map(|of| self.0.names.root(of.segments())) else {
                return Ok((Vec::new(), Vec::new()));
            };
            let keys = words.collections.iter().map(|of| self.0.names.collection(of));
            let keys: Vec<Bytes> = root.all().into_iter().chain(keys.flat_map(|keys| keys.all())).collect();
            let mut answer = ReplyList::from_reply(self.0.client.run(&WRITE, &keys, words.args(mode)).await?)?;
            let path = |i: u64, id: &Bytes| words.path(i, id);
            match answer.text()?.as_ref() {
                b"ok" => return self.settled(steps, &root, answer).await,
                b"stale" => return Err(Error::Stale { expected: answer.number()?, actual: answer.number()? }),
                b"conflict" => return Err(Error::Conflict { path: path(answer.number()?, &answer.text()?) }),
                b"missing" => return Err(Error::NotFound { path: path(answer.number()?, &answer.text()?) }),
                _ => {
                    while !answer.is_empty() {
                        let (number, met, old) = (answer.number()? as usize, answer.text()?, answer.text()?);
                        let step = number.checked_sub(1).and_then(|at| steps.get(at).copied());
                        let Some(WriteStep::Put { value, .. }) = step else { return Err(Error::Busy) };
                        let new = merge(&old, value)?;
                        check_value(&new)?;
                        // What comes after it was merged with another state.
                        merged.retain(|at, _| *at < number);
                        merged.insert(number, (met, new));
                    }
                }
            }
        }
        Err(Error::Busy)
    }

    async fn settled(
        &self,
        steps: &[&WriteStep<'_>],
        root: &RootKeys,
        mut answer: ReplyList,
    ) -> Result<StepResults, Error> {
        let unlisted = answer.text()?;
        let versions = answer.list()?.map(read_version).collect::<Result<_, _>>()?;
        let answers: Vec<ReplyList> = answer.list()?.map(ReplyList::from_reply).collect::<Result<_, _>>()?;
        self.tell_of(root, unlisted, steps.iter().filter_map(|step| step.soonest()).min_by(f64::total_cmp)).await?;
        Ok((answers, versions))
    }

    /// After a script: lists the root and notes its next expiry before the caller is answered.
    async fn tell_of(&self, root: &RootKeys, unlisted: Bytes, soonest: Option<f64>) -> Result<(), Error> {
        if !unlisted.is_empty() {
            self.list(root, unlisted).await?;
        }
        match soonest {
            Some(at) => self.due(root, at).await,
            None => Ok(()),
        }
    }

    /// Adds a root to the list of roots and notes that, unless the root was forgotten since: then its next
    /// writer finds it unlisted.
    pub(super) async fn list(&self, root: &RootKeys, born: Bytes) -> Result<(), Error> {
        let listed = Command::new("ZADD").arg(self.0.names.roots()).int(0).arg(&root.member);
        self.command(&self.0.names.roots(), listed).await?;
        ReplyList::from_reply(self.0.client.run(&LIST, std::slice::from_ref(&root.counters), vec![born]).await?)
            .map(drop)
    }

    /// Makes sure that a root is swept at this time or before.
    pub(super) async fn due(&self, root: &RootKeys, at: f64) -> Result<(), Error> {
        let key = self.0.names.due();
        let due = Command::new("ZADD").arg(&key).arg("LT").arg(time(at)).arg(&root.member);
        self.command(&key, due).await.map(drop)
    }

    fn server_run_of(&self, collection: &[Box<str>]) -> u64 {
        self.0.client.server_run(&self.0.names.root(collection).counters)
    }

    /// Adds what was appended to the cached thread, if nothing else changed it and the server is still in the
    /// same run.
    fn warm(
        &self,
        of: &CollectionPath,
        documents: &[NewDocument],
        stamps: &[Stamp],
        version: Version,
        server_run: u64,
        trims: bool,
    ) {
        if server_run == 0 || server_run != self.server_run_of(of.segments()) {
            return;
        }
        let version = with_server_run(version, Some(&server_run));
        let key = self.0.names.collection(of).documents;
        let before = Version { last_seq: version.last_seq.saturating_sub(stamps.len() as u64), ..version };
        let follows = stamps.first().is_some_and(|stamp| stamp.seq == before.last_seq + 1);
        let is_new = before.last_seq == 0 && !trims;
        if !follows
            || stamps.iter().any(|stamp| stamp.existed)
            || !(is_new || self.0.thread_cache.known(&key) == Some(before))
        {
            return;
        }
        let turn = |(stamp, document): (&Stamp, &NewDocument)| Turn {
            seq: stamp.seq,
            id: stamp.id.clone(),
            create_time: stamp.create_time,
            message: Message::from_stored(Bytes::copy_from_slice(&document.value)),
        };
        let turns = stamps.iter().zip(documents).map(turn).collect();
        match is_new {
            true => self.0.thread_cache.install(&key, version, version.last_seq, 1, turns),
            false => self.0.thread_cache.extend(&key, before, version.last_seq, turns),
        }
    }
}

fn outcome(op: &Op, mut answer: ReplyList) -> Result<Outcome, Error> {
    match op {
        Op::Append { documents, .. } => {
            let stamps = documents.iter().map(|document| stamp(document.id.as_str(), &mut answer));
            stamps.collect::<Result<_, _>>().map(Outcome::Appended)
        }
        Op::Put { at, .. } => stamp(at.id(), &mut answer).map(Outcome::Put),
        Op::Delete { .. } => answer.number().map(|existed| Outcome::Deleted(existed == 1)),
        Op::Reserve(_) => Ok(Outcome::Reserved),
        _ => Ok(Outcome::Expected),
    }
}

fn stamp(id: &str, answer: &mut ReplyList) -> Result<Stamp, Error> {
    let mut stamp = answer.list()?;
    let (seq, version, create_time) = (stamp.number()?, stamp.number()?, parse(&stamp.text()?)?);
    Ok(Stamp { id: id.into(), seq, create_time, version, existed: stamp.number()? == 1 })
}
