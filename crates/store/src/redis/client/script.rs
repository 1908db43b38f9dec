//! Scripts by their digest.
//!
//! Owns a script's text and the digest that a server gave it. The digest depends on the text alone, so it is
//! learned once, and a server that does not know the script yet says so.

use std::sync::OnceLock;

use bytes::Bytes;

use super::resp::Command;

/// A script, to be kept in a `static`.
pub(crate) struct Script {
    body: &'static str,
    /// Written once, after the first load.
    digest: OnceLock<Bytes>,
}

impl Script {
    pub(crate) const fn new(body: &'static str) -> Self {
        Self { body, digest: OnceLock::new() }
    }

    pub(super) fn body(&self) -> &'static str {
        self.body
    }

    pub(super) fn digest(&self) -> Option<&[u8]> {
        self.digest.get().map(Bytes::as_ref)
    }

    pub(super) fn learn(&self, digest: Bytes) -> &[u8] {
        self.digest.get_or_init(|| digest)
    }

    pub(super) fn load(&self) -> Bytes {
        Command::sized("SCRIPT", self.body.len() + 32).arg("LOAD").arg(self.body).into_bytes()
    }
}

/// `EVAL` or `EVALSHA` with keys and arguments.
pub(super) fn eval(name: &str, what: &[u8], keys: &[Bytes], args: &[Bytes]) -> Bytes {
    let bytes = keys.iter().chain(args).map(|word| word.len() + 16).sum::<usize>();
    let command = Command::sized(name, what.len() + bytes + 32);
    command.arg(what).int(keys.len() as u64).args(keys).args(args).into_bytes()
}
