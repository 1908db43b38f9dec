//! Sends documents to the target.
//!
//! Owns batches, each of one root, so that a batch is stored as a whole or not at all. Several batches are
//! sent at once, but those of one root one after the other, so that its documents arrive in order. Invariant:
//! when `finish` returns, everything is stored.

use novelo_store::{Error, Exported, Op, Reserved, Store};
use tokio::task::JoinSet;

const BATCH_DOCUMENTS: usize = 500;
const BATCH_BYTES: usize = 4 * 1024 * 1024;
const BATCHES_AT_ONCE: usize = 16;
const RESERVED_AT_ONCE: usize = 500;

pub(crate) struct Copier<'t> {
    target: &'t Store,
    batch: Vec<Exported>,
    batch_bytes: usize,
    /// The root of the newest batch that was sent.
    sent: Vec<Box<str>>,
    /// Batches in flight; each returns how many of its documents were new.
    running: JoinSet<Result<u64, Error>>,
    reserved: Vec<Reserved>,
    new: u64,
}

impl<'t> Copier<'t> {
    pub fn new(target: &'t Store) -> Self {
        let (running, reserved) = (JoinSet::new(), Vec::new());
        Self { target, batch: Vec::new(), batch_bytes: 0, sent: Vec::new(), running, reserved, new: 0 }
    }

    pub async fn add(&mut self, document: Exported) -> anyhow::Result<()> {
        let is_other = self.batch.first().is_some_and(|first| root(first) != root(&document));
        if is_other || self.batch.len() >= BATCH_DOCUMENTS || self.batch_bytes >= BATCH_BYTES {
            self.send().await?;
        }
        self.batch_bytes += document.value.len();
        self.batch.push(document);
        Ok(())
    }

    /// Reserves the seqs of collections, after their documents are stored.
    pub(crate) async fn reserve(&mut self, reserved: Vec<Reserved>) -> anyhow::Result<()> {
        self.reserved.extend(reserved);
        match self.reserved.len() >= RESERVED_AT_ONCE {
            true => self.settle().await,
            false => Ok(()),
        }
    }

    /// Stores the rest. Returns how many documents were new.
    pub async fn finish(mut self) -> anyhow::Result<u64> {
        self.settle().await?;
        Ok(self.new)
    }

    async fn settle(&mut self) -> anyhow::Result<()> {
        self.send().await?;
        self.wait(0).await?;
        let mut reserved = std::mem::take(&mut self.reserved);
        while !reserved.is_empty() {
            let some = reserved.split_off(reserved.len().saturating_sub(RESERVED_AT_ONCE));
            self.target.write(some.into_iter().map(Op::Reserve).collect()).await?;
        }
        Ok(())
    }

    async fn send(&mut self) -> anyhow::Result<()> {
        let Some(root) = self.batch.first().map(|first| root(first).to_vec()) else { return Ok(()) };
        let room = if root == self.sent { 0 } else { BATCHES_AT_ONCE - 1 };
        self.wait(room).await?;
        let (target, batch) = (self.target.clone(), std::mem::take(&mut self.batch));
        (self.sent, self.batch_bytes) = (root, 0);
        self.running.spawn(async move { target.import(batch).await });
        Ok(())
    }

    /// Waits until at most this many batches are in flight.
    async fn wait(&mut self, batches: usize) -> anyhow::Result<()> {
        while self.running.len() > batches {
            if let Some(ended) = self.running.join_next().await {
                self.new += ended??;
            }
        }
        Ok(())
    }
}

/// The user of a document, or else the first segment of its path: what a store keeps together.
fn root(document: &Exported) -> &[Box<str>] {
    let segments = document.path.segments();
    let is_users = segments.len() > 2 && segments.first().is_some_and(|first| &**first == novelo_engine::scope::USERS);
    segments.get(..if is_users { 2 } else { 1 }).unwrap_or(segments)
}
