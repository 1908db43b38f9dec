//! An export under way.
//!
//! Owns the documents that are read and not yet taken; the back-end reads the next ones when these are gone.
//! Documents come in the order of their paths and seqs. A collection may have given seqs beyond its last
//! document; these are reported beside the documents, since no document says it.

use std::collections::VecDeque;

use crate::Error;
use crate::local::LocalExport;
use crate::op::{Exported, Reserved};
use crate::read::{ExportBatch, ExportStart};
use crate::redis::RedisExport;

/// The documents below a prefix, read in batches.
#[derive(Debug)]
pub struct Export {
    ready: VecDeque<Exported>,
    reserved: Vec<Reserved>,
    rest: ExportRest,
    documents_hint: u64,
}

/// Where the documents come from that are not read yet.
#[derive(Debug)]
enum ExportRest {
    None,
    Local(LocalExport),
    Redis(Box<RedisExport>),
}

impl Export {
    pub(crate) fn from_memory(ExportBatch { documents, reserved }: ExportBatch) -> Self {
        let documents_hint = documents.len() as u64;
        Self { ready: documents.into(), reserved, rest: ExportRest::None, documents_hint }
    }

    pub(crate) fn from_local(ExportStart { single, rest, documents_hint }: ExportStart<LocalExport>) -> Self {
        let ready = single.into_iter().collect();
        Self { ready, reserved: Vec::new(), rest: ExportRest::Local(rest), documents_hint }
    }

    pub(crate) fn from_redis(ExportStart { single, rest, documents_hint }: ExportStart<RedisExport>) -> Self {
        let ready = single.into_iter().collect();
        Self { ready, reserved: Vec::new(), rest: ExportRest::Redis(Box::new(rest)), documents_hint }
    }

    /// About how many documents there are, for a progress bar.
    pub fn documents_hint(&self) -> u64 {
        self.documents_hint
    }

    /// The next document; after an error there are no more.
    pub async fn next(&mut self) -> Option<Result<Exported, Error>> {
        while self.ready.is_empty() {
            let read = match std::mem::replace(&mut self.rest, ExportRest::None) {
                ExportRest::None => return None,
                ExportRest::Local(rest) => rest.read().await.map(|(batch, rest)| (batch, rest.map(ExportRest::Local))),
                ExportRest::Redis(rest) => {
                    rest.read().await.map(|(batch, rest)| (batch, rest.map(|rest| ExportRest::Redis(Box::new(rest)))))
                }
            };
            match read {
                Ok((ExportBatch { documents, reserved }, rest)) => {
                    self.ready = documents.into();
                    self.reserved.extend(reserved);
                    self.rest = rest.unwrap_or(ExportRest::None);
                }
                Err(error) => return Some(Err(error)),
            }
        }
        self.ready.pop_front().map(Ok)
    }

    /// The seqs that collections which were read to their end have given beyond their last document. Each is
    /// returned once.
    pub fn take_reserved(&mut self) -> Vec<Reserved> {
        std::mem::take(&mut self.reserved)
    }

    /// All documents at once.
    pub async fn all(mut self) -> Result<Vec<Exported>, Error> {
        let mut all = Vec::new();
        while let Some(document) = self.next().await {
            all.push(document?);
        }
        Ok(all)
    }
}
