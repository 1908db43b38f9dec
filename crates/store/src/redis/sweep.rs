//! Removing what has expired, from every root that is due.

use bytes::Bytes;

use super::client::Command;
use super::names::RootKeys;
use super::reply_list::{ReplyList, parse, text};
use super::roots::ROOTS_AT_ONCE;
use super::script::SWEEP;
use super::write_args::{digits, time};
use super::{Redis, random};
use crate::Error;

/// Documents that one call of a sweep removes: others wait meanwhile.
const SWEPT_AT_ONCE: u64 = 500;
/// A root that was swept is looked at again after so many seconds in any case.
const SWEPT_AGAIN_S: f64 = 3_600.0;

impl Redis {
    /// A root's time is moved on before it is swept, and back to its next expiry after that. So a document
    /// that is written meanwhile is either seen by the sweep, or its writer moves the time back.
    pub(super) async fn sweep(&self, now: f64) -> Result<u64, Error> {
        let key = self.0.names.due();
        let mut swept = 0;
        loop {
            let due = Command::new("ZRANGEBYSCORE").arg(&key).arg("-inf").arg(time(now));
            let due = self.command(&key, due.arg("LIMIT").int(0).int(ROOTS_AT_ONCE)).await?;
            let due: Vec<Bytes> = ReplyList::from_reply(due)?.map(text).collect::<Result<_, _>>()?;
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
            let mut answer = ReplyList::from_reply(self.0.client.run(&SWEEP, &root.all(), args).await?)?;
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
}
