//! Exports from Redis.
//!
//! An export reads one root at a time, each as it is at one moment. A root of more than 4 MiB is read page by
//! page, each page as it is at one moment.

use bytes::Bytes;
use novelo_engine::path::{CollectionPath, Prefix};

use super::Redis;
use super::names::RootKeys;
use super::reply_list::ReplyList;
use super::roots::Roots;
use super::script::BELOW;
use super::write_args::digits;
use crate::Error;
use crate::codec::{below, collection_path};
use crate::op::{Exported, Reserved};
use crate::read::{ExportBatch, ExportStart};

/// Bytes of one root that are read in one call, since other callers wait meanwhile.
const READ_BYTES: u64 = 4 * 1024 * 1024;

/// The part of an export that is not read yet.
#[derive(Debug)]
pub(crate) struct RedisExport {
    redis: Redis,
    roots: Roots,
    bounds: [Bytes; 2],
    /// Where to continue in a root that is too large to be read at once.
    within: Option<(RootKeys, Bytes, Bytes)>,
}

impl RedisExport {
    /// The documents of the next root, or the next page of a large one, and the rest of the export.
    pub async fn read(mut self) -> Result<(ExportBatch, Option<Self>), Error> {
        let mut batch = ExportBatch::default();
        let [low, high] = self.bounds.clone();
        let (root, low, seq) = match self.within.take() {
            Some(within) => within,
            None => match self.roots.next(&self.redis).await? {
                Some(root) => (root, low, "1".into()),
                None => return Ok((batch, None)),
            },
        };
        let args = vec![low, high, "all".into(), seq, digits(READ_BYTES)];
        let mut answer = self.redis.below(&root, args).await?;
        answer.number()?;
        for collection in answer.list()? {
            let mut collection = ReplyList::from_reply(collection)?;
            let path = collection_path(&collection.text()?)?;
            for (seq, record) in collection.records()? {
                batch.documents.push(record.into_exported(&path, seq)?);
            }
            let (last_seq, newest) = (collection.number()?, collection.number()?);
            if last_seq > newest {
                batch.reserved.push(Reserved { of: path, last_seq });
            }
        }
        let (low, seq) = (answer.text()?, answer.text()?);
        self.within = (!low.is_empty()).then_some((root, low, seq));
        Ok((batch, Some(self)))
    }
}

impl Redis {
    pub(crate) async fn export(&self, what: &Prefix) -> Result<ExportStart<RedisExport>, Error> {
        let (low, high) = below(what.segments());
        let bounds = [Bytes::from(low), Bytes::from(high)];
        let mut hint = 0;
        let mut roots = Roots::below(self, what);
        while let Some(root) = roots.next(self).await? {
            let args = bounds.iter().cloned().chain(["count".into()]).collect();
            hint += self.below(&root, args).await?.number()?;
        }
        let single = self.single(what).await?;
        hint += u64::from(single.is_some());
        let rest = RedisExport { redis: self.clone(), roots: Roots::below(self, what), bounds, within: None };
        Ok(ExportStart { single, rest, documents_hint: hint })
    }

    /// The document that the prefix itself names.
    async fn single(&self, what: &Prefix) -> Result<Option<Exported>, Error> {
        let Some((id, collection)) = what.segments().split_last().filter(|(_, of)| of.len() % 2 == 1) else {
            return Ok(None);
        };
        let of = CollectionPath::new(collection).map_err(|e| Error::Invalid(e.to_string()))?;
        let found = self.record(&of, id).await?;
        found.map(|(seq, record)| record.into_exported(&of, seq)).transpose()
    }

    async fn below(&self, root: &RootKeys, args: Vec<Bytes>) -> Result<ReplyList, Error> {
        ReplyList::from_reply(self.0.client.run(&BELOW, std::slice::from_ref(&root.collections), args).await?)
    }
}
