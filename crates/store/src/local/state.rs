//! What the handles, the committer and the eraser of a local store share.
//!
//! Owns the open database, the cache before it, and whether a write would be taken now. The committer alone
//! writes to the database; everyone reads.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::cell::DbCell;
use super::change_counters::ChangeCounters;
use super::collection_cache::CollectionCache;
use super::db::{Db, View};
use super::eraser::Erasure;
use super::export::SnapshotLeases;
use super::outage::Outage;
use super::{LocalOptions, recovery};
use crate::Error;
use crate::lock::lock;

/// How long the free space that health reports is remembered.
const FREE_SPACE_AGE_MAX: Duration = Duration::from_secs(1);

pub(super) struct LocalState {
    pub cell: DbCell,
    pub cache: CollectionCache,
    /// Counted up by the committer, read by anyone.
    pub change_counters: ChangeCounters,
    pub options: LocalOptions,
    pub erasure: Erasure,
    pub exports: SnapshotLeases,
    /// Opened for reading: there is no committer.
    pub is_read_only: bool,
    /// Written by the committer, read by all.
    pub outage: Outage,
    /// Whether a write would fit, as health said it last.
    pub room: Mutex<Option<(Instant, Result<(), String>)>>,
}

impl LocalState {
    pub fn new(db: Arc<Db>, commit: u64, options: LocalOptions, is_read_only: bool) -> Self {
        Self {
            cell: DbCell::new(db),
            cache: CollectionCache::new(options.hot_bytes_max, commit),
            change_counters: ChangeCounters::new(),
            options,
            erasure: Erasure::default(),
            exports: SnapshotLeases::default(),
            is_read_only,
            outage: Outage::default(),
            room: Mutex::default(),
        }
    }

    pub(crate) fn note_failure(&self) {
        if let Err(error) = recovery::note_failure(&self.cell.dir) {
            tracing::warn!(%error, "the next opening cannot be told that a flush failed");
        }
    }

    /// What a writer gets where there is no committer.
    pub fn ended(&self) -> Error {
        match self.is_read_only {
            true => Error::ReadOnly { why: "its directory was opened for reading only".into() },
            false => Error::closed(),
        }
    }

    /// The database for a reader, counted.
    pub(crate) fn read_db(&self) -> Result<Arc<Db>, Error> {
        self.cell.disk_reads.fetch_add(1, Ordering::Relaxed);
        self.cell.get()
    }

    /// What is stored now, for a reader.
    pub fn view(&self) -> Result<View<'static>, Error> {
        self.read_db().map(View::new)
    }

    /// Refuses if so many bytes do not fit beside what must stay free.
    pub(crate) fn room_for(&self, bytes: u64) -> Result<(), Error> {
        let needed_bytes = self.options.free_bytes_min.saturating_add(bytes);
        match rustix::fs::statvfs(&self.cell.dir).map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize)) {
            Ok(free_bytes) if free_bytes < needed_bytes => Err(Error::DiskFull { free_bytes, needed_bytes }),
            Ok(_) => Ok(()),
            Err(e) => Err(Error::ReadOnly { why: format!("how much of the disk is free cannot be told: {e}") }),
        }
    }

    /// Why a write would be refused now.
    pub(crate) fn why_not_writable(&self) -> Option<String> {
        if self.is_read_only {
            return None;
        }
        if let Some(why) = self.outage.why() {
            return Some(why);
        }
        let mut room = lock(&self.room);
        if room.as_ref().is_none_or(|(at, _)| at.elapsed() >= FREE_SPACE_AGE_MAX) {
            *room = Some((Instant::now(), self.room_for(0).map_err(|error| error.to_string())));
        }
        room.as_ref().and_then(|(_, room)| room.clone().err())
    }

    /// What a writer gets while nothing is written.
    pub fn refusal(&self) -> Error {
        match (self.room_for(0), self.outage.why()) {
            (Err(error), _) => error,
            (Ok(()), Some(why)) => Error::ReadOnly { why },
            (Ok(()), None) => Error::closed(),
        }
    }
}
