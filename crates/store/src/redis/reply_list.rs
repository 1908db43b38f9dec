//! Reading the replies of a server.
//!
//! Owns the shapes of replies, and what each refusal of a server means for a caller. A reply of another shape
//! than our scripts give is damage: something else wrote to our keys.

use bytes::Bytes;

use super::client::Reply;
use crate::Error;
use crate::read::Version;
use crate::record::Record;

/// A list whose parts are taken from the front.
pub(super) struct ReplyList(std::vec::IntoIter<Reply>);

impl ReplyList {
    pub(crate) fn from_reply(reply: Reply) -> Result<Self, Error> {
        match reply {
            Reply::List(parts) => Ok(Self(parts.into_iter())),
            Reply::Refused(why) => Err(refused(why)),
            _ => Err(unexpected()),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.as_slice().is_empty()
    }

    pub fn take(&mut self) -> Result<Reply, Error> {
        self.0.next().ok_or_else(unexpected)
    }

    pub fn text(&mut self) -> Result<Bytes, Error> {
        text(self.take()?)
    }

    pub fn number(&mut self) -> Result<u64, Error> {
        number(&self.take()?)
    }

    pub fn list(&mut self) -> Result<Self, Error> {
        Self::from_reply(self.take()?)
    }

    /// The ids and the records that belong to them, which come as two lists.
    pub(crate) fn records(&mut self) -> Result<Vec<(u64, Record)>, Error> {
        let (ids, records) = (self.list()?, self.list()?);
        ids.0.zip(records.0).map(|(id, record)| read_record(utf8(&text(id)?)?, text(record)?)).collect()
    }
}

impl Iterator for ReplyList {
    type Item = Reply;

    fn next(&mut self) -> Option<Reply> {
        self.0.next()
    }
}

pub(super) fn text(reply: Reply) -> Result<Bytes, Error> {
    match reply {
        Reply::Text(text) => Ok(text),
        Reply::Refused(why) => Err(refused(why)),
        _ => Err(unexpected()),
    }
}

/// A number that came as one or as digits; nothing is 0.
pub(super) fn number(reply: &Reply) -> Result<u64, Error> {
    match reply {
        Reply::Nil => Ok(0),
        Reply::Int(number) => u64::try_from(*number).map_err(|_| unexpected()),
        Reply::Text(digits) => parse(digits),
        Reply::Refused(why) => Err(refused(why.clone())),
        Reply::List(_) => Err(unexpected()),
    }
}

pub(super) fn parse<T: std::str::FromStr>(digits: &[u8]) -> Result<T, Error> {
    utf8(digits)?.parse().map_err(|_| unexpected())
}

pub(super) fn utf8(bytes: &[u8]) -> Result<&str, Error> {
    std::str::from_utf8(bytes).map_err(|_| unexpected())
}

/// A collection's last seq and epoch; both are 0 where there is none.
pub(super) fn read_version(reply: Reply) -> Result<Version, Error> {
    let mut answer = ReplyList::from_reply(reply)?;
    Ok(Version { last_seq: answer.number()?, epoch: answer.number()? })
}

/// A record as `scripts/record.lua` writes it, with its seq.
pub(super) fn read_record(id: &str, record: Bytes) -> Result<(u64, Record), Error> {
    let read = || {
        let cut = record.iter().position(|byte| *byte == b'\n')?;
        let head = std::str::from_utf8(record.get(..cut)?).ok()?;
        let [seq, version, create_time, expires_at] = head.split(' ').collect::<Vec<_>>().try_into().ok()?;
        let expires_at = if expires_at.is_empty() { None } else { Some(expires_at.parse().ok()?) };
        let record = Record {
            id: id.into(),
            version: version.parse().ok()?,
            create_time: create_time.parse().ok()?,
            expires_at,
            value: record.slice(cut + 1..),
        };
        Some((seq.parse().ok()?, record))
    };
    read().ok_or_else(|| Error::damaged(format!("the record of {id}"), "its first line is not one of ours"))
}

/// The error for a refusal: the server cannot take writes now, or its data is damaged.
pub(super) fn refused(why: String) -> Error {
    let passing = [
        "TRYAGAIN",
        "ERR Script attempted to access a non local key",
        "OOM",
        "MISCONF",
        "BUSY",
        "LOADING",
        "READONLY",
        "NOREPLICAS",
        "CLUSTERDOWN",
        "MASTERDOWN",
    ];
    match passing.iter().any(|word| why.starts_with(word)) {
        true => Error::Unavailable { why: format!("Redis refuses for now: {why}"), retry_after_s: 1 },
        false => Error::damaged("what Redis holds", format!("Redis says: {why}")),
    }
}

fn unexpected() -> Error {
    Error::damaged("what Redis holds", "an answer has not the form that our scripts give")
}
