//! The file `incomplete`, which marks a directory that is still being filled.
//!
//! Opening a marked directory is refused by `local::open` unless `LocalOptions::opens_incomplete` is set.
//! Invariant: the marker is on the disk, under its name, before `write` returns, and gone from the disk
//! before `clear` returns. A crash leaves the old marker or the new one, never a part of one.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use crate::Error;
use crate::incomplete::Incomplete;

const NAME: &str = "incomplete";
const NEW_NAME: &str = "incomplete.new";

impl Incomplete {
    /// The marker of a directory; `None` where there is none, or no directory.
    pub fn read(dir: &Path) -> Result<Option<Self>, Error> {
        let path = dir.join(NAME);
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(Error::io(&path, e)),
        };
        let marker =
            serde_json::from_slice(&bytes).map_err(|e| Error::damaged(path.display().to_string(), e.to_string()));
        marker.map(Some)
    }

    /// Marks a directory, or replaces its marker. A directory that is missing is made.
    pub fn write(&self, dir: &Path) -> Result<(), Error> {
        std::fs::create_dir_all(dir).map_err(|e| Error::io(dir, e))?;
        let (path, new) = (dir.join(NAME), dir.join(NEW_NAME));
        let text = serde_json::to_string(self).map_err(|e| Error::io(&path, e.into()))?;
        let written = File::create(&new).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.write_all(b"\n")?;
            file.sync_all()
        });
        written.and_then(|()| std::fs::rename(&new, &path)).map_err(|e| Error::io(&path, e))?;
        sync_dir(dir)
    }

    /// Says that the directory is complete. Close the store, or finish its last write, before.
    pub fn clear(dir: &Path) -> Result<(), Error> {
        let path = dir.join(NAME);
        match std::fs::remove_file(&path) {
            Ok(()) => sync_dir(dir),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(e) => Err(Error::io(&path, e)),
        }
    }
}

/// Makes the names in a directory durable.
pub(super) fn sync_dir(dir: &Path) -> Result<(), Error> {
    File::open(dir).and_then(|dir| dir.sync_all()).map_err(|e| Error::io(dir, e))
}
