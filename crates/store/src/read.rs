//! The parameters of reads, and their results.
//!
//! Invariant: `Turns` is a snapshot: what is appended or removed
//! later does not change it.

use std::sync::Arc;

use bytes::Bytes;
use novelo_engine::Turn;

use crate::op::{Exported, Reserved};

/// A stored document.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    pub id: Box<str>,
    pub seq: u64,
    pub create_time: f64,
    pub version: u64,
    pub value: Bytes,
}

/// A choice of turns of a thread, by seq.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Range {
    /// The newest so many.
    Last(usize),
    /// The oldest so many after a seq.
    After { seq: u64, limit: usize },
    /// From one seq to another, both included.
    Between { first: u64, last: u64 },
}

/// A choice of documents by `create_time`, oldest first. Documents of the same time come in the order of
/// their seqs.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Window {
    /// Later than this.
    pub begin: Option<f64>,
    /// Not later than this.
    pub end: Option<f64>,
    /// The last document of the page before.
    pub after: Option<Cursor>,
    /// The most documents that are returned.
    pub limit: usize,
}

/// A choice of the newest turns by `create_time`, of a range of times and of seqs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Newest {
    /// Later than this.
    pub begin: Option<f64>,
    /// Not later than this.
    pub end: Option<f64>,
    /// The seqs that count, both included.
    pub first_seq: u64,
    pub last_seq: u64,
    /// The most turns that are returned: the newest. Of turns of the same time, the one with the higher seq
    /// is newer.
    pub limit: usize,
}

impl Newest {
    /// Whether a turn lies in the range.
    pub(crate) fn holds(&self, create_time: f64, seq: u64) -> bool {
        self.begin.is_none_or(|begin| create_time > begin)
            && self.end.is_none_or(|end| create_time <= end)
            && (self.first_seq..=self.last_seq).contains(&seq)
    }
}

/// The place of a document in the order of a window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cursor {
    pub create_time: f64,
    pub seq: u64,
}

/// Some items of a list, and whether there are more after them.
#[derive(Debug, Clone, PartialEq)]
pub struct Page<T> {
    pub items: Vec<T>,
    pub has_more: bool,
}

/// A thread in a list. Threads without a turn are not listed.
#[derive(Debug, Clone, PartialEq)]
pub struct ThreadRow {
    pub id: Box<str>,
    pub turns: u64,
    /// The time of the newest turn.
    pub updated_at: f64,
}

/// Identifies one state of a collection: any write to it changes the version. A reader that takes the version
/// first and reads afterwards may cache what it read for as long as the version is the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Version {
    pub last_seq: u64,
    /// Changes when stored documents were replaced or removed, and is never the same again after that.
    pub epoch: u64,
}

/// A result of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The collection, file or server that it is about.
    pub place: String,
    pub what: String,
    /// What an operator can do.
    pub advice: String,
    /// Whether something is wrong; otherwise it is a note.
    pub is_fault: bool,
}

/// The state of a store, read without the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    pub writable: bool,
    /// Why it is not writable.
    pub why: Option<String>,
    /// Bytes of the cache of turns.
    pub hot_bytes: usize,
    /// Threads in the cache.
    pub hot_threads: usize,
    /// Writes that wait for the committer.
    pub queue_len: usize,
    pub disk_bytes: u64,
    /// Whether forgotten text is still being removed from the raw files.
    pub erasing: bool,
}

/// The beginning of an export, as a back-end gives it.
pub(crate) struct ExportStart<R> {
    /// The document that the prefix itself names.
    pub single: Option<Exported>,
    /// What is below the prefix.
    pub rest: R,
    pub documents_hint: u64,
}

/// What a back-end reads at once for an export.
#[derive(Debug, Default)]
pub(crate) struct ExportBatch {
    pub documents: Vec<Exported>,
    /// Of collections that are read to their end.
    pub reserved: Vec<Reserved>,
}

/// What a reader gets besides the turns.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ThreadStats {
    pub last_seq: u64,
    pub epoch: u64,
    /// Documents in the whole thread.
    pub count: u64,
}

/// Turns are kept in blocks of at most this many, shared between the hot threads and their readers.
pub(crate) const BLOCK_TURNS: usize = 32;

/// A run of turns of one thread, oldest first. Cloning it copies no turn.
#[derive(Debug, Clone, Default)]
pub struct Turns {
    parts: Vec<BlockSlice>,
    /// The thread's last seq at the moment of reading.
    pub last_seq: u64,
    /// Whether there are more in the direction of reading.
    pub has_more: bool,
    /// Changes when stored turns were replaced or removed.
    pub epoch: u64,
    /// How many turns the whole thread has at that moment.
    pub count: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct BlockSlice {
    pub block: Arc<Vec<Turn>>,
    pub from: usize,
    pub to: usize,
}

impl BlockSlice {
    fn turns(&self) -> &[Turn] {
        self.block.get(self.from..self.to).unwrap_or_default()
    }
}

impl Turns {
    pub(crate) fn new(parts: Vec<BlockSlice>, stats: ThreadStats, has_more: bool) -> Self {
        let ThreadStats { last_seq, epoch, count } = stats;
        Self { parts, last_seq, has_more, epoch, count }
    }

    pub(crate) fn from_list(turns: Vec<Turn>, stats: ThreadStats, has_more: bool) -> Self {
        let to = turns.len();
        Self::new(vec![BlockSlice { block: Arc::new(turns), from: 0, to }], stats, has_more)
    }

    /// The turns, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Turn> + Clone {
        self.parts.iter().flat_map(|part| part.turns().iter())
    }

    pub fn len(&self) -> usize {
        self.parts.iter().map(|part| part.turns().len()).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
