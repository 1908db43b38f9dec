//! The file `acked`: the number of the last commit that was acknowledged.
//!
//! Owns a promise to the next opening. It is written after each durable commit and never flushed by itself,
//! so it may lag behind the database, but if it is ahead, acknowledged writes are missing. A witness that
//! cannot be read proves nothing and is ignored.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use crate::Error;

pub(super) const NAME: &str = "acked";

pub(super) struct Witness(File);

impl Witness {
    pub fn open(dir: &Path) -> Result<Self, Error> {
        let path = dir.join(NAME);
        let file = OpenOptions::new().create(true).write(true).truncate(false).open(&path);
        file.map(Self).map_err(|e| Error::io(&path, e))
    }

    pub fn write(&self, commit: u64) -> std::io::Result<()> {
        let number = commit.to_be_bytes();
        let mut bytes = [0; 16];
        let (head, check) = bytes.split_at_mut(8);
        head.copy_from_slice(&number);
        check.copy_from_slice(&xxh3_64(&number).to_be_bytes());
        self.0.write_all_at(&bytes, 0)
    }
}

/// The last acknowledged commit, if the witness is there and whole.
pub(super) fn read(dir: &Path) -> Option<u64> {
    let bytes = std::fs::read(dir.join(NAME)).ok()?;
    let (number, check) = bytes.get(..16)?.split_first_chunk::<8>()?;
    (xxh3_64(number).to_be_bytes() == check).then(|| u64::from_be_bytes(*number))
}
