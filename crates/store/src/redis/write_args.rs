//! The arguments of `scripts/write.lua`.
//!
//! Owns the encoding of operations, numbers and times as arguments.

use std::collections::BTreeMap;

use bytes::Bytes;
use novelo_engine::path::{CollectionPath, DocumentPath};

use super::random;
use crate::op::{Exported, NewDocument, NewId, Op, PutTerms, Reserved};
use crate::record::Record;

/// Whether a write is made, or only checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WriteMode {
    Do,
    Check,
}

/// An operation of the script.
pub(super) enum WriteStep<'a> {
    Append {
        to: CollectionPath,
        documents: &'a [NewDocument],
        if_seq: Option<u64>,
        keep_last: Option<u64>,
    },
    Put {
        at: &'a DocumentPath,
        value: &'a Bytes,
        terms: PutTerms,
    },
    Delete {
        at: &'a DocumentPath,
        if_version: Option<u64>,
    },
    Expect {
        at: &'a DocumentPath,
    },
    Reserve(&'a Reserved),
    Import {
        to: CollectionPath,
        documents: Vec<&'a Exported>,
    },
    /// A fork of the collection with this birth nonce, with the turns that it begins with.
    Fork {
        to: CollectionPath,
        born: &'a [u8],
        at_seq: u64,
        turns: &'a [(u64, Record)],
    },
}

/// The arguments of one call.
pub(super) struct WriteArgs {
    pub collections: Vec<CollectionPath>,
    operations: Vec<Bytes>,
}

/// By the number of a step: the seq and version of the stored document, and the merged value.
pub(super) type MergedValues = BTreeMap<usize, (Bytes, Bytes)>;

impl<'a> WriteStep<'a> {
    /// `None` for an operation that stands alone.
    pub(crate) fn from_op(op: &'a Op) -> Option<Self> {
        match op {
            Op::Append { to, documents, terms } => {
                Some(Self::Append { to: to.clone(), documents, if_seq: terms.if_seq, keep_last: terms.keep_last })
            }
            Op::Put { at, value, terms } => Some(Self::Put { at, value, terms: *terms }),
            Op::Delete { at, if_version } => Some(Self::Delete { at, if_version: *if_version }),
            Op::Expect { at } => Some(Self::Expect { at }),
            Op::Reserve(reserved) => Some(Self::Reserve(reserved)),
            Op::Fork { .. } | Op::Forget { .. } | Op::Import { .. } | Op::Sweep { .. } => None,
        }
    }

    /// The collection that it names.
    pub fn collection(&self) -> &[Box<str>] {
        match self {
            Self::Append { to, .. } | Self::Import { to, .. } | Self::Fork { to, .. } => to.segments(),
            Self::Reserve(reserved) => reserved.of.segments(),
            Self::Put { at, .. } | Self::Delete { at, .. } | Self::Expect { at } => {
                at.segments().split_last().map_or(&[], |(_, of)| of)
            }
        }
    }

    /// When the first of its documents expires.
    pub(crate) fn soonest(&self) -> Option<f64> {
        let soonest = |times: &mut dyn Iterator<Item = f64>| times.min_by(f64::total_cmp);
        match self {
            Self::Append { documents, .. } => soonest(&mut documents.iter().filter_map(|d| d.expires_at)),
            Self::Put { terms, .. } => terms.expires_at,
            Self::Import { documents, .. } => soonest(&mut documents.iter().filter_map(|d| d.expires_at)),
            Self::Fork { turns, .. } => soonest(&mut turns.iter().filter_map(|(_, r)| r.expires_at)),
            Self::Delete { .. } | Self::Expect { .. } | Self::Reserve(_) => None,
        }
    }
}

impl WriteArgs {
    pub(crate) fn from_steps(steps: &[&WriteStep<'_>], merged: &MergedValues) -> Self {
        let mut words = Self { collections: Vec::new(), operations: Vec::new() };
        for (number, step) in steps.iter().enumerate() {
            words.add(step, merged.get(&(number + 1)));
        }
        words
    }

    pub fn args(&self, mode: WriteMode) -> Vec<Bytes> {
        let mode = if mode == WriteMode::Do { "do" } else { "check" };
        let mut args = vec![digits(random()), mode.into(), digits(self.collections.len() as u64)];
        for of in &self.collections {
            let kind = of.segments().last().map_or("", |kind| kind);
            args.extend([Bytes::from(of.segments().join("\0")), Bytes::copy_from_slice(kind.as_bytes())]);
        }
        args.extend_from_slice(&self.operations);
        args
    }

    fn add(&mut self, step: &WriteStep<'_>, merged: Option<&(Bytes, Bytes)>) {
        match step {
            WriteStep::Append { to, documents, if_seq, keep_last } => {
                let at = self.begin("append", to);
                self.push([at, optional(*if_seq), optional(*keep_last), digits(documents.len() as u64)]);
                for document in *documents {
                    let is_fresh = if matches!(document.id, NewId::Fresh(_)) { "1" } else { "" };
                    self.push([copied(document.id.as_str()), is_fresh.into(), time(document.create_time)]);
                    self.push([optional_time(document.expires_at), document.value.clone()]);
                }
            }
            WriteStep::Put { at, value, terms } => {
                let of = self.begin("put", &at.collection());
                let merges = if terms.merge { "1" } else { "" };
                self.push([of, copied(at.id()), merges.into(), optional(terms.if_version)]);
                self.push([optional_time(terms.create_time), time(terms.now), optional_time(terms.expires_at)]);
                let (met, merged) = merged.cloned().unwrap_or_default();
                self.push([(*value).clone(), met, merged]);
            }
            WriteStep::Delete { at, if_version } => {
                let of = self.begin("delete", &at.collection());
                self.push([of, copied(at.id()), optional(*if_version)]);
            }
            WriteStep::Expect { at } => {
                let of = self.begin("expect", &at.collection());
                self.push([of, copied(at.id())]);
            }
            WriteStep::Reserve(reserved) => {
                let of = self.begin("reserve", &reserved.of);
                self.push([of, digits(reserved.last_seq)]);
            }
            WriteStep::Import { to, documents } => {
                let at = self.begin("import", to);
                self.push([at, digits(documents.len() as u64)]);
                for document in documents {
                    self.bring(document.seq, &Record::imported(document));
                }
            }
            WriteStep::Fork { to, born, at_seq, turns } => {
                let (at, count) = (self.begin("fork", to), digits(turns.len() as u64));
                self.push([at, Bytes::copy_from_slice(born), digits(*at_seq), count.clone(), count]);
                turns.iter().for_each(|(seq, record)| self.bring(*seq, record));
            }
        }
    }

    fn bring(&mut self, seq: u64, record: &Record) {
        self.push([copied(&record.id), digits(seq), time(record.create_time), digits(record.version)]);
        self.push([optional_time(record.expires_at), record.value.clone()]);
    }

    /// Begins an operation; the number of its collection.
    fn begin(&mut self, operation: &'static str, of: &CollectionPath) -> Bytes {
        self.operations.push(operation.into());
        let at = self.collections.iter().position(|known| known == of).unwrap_or_else(|| {
            self.collections.push(of.clone());
            self.collections.len() - 1
        });
        digits(at as u64 + 1)
    }

    fn push<const N: usize>(&mut self, words: [Bytes; N]) {
        self.operations.extend(words);
    }

    pub fn path(&self, collection: u64, id: &[u8]) -> String {
        let of = usize::try_from(collection).ok().and_then(|n| self.collections.get(n.checked_sub(1)?));
        let (of, id) = (of.map(ToString::to_string).unwrap_or_default(), String::from_utf8_lossy(id));
        match (id.is_empty(), CollectionPath::new(&[&*id])) {
            (false, Ok(id)) => format!("{of}/{id}"),
            _ => of,
        }
    }
}

pub(super) fn digits(number: u64) -> Bytes {
    number.to_string().into()
}

/// The shortest digits that mean this time and no other.
pub(super) fn time(time: f64) -> Bytes {
    format!("{time:?}").into()
}

pub(super) fn optional(number: Option<u64>) -> Bytes {
    number.map_or_else(Bytes::new, digits)
}

pub(super) fn optional_time(at: Option<f64>) -> Bytes {
    at.map_or_else(Bytes::new, time)
}

pub(super) fn copied(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}
