//! Exports everything below a prefix as of one moment.
//!
//! Owns the snapshot of that moment, so that writes go on meanwhile. A fork is exported whole, as if it had
//! been copied. The moment can be revoked: by a forget, which has to clean the files, from an export that
//! pauses, and from all when the database is reopened. Invariant: what comes out can be imported elsewhere
//! and reads the same.

use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use fjall::Snapshot;
use novelo_engine::path::{CollectionPath, Prefix};

use super::blocking;
use super::db::{Db, Space, View};
use super::docs;
use super::state::LocalState;
use super::txn::load;
use crate::Error;
use crate::codec::{CollectionMeta, below, collection_path, segments_key};
use crate::lock::lock;
use crate::op::{Exported, Reserved};
use crate::read::{ExportBatch, ExportStart};

/// Documents read at once.
const CHUNK: usize = 256;

/// A collection that is still to be read, from a seq on.
struct UnreadCollection {
    path: CollectionPath,
    meta: CollectionMeta,
    next_seq: u64,
    last_seq: u64,
}

impl UnreadCollection {
    /// The seqs that it gave beyond its last document, once it is read to its end.
    fn reserved(self) -> Option<Reserved> {
        (self.last_seq >= self.next_seq.max(1)).then_some(Reserved { of: self.path, last_seq: self.last_seq })
    }
}

/// The exports and checks under way; the eraser waits for those that began before a forget.
#[derive(Default)]
pub(super) struct SnapshotLeases(Mutex<Vec<Weak<SnapshotLease>>>);

/// One moment of the database, held for an export until it is dropped or revoked.
pub(super) struct SnapshotLease {
    /// Emptied by `SnapshotLeases`, read by the export.
    snapshot: Mutex<Option<Snapshot>>,
    /// Nothing that was written before this database number is hidden from it.
    moment: u64,
    /// When it was read last; `None` for a check, which is never idle.
    used: Mutex<Option<Instant>>,
}

impl SnapshotLeases {
    pub(crate) fn lease(&self, db: &Db, is_check: bool) -> Arc<SnapshotLease> {
        let moment = db.database.visible_seqno();
        let snapshot = Mutex::new(Some(db.database.snapshot()));
        let used = Mutex::new((!is_check).then(Instant::now));
        let lease = Arc::new(SnapshotLease { snapshot, moment, used });
        let mut leases = lock(&self.0);
        leases.retain(|lease| lease.strong_count() > 0);
        leases.push(Arc::downgrade(&lease));
        lease
    }

    /// Whether a lease holds what was stored before this moment. Exports that were not read for so long are
    /// revoked.
    pub fn hold(&self, before: u64, idle_max: Duration) -> bool {
        let older = |lease: &Arc<SnapshotLease>| lease.moment < before;
        let leases: Vec<_> = lock(&self.0).iter().filter_map(Weak::upgrade).filter(older).collect();
        for lease in &leases {
            if lock(&lease.used).is_some_and(|used| used.elapsed() >= idle_max) {
                drop(lock(&lease.snapshot).take());
            }
        }
        leases.iter().any(|lease| lock(&lease.snapshot).is_some())
    }

    /// When the database is replaced.
    pub(crate) fn revoke_all(&self) {
        for lease in lock(&self.0).drain(..).filter_map(|lease| lease.upgrade()) {
            drop(lock(&lease.snapshot).take());
        }
    }
}

impl SnapshotLease {
    /// The moment as a view of the database that it is of.
    pub fn view(&self, db: Arc<Db>) -> Result<View<'static>, Error> {
        let snapshot = lock(&self.snapshot).clone();
        if let Some(used) = &mut *lock(&self.used) {
            *used = Instant::now();
        }
        match snapshot {
            Some(snapshot) => Ok(View { db, snapshot, over: None }),
            None => Err(Error::Unavailable {
                why: "the export was ended: it paused while something was forgotten, or the store was reopened".into(),
                retry_after_s: 1,
            }),
        }
    }
}

pub(super) fn export(shared: &Arc<LocalState>, what: &Prefix) -> Result<ExportStart<LocalExport>, Error> {
    let db = shared.read_db()?;
    let lease = shared.exports.lease(&db, false);
    let view = lease.view(db)?;
    let mut hint = 0;
    let mut left = Vec::new();
    let (low, high) = below(what.segments());
    let single = single(&view, what)?;
    for entry in view.stored(Space::Collections, &low, &high) {
        let (key, bytes) = entry?;
        let known = load(&view, &key)?;
        hint += known.count();
        let (path, meta) = (collection_path(&key)?, CollectionMeta::decode(&key, &bytes)?);
        left.push(UnreadCollection { path, meta, next_seq: 0, last_seq: known.last_seq });
    }
    left.reverse();
    hint += u64::from(single.is_some());
    let rest = LocalExport { shared: shared.clone(), lease, left };
    Ok(ExportStart { single, rest, documents_hint: hint })
}

/// The document that the prefix itself names.
fn single(view: &View<'_>, what: &Prefix) -> Result<Option<Exported>, Error> {
    let Some((id, collection)) = what.segments().split_last() else { return Ok(None) };
    if collection.len() % 2 == 0 {
        return Ok(None);
    }
    let key = segments_key(collection);
    let Some(meta) = load(view, &key)?.meta else { return Ok(None) };
    let path = collection_path(&key)?;
    docs::find(view, &meta, id)?.map(|(seq, record)| record.into_exported(&path, seq)).transpose()
}

/// Collections as they were at one moment.
pub(crate) struct LocalExport {
    shared: Arc<LocalState>,
    lease: Arc<SnapshotLease>,
    left: Vec<UnreadCollection>,
}

impl LocalExport {
    /// The next documents, and the rest of the export; `None` at its end.
    pub async fn read(self) -> Result<(ExportBatch, Option<Self>), Error> {
        blocking(move || self.read_now()).await
    }

    fn read_now(mut self) -> Result<(ExportBatch, Option<Self>), Error> {
        let mut batch = ExportBatch::default();
        // In this order: while the database is held, it is not replaced and the moment is one of it.
        let view = self.lease.view(self.shared.cell.get()?)?;
        while let Some(left) = self.left.last_mut() {
            batch.documents = read_chunk(&view, left)?;
            match batch.documents.last() {
                Some(last) => {
                    left.next_seq = last.seq + 1;
                    return Ok((batch, Some(self)));
                }
                None => batch.reserved.extend(self.left.pop().and_then(UnreadCollection::reserved)),
            }
        }
        Ok((batch, None))
    }
}

impl std::fmt::Debug for LocalExport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LocalExport").field("collections", &self.left.len()).finish_non_exhaustive()
    }
}

fn read_chunk(view: &View<'_>, left: &UnreadCollection) -> Result<Vec<Exported>, Error> {
    let documents = docs::ascending(view, &left.meta, left.next_seq, u64::MAX).take(CHUNK);
    documents
        .map(|document| {
            let (seq, record) = document?;
            record.into_exported(&left.path, seq)
        })
        .collect()
}
