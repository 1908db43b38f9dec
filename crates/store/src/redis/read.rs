//! Reads: by id, by seq, by time, and lists.
//!
//! Owns how a cached thread is brought up to date. Every read asks Redis for the version first;
//! what is cached is served only under that version, so a turn that another node wrote is seen by the
//! next read here.

use bytes::Bytes;
use novelo_engine::path::{CollectionPath, DocumentPath};
use novelo_engine::scope::USERS;
use novelo_engine::{Message, Turn};

use super::Redis;
use super::client::{Command, Reply, Script};
use super::names::{CollectionKeys, RootKeys};
use super::reply_list::{ReplyList, number, parse, read_record, read_version, text, utf8};
use super::roots::Roots;
use super::script::{COUNT, NEWEST, SCAN, THREADS, TURNS};
use super::write_args::{copied, digits, optional_time};
use crate::Error;
use crate::read::{Document, Newest, Page, Range, ThreadRow, ThreadStats, Turns, Version, Window};
use crate::record::Record;

/// Turns that are cached of a thread, at least, if it has so many.
const READY_TURNS: usize = 64;
/// A cached thread that is further behind than this is read again.
const BEHIND_MAX: u64 = 256;
/// How often a read starts again because its server did.
const SERVER_RUNS_MAX: usize = 5;
/// Versions that are asked for at once.
const VERSIONS_AT_ONCE: usize = 1_000;

/// A collection as a script found it.
pub(super) struct CollectionSnapshot {
    pub version: Version,
    pub count: u64,
    pub has_more: bool,
    /// Distinguishes it from a collection that had its path before.
    pub born: Bytes,
    pub records: Vec<(u64, Record)>,
}

impl CollectionSnapshot {
    fn turns(self) -> Turns {
        let (stats, has_more) = (self.stats(), self.has_more);
        Turns::from_list(turns(self.records), stats, has_more)
    }

    fn stats(&self) -> ThreadStats {
        ThreadStats { last_seq: self.version.last_seq, epoch: self.version.epoch, count: self.count }
    }
}

impl Redis {
    pub(crate) async fn get(&self, at: &DocumentPath) -> Result<Option<Document>, Error> {
        let found = self.record(&at.collection(), at.id()).await?;
        Ok(found.map(|(seq, record)| record.into_document(seq)))
    }

    pub(super) async fn record(&self, of: &CollectionPath, id: &str) -> Result<Option<(u64, Record)>, Error> {
        let key = self.0.names.collection(of).documents;
        match self.command(&key, Command::new("HGET").arg(&key).arg(format!(":{id}"))).await? {
            Reply::Nil => Ok(None),
            found => read_record(id, text(found)?).map(Some),
        }
    }

    pub(crate) async fn turns(&self, of: &CollectionPath, range: Range) -> Result<Turns, Error> {
        let keys = self.0.names.collection(of);
        let key = &keys.documents;
        if let Some(known) = self.0.thread_cache.known(key) {
            let version = self.version(of).await?;
            if let Some(turns) = self.0.thread_cache.serve(key, version, range) {
                return Ok(turns);
            }
            let behind = version.last_seq.saturating_sub(known.last_seq);
            if known.epoch == version.epoch
                && (1..=BEHIND_MAX).contains(&behind)
                && let Some(turns) = self.catch_up(&keys, known, range).await?
            {
                return Ok(turns);
            }
        }
        match range {
            Range::Last(count) => self.last(&keys, count).await,
            _ => Ok(self.seen(&keys, range).await?.map(CollectionSnapshot::turns).unwrap_or_default()),
        }
    }

    /// Adds what other nodes appended; `None` if something else changed, too.
    async fn catch_up(&self, keys: &CollectionKeys, known: Version, range: Range) -> Result<Option<Turns>, Error> {
        let behind = Range::After { seq: known.last_seq, limit: 2 * BEHIND_MAX as usize };
        let Some(seen) = self.seen(keys, behind).await? else { return Ok(None) };
        if seen.has_more || seen.version.epoch != known.epoch {
            return Ok(None);
        }
        let key = &keys.documents;
        self.0.thread_cache.extend(key, known, seen.version.last_seq, turns(seen.records));
        Ok(self.0.thread_cache.serve(key, seen.version, range))
    }

    async fn last(&self, keys: &CollectionKeys, count: usize) -> Result<Turns, Error> {
        let Some(seen) = self.seen(keys, Range::Last(count.max(READY_TURNS))).await? else {
            return Ok(Turns::default());
        };
        let first = match seen.has_more {
            true => seen.records.first().map_or(u64::MAX, |(seq, _)| *seq),
            false => 1,
        };
        let (version, stats, key, all) = (seen.version, seen.stats(), &keys.documents, turns(seen.records));
        self.0.thread_cache.install(key, version, stats.count, first, all.clone());
        let skipped = all.len().saturating_sub(count);
        let has_more = seen.has_more || skipped > 0;
        Ok(Turns::from_list(all.into_iter().skip(skipped).collect(), stats, has_more))
    }

    /// The records of a range, with the version at that moment; `None` if there is no such collection.
    pub(super) async fn seen(&self, keys: &CollectionKeys, range: Range) -> Result<Option<CollectionSnapshot>, Error> {
        let args = match range {
            Range::Last(count) => vec!["last".into(), digits(count as u64)],
            Range::After { seq, limit } => vec!["after".into(), digits(seq), digits(limit as u64)],
            Range::Between { first, last } => vec!["between".into(), digits(first), digits(last)],
        };
        self.snapshot(keys, &TURNS, args).await
    }

    /// What a script found in a collection, with the version at that moment.
    async fn snapshot(
        &self,
        keys: &CollectionKeys,
        script: &'static Script,
        args: Vec<Bytes>,
    ) -> Result<Option<CollectionSnapshot>, Error> {
        let key = std::slice::from_ref(&keys.documents);
        let all = keys.all();
        let (reply, server_runs) =
            self.within_one_server_run(key, || self.0.client.run(script, &all, args.clone())).await?;
        let mut answer = ReplyList::from_reply(reply)?;
        if answer.is_empty() {
            return Ok(None);
        }
        let version = with_server_run(
            Version { last_seq: answer.number()?, epoch: parse(&answer.text()?)? },
            server_runs.first(),
        );
        let (count, has_more) = (answer.number()?, answer.number()? == 1);
        Ok(Some(CollectionSnapshot { version, count, has_more, born: answer.text()?, records: answer.records()? }))
    }

    pub(crate) async fn newest_turns(&self, of: &CollectionPath, choice: Newest) -> Result<Turns, Error> {
        let args = vec![
            optional_time(choice.begin),
            optional_time(choice.end),
            digits(choice.first_seq),
            digits(choice.last_seq),
            digits(choice.limit.min(u32::MAX as usize) as u64),
        ];
        let found = self.snapshot(&self.0.names.collection(of), &NEWEST, args).await?;
        Ok(found.map_or_else(Turns::default, |mut found| {
            found.records.sort_by_key(|(seq, _)| *seq);
            found.turns()
        }))
    }

    pub(crate) async fn count_within(
        &self,
        of: &CollectionPath,
        begin: Option<f64>,
        end: Option<f64>,
    ) -> Result<u64, Error> {
        let args = vec![optional_time(begin), optional_time(end)];
        number(&self.0.client.run(&COUNT, &self.0.names.collection(of).all(), args).await?)
    }

    pub(crate) async fn scan(&self, of: &CollectionPath, window: Window) -> Result<Page<Document>, Error> {
        let after = window.after;
        let args = vec![
            optional_time(window.begin),
            optional_time(window.end),
            optional_time(after.map(|cursor| cursor.create_time)),
            after.map_or_else(Bytes::new, |cursor| digits(cursor.seq)),
            digits(window.limit.min(u32::MAX as usize) as u64),
        ];
        let keys = self.0.names.collection(of);
        let mut answer = ReplyList::from_reply(self.0.client.run(&SCAN, &keys.all(), args).await?)?;
        let has_more = answer.number()? == 1;
        let items = answer.records()?.into_iter().map(|(seq, record)| record.into_document(seq)).collect();
        Ok(Page { items, has_more })
    }

    pub(crate) async fn threads(
        &self,
        under: &CollectionPath,
        child: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Page<ThreadRow>, Error> {
        let of = under.segments().join("\0");
        let (base, high) = (format!("{of}\0"), format!("{of}\u{1}"));
        let low = after.map_or_else(|| base.clone(), |id| format!("{base}{id}\u{1}"));
        if of != USERS {
            return self.threads_of(&self.0.names.root(under.segments()), [base, low, high], child, limit).await;
        }
        let (mut page, mut roots) = (Page { items: Vec::new(), has_more: false }, Roots::between(low, high));
        while let Some(root) = roots.next(self).await? {
            let user = String::from_utf8_lossy(&root.member).into_owned();
            let bounds = [base.clone(), format!("{user}\0"), format!("{user}\u{1}")];
            let found = self.threads_of(&root, bounds, child, 1).await?;
            if !found.items.is_empty() && page.items.len() == limit {
                return Ok(Page { has_more: true, ..page });
            }
            page.items.extend(found.items);
        }
        Ok(page)
    }

    async fn threads_of(
        &self,
        root: &RootKeys,
        [base, low, high]: [String; 3],
        child: &str,
        limit: usize,
    ) -> Result<Page<ThreadRow>, Error> {
        let args = vec![base.into(), low.into(), high.into(), copied(child), digits(limit as u64)];
        let key = std::slice::from_ref(&root.collections);
        let mut answer = ReplyList::from_reply(self.0.client.run(&THREADS, key, args).await?)?;
        let has_more = answer.number()? == 1;
        let row = |row: Reply| {
            let mut row = ReplyList::from_reply(row)?;
            let (id, turns, updated_at) = (row.text()?, row.number()?, parse(&row.text()?)?);
            Ok(ThreadRow { id: utf8(&id)?.into(), turns, updated_at })
        };
        Ok(Page { items: answer.list()?.map(row).collect::<Result<_, Error>>()?, has_more })
    }

    pub(crate) async fn version(&self, of: &CollectionPath) -> Result<Version, Error> {
        let key = self.0.names.collection(of).documents;
        let one = std::slice::from_ref(&key);
        let (reply, server_runs) = self.within_one_server_run(one, || self.command(&key, version_of(&key))).await?;
        Ok(with_server_run(read_version(reply)?, server_runs.first()))
    }

    /// Reads while the servers of these keys stay in the same run: which runs these are is a part of each
    /// version, since a server that lost what it had answered gives the same seqs again to other turns.
    async fn within_one_server_run<F: Future<Output = Result<Reply, Error>>>(
        &self,
        keys: &[Bytes],
        read: impl Fn() -> F,
    ) -> Result<(Reply, Vec<u64>), Error> {
        let server_runs = || keys.iter().map(|key| self.0.client.server_run(key)).collect::<Vec<_>>();
        for _ in 0..SERVER_RUNS_MAX {
            let before = server_runs();
            let found = read().await?;
            if before == server_runs() {
                return Ok((found, before));
            }
        }
        Err(Error::Unavailable { why: "the servers of Redis change again and again".into(), retry_after_s: 1 })
    }

    pub(crate) async fn versions(&self, of: &[CollectionPath]) -> Result<Vec<Version>, Error> {
        let mut versions = Vec::with_capacity(of.len());
        for some in of.chunks(VERSIONS_AT_ONCE) {
            let keys: Vec<Bytes> = some.iter().map(|of| self.0.names.collection(of).documents).collect();
            let calls = || keys.iter().map(|key| (key.clone(), version_of(key))).collect();
            let read = || async { self.0.client.all(calls()).await.map(Reply::List) };
            let (replies, server_runs) = self.within_one_server_run(&keys, read).await?;
            for (reply, server_run) in ReplyList::from_reply(replies)?.zip(&server_runs) {
                versions.push(with_server_run(read_version(reply)?, Some(server_run)));
            }
        }
        Ok(versions)
    }

    /// A user's document is in the collection `users`, outside of every user's root, so the counter of that
    /// collection is added to the counter of each user.
    pub(crate) async fn change_counter<S: AsRef<str>>(&self, path: &[S]) -> Result<u64, Error> {
        let path: Vec<&str> = path.iter().map(AsRef::as_ref).collect();
        let roots = match path.as_slice() {
            [USERS, user, ..] => vec![vec![USERS, user], vec![USERS]],
            _ => vec![path],
        };
        let call = |root: Vec<&str>| {
            let key = self.0.names.root(&root).counters;
            let command = Command::new("HGET").arg(&key).arg("all");
            (key, command)
        };
        let counters = self.0.client.all(roots.into_iter().map(call).collect()).await?;
        counters.iter().try_fold(0u64, |sum, counter| Ok(sum.wrapping_add(number(counter)?)))
    }

    pub(crate) async fn change_counter_of_kind<S: AsRef<str>>(&self, root: &[S], kind: &str) -> Result<u64, Error> {
        let key = self.0.names.root(root).counters;
        number(&self.command(&key, Command::new("HGET").arg(&key).arg(format!(":{kind}"))).await?)
    }
}

fn version_of(key: &Bytes) -> Command {
    Command::new("HMGET").arg(key).arg("last").arg("epoch")
}

/// A version as it is in one run of its server.
pub(super) fn with_server_run(version: Version, server_run: Option<&u64>) -> Version {
    match version.epoch {
        0 => version,
        epoch => Version { epoch: epoch ^ server_run.copied().unwrap_or_default(), ..version },
    }
}

fn turns(records: Vec<(u64, Record)>) -> Vec<Turn> {
    let turn = |(seq, record): (u64, Record)| Turn {
        seq,
        id: record.id,
        create_time: record.create_time,
        message: Message::from_stored(record.value),
    };
    records.into_iter().map(turn).collect()
}
