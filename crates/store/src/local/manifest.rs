//! Checks the manifests of the keyspaces before the database opens them.
//!
//! Owns a check that the database leaves out: `current` names a manifest and holds its checksum, and a
//! manifest with a wrong number in it would make the database allocate without bound. Refuses what does not
//! match; changes nothing.

use std::path::Path;

use xxhash_rust::xxh3::xxh3_128;

use crate::Error;

/// Checks the manifest of one keyspace.
pub(super) fn check(keyspace: &Path) -> Result<(), Error> {
    let current = keyspace.join("current");
    let bytes = read(&current)?;
    let Some((id, check)) = current_manifest(&bytes) else {
        return Err(Error::damaged(current.display().to_string(), "it names no manifest"));
    };
    let manifest = keyspace.join(format!("v{id}"));
    match xxh3_128(&read(&manifest)?) == check {
        true => Ok(()),
        false => Err(Error::damaged(manifest.display().to_string(), "its checksum does not hold")),
    }
}

fn current_manifest(bytes: &[u8]) -> Option<(u64, u128)> {
    let (id, rest) = bytes.split_first_chunk()?;
    let (check, kind) = rest.split_first_chunk()?;
    (kind == [0]).then_some((u64::from_le_bytes(*id), u128::from_le_bytes(*check)))
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    match std::fs::read(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            Err(Error::damaged(path.display().to_string(), "it is missing"))
        }
        other => other.map_err(|e| Error::io(path, e)),
    }
}
