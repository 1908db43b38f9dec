//! The index of collapsed groups: documents beside a thread's turns.
//!
//! Owns where they stand, and the locks that their writers take. `index` writes them from a response,
//! `retract` removes them with one, `read` looks a thread's groups up.

mod held;
pub mod index;
mod plan;
mod read;
pub mod retract;

pub use read::{FoundGroups, ThreadGroups, find};

#[cfg(test)]
mod index_tests;

use novelo_engine::limits::PAGE_MAX;
use novelo_engine::path::{CollectionPath, DocumentPath, PathError};
use novelo_engine::scope::{Root, THREADS, USERS};
use novelo_store::{Cursor, Document, Store, Window};
use tokio::sync::MutexGuard;

/// The collections of one thread's groups.
#[derive(Debug, Clone)]
pub struct Places {
    /// The stored responses.
    pub responses: CollectionPath,
    /// The groups of each message.
    pub message_to_groups: CollectionPath,
    /// The groups of messages that have too many for their own document.
    pub by_message: CollectionPath,
    /// The response of each group.
    pub group_to_response: CollectionPath,
    /// The groups of each response.
    pub response_to_groups: CollectionPath,
    /// Whether each group is collapsed.
    pub group_state: CollectionPath,
}

/// The collection of responses below a thread.
const COLLAPSED: &str = "collapsed";
/// The collection below a message of `by_message`.
pub(crate) const SPILLED: &str = "groups";

impl Places {
    /// The collections of the thread `id`.
    pub fn of(root: Root<'_>, id: &str) -> Result<Self, PathError> {
        let thread = root.thread(id)?;
        let index = thread.child("indexes")?.document("collapsed")?;
        Ok(Self {
            responses: thread.child(COLLAPSED)?,
            message_to_groups: Self::key(root, id)?,
            by_message: index.child("byMessage")?,
            group_to_response: index.child("groupToResponse")?,
            response_to_groups: index.child("responseToGroups")?,
            group_state: index.child("groupState")?,
        })
    }

    /// The one of them that all are known by.
    pub fn key(root: Root<'_>, thread: &str) -> Result<CollectionPath, PathError> {
        root.collection(&[THREADS, thread, "indexes", "collapsed", "messageToGroups"])
    }

    /// The response that a path names, and the places of its thread.
    pub fn response_at(at: &DocumentPath) -> Option<(Self, &str)> {
        let (root, below) = match at.segments() {
            [users, user, below @ ..] if &**users == USERS => (Root::User(user), below),
            below => (Root::Legacy, below),
        };
        let [threads, thread, collapsed, response] = below else { return None };
        let names_one = &**threads == THREADS && &**collapsed == COLLAPSED;
        Some((Self::of(root, thread).ok().filter(|_| names_one)?, response))
    }

    /// The groups of a message that its own document has no room for.
    pub(crate) fn spilled(&self, message: &str) -> Result<CollectionPath, PathError> {
        self.by_message.document(message)?.child(SPILLED)
    }
}

/// The documents of a collection that are wanted, read page by page.
async fn scan(
    store: &Store,
    of: &CollectionPath,
    keep: impl Fn(&Document) -> bool,
) -> Result<Vec<Document>, novelo_store::Error> {
    let mut kept = Vec::new();
    let mut after = None;
    loop {
        let page = store.scan(of, Window { after, limit: PAGE_MAX, ..Window::default() }).await?;
        after = page.items.last().map(|d| Cursor { create_time: d.create_time, seq: d.seq });
        kept.extend(page.items.into_iter().filter(&keep));
        if !page.has_more {
            return Ok(kept);
        }
    }
}

/// The messages that have more groups than their own document holds.
async fn spilling(store: &Store, places: &Places) -> Result<Vec<Box<str>>, novelo_store::Error> {
    let mut messages: Vec<Box<str>> = Vec::new();
    loop {
        let after = messages.last().map(|id| &**id);
        let page = store.threads(&places.by_message, SPILLED, after, PAGE_MAX).await?;
        messages.extend(page.items.into_iter().map(|row| row.id));
        if !page.has_more {
            return Ok(messages);
        }
    }
}

/// How often a write is tried when the index was changed while it was read.
const TRIES_MAX: usize = 8;

/// Waits for the locks of these threads' indexes, so that each run counts what the one before wrote: without
/// it two runs at once could both fill up the same document.
async fn lock_places<'p>(places: impl Iterator<Item = &'p Places>) -> Vec<MutexGuard<'static, ()>> {
    crate::locks::hold(places.map(|places| &places.responses)).await
}
