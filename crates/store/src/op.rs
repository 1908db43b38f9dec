//! The operations of a write, and their outcomes.
//!
//! Owns the operations and the checks that need no stored state. Refuses times that are not numbers, ids that
//! are not ids, and an operation over many collections that does not stand alone. Invariant: an operation
//! that passed `check` can fail only because of what is stored.

use std::collections::BTreeMap;

use bytes::Bytes;
use novelo_engine::path::{CollectionPath, DocumentPath, Prefix, check_id};

use crate::Error;

/// The most bytes of one value. The server caps requests far lower.
pub(crate) const VALUE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// The highest seq that an import may bring, so that adding to it never overflows.
pub const SEQ_MAX: u64 = 1 << 52;

/// One operation of a write.
#[derive(Debug, Clone)]
pub enum Op {
    /// Adds documents at the end of a collection.
    Append { to: CollectionPath, documents: Vec<NewDocument>, terms: AppendTerms },
    /// Creates a document, replaces it, or merges into it.
    Put { at: DocumentPath, value: Bytes, terms: PutTerms },
    /// Removes a document. A version that is not `if_version` is stale.
    Delete { at: DocumentPath, if_version: Option<u64> },
    /// Refuses the write unless this document exists, so that what is derived from a document does not
    /// outlive it.
    Expect { at: DocumentPath },
    /// Makes sure that no seq up to this is given again, as for documents that were removed before an export.
    Reserve(Reserved),
    /// Makes `to` begin with the turns of `from` up to and including `at_seq`. Stands alone in a write.
    Fork { from: CollectionPath, at_seq: u64, to: CollectionPath },
    /// Removes everything at a prefix and below it. Stands alone in a write.
    Forget { what: Prefix },
    /// Stores exported documents as they were. Stands alone in a write.
    Import { documents: Vec<Exported> },
    /// Removes documents that expired at `now` or before. Stands alone in a write.
    Sweep { now: f64 },
}

/// The outcome of one operation; the variants are those of [`Op`].
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    Appended(Vec<Stamp>),
    Put(Stamp),
    /// Whether the document existed.
    Deleted(bool),
    Expected,
    Reserved,
    /// How many turns the fork begins with.
    Forked(u64),
    Forgotten(Forgotten),
    /// How many documents were new.
    Imported(u64),
    /// How many documents were removed.
    Swept(u64),
}

/// A document to append.
#[derive(Debug, Clone)]
pub struct NewDocument {
    pub id: NewId,
    /// Seconds since 1970.
    pub create_time: f64,
    pub value: Bytes,
    /// When a sweep may remove it, in seconds since 1970.
    pub expires_at: Option<f64>,
}

/// Where a new document's id comes from.
#[derive(Debug, Clone)]
pub enum NewId {
    /// Given by the caller: a document with it may exist already.
    Given(Box<str>),
    /// Generated for this document, so no duplicate is searched for.
    Fresh(Box<str>),
}

impl NewId {
    pub fn as_str(&self) -> &str {
        match self {
            Self::Given(id) | Self::Fresh(id) => id,
        }
    }
}

/// Conditions of an append, and what it does beside adding documents.
#[derive(Debug, Clone, Copy, Default)]
pub struct AppendTerms {
    /// The last seq the caller knows; anything else is stale.
    pub if_seq: Option<u64>,
    /// Trim the collection to its last n documents in the same transaction.
    pub keep_last: Option<u64>,
}

/// Conditions of a put, and how it treats a stored document.
#[derive(Debug, Clone, Copy, Default)]
pub struct PutTerms {
    /// Deep merge of JSON objects instead of replacement.
    pub merge: bool,
    /// The version the caller knows; 0 means that the document must not exist.
    pub if_version: Option<u64>,
    /// `None` keeps the old one on update.
    pub create_time: Option<f64>,
    /// The time of a new document when `create_time` is `None`.
    pub now: f64,
    /// On a merge `None` keeps the old one.
    pub expires_at: Option<f64>,
}

/// What the store assigned to a document.
#[derive(Debug, Clone, PartialEq)]
pub struct Stamp {
    pub id: Box<str>,
    pub seq: u64,
    pub create_time: f64,
    pub version: u64,
    /// Whether the document was there before this write.
    pub existed: bool,
}

/// What a forget removed: the number of documents by the name of their collection, which is the last segment
/// of its path. A collection of which nothing was removed is not listed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Forgotten {
    pub documents_by_collection: BTreeMap<Box<str>, u64>,
}

impl Forgotten {
    /// How many documents were removed in all.
    pub fn documents(&self) -> u64 {
        self.documents_by_collection.values().sum()
    }

    pub(crate) fn count(&mut self, collection: &str, documents: u64) {
        if documents > 0 {
            *self.documents_by_collection.entry(collection.into()).or_default() += documents;
        }
    }
}

/// A document with everything that import needs to put it back as it was.
#[derive(Debug, Clone, PartialEq)]
pub struct Exported {
    pub path: DocumentPath,
    pub seq: u64,
    pub create_time: f64,
    pub version: u64,
    pub expires_at: Option<f64>,
    pub value: Bytes,
}

/// The last seq that a collection has given, if the document with it was removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reserved {
    pub of: CollectionPath,
    pub last_seq: u64,
}

/// Refuses what no stored state could make right.
pub(crate) fn check(ops: &[Op]) -> Result<(), Error> {
    if ops.len() > 1 && ops.iter().any(stands_alone) {
        return Err(Error::Invalid("fork, forget, import and sweep each stand alone in a write".into()));
    }
    ops.iter().try_for_each(check_one)
}

fn stands_alone(op: &Op) -> bool {
    matches!(op, Op::Fork { .. } | Op::Forget { .. } | Op::Import { .. } | Op::Sweep { .. })
}

fn check_one(op: &Op) -> Result<(), Error> {
    match op {
        Op::Append { documents, .. } => documents.iter().try_for_each(|d| {
            check_id(d.id.as_str()).map_err(|e| Error::Invalid(e.to_string()))?;
            check_times(&[Some(d.create_time), d.expires_at])?;
            check_value(&d.value)
        }),
        Op::Put { value, terms, .. } => {
            check_times(&[terms.create_time, Some(terms.now), terms.expires_at])?;
            check_value(value)
        }
        Op::Import { documents } => documents.iter().try_for_each(|d| {
            check_times(&[Some(d.create_time), d.expires_at])?;
            if !(1..=SEQ_MAX).contains(&d.seq) || !(1..=SEQ_MAX).contains(&d.version) {
                return Err(Error::Invalid(format!("{}: seq and version count from 1 to {SEQ_MAX}", d.path)));
            }
            check_value(&d.value)
        }),
        Op::Reserve(reserved) if reserved.last_seq > SEQ_MAX => {
            Err(Error::Invalid(format!("{}: a seq is at most {SEQ_MAX}", reserved.of)))
        }
        Op::Fork { at_seq: 0, .. } => {
            Err(Error::Invalid("a fork needs at least one turn: at_seq counts from 1".into()))
        }
        Op::Fork { from, to, .. } if from == to => Err(Error::Invalid("a thread cannot be forked into itself".into())),
        Op::Sweep { now } => check_times(&[Some(*now)]),
        Op::Delete { .. } | Op::Expect { .. } | Op::Reserve(_) | Op::Fork { .. } | Op::Forget { .. } => Ok(()),
    }
}

fn check_times(times: &[Option<f64>]) -> Result<(), Error> {
    match times.iter().flatten().all(|t| t.is_finite()) {
        true => Ok(()),
        false => Err(Error::Invalid("a time is not a finite number".into())),
    }
}

pub(crate) fn check_value(value: &[u8]) -> Result<(), Error> {
    match value.len() <= VALUE_BYTES_MAX {
        true => Ok(()),
        false => {
            Err(Error::Invalid(format!("a value has {} bytes; the store keeps at most {VALUE_BYTES_MAX}", value.len())))
        }
    }
}
