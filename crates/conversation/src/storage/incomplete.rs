//! A store that is still being filled by a restore, an import or a migration.
//!
//! Owns where that is noted: in a data directory in the file of `novelo_store::Incomplete`, in Redis in a
//! document beside those of the nodes, which no export holds. A marked store is opened only by the command
//! that resumes.

use std::path::{Path, PathBuf};

use anyhow::bail;
use novelo_engine::path::{CollectionPath, DocumentPath};
use novelo_store::{Error, FillKind, Incomplete, PutTerms, Store};

use crate::caller::NODES;
use crate::settings::{Settings, without_password};
use crate::telemetry::now;

/// The place that is filled.
#[derive(Debug, Clone)]
pub enum FillTarget {
    /// A directory of a local store.
    Directory(PathBuf),
    /// A store in Redis.
    Redis(Store),
}

impl FillTarget {
    /// Where the documents of a store are kept.
    pub fn of(store: &Store, data: &Path) -> Self {
        match store {
            Store::Redis(_) => Self::Redis(store.clone()),
            Store::Local(_) | Store::Memory(_) => Self::Directory(data.to_owned()),
        }
    }

    /// Marks it as incomplete.
    pub async fn mark(&self, marker: &Incomplete) -> anyhow::Result<()> {
        match self {
            Self::Directory(data) => marker.write(data)?,
            Self::Redis(store) => {
                let terms = PutTerms { now: now(), ..PutTerms::default() };
                store.put(&document(), serde_json::to_vec(marker)?.into(), terms).await?;
            }
        }
        Ok(())
    }

    /// Says that everything is there.
    pub async fn clear(&self) -> anyhow::Result<()> {
        match self {
            Self::Directory(data) => Incomplete::clear(data)?,
            Self::Redis(store) => drop(store.delete(&document(), None).await?),
        }
        Ok(())
    }
}

/// The marker of a store in Redis.
pub async fn in_redis(store: &Store) -> Result<Option<Incomplete>, Error> {
    let Some(found) = store.get(&document()).await? else { return Ok(None) };
    let damaged = |e: serde_json::Error| Error::Damaged { place: document().to_string(), what: e.to_string() };
    serde_json::from_slice(&found.value).map(Some).map_err(damaged)
}

/// Refuses a store in Redis that is marked.
pub(crate) async fn require_complete(store: &Store, settings: &Settings) -> anyhow::Result<()> {
    match in_redis(store).await? {
        Some(marker) => refuse(&marker, settings),
        None => Ok(()),
    }
}

/// Refuses a marker in Redis that is not of this command.
pub fn refuse(marker: &Incomplete, settings: &Settings) -> anyhow::Result<()> {
    let Incomplete { kind, source, command, .. } = marker;
    let place = without_password(&settings.redis.url);
    bail!(
        "the store at redis.url, {place}, is incomplete: {kind} from {source} broke off\nhint: to resume it, run `{command}`; \
        to give it up, use another redis.prefix"
    )
}

/// Whether a command that fills a store resumes what is marked.
pub fn is_resumed_by(found: &Incomplete, marker: &Incomplete) -> bool {
    (found.kind, &found.source) == (marker.kind, &marker.source)
}

/// The marker of a command that begins.
pub fn marker(kind: FillKind, source: String, words: &[&str]) -> Incomplete {
    let command = words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    Incomplete { kind, source, command: format!("novelo {command}"), documents: 0 }
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

fn document() -> DocumentPath {
    let nodes = CollectionPath::new(&[NODES]).expect("one short segment is a collection");
    nodes.document("incomplete").expect("a short name is an id")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_can_be_pasted_into_a_shell() {
        let marker = marker(FillKind::Restore, "x".into(), &["restore", "/a b/it's.jsonl", "--data", "/d"]);
        assert_eq!(marker.command, r"novelo restore '/a b/it'\''s.jsonl' --data /d");
    }
}
