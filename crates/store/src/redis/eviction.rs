//! Whether a server drops documents when its memory is short.
//!
//! Reads both settings from `INFO memory`, which is allowed nearly everywhere, and otherwise from `CONFIG
//! GET`. If a server allows neither, its state is unknown, which is not a fault.

use super::Redis;
use super::client::{Command, Reply};
use super::eraser::settings;
use crate::Error;

/// What one server does when it has no memory left for a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerEviction {
    pub address: String,
    pub state: EvictionState,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EvictionState {
    /// It refuses the write.
    Never,
    /// It would drop keys, but has no bound on its memory.
    Unbounded { policy: String },
    /// It drops keys.
    Evicting { policy: String, maxmemory_bytes: u64 },
    /// It does not say.
    Unknown,
}

impl EvictionState {
    fn from_settings(policy: Option<String>, maxmemory_bytes: Option<u64>) -> Self {
        match (policy, maxmemory_bytes) {
            (None, _) => Self::Unknown,
            (Some(policy), _) if policy == "noeviction" => Self::Never,
            (Some(policy), Some(0)) => Self::Unbounded { policy },
            // A server that hides its bound is assumed to have one.
            (Some(policy), bound) => Self::Evicting { policy, maxmemory_bytes: bound.unwrap_or(0) },
        }
    }
}

impl Redis {
    /// The state of each server that holds documents.
    pub(crate) async fn evictions(&self) -> Result<Vec<ServerEviction>, Error> {
        let client = &self.0.client;
        let infos = client.each_master(&Command::new("INFO").arg("memory")).await?;
        let mut servers: Vec<_> =
            infos.into_iter().map(|(address, reply)| (address, read_memory_section(&reply))).collect();
        if servers.iter().any(|(_, (policy, bound))| policy.is_none() || bound.is_none()) {
            let (policies, bounds) =
                (settings(client, "maxmemory-policy").await?, settings(client, "maxmemory").await?);
            for (address, (policy, bound)) in &mut servers {
                let told = |of: &[(String, Option<String>)]| {
                    of.iter().find(|(other, _)| other == address).and_then(|(_, value)| value.clone())
                };
                *policy = policy.take().or_else(|| told(&policies));
                *bound = bound.or_else(|| told(&bounds)?.parse().ok());
            }
        }
        let state =
            |(address, (policy, bound))| ServerEviction { address, state: EvictionState::from_settings(policy, bound) };
        Ok(servers.into_iter().map(state).collect())
    }
}

fn read_memory_section(reply: &Reply) -> (Option<String>, Option<u64>) {
    let Reply::Text(text) = reply else { return (None, None) };
    let text = String::from_utf8_lossy(text);
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim);
    (field("maxmemory_policy").map(str::to_owned), field("maxmemory").and_then(|bytes| bytes.parse().ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_counts_where_there_is_a_bound() {
        let of = |policy: Option<&str>, bound| EvictionState::from_settings(policy.map(str::to_owned), bound);
        assert_eq!(of(Some("noeviction"), Some(1)), EvictionState::Never);
        assert_eq!(of(Some("noeviction"), None), EvictionState::Never);
        assert_eq!(of(None, Some(1)), EvictionState::Unknown);
        let policy = || "allkeys-lru".to_owned();
        assert_eq!(of(Some("allkeys-lru"), Some(0)), EvictionState::Unbounded { policy: policy() });
        for (bound, maxmemory_bytes) in [(Some(7), 7), (None, 0)] {
            assert_eq!(of(Some("allkeys-lru"), bound), EvictionState::Evicting { policy: policy(), maxmemory_bytes });
        }
    }

    #[test]
    fn info_is_read_by_whole_names() {
        let info = Reply::Text("# Memory\r\nused_memory:1\r\nmaxmemory:8388608\r\nmaxmemory_human:8.00M\r\nmaxmemory_policy:volatile-lru\r\n".into());
        assert_eq!(read_memory_section(&info), (Some("volatile-lru".into()), Some(8_388_608)));
        assert_eq!(read_memory_section(&Reply::Text("# Memory\r\n".into())), (None, None));
        assert_eq!(read_memory_section(&Reply::Refused("NOPERM".into())), (None, None));
    }
}
