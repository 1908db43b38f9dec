//! Which data directory a server has open, and how a client verifies it.
//!
//! Owns the file `instance`, a random id in each data directory. The id is bound to the device and inode of
//! the directory, so that a copy of a directory is another instance. A client sends a random challenge; only
//! a server that has this directory open, and wrote the note that the client read there, can answer it. The
//! secret itself is not sent.

use std::io::Write;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use anyhow::Context;
use hyper::header::HeaderName;
use sha2::{Digest, Sha256};

/// In a request to `/health/live`: the challenge. In the answer: the proof.
pub(crate) const CHALLENGE: HeaderName = HeaderName::from_static("x-novelo-challenge");
pub(crate) const INSTANCE: HeaderName = HeaderName::from_static("x-novelo-instance");

const FILE: &str = "instance";
const ID_BYTES: usize = 16;
/// A challenge that is longer is not answered.
const CHALLENGE_CHARS_MAX: usize = 128;

/// The identity of a data directory. A copy has another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instance(String);

impl Instance {
    /// The instance of a directory that a server has opened. The first server creates its id.
    pub fn create(data: &Path) -> anyhow::Result<Self> {
        let path = data.join(FILE);
        let failure = || format!("cannot write {}", path.display());
        if !path.exists() {
            let mut file = std::fs::OpenOptions::new();
            let mut file = file.write(true).create_new(true).mode(0o600).open(&path).with_context(failure)?;
            file.write_all(random_hex()?.as_bytes()).and_then(|()| file.sync_all()).with_context(failure)?;
        }
        Self::read(data).with_context(|| format!("cannot read {}", path.display()))
    }

    /// The instance of a directory; `None` if no server ever opened it, or it cannot be read.
    pub fn read(data: &Path) -> Option<Self> {
        let id = std::fs::read_to_string(data.join(FILE)).ok()?;
        let directory = std::fs::metadata(data).ok()?;
        Some(Self(format!("{}:{}:{}", id.trim(), directory.dev(), directory.ino())))
    }

    /// The answer of this instance to a challenge, with the secret of its note.
    pub(crate) fn prove(&self, secret: &str, challenge: &str) -> Option<String> {
        let is_sound = !challenge.is_empty() && challenge.len() <= CHALLENGE_CHARS_MAX;
        is_sound.then(|| {
            let mut digest = Sha256::new();
            for part in [secret, &self.0, challenge] {
                digest.update((part.len() as u64).to_be_bytes());
                digest.update(part);
            }
            hex(&digest.finalize())
        })
    }
}

/// A random challenge.
pub(crate) fn random_hex() -> anyhow::Result<String> {
    let mut bytes = [0; ID_BYTES];
    getrandom::fill(&mut bytes).map_err(|e| anyhow::anyhow!("no randomness: {e}"))?;
    Ok(hex(&bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_of_a_directory_is_another_instance() {
        let dir = tempfile::tempdir().unwrap();
        let [own, copy] = ["own", "copy"].map(|name| dir.path().join(name));
        std::fs::create_dir(&own).unwrap();
        assert_eq!(Instance::read(&own), None);
        let instance = Instance::create(&own).unwrap();
        assert_eq!((Instance::create(&own).unwrap(), Instance::read(&own)), (instance.clone(), Some(instance.clone())));
        std::fs::create_dir(&copy).unwrap();
        std::fs::copy(own.join(FILE), copy.join(FILE)).unwrap();
        assert_ne!(Instance::read(&copy), Some(instance.clone()));
        let moved = dir.path().join("moved");
        std::fs::rename(&own, &moved).unwrap();
        assert_eq!(Instance::read(&moved), Some(instance), "a directory that was moved is the same");
    }

    #[test]
    fn a_proof_is_of_one_secret_one_directory_and_one_challenge() {
        let instance = Instance("a".into());
        let proof = instance.prove("s", "c");
        assert_eq!(proof.as_ref().map(String::len), Some(64));
        assert_eq!(instance.prove("s", "c"), proof);
        assert_ne!(instance.prove("t", "c"), proof);
        assert_ne!(instance.prove("s", "d"), proof);
        assert_ne!(Instance("b".into()).prove("s", "c"), proof);
        assert_ne!(Instance("ac".into()).prove("s", "x"), instance.prove("s", "cx"));
        assert_eq!(instance.prove("s", ""), None);
        assert_eq!(instance.prove("s", &"x".repeat(CHALLENGE_CHARS_MAX + 1)), None);
    }
}
