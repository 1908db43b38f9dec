//! What goes over many roots: import, fork, forget, sweep, export.
//!
//! Owns the walk over the list of roots. Each root is changed by a script of its own, so a root is all or nothing and several
//! are one after the other; each of these can be repeated until it is done. An export takes one root at a time, each as
//! it is at one moment; a root of more than 4 MiB page by page, each page at one moment.

use std::collections::VecDeque;

use bytes::Bytes;
use novelo_engine::path::{CollectionPath, Prefix};
use novelo_engine::scope::USERS;

use super::answer::{Answer, number, parse, text, utf8};
use super::client::{Command, Reply};
use super::names::RootKeys;
use super::script::{BELOW, FORGET, SWEEP};
use super::words::{Step, digits, time};
use super::{Redis, random};
use crate::Error;
use crate::codec::{below, collection_path};
use crate::export::{Export, Read, Rest};
use crate::op::{Exported, Forgotten, Reserved};
use crate::read::Range;
use crate::record::Record;

/// Bytes of one root after which an export lets others have their turn.
const READ_BYTES: u64 = 4 * 1024 * 1024;
/// Roots that are read from the list at once.
const ROOTS_AT_ONCE: u64 = 500;
/// Documents that one call of a sweep removes: others wait meanwhile.
const SWEPT_AT_ONCE: u64 = 500;
/// A root that has had something to sweep is looked at again after so many seconds, whatever it says.
const SWEPT_AGAIN_S: f64 = 3_600.0;

/// That files are to be cleaned.
struct Note {
    key: Bytes,
    /// Whether that was noted before.
    had_one: bool,
}

/// A walk over listed roots, in the order of their names.
#[derive(Debug)]
pub(super) struct Roots {
    ready: VecDeque<RootKeys>,
    low: Vec<u8>,
    high: Vec<u8>,
    is_over: bool,
}

impl Roots {
    /// Those whose names lie between; the second bound is not included.
    pub fn between(low: impl Into<Vec<u8>>, high: impl Into<Vec<u8>>) -> Self {
        Self { ready: VecDeque::new(), low: low.into(), high: high.into(), is_over: false }
    }

    /// The roots that hold anything at a path or below it.
    fn of(redis: &Redis, what: &Prefix) -> Self {
        match what.segments() {
            [] => Self::between(vec![1], vec![0xff]),
            [users] if &**users == USERS => Self::between(USERS, format!("{USERS}\u{1}")),
            segments => {
                let ready = [redis.0.names.root(segments)].into();
                Self { ready, low: Vec::new(), high: Vec::new(), is_over: true }
            }
        }
    }

    pub async fn next(&mut self, redis: &Redis) -> Result<Option<RootKeys>, Error> {
        if self.ready.is_empty() && !self.is_over {
            let key = redis.0.names.roots();
            let (low, high) = ([b"[", &*self.low].concat(), [b"(", &*self.high].concat());
            let page = Command::new("ZRANGEBYLEX").arg(&key).arg(low).arg(high).arg("LIMIT").int(0).int(ROOTS_AT_ONCE);
            for member in Answer::of(redis.command(&key, page).await?)? {
                self.ready.push_back(redis.0.names.listed(&text(member)?)?);
            }
            match self.ready.back() {
                // No name holds a byte below this one but the zero that divides a user's, which has no more behind it.
                Some(last) => self.low = [&*last.member, &[0, 0]].concat(),
                None => self.is_over = true,
            }
        }
        Ok(self.ready.pop_front())
    }
}

/// What an export has not come to.
#[derive(Debug)]
pub(crate) struct Unread {
    redis: Redis,
    roots: Roots,
    bounds: [Bytes; 2],
    /// A root that is too large to be read at once: where to go on in it.
    within: Option<(RootKeys, Bytes, Bytes)>,
}

impl Unread {
    /// The documents of the next root, or the next of a large one, and what is left then.
    pub async fn read(mut self) -> Result<Read, Error> {
        let (mut documents, mut reserved) = (Vec::new(), Vec::new());
        let [low, high] = self.bounds.clone();
        let (root, low, seq) = match self.within.take() {
            Some(within) => within,
            None => match self.roots.next(&self.redis).await? {
                Some(root) => (root, low, "1".into()),
                None => return Ok(Read { documents, reserved, rest: Rest::None }),
            },
        };
        let args = vec![low, high, "all".into(), seq, digits(READ_BYTES)];
        let mut answer = self.redis.below(&root, args).await?;
        answer.number()?;
        for collection in answer.list()? {
            let mut collection = Answer::of(collection)?;
            let path = collection_path(&collection.text()?)?;
            for (seq, record) in collection.records()? {
                documents.push(exported(&path, seq, record)?);
            }
            let (last_seq, newest) = (collection.number()?, collection.number()?);
            if last_seq > newest {
                reserved.push(Reserved { of: path, last_seq });
            }
        }
        let (low, seq) = (answer.text()?, answer.text()?);
        self.within = (!low.is_empty()).then_some((root, low, seq));
        Ok(Read { documents, reserved, rest: Rest::Redis(Box::new(self)) })
    }
}

impl Redis {
    /// How many documents were not there yet.
    pub(super) async fn import(&self, documents: &[Exported]) -> Result<u64, Error> {
        let mut steps: Vec<Step<'_>> = Vec::new();
        for document in documents {
            let of = document.path.collection();
            match steps.last_mut() {
                Some(Step::Import { to, documents }) if *to == of => documents.push(document),
                _ => steps.push(Step::Import { to: of, documents: vec![document] }),
            }
        }
        let (answers, _) = self.run_steps(&steps).await?;
        answers.into_iter().try_fold(0, |imported, mut answer| Ok(imported + answer.number()?))
    }

    /// Copies the turns: the two may be at different servers.
    pub(super) async fn fork(&self, from: &CollectionPath, at_seq: u64, to: &CollectionPath) -> Result<u64, Error> {
        let between = Range::Between { first: 1, last: at_seq };
        let Some(source) = self.seen(&self.0.names.collection(from), between).await? else {
            return Err(Error::NotFound { path: from.to_string() });
        };
        if at_seq > source.version.last_seq {
            return Err(Error::Invalid(format!("at_seq {at_seq} is beyond the end, {}", source.version.last_seq)));
        }
        let step = Step::Fork { to: to.clone(), born: &source.born, at_seq, turns: &source.records };
        match self.run_steps(&[step]).await?.0.pop() {
            Some(mut answer) => answer.number(),
            None => Err(Error::damaged("what Redis holds", "a fork had no answer")),
        }
    }

    pub(super) async fn forget(&self, what: &Prefix) -> Result<Forgotten, Error> {
        let mut forgotten = Forgotten::default();
        let note = self.note_erasure().await?;
        let (low, high) = below(what.segments());
        let mut roots = Roots::of(self, what);
        while let Some(root) = roots.next(self).await? {
            let args = vec![digits(random()), low.clone().into(), high.clone().into()];
            let mut answer = Answer::of(self.0.client.run(&FORGET, &root.all(), args).await?)?;
            for removed in answer.list()? {
                let mut removed = Answer::of(removed)?;
                forgotten.count(utf8(&removed.text()?)?, removed.number()?);
            }
            if answer.number()? == 1 {
                self.unlist(&root).await?;
            }
        }
        if let Some((id, collection)) = what.segments().split_last().filter(|(_, of)| of.len() % 2 == 1) {
            let of = CollectionPath::new(collection).map_err(|e| Error::Invalid(e.to_string()))?;
            let at = of.document(id).map_err(|e| Error::Invalid(e.to_string()))?;
            let removed = self.run_steps(&[Step::Delete { at: &at, if_version: None }]).await?.0.pop();
            let removed = removed.map_or(Ok(0), |mut answer| answer.number())?;
            forgotten.count(collection.last().map_or("", |name| name), removed);
        }
        match forgotten == Forgotten::default() && !note.had_one {
            // There was nothing to forget.
            true => self.command(&note.key, Command::new("DEL").arg(&note.key)).await.map(drop)?,
            false => self.0.eraser.erase(&self.0.client, note.key).await,
        }
        Ok(forgotten)
    }

    /// Notes that files are to be cleaned, so that any node does it if this one ends first.
    async fn note_erasure(&self) -> Result<Note, Error> {
        let key = self.0.names.erase();
        let note = Command::new("SET").arg(&key).int(random()).arg("GET");
        let had_one = !matches!(self.command(&key, note).await?, Reply::Nil);
        Ok(Note { key, had_one })
    }

    /// Cleans the files of what was forgotten through a node that ended before they were clean.
    pub(super) async fn resume_erasure(&self) -> Result<(), Error> {
        let key = self.0.names.erase();
        if number(&self.command(&key, Command::new("EXISTS").arg(&key)).await?)? == 1 {
            let redis = self.clone();
            tokio::spawn(async move { redis.0.eraser.erase(&redis.0.client, key).await });
        }
        Ok(())
    }

    /// Takes an empty root off the list. Whoever writes to it meanwhile has listed it before or finds it unlisted after:
    /// if it is there again by now, it is listed again.
    async fn unlist(&self, root: &RootKeys) -> Result<(), Error> {
        for key in [self.0.names.roots(), self.0.names.due()] {
            self.command(&key, Command::new("ZREM").arg(&key).arg(&root.member)).await?;
        }
        let is_back = number(&self.command(&root.pulse, Command::new("EXISTS").arg(&root.pulse)).await?)? == 1;
        match is_back {
            true => {
                let born = self.command(&root.pulse, Command::new("HGET").arg(&root.pulse).arg("born")).await?;
                if let Reply::Text(born) = born {
                    self.list(root, born).await?;
                }
                // What it has that expires may have been noted before.
                self.due(root, 0.0).await
            }
            false => Ok(()),
        }
    }

    /// A root's time is moved on before it is swept, and back to its next expiry after that. So whoever writes something
    /// that expires meanwhile is either seen by the sweep, or moves the time back by itself.
    pub(super) async fn sweep(&self, now: f64) -> Result<u64, Error> {
        let key = self.0.names.due();
        let mut swept = 0;
        loop {
            let due = Command::new("ZRANGEBYSCORE").arg(&key).arg("-inf").arg(time(now));
            let due = self.command(&key, due.arg("LIMIT").int(0).int(ROOTS_AT_ONCE)).await?;
            let due: Vec<Bytes> = Answer::of(due)?.map(text).collect::<Result<_, _>>()?;
            if due.is_empty() {
                return Ok(swept);
            }
            for member in due {
                let later = Command::new("ZADD").arg(&key).arg("XX").arg(time(now + SWEPT_AGAIN_S)).arg(&member);
                self.command(&key, later).await?;
                swept += self.sweep_root(&self.0.names.listed(&member)?, now).await?;
            }
        }
    }

    async fn sweep_root(&self, root: &RootKeys, now: f64) -> Result<u64, Error> {
        let mut swept = 0;
        loop {
            let args = vec![digits(random()), time(now), digits(SWEPT_AT_ONCE)];
            let mut answer = Answer::of(self.0.client.run(&SWEEP, &root.all(), args).await?)?;
            let (some, next) = (answer.number()?, answer.text()?);
            swept += some;
            if some < SWEPT_AT_ONCE {
                if !next.is_empty() {
                    self.due(root, parse(&next)?).await?;
                }
                return Ok(swept);
            }
        }
    }

    pub(crate) async fn export(&self, what: &Prefix) -> Result<Export, Error> {
        let (low, high) = below(what.segments());
        let bounds = [Bytes::from(low), Bytes::from(high)];
        let mut hint = 0;
        let mut roots = Roots::of(self, what);
        while let Some(root) = roots.next(self).await? {
            let args = bounds.iter().cloned().chain(["count".into()]).collect();
            hint += self.below(&root, args).await?.number()?;
        }
        let single = self.single(what).await?;
        hint += u64::from(single.is_some());
        let unread = Unread { redis: self.clone(), roots: Roots::of(self, what), bounds, within: None };
        Ok(Export::new(single, Rest::Redis(Box::new(unread)), hint))
    }

    /// The document that the prefix itself names.
    async fn single(&self, what: &Prefix) -> Result<Option<Exported>, Error> {
        let Some((id, collection)) = what.segments().split_last().filter(|(_, of)| of.len() % 2 == 1) else {
            return Ok(None);
        };
        let of = CollectionPath::new(collection).map_err(|e| Error::Invalid(e.to_string()))?;
        let found = self.record(&of, id).await?;
        found.map(|(seq, record)| exported(&of, seq, record)).transpose()
    }

    async fn below(&self, root: &RootKeys, args: Vec<Bytes>) -> Result<Answer, Error> {
        Answer::of(self.0.client.run(&BELOW, std::slice::from_ref(&root.collections), args).await?)
    }

    /// What a script says of each root, with the root's name.
    pub(super) async fn every_root(&self, tell: &'static super::client::Script) -> Result<Vec<Reply>, Error> {
        let (mut roots, mut told) = (Roots::of(self, &Prefix::all()), Vec::new());
        while let Some(root) = roots.next(self).await? {
            told.extend(Answer::of(self.0.client.run(tell, &root.all(), Vec::new()).await?)?);
        }
        Ok(told)
    }
}

fn exported(collection: &CollectionPath, seq: u64, record: Record) -> Result<Exported, Error> {
    let path = collection.document(&record.id).map_err(|e| Error::damaged(collection.to_string(), e.to_string()))?;
    let Record { version, create_time, expires_at, value, .. } = record;
    Ok(Exported { path, seq, create_time, version, expires_at, value })
}
