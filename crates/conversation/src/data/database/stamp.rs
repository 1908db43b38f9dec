//! What can be told of a file without opening it.
//!
//! Owns the question whether the database changed on disk. Refuses to open the file: closing it again would
//! drop the locks that SQLite holds on it in this process.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3;

/// Which file it is, and when it was last written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    device: u64,
    inode: u64,
    bytes: u64,
    modified_ns: i128,
}

impl Stamp {
    pub fn of(path: &Path) -> std::io::Result<Self> {
        let found = std::fs::metadata(path)?;
        if !found.is_file() {
            return Err(std::io::Error::other("it is no file"));
        }
        let modified_ns = i128::from(found.mtime()) * 1_000_000_000 + i128::from(found.mtime_nsec());
        Ok(Self { device: found.dev(), inode: found.ino(), bytes: found.len(), modified_ns })
    }

    fn mix(self, into: &mut Xxh3) {
        into.update(&self.device.to_le_bytes());
        into.update(&self.inode.to_le_bytes());
        into.update(&self.bytes.to_le_bytes());
        into.update(&self.modified_ns.to_le_bytes());
    }
}

/// A number that is another one when the database was written to or replaced; zero where there is none.
/// Writes of a database with a write-ahead log are in the log first.
pub(crate) fn generation(path: &Path) -> u64 {
    let Ok(stamp) = Stamp::of(path) else { return 0 };
    let mut mixed = Xxh3::new();
    stamp.mix(&mut mixed);
    if let Ok(log) = Stamp::of(&beside(path, "-wal")) {
        log.mix(&mut mixed);
    }
    mixed.digest().max(1)
}

/// A file that SQLite keeps beside a database.
pub fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}
