//! The embedded database and how it is read.
//!
//! Owns the keyspaces and the mapping of their errors. Refuses writes other than whole batches. Invariant: a
//! view is one moment of all keyspaces, optionally with the pending writes of a transaction.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode, Readable, Slice, Snapshot};

use crate::Error;

pub(super) const COMMIT: &[u8] = b"commit";
pub(super) const FORMAT: &[u8] = b"format";
pub(super) const NUMBER: &[u8] = b"number";
pub(super) const ERASE: &[u8] = b"erase";
/// A key below all others, in each keyspace; its value means nothing.
pub(super) const PIN: &[u8] = &[0];

const CACHED_FILES_MIN: usize = 16;
const CACHED_FILES_MAX: usize = 900;
const CACHE_BYTES: u64 = 16 * 1024 * 1024;
const JOURNALS_BYTES_MAX: u64 = 128 * 1024 * 1024;
const MEMTABLE_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// A commit waits while more than this is on its way to tables. The database waits too, a little later, but
/// for ever where its workers ended.
const SEALED_MAX: usize = 2;
const TABLES_L0_MAX: usize = 24;
const POLL: Duration = Duration::from_millis(2);

/// A kind of key; the order is that of a batch's items, and `CollectionMeta` comes first on purpose.
/// Documents have a keyspace of their own; the others share one and differ in their first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Space {
    /// Single values: format, commit number, next collection number, erase marker.
    Meta,
    /// Path to a collection's entry.
    Collections,
    /// Collection number and seq to a record.
    Docs,
    /// Collection number and id to seq.
    Ids,
    /// Collection number, time and seq.
    Times,
    /// Expiry, collection number and seq to the collection's path.
    Expiry,
    /// SeqRun number and fork number to the fork's path.
    Forks,
    /// Numbers of forgotten collections whose documents are still stored.
    Doomed,
}

pub(super) const SPACES: [Space; 8] = [
    Space::Meta,
    Space::Collections,
    Space::Docs,
    Space::Ids,
    Space::Times,
    Space::Expiry,
    Space::Forks,
    Space::Doomed,
];

impl Space {
    pub fn name(self) -> &'static str {
        match self {
            Self::Meta => "meta",
            Self::Collections => "collections",
            Self::Docs => "docs",
            Self::Ids => "ids",
            Self::Times => "times",
            Self::Expiry => "expiry",
            Self::Forks => "forks",
            Self::Doomed => "doomed",
        }
    }

    fn tag(self) -> Option<u8> {
        match self {
            Self::Docs => None,
            Self::Meta => Some(b'm'),
            Self::Collections => Some(b'c'),
            Self::Ids => Some(b'i'),
            Self::Times => Some(b't'),
            Self::Expiry => Some(b'e'),
            Self::Forks => Some(b'f'),
            Self::Doomed => Some(b'd'),
        }
    }

    /// A key as it is stored in the keyspace.
    pub fn key(self, key: &[u8]) -> Vec<u8> {
        self.tag().into_iter().chain(key.iter().copied()).collect()
    }

    fn untagged(self, key: Slice) -> Slice {
        match self.tag() {
            Some(_) => Slice::from(key.get(1..).unwrap_or_default()),
            None => key,
        }
    }
}

/// What a transaction will write: a value, or `None` to remove.
pub(super) type Writes = BTreeMap<(Space, Vec<u8>), Option<Vec<u8>>>;

pub(super) struct Db {
    pub dir: PathBuf,
    pub database: Database,
    pub docs: Keyspace,
    pub index: Keyspace,
    /// Makes commits fail as a broken disk would.
    #[cfg(test)]
    pub fails: std::sync::atomic::AtomicBool,
}

impl std::fmt::Debug for Db {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Db").field("dir", &self.dir).finish_non_exhaustive()
    }
}

/// Files that the database keeps open: a quarter of what the process may have, since others need descriptors
/// too.
fn cached_files_max() -> usize {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let quarter = limit.map_or(usize::MAX, |limit| usize::try_from(limit / 4).unwrap_or(usize::MAX));
    quarter.clamp(CACHED_FILES_MIN, CACHED_FILES_MAX)
}

impl Db {
    pub fn open(dir: &Path) -> Result<Self, Error> {
        let database = Database::builder(dir)
            .cache_size(CACHE_BYTES)
            .worker_threads(2)
            .max_journaling_size(JOURNALS_BYTES_MAX)
            .max_cached_files(Some(cached_files_max()))
            .journal_compression(fjall::CompressionType::None)
            .open()
            .map_err(|e| refused(dir, e))?;
        let options = || KeyspaceCreateOptions::default().max_memtable_size(MEMTABLE_BYTES_MAX);
        let open = |name: &str| database.keyspace(name, options).map_err(|e| refused(dir, e));
        Ok(Self {
            dir: dir.into(),
            docs: open("docs")?,
            index: open("index")?,
            database,
            #[cfg(test)]
            fails: Default::default(),
        })
    }

    pub(crate) fn keyspace(&self, space: Space) -> &Keyspace {
        match space {
            Space::Docs => &self.docs,
            _ => &self.index,
        }
    }

    /// Holds nothing but what the eraser fills the journal with, and exists from the first forget on.
    pub(crate) fn padding(&self) -> Result<Keyspace, Error> {
        self.database.keyspace("padding", KeyspaceCreateOptions::default).map_err(|e| refused(&self.dir, e))
    }

    /// Commits all writes in one batch; `relaxed` leaves the flush to the operating system.
    pub(crate) fn commit(&self, writes: Writes, relaxed: bool) -> Result<(), Error> {
        #[cfg(test)]
        if self.fails.load(std::sync::atomic::Ordering::Relaxed) {
            return Err(Error::io(&self.dir, std::io::Error::other("no such luck")));
        }
        self.wait_for_tables()?;
        let mode = if relaxed { PersistMode::Buffer } else { PersistMode::SyncData };
        let mut batch = self.database.batch().durability(Some(mode));
        for ((space, key), value) in writes {
            match value {
                Some(value) => batch.insert(self.keyspace(space), space.key(&key), value),
                None => batch.remove(self.keyspace(space), space.key(&key)),
            }
        }
        batch.commit().map_err(|e| refused(&self.dir, e))
    }

    /// Writes what is in memory to tables, so that the next opening has little to replay.
    pub fn flush(&self) -> Result<(), Error> {
        [&self.docs, &self.index].into_iter().try_for_each(|keyspace| self.rotate(keyspace))
    }

    /// Writes what one keyspace has in memory to a table. Ends with an error where the workers of the
    /// database ended.
    pub(crate) fn rotate(&self, keyspace: &Keyspace) -> Result<(), Error> {
        let is_flushed = || keyspace.sealed_memtable_count() == 0;
        self.wait_until(is_flushed)?;
        keyspace.rotate_memtable().map_err(|e| refused(&self.dir, e))?;
        self.wait_until(is_flushed)
    }

    fn wait_for_tables(&self) -> Result<(), Error> {
        [&self.docs, &self.index].into_iter().try_for_each(|keyspace| {
            self.wait_until(|| {
                keyspace.sealed_memtable_count() <= SEALED_MAX && keyspace.l0_table_count() <= TABLES_L0_MAX
            })
        })
    }

    fn wait_until(&self, is_true: impl Fn() -> bool) -> Result<(), Error> {
        while !is_true() {
            self.check_alive()?;
            std::thread::sleep(POLL);
        }
        Ok(())
    }

    /// Whether the database still takes writes; none of its own threads tells that it failed.
    pub(crate) fn check_alive(&self) -> Result<(), Error> {
        self.database.persist(PersistMode::Buffer).map_err(|e| refused(&self.dir, e))
    }

    /// Flushes the journal.
    pub fn sync(&self) -> Result<(), Error> {
        self.database.persist(PersistMode::SyncAll).map_err(|e| refused(&self.dir, e))
    }

    /// Gives the directory free. The database may panic where one of its threads did.
    pub fn close(db: Self) -> Result<(), Error> {
        let dir = db.dir.clone();
        catch_unwind(AssertUnwindSafe(|| drop(db)))
            .map_err(|_| Error::damaged(dir.display().to_string(), "closing the database failed in an unexpected way"))
    }
}

/// One moment of the database, with the pending writes of a transaction if there is one.
pub(super) struct View<'a> {
    pub db: Arc<Db>,
    pub snapshot: Snapshot,
    pub over: Option<&'a Writes>,
}

pub(super) type Pair = (Slice, Slice);

impl View<'static> {
    /// What is stored now.
    pub fn new(db: Arc<Db>) -> Self {
        Self { snapshot: db.database.snapshot(), db, over: None }
    }
}

impl<'a> View<'a> {
    pub fn get(&self, space: Space, key: &[u8]) -> Result<Option<Slice>, Error> {
        if let Some(over) = self.over.and_then(|over| over.get(&(space, key.to_vec()))) {
            return Ok(over.as_ref().map(|value| Slice::from(value.as_slice())));
        }
        self.snapshot.get(self.db.keyspace(space), space.key(key)).map_err(|e| unreadable(space, e))
    }

    pub fn number(&self, name: &[u8]) -> Result<Option<u64>, Error> {
        let Some(bytes) = self.get(Space::Meta, name)? else { return Ok(None) };
        match <[u8; 8]>::try_from(&*bytes) {
            Ok(bytes) => Ok(Some(u64::from_be_bytes(bytes))),
            Err(_) => Err(Error::damaged(format!("meta {}", String::from_utf8_lossy(name)), "it is not a number")),
        }
    }

    /// Ascending, from `low` to `high`, both included.
    pub fn range<'v>(
        &'v self,
        space: Space,
        low: &[u8],
        high: &[u8],
    ) -> impl Iterator<Item = Result<Pair, Error>> + use<'v, 'a> {
        let mut stored = self.stored(space, low, high).peekable();
        let bounds = (Bound::Included((space, low.to_vec())), Bound::Included((space, high.to_vec())));
        let mut over = self.over.map(|over| over.range(bounds)).into_iter().flatten().peekable();
        std::iter::from_fn(move || {
            loop {
                let Some(((_, key), value)) = over.peek() else { return stored.next() };
                match stored.peek() {
                    Some(Err(_)) => return stored.next(),
                    Some(Ok((earlier, _))) if **earlier < **key => return stored.next(),
                    Some(Ok((same, _))) if **same == **key => drop(stored.next()),
                    _ => {}
                }
                let found = value.as_ref().map(|value| (Slice::from(key.as_slice()), Slice::from(value.as_slice())));
                over.next();
                if let Some(found) = found {
                    return Some(Ok(found));
                }
            }
        })
    }

    /// What is stored, without a transaction's writes; from either end.
    pub fn stored(
        &self,
        space: Space,
        low: &[u8],
        high: &[u8],
    ) -> impl DoubleEndedIterator<Item = Result<Pair, Error>> + Send + use<> {
        let range = self.snapshot.range(self.db.keyspace(space), space.key(low)..=space.key(high));
        range.map(move |guard| {
            let (key, value) = guard.into_inner().map_err(|e| unreadable(space, e))?;
            Ok((space.untagged(key), value))
        })
    }
}

/// An error of the database as a consequence for the caller.
pub(super) fn refused(dir: &Path, error: fjall::Error) -> Error {
    match error {
        fjall::Error::Locked => Error::Locked { dir: dir.into() },
        fjall::Error::Io(source) | fjall::Error::Storage(fjall::LsmError::Io(source)) => Error::io(dir, source),
        fjall::Error::Poisoned => Error::ReadOnly { why: "an earlier write to the disk failed".into() },
        fjall::Error::InvalidVersion(_) => {
            Error::damaged(dir.display().to_string(), "the files are of another version of the database")
        }
        other => Error::damaged(dir.display().to_string(), other.to_string()),
    }
}

fn unreadable(space: Space, error: fjall::Error) -> Error {
    refused(Path::new(space.name()), error)
}
