//! Writing the index: what the groups of a response say, as documents that a thread's messages are looked up
//! in.
//!
//! Owns a run: read, plan, write in batches. Batches are all or nothing each; a run that ends early leaves an
//! index that the next run of the same response puts right. Invariant: after a run the index has of its
//! response what the response has, and of other responses what it had, except for groups of the same name,
//! where the latest wins.

use std::collections::BTreeSet;

use novelo_engine::group::{GroupDefinition, SkippedGroup, define_valid, listed};
use novelo_engine::limits::BATCH_OPS_MAX;
use novelo_store::{Error as StoreError, Op, PutTerms, Store};
use serde_json::{Value, json};

use super::held::HeldGroups;
use super::plan::{Wanted, at, removal, replacement};
use super::{Places, TRIES_MAX, lock_places};
use crate::error::{Error, Result};

/// What a run did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IndexerReport {
    /// Distinct names.
    pub groups: usize,
    /// Distinct messages.
    pub messages: usize,
    /// How many batches were written.
    pub batches: usize,
}

/// Makes the index say what the stored response says, which stands in the first of these places that has it;
/// the index stands in the first. Groups that are wrong are skipped, and returned. A response that is gone
/// leaves nothing; `None` when nothing of it was there either. Deleting a response takes the same lock, so
/// what is read here is still true when it is written.
pub async fn run(
    store: &Store,
    places: &[Places],
    response: &str,
    now: f64,
) -> Result<Option<(IndexerReport, Vec<SkippedGroup>)>> {
    let Some(own) = places.first() else { return Ok(None) };
    let _locks = lock_places(places.iter()).await;
    let Some((groups, skipped)) = load(store, places, response).await? else {
        return Ok(withdraw(store, own, response).await?.map(|indexed| (indexed, Vec::new())));
    };
    let indexed = replace(store, own, &Wanted::new(Some(response), &groups, now)).await?;
    Ok(Some((indexed, skipped)))
}

/// Makes the index say what these groups say. Without a response they are added to those that came without
/// one before.
pub async fn run_given(
    store: &Store,
    places: &Places,
    response: Option<&str>,
    groups: &[GroupDefinition],
    now: f64,
) -> Result<IndexerReport> {
    let _locks = lock_places([places].into_iter()).await;
    replace(store, places, &Wanted::new(response, groups, now)).await
}

/// The groups of a stored response, and those of them that are wrong.
pub(super) async fn load(
    store: &Store,
    places: &[Places],
    response: &str,
) -> Result<Option<(Vec<GroupDefinition>, Vec<SkippedGroup>)>> {
    for places in places {
        let at = places.responses.document(response).map_err(|e| Error::bad_id("responseId", &e))?;
        let Some(document) = store.get(&at).await? else { continue };
        let here = format!("collapsed/{response}");
        let value: Value = serde_json::from_slice(&document.value)
            .map_err(|e| Error::invalid(&here, format_args!("cannot be read: {e}")))?;
        let path = format!("{here} groups");
        let groups = listed(&value).ok_or_else(|| Error::invalid(&path, "is missing"))?;
        groups.as_array().ok_or_else(|| Error::invalid(&path, "must be an array"))?;
        return Ok(Some(define_valid("groups", groups)?));
    }
    Ok(None)
}

async fn replace(store: &Store, places: &Places, wanted: &Wanted<'_>) -> Result<IndexerReport> {
    let messages = wanted.messages();
    let mut tries = 1;
    loop {
        let held = HeldGroups::read(store, places, &BTreeSet::from([wanted.response]), &messages).await?;
        match write(store, replacement(places, &held, wanted)?).await {
            Ok(batches) => return Ok(IndexerReport { groups: wanted.groups.len(), messages: messages.len(), batches }),
            Err(StoreError::Stale { .. }) if tries < TRIES_MAX => tries += 1,
            Err(error) => return Err(error.into()),
        }
    }
}

/// Leaves nothing of a response in the index; `None` when nothing of it was there.
pub(super) async fn withdraw(store: &Store, places: &Places, response: &str) -> Result<Option<IndexerReport>> {
    let responses = BTreeSet::from([response]);
    let mut tries = 1;
    loop {
        let held = HeldGroups::read(store, places, &responses, &BTreeSet::new()).await?;
        let ops = removal(places, &held, &responses)?;
        if ops.is_empty() && tries == 1 {
            return Ok(None);
        }
        match write(store, ops).await {
            Ok(batches) => return Ok(Some(IndexerReport { batches, ..IndexerReport::default() })),
            Err(StoreError::Stale { .. }) if tries < TRIES_MAX => tries += 1,
            Err(error) => return Err(error.into()),
        }
    }
}

/// The response that a group points to.
pub async fn response_of(store: &Store, places: &Places, group: &str) -> Result<Option<String>> {
    let found = store.get(&at(&places.group_to_response, group)?).await?;
    Ok(found.and_then(|document| super::held::response_of(&document).map(|response| response.into_owned())))
}

/// Expands or collapses a group. What was chosen before is replaced as a whole: a choice for one response
/// does not linger in one for any.
pub async fn set_state(
    store: &Store,
    places: &Places,
    group: &str,
    expanded: bool,
    response: Option<&str>,
    now: f64,
) -> Result<()> {
    let _locks = lock_places([places].into_iter()).await;
    let mut state = json!({"expanded": expanded, "updated_at": now});
    if let (Some(response), Some(fields)) = (response, state.as_object_mut()) {
        fields.insert("responseId".into(), response.into());
    }
    let terms = PutTerms { now, ..PutTerms::default() };
    store.put(&at(&places.group_state, group)?, state.to_string().into(), terms).await?;
    Ok(())
}

/// Writes batch after batch; answers how many there were.
async fn write(store: &Store, ops: Vec<Op>) -> std::result::Result<usize, StoreError> {
    let batches = ops.len().div_ceil(BATCH_OPS_MAX);
    let mut ops = ops.into_iter();
    for _ in 0..batches {
        store.write(ops.by_ref().take(BATCH_OPS_MAX).collect()).await?;
    }
    Ok(batches)
}
