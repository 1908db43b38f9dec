//! Reopening the database after a failed write.
//!
//! Owns the recovery from an outage. What a failed flush left on the disk is unknown: the kernel may call a
//! page clean that it could not write, so a second flush would prove nothing. Therefore the database is
//! closed, the newest journal is rewritten to another file from what can be read of it, and everything is
//! opened and checked as at a start. Invariant: until that is done nothing is acknowledged; what was in the
//! failed commit is then there as a whole, or not at all.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use super::journal;
use super::open::{self, Opened};
use super::state::LocalState;
use crate::Error;

/// Descriptors that opening needs at least, asked for at once.
const DESCRIPTORS: usize = 16;
pub(super) const PROBE: &str = "probe";
const PROBE_BYTES: usize = 4096;
/// How long readers may finish with the old database.
const CLOSE_WAIT: Duration = Duration::from_secs(2);

/// Says to every later opening that a flush failed. It needs no flush itself: a power loss takes it together
/// with the pages that the kernel holds and did not write.
const UNFLUSHED: &str = "unflushed";

/// Closes the database and opens it again. If it cannot be written to yet, readers keep the old one.
pub(super) fn reopen(shared: &LocalState) -> Result<Opened, Error> {
    shared.room_for(0)?;
    note_failure(&shared.cell.dir)?;
    probe(&shared.cell.dir)?;
    shared.cell.close(CLOSE_WAIT)?;
    shared.exports.revoke_all();
    let opened = open::open(&shared.cell.dir, true)?;
    shared.cache.reset();
    Ok(opened)
}

/// After a failed flush, for this process or the next.
pub(super) fn note_failure(dir: &Path) -> Result<(), Error> {
    let path = dir.join(UNFLUSHED);
    File::create(&path).map(drop).map_err(|e| Error::io(&path, e))
}

/// Before the database is opened: if a flush failed, rewrites the journals.
pub(super) fn renew_journals(dir: &Path) -> Result<(), Error> {
    let path = dir.join(UNFLUSHED);
    if !path.try_exists().map_err(|e| Error::io(&path, e))? {
        return Ok(());
    }
    journal::renew(dir)?;
    std::fs::remove_file(&path).map_err(|e| Error::io(&path, e))
}

/// Whether the directory can be written to.
fn probe(dir: &Path) -> Result<(), Error> {
    let descriptors = (0..DESCRIPTORS).map(|_| File::open(dir)).collect::<Result<Vec<_>, _>>();
    drop(descriptors.map_err(|e| Error::io(dir, e))?);
    let path = dir.join(PROBE);
    let written = OpenOptions::new().create(true).write(true).truncate(true).open(&path).and_then(|mut file| {
        file.write_all(&[0; PROBE_BYTES])?;
        file.sync_all()
    });
    written.and_then(|()| std::fs::remove_file(&path)).map_err(|e| Error::io(&path, e))
}
