//! The checks of `doctor` for a shared store.
//!
//! Cross-checks every record, and reports settings of the servers that can lose documents.

use super::Redis;
use super::client::{Command, Reply};
use super::eraser::{files, settings};
use super::eviction::{EvictionState, ServerEviction};
use super::reply_list::{ReplyList, utf8};
use super::script::CHECK;
use crate::Error;
use crate::read::Finding;

impl Redis {
    pub(crate) async fn check(&self) -> Result<Vec<Finding>, Error> {
        let mut findings = Vec::new();
        for found in self.every_root(&CHECK).await? {
            let mut found = ReplyList::from_reply(found)?;
            let place = format!("collection {}", utf8(&found.text()?)?.replace('\0', "/"));
            let what = utf8(&found.text()?)?.to_owned();
            let advice = "something else wrote to these keys: restore a backup, or forget the collection".into();
            findings.push(Finding { place, what, advice, is_fault: true });
        }
        findings.extend(self.what_can_be_lost().await?);
        Ok(findings)
    }

    async fn what_can_be_lost(&self) -> Result<Vec<Finding>, Error> {
        let client = &self.0.client;
        let (files, fsyncs) = (files(client).await?, settings(client, "appendfsync").await?);
        let replicas = client.each_master(&Command::new("INFO").arg("replication")).await?;
        let mut findings = Vec::new();
        for ((address, files), (_, fsync)) in files.into_iter().zip(fsyncs) {
            let place = format!("redis {address}");
            let losses = match (files.has_log, fsync.as_deref(), files.has_snapshots) {
                (true, Some("always"), _) => None,
                (true, Some("everysec"), _) => Some(
                    "appendfsync is everysec: a power loss can take the last second or two; a crash of the server takes nothing",
                ),
                (true, Some("no"), _) => Some(
                    "appendfsync is no: a power loss can take what the system had not written, often 30 seconds; a crash of the server takes nothing",
                ),
                (true, _, _) => {
                    Some("it does not tell its appendfsync: a power loss can take what that setting lets go")
                }
                (false, None, _) => {
                    Some("it keeps no log and does not tell whether it makes snapshots: a crash can take everything")
                }
                (false, _, true) => Some("appendonly is no: a crash takes everything since the last snapshot"),
                (false, _, false) => Some("it keeps nothing on disk: a restart takes everything"),
            };
            if let Some(what) = losses {
                let advice =
                    "set appendonly yes and appendfsync always where an acknowledged write must survive power loss"
                        .into();
                findings.push(Finding { place, what: what.into(), advice, is_fault: false });
            }
        }
        findings.extend(self.evictions().await?.iter().filter_map(eviction_finding));
        for (address, reply) in replicas {
            let Reply::Text(said) = reply else { continue };
            if !String::from_utf8_lossy(&said).contains("connected_slaves:0") {
                let what = "it answers before its replicas have a write: a failover can take the last moments";
                let advice = "set min-replicas-to-write 1 to bound that, and leave failovers to planned ones where nothing may be lost";
                findings.push(Finding {
                    place: format!("redis {address}"),
                    what: what.into(),
                    advice: advice.into(),
                    is_fault: false,
                });
            }
        }
        Ok(findings)
    }
}

fn eviction_finding(server: &ServerEviction) -> Option<Finding> {
    let (what, is_fault) = match &server.state {
        EvictionState::Never => return None,
        EvictionState::Evicting { policy, .. } => {
            (format!("maxmemory-policy is {policy}: documents are dropped when memory is short"), true)
        }
        EvictionState::Unbounded { policy } => (
            format!(
                "maxmemory-policy is {policy}: nothing is dropped while maxmemory is 0, and documents would be with a bound"
            ),
            false,
        ),
        EvictionState::Unknown => ("it does not tell its maxmemory-policy: it may drop documents".to_owned(), false),
    };
    let advice = "set maxmemory-policy noeviction".into();
    Some(Finding { place: format!("redis {}", server.address), what, advice, is_fault })
}
