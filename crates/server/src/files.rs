//! Descriptors: how many files and connections this process may have open.
//!
//! Owns the limit of the system, which `serve` raises at its start, and its division: the store, its journals, models and other
//! servers have a share that no client can take, and connections have the rest.

use novelo_engine::limits::CONNECTIONS_MAX;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// More than this is of no use: `CONNECTIONS_MAX` and the share of everything else fit many times.
const FILES_WANTED: u64 = 65_536;
/// Kept for the store (its tables and journals), for calls to models and to other servers.
const FILES_RESERVED: u64 = 1_536;

/// What the system allows, before and after it was asked for more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileLimit {
    pub before: u64,
    pub now: u64,
}

/// Raises the soft limit as far as the hard limit allows; where that fails, the limit stays as it was.
pub fn raise_limit() -> FileLimit {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let before = current.unwrap_or(u64::MAX);
    let wanted = maximum.unwrap_or(u64::MAX).min(FILES_WANTED);
    let is_raised = wanted > before && setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum }).is_ok();
    FileLimit { before, now: if is_raised { wanted } else { before } }
}

/// How many connections fit, as the limit is now.
pub fn connections_max() -> usize {
    connections_within(getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX))
}

/// At least one; where the limit is low, half of it.
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
