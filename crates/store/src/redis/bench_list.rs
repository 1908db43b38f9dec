//! A plain Redis list over the same connections, as the baseline of a benchmark.

use bytes::Bytes;

use super::Redis;
use super::client::{Command, Reply};
use super::reply_list::ReplyList;
use crate::Error;

impl Redis {
    /// `RPUSH` of one value.
    pub async fn push_raw(&self, list: &str, value: &[u8]) -> Result<(), Error> {
        let key = Bytes::copy_from_slice(list.as_bytes());
        self.command(&key, Command::sized("RPUSH", value.len() + list.len() + 32).arg(&key).arg(value)).await.map(drop)
    }

    /// `LRANGE` of the last values.
    pub async fn last_raw(&self, list: &str, count: usize) -> Result<Vec<Bytes>, Error> {
        let key = Bytes::copy_from_slice(list.as_bytes());
        let range = Command::new("LRANGE").arg(&key).arg(format!("-{count}")).arg("-1");
        let values = ReplyList::from_reply(self.command(&key, range).await?)?;
        Ok(values.filter_map(|value| if let Reply::Text(value) = value { Some(value) } else { None }).collect())
    }

    /// `UNLINK` of a list.
    pub async fn remove_raw(&self, list: &str) -> Result<(), Error> {
        let key = Bytes::copy_from_slice(list.as_bytes());
        self.command(&key, Command::new("UNLINK").arg(&key)).await.map(drop)
    }
}
