//! A store whose creation was interrupted.
//!
//! Owns the decision that a directory holds no documents yet, and clears it, because the database does not go
//! on with a half-made one: it refuses the journal that is there, or gives its keyspaces other numbers.
//! Refuses to touch anything where a commit or a table of documents is found. Invariant: nothing that was
//! acknowledged is removed, since nothing is before the mark is written.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::{journal, witness};
use crate::Error;

/// Removes what an interrupted creation left in a directory without a mark.
pub(super) fn remove(dir: &Path) -> Result<(), Error> {
    if !is_unfinished(dir)? {
        return Ok(());
    }
    let lock_path = dir.join("lock");
    let lock = match File::open(&lock_path) {
        Ok(lock) => lock,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(Error::io(&lock_path, e)),
    };
    lock.try_lock().map_err(|e| match e {
        std::fs::TryLockError::WouldBlock => Error::Locked { dir: dir.into() },
        std::fs::TryLockError::Error(e) => Error::io(&lock_path, e),
    })?;
    for path in entries(dir)? {
        let removed = match path.file_name().and_then(|name| name.to_str()) {
            Some("keyspaces") => std::fs::remove_dir_all(&path),
            Some("version") => std::fs::remove_file(&path),
            _ if path.extension().is_some_and(|extension| extension == "jnl") => std::fs::remove_file(&path),
            _ => Ok(()),
        };
        removed.map_err(|e| Error::io(&path, e))?;
    }
    // Not left to closing the file: a process that is being started may hold another descriptor of it for a
    // moment.
    lock.unlock().map_err(|e| Error::io(&lock_path, e))
}

fn is_unfinished(dir: &Path) -> Result<bool, Error> {
    if dir.join(witness::NAME).exists() || journal::survey(dir)?.commit.is_some() {
        return Ok(false);
    }
    let keyspaces = dir.join("keyspaces");
    if !keyspaces.exists() {
        return Ok(true);
    }
    for keyspace in entries(&keyspaces)? {
        let tables = keyspace.join("tables");
        let is_ours = keyspace.file_name().is_some_and(|name| name != "0");
        if is_ours && tables.exists() && !entries(&tables)?.is_empty() {
            return Ok(false);
        }
    }
    Ok(true)
}

fn entries(dir: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = std::fs::read_dir(dir).map_err(|e| Error::io(dir, e))?;
    entries.map(|entry| entry.map(|entry| entry.path()).map_err(|e| Error::io(dir, e))).collect()
}
