//! The file `incomplete`: a store that is still being filled.
//!
//! Owns the marker that a restore, an import or a migration leaves in a directory from before its first document
//! until after its last. Refuses nothing itself; opening a marked directory is refused by `local::open` unless
//! `LocalOptions::opens_incomplete` is set. Invariant: the marker is on the disk, under its name, before `write`
//! returns, and gone from the disk before `clear` returns. A crash leaves the old marker or the new one, never a part.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::Error;

const NAME: &str = "incomplete";
const NEW_NAME: &str = "incomplete.new";

/// What fills the directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FillKind {
    Restore,
    Import,
    Migrate,
}

impl std::fmt::Display for FillKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Restore => "a restore",
            Self::Import => "an import",
            Self::Migrate => "a migration",
        })
    }
}

/// Says that a directory does not hold everything yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Incomplete {
    pub kind: FillKind,
    /// Where the documents come from: a file, or the address of a store without its password.
    pub source: String,
    /// The command that resumes it, as an operator would type it.
    pub command: String,
    /// Documents of the source that are stored for certain.
    pub documents: u64,
}

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
pub(crate) fn sync_dir(dir: &Path) -> Result<(), Error> {
    File::open(dir).and_then(|dir| dir.sync_all()).map_err(|e| Error::io(dir, e))
}
