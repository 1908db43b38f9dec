//! Forgetting in Redis.
//!
//! Removes what is at a prefix and below it, root by root, and has the servers' files rewritten. A note in
//! Redis says that files are to be cleaned, so that another node does it if this one ends first.

use bytes::Bytes;
use novelo_engine::path::{CollectionPath, Prefix};

use super::client::{Command, Reply};
use super::reply_list::{ReplyList, number, utf8};
use super::roots::Roots;
use super::script::FORGET;
use super::write_args::{WriteStep, digits};
use super::{Redis, random};
use crate::Error;
use crate::codec::below;
use crate::op::Forgotten;

/// The note that files are to be cleaned.
struct ErasureNote {
    key: Bytes,
    /// Whether there was a note before.
    had_one: bool,
}

impl Redis {
    pub(super) async fn forget(&self, what: &Prefix) -> Result<Forgotten, Error> {
        let mut forgotten = Forgotten::default();
        let note = self.note_erasure().await?;
        let (low, high) = below(what.segments());
        let mut roots = Roots::below(self, what);
        while let Some(root) = roots.next(self).await? {
            let args = vec![digits(random()), low.clone().into(), high.clone().into()];
            let mut answer = ReplyList::from_reply(self.0.client.run(&FORGET, &root.all(), args).await?)?;
            for removed in answer.list()? {
                let mut removed = ReplyList::from_reply(removed)?;
                forgotten.count(utf8(&removed.text()?)?, removed.number()?);
            }
            if answer.number()? == 1 {
                self.unlist(&root).await?;
            }
        }
        if let Some((id, collection)) = what.segments().split_last().filter(|(_, of)| of.len() % 2 == 1) {
            let of = CollectionPath::new(collection).map_err(|e| Error::Invalid(e.to_string()))?;
            let at = of.document(id).map_err(|e| Error::Invalid(e.to_string()))?;
            let removed = self.run_steps(&[WriteStep::Delete { at: &at, if_version: None }]).await?.0.pop();
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
    async fn note_erasure(&self) -> Result<ErasureNote, Error> {
        let key = self.0.names.erase();
        let note = Command::new("SET").arg(&key).int(random()).arg("GET");
        let had_one = !matches!(self.command(&key, note).await?, Reply::Nil);
        Ok(ErasureNote { key, had_one })
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
}
