//! A document as a back-end stores it, and the rules of a put.
//!
//! Owns the rules of replacing, merging and versions, so that every back-end has the same ones. Invariant: a
//! version counts the times that the document changed, starting at 1.

use bytes::Bytes;
use novelo_engine::path::CollectionPath;

use crate::Error;
use crate::merge::merge;
use crate::op::{Exported, NewDocument, PutTerms, Stamp, check_value};
use crate::read::Document;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Record {
    pub id: Box<str>,
    pub version: u64,
    pub create_time: f64,
    pub expires_at: Option<f64>,
    pub value: Bytes,
}

impl Record {
    pub fn appended(document: &NewDocument) -> Self {
        Self {
            id: document.id.as_str().into(),
            version: 1,
            create_time: document.create_time,
            expires_at: document.expires_at,
            value: document.value.clone(),
        }
    }

    pub fn imported(document: &Exported) -> Self {
        Self {
            id: document.path.id().into(),
            version: document.version,
            create_time: document.create_time,
            expires_at: document.expires_at,
            value: document.value.clone(),
        }
    }

    /// This document after a put; unchanged if the put changes nothing.
    pub fn put(&self, value: Bytes, terms: PutTerms) -> Result<Self, Error> {
        check_version(terms.if_version, self.version)?;
        let next = Self {
            id: self.id.clone(),
            version: self.version,
            create_time: terms.create_time.unwrap_or(self.create_time),
            expires_at: terms.expires_at.or(self.expires_at.filter(|_| terms.merge)),
            value: if terms.merge { merge(&self.value, &value)? } else { value },
        };
        check_value(&next.value)?;
        match &next == self {
            true => Ok(next),
            false => Ok(Self { version: self.version + 1, ..next }),
        }
    }

    /// The document that a put creates.
    pub(crate) fn put_new(id: &str, value: Bytes, terms: PutTerms) -> Result<Self, Error> {
        check_version(terms.if_version, 0)?;
        let create_time = terms.create_time.unwrap_or(terms.now);
        Ok(Self { id: id.into(), version: 1, create_time, expires_at: terms.expires_at, value })
    }

    pub fn stamp(&self, seq: u64, existed: bool) -> Stamp {
        Stamp { id: self.id.clone(), seq, create_time: self.create_time, version: self.version, existed }
    }

    pub(crate) fn into_exported(self, collection: &CollectionPath, seq: u64) -> Result<Exported, Error> {
        let path = collection.document(&self.id).map_err(|e| Error::damaged(collection.to_string(), e.to_string()))?;
        let Self { version, create_time, expires_at, value, .. } = self;
        Ok(Exported { path, seq, create_time, version, expires_at, value })
    }

    pub(crate) fn into_document(self, seq: u64) -> Document {
        Document { id: self.id, seq, create_time: self.create_time, version: self.version, value: self.value }
    }
}

/// The fork request that made a collection, and its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ForkOrigin {
    pub from: u64,
    pub at_seq: u64,
    pub turns: u64,
}

/// Refuses a lost update; the version of what does not exist is 0.
pub(crate) fn check_version(expected: Option<u64>, actual: u64) -> Result<(), Error> {
    match expected {
        Some(expected) if expected != actual => Err(Error::Stale { expected, actual }),
        _ => Ok(()),
    }
}
