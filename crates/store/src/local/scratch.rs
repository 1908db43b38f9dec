//! A directory that cannot be written to, opened for reading.
//!
//! Owns a private directory in the system's place for temporary files: the database writes to what it opens,
//! so it gets copies of the small files and of the journals, and links to the tables. Refuses where that does
//! not fit, and where a server has the directory open. Invariant: nothing in the directory itself changes,
//! and the private one goes with the last handle.

use std::fs::{DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::journal;
use crate::Error;

/// What must stay free beside the copies: the database makes a journal of its own.
const SPARE_BYTES: u64 = 80 * 1024 * 1024;

pub(super) struct Scratch {
    pub dir: PathBuf,
    /// Keeps a server from starting in the directory meanwhile.
    lock: File,
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(self.lock.unlock());
        if let Err(error) = std::fs::remove_dir_all(&self.dir) {
            tracing::warn!(dir = %self.dir.display(), %error, "a temporary directory could not be removed");
        }
    }
}

impl Scratch {
    pub fn create(dir: &Path) -> Result<Self, Error> {
        let lock = lock(dir)?;
        let source = dir.canonicalize().map_err(|e| Error::io(dir, e))?;
        let temporary = std::env::temp_dir();
        check_room(&temporary, copied_bytes(&source)?)?;
        let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_nanos());
        let scratch = Self { dir: temporary.join(format!("novelo-read-{}-{nanos}", std::process::id())), lock };
        DirBuilder::new().mode(0o700).create(&scratch.dir).map_err(|e| Error::io(&scratch.dir, e))?;
        fill(&source, &scratch.dir)?;
        Ok(scratch)
    }
}

/// A lock that readers share and a server does not.
fn lock(dir: &Path) -> Result<File, Error> {
    let path = dir.join("lock");
    let file = match File::open(&path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            return Err(Error::damaged(path.display().to_string(), "it is missing: there is no whole store here"));
        }
        other => other.map_err(|e| Error::io(&path, e))?,
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => Err(Error::Locked { dir: dir.into() }),
        Err(std::fs::TryLockError::Error(e)) => Err(Error::io(&path, e)),
    }
}

fn check_room(temporary: &Path, bytes: u64) -> Result<(), Error> {
    let needed_bytes = bytes.saturating_add(SPARE_BYTES);
    let disk = rustix::fs::statvfs(temporary).map_err(|e| Error::io(temporary, e.into()))?;
    let free_bytes = disk.f_bavail.saturating_mul(disk.f_frsize);
    match free_bytes < needed_bytes {
        true => Err(Error::Invalid(format!(
            "to read a store that cannot be written to, {needed_bytes} bytes are needed in {}, and {free_bytes} are \
             free\nhint: name a larger place with TMPDIR",
            temporary.display()
        ))),
        false => Ok(()),
    }
}

fn copied_bytes(dir: &Path) -> Result<u64, Error> {
    let mut bytes = 0;
    for (path, is_dir) in entries(dir)? {
        let len = || path.metadata().map(|file| file.len()).map_err(|e| Error::io(&path, e));
        bytes += match is_dir {
            true => copied_bytes(&path)?,
            false if is_table(&path) => 0,
            false => len()?,
        };
    }
    Ok(bytes)
}

fn fill(from: &Path, to: &Path) -> Result<(), Error> {
    for (path, is_dir) in entries(from)? {
        let Some(name) = path.file_name() else { continue };
        let target = to.join(name);
        let filled = match is_dir {
            true => {
                std::fs::create_dir(&target).map_err(|e| Error::io(&target, e))?;
                fill(&path, &target)?;
                continue;
            }
            false if is_table(&path) => symlink(&path, &target),
            false if path.extension().is_some_and(|extension| extension == "jnl") => journal::copy(&path, &target),
            // A copy would be as read-only as the file is.
            false => std::fs::read(&path).and_then(|bytes| std::fs::write(&target, bytes)),
        };
        filled.map_err(|e| Error::io(&path, e))?;
    }
    Ok(())
}

fn is_table(path: &Path) -> bool {
    path.parent().and_then(Path::file_name).is_some_and(|name| name == "tables")
}

/// What belongs to the store: not the files that stand beside it.
fn entries(dir: &Path) -> Result<Vec<(PathBuf, bool)>, Error> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(|e| Error::io(dir, e))? {
        let entry = entry.map_err(|e| Error::io(dir, e))?;
        let kind = entry.file_type().map_err(|e| Error::io(dir, e))?;
        let path = entry.path();
        if kind.is_dir() || kind.is_file() && path.extension().is_none_or(|extension| extension != "db") {
            found.push((path, kind.is_dir()));
        }
    }
    Ok(found)
}
