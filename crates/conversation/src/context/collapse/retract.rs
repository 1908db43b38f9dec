//! Deleting a response together with what the index says of it.
//!
//! Owns the rule that both go in one write, all or nothing, wherever the deletion comes from.

use std::collections::{BTreeMap, BTreeSet};

use novelo_engine::path::{CollectionPath, DocumentPath};
use novelo_store::{Error, Op, Outcome, Store};

use super::held::HeldGroups;
use super::plan::removal;
use super::{Places, TRIES_MAX, lock_places};
use crate::error::Result;

/// The responses of each thread that are deleted.
type Deleted<'o> = BTreeMap<CollectionPath, (Places, BTreeSet<&'o str>)>;

/// Deletes a document, with its index entries if it is a response. Whether there was something to delete; if
/// not, the index is left alone too.
pub async fn delete(store: &Store, at: DocumentPath, if_version: Option<u64>) -> Result<bool> {
    if Places::response_at(&at).is_some() {
        let actual = store.get(&at).await?.map_or(0, |document| document.version);
        match if_version {
            Some(expected) if expected != actual => return Err(Error::Stale { expected, actual }.into()),
            _ if actual == 0 => return Ok(false),
            _ => {}
        }
    }
    let outcomes = write(store, vec![Op::Delete { at, if_version }]).await?;
    Ok(outcomes.contains(&Outcome::Deleted(true)))
}

/// Applies operations, and with them what removes the responses that they delete from the index. Answers the
/// operations that were given.
pub async fn write(store: &Store, ops: Vec<Op>) -> Result<Vec<Outcome>> {
    let deleted = deleted(&ops);
    if deleted.is_empty() {
        return Ok(store.write(ops).await?);
    }
    let _locks = lock_places(deleted.values().map(|(places, _)| places)).await;
    let mut tries = 1;
    loop {
        // They come first, because they name the versions that were read: the given ones may change the same
        // documents.
        let mut all = retraction(store, &deleted).await?;
        let added = all.len();
        all.extend(ops.iter().cloned());
        match store.write(all).await {
            Ok(outcomes) => return Ok(outcomes.into_iter().skip(added).collect()),
            Err(Error::Stale { .. }) if tries < TRIES_MAX => tries += 1,
            Err(error) => return Err(error.into()),
        }
    }
}

/// What leaves nothing of these responses in the index.
async fn retraction(store: &Store, deleted: &Deleted<'_>) -> Result<Vec<Op>> {
    let mut ops = Vec::new();
    for (places, responses) in deleted.values() {
        let held = HeldGroups::read(store, places, responses, &BTreeSet::new()).await?;
        ops.extend(removal(places, &held, responses)?);
    }
    Ok(ops)
}

fn deleted(ops: &[Op]) -> Deleted<'_> {
    let mut deleted = Deleted::new();
    for op in ops {
        let Op::Delete { at, .. } = op else { continue };
        let Some((places, response)) = Places::response_at(at) else { continue };
        deleted.entry(places.responses.clone()).or_insert_with(|| (places, BTreeSet::new())).1.insert(response);
    }
    deleted
}
