//! File descriptors: how many files and connections this process may have open.
//!
//! Owns the limit of the system, which `serve` raises at its start, and how it is divided: the store, its
//! journals, models and other servers have a share that no client can take, and connections get the rest.

use novelo_engine::limits::CONNECTIONS_MAX;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// More than this is not needed: `CONNECTIONS_MAX` and the reserved share fit many times.
const FILES_WANTED: u64 = 65_536;
/// Reserved for the store (its tables and journals) and for calls to models and other servers.
const FILES_RESERVED: u64 = 1_536;

/// The limit before and after it was raised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileLimit {
    pub before: u64,
    pub now: u64,
}

/// Raises the soft limit as far as the hard limit allows. If that fails, the limit is unchanged.
pub(crate) fn raise_limit() -> FileLimit {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let before = current.unwrap_or(u64::MAX);
    let wanted = maximum.unwrap_or(u64::MAX).min(FILES_WANTED);
    let is_raised = wanted > before && setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum }).is_ok();
    FileLimit { before, now: if is_raised { wanted } else { before } }
}

/// How many connections fit within the current limit.
pub fn connections_max() -> usize {
    connections_within(getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX))
}

/// At least one; half of a low limit.
fn connections_within(limit: u64) -> usize {
    let reserved = FILES_RESERVED.min(limit / 2);
    usize::try_from(limit - reserved).unwrap_or(usize::MAX).clamp(1, CONNECTIONS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_get_what_is_left() {
        for (limit, connections) in [
            (0, 1),
            (256, 128),
            (1_024, 512),
            (3_072, 1_536),
            (4_096, 2_560),
            (65_536, CONNECTIONS_MAX),
            (u64::MAX, CONNECTIONS_MAX),
        ] {
            assert_eq!(connections_within(limit), connections, "{limit}");
        }
    }
}
