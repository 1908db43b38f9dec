//! Documents on their way out.
//!
//! Owns those that are read and not yet taken; the back-end reads the next ones when these are gone. They come in the
//! order of their paths and seqs. What a collection has given and holds no more is told beside them, since no document
//! says it.

use std::collections::VecDeque;

use crate::op::{Exported, Reserved};
use crate::{Error, local, redis};

/// An export under way.
#[derive(Debug)]
pub struct Export {
    ready: VecDeque<Exported>,
    reserved: Vec<Reserved>,
    rest: Rest,
    documents_hint: u64,
}

/// What a back-end has read, and what is left then.
#[derive(Debug)]
pub(crate) struct Read {
    pub documents: Vec<Exported>,
    /// Of collections that are read to their end.
    pub reserved: Vec<Reserved>,
    pub rest: Rest,
}

/// Where the documents come from that are not read yet.
#[derive(Debug)]
pub(crate) enum Rest {
    None,
    Local(local::Unread),
    Redis(Box<redis::Unread>),
}

impl Export {
    pub(crate) fn new(ready: impl IntoIterator<Item = Exported>, rest: Rest, documents_hint: u64) -> Self {
        Self { ready: ready.into_iter().collect(), reserved: Vec::new(), rest, documents_hint }
    }

    /// About how many there are, for a progress bar.
    pub fn documents_hint(&self) -> u64 {
        self.documents_hint
    }

    /// The next document; after an error there are no more.
    pub async fn next(&mut self) -> Option<Result<Exported, Error>> {
        while self.ready.is_empty() {
            let read = match std::mem::replace(&mut self.rest, Rest::None) {
                Rest::None => return None,
                Rest::Local(unread) => unread.read().await,
                Rest::Redis(unread) => unread.read().await,
            };
            match read {
                Ok(read) => {
                    self.ready = read.documents.into();
                    self.reserved.extend(read.reserved);
                    self.rest = read.rest;
                }
                Err(error) => return Some(Err(error)),
            }
        }
        self.ready.pop_front().map(Ok)
    }

    /// What collections that were read have given beyond their last document, told once.
    pub fn take_reserved(&mut self) -> Vec<Reserved> {
        std::mem::take(&mut self.reserved)
    }

    pub(crate) fn with_reserved(self, reserved: Vec<Reserved>) -> Self {
        Self { reserved, ..self }
    }

    /// All of them at once.
    pub async fn all(mut self) -> Result<Vec<Exported>, Error> {
        let mut all = Vec::new();
        while let Some(document) = self.next().await {
            all.push(document?);
        }
        Ok(all)
    }
}
