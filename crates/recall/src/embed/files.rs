//! Reading the small files of a model, with a limit.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use super::error::{Fault, ModelError};

/// The largest vocabularies in use have a tenth of it.
const FILE_BYTES_MAX: u64 = 32 << 20;

pub fn read(path: &Path) -> Result<Vec<u8>, ModelError> {
    let read = || -> Result<Vec<u8>, Fault> {
        let mut bytes = Vec::new();
        File::open(path)?.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
        let len = bytes.len() as u64;
        match len > FILE_BYTES_MAX {
            true => Err(Fault::TooLarge { bytes: len, bytes_max: FILE_BYTES_MAX }),
            false => Ok(bytes),
        }
    };
    read().map_err(|fault| fault.of(path))
}

/// `None` where there is no such file.
pub(crate) fn read_if_any(path: &Path) -> Result<Option<Vec<u8>>, ModelError> {
    match read(path) {
        Err(ModelError { fault: Fault::Unreadable(error), .. }) if error.kind() == ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}

pub fn parse<'b, T: serde::Deserialize<'b>>(path: &Path, bytes: &'b [u8]) -> Result<T, ModelError> {
    serde_json::from_slice(bytes).map_err(|error| Fault::from(error).of(path))
}
