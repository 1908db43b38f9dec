//! The list of roots, and the walk over it.
//!
//! A root is a user, or the first segment of a path. All keys of a root are at one server and are changed by
//! one script, so an operation on one root is all or nothing. An operation on several roots changes one after
//! the other and can be repeated until it is done.

use std::collections::VecDeque;

use novelo_engine::path::Prefix;
use novelo_engine::scope::USERS;

use super::Redis;
use super::client::{Command, Reply, Script};
use super::names::RootKeys;
use super::reply_list::{ReplyList, number, text};
use crate::Error;

/// Roots that are read from the list at once.
pub(super) const ROOTS_AT_ONCE: u64 = 500;

/// A walk over listed roots, in the order of their names.
#[derive(Debug)]
pub(super) struct Roots {
    ready: VecDeque<RootKeys>,
    low: Vec<u8>,
    high: Vec<u8>,
    is_over: bool,
}

impl Roots {
    /// The roots with names from `low` to `high`, without `high`.
    pub fn between(low: impl Into<Vec<u8>>, high: impl Into<Vec<u8>>) -> Self {
        Self { ready: VecDeque::new(), low: low.into(), high: high.into(), is_over: false }
    }

    /// The roots that hold anything at a path or below it.
    pub fn below(redis: &Redis, what: &Prefix) -> Self {
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
            for member in ReplyList::from_reply(redis.command(&key, page).await?)? {
                self.ready.push_back(redis.0.names.listed(&text(member)?)?);
            }
            match self.ready.back() {
                // No name holds a byte below this one but the zero that divides a user's, which has no more
                // behind it.
                Some(last) => self.low = [&*last.member, &[0, 0]].concat(),
                None => self.is_over = true,
            }
        }
        Ok(self.ready.pop_front())
    }
}

impl Redis {
    /// Takes an empty root off the list. A node that writes to it meanwhile has listed it before, or finds it
    /// unlisted afterwards; so if it exists again by now, it is listed again.
    pub(super) async fn unlist(&self, root: &RootKeys) -> Result<(), Error> {
        for key in [self.0.names.roots(), self.0.names.due()] {
            self.command(&key, Command::new("ZREM").arg(&key).arg(&root.member)).await?;
        }
        let is_back = number(&self.command(&root.counters, Command::new("EXISTS").arg(&root.counters)).await?)? == 1;
        match is_back {
            true => {
                let born = self.command(&root.counters, Command::new("HGET").arg(&root.counters).arg("born")).await?;
                if let Reply::Text(born) = born {
                    self.list(root, born).await?;
                }
                // What it has that expires may have been noted before.
                self.due(root, 0.0).await
            }
            false => Ok(()),
        }
    }

    /// The findings of a script for every root.
    pub(super) async fn every_root(&self, tell: &'static Script) -> Result<Vec<Reply>, Error> {
        let (mut roots, mut told) = (Roots::below(self, &Prefix::all()), Vec::new());
        while let Some(root) = roots.next(self).await? {
            told.extend(ReplyList::from_reply(self.0.client.run(tell, &root.all(), Vec::new()).await?)?);
        }
        Ok(told)
    }
}
