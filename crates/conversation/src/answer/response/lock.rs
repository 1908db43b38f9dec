//! One response at a time in a thread, on all nodes of a store.
//!
//! On one node this is a table in memory. Nodes that share a store also write a lease below the thread,
//! `…/lock/response`, and renew it while the response is made; the lease of a node that died runs out.
//! Invariant: a lease that was lost, because its thread was forgotten, is not written again.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use novelo_engine::path::DocumentPath;
use novelo_engine::scope;
use novelo_store::{Error as StoreError, PutTerms, Store};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::{bad_id, locked};
use crate::answer::Shared;
use crate::error::{Code, Error, Result};
use crate::telemetry::now;
use crate::thread::item::ResponseId;

/// How long a lease holds that is not renewed, and how often it is.
const LEASE: Duration = Duration::from_secs(15);
const RENEW_EVERY: Duration = Duration::from_secs(5);
/// How often the lease of another node is looked at by a request that waits.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// Other nodes may take and release a lease this often while one is being taken.
const TRIES_MAX: usize = 10;

/// The threads of this node in which a response is being made.
#[derive(Debug, Default)]
pub struct ResponseLocks {
    held: Mutex<FxHashMap<(String, String), ResponseId>>,
    released: Notify,
}

/// The right to make a response in a thread. It ends when it is released or dropped.
#[derive(Debug)]
pub struct ResponseLock {
    /// The response that it is for.
    pub id: ResponseId,
    user: String,
    locks: Arc<ResponseLocks>,
    lease: Option<Lease>,
    is_released: AtomicBool,
}

/// What other nodes see of a lock.
#[derive(Debug)]
struct Lease {
    store: Store,
    at: DocumentPath,
    name: String,
    version: Arc<AtomicU64>,
    renewing: tokio::task::JoinHandle<()>,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredLease {
    /// The name of the response in its thread.
    response: String,
    until: f64,
}

impl ResponseLock {
    /// Takes the lock of a thread for a new response. While another has it, waits that long, and is then
    /// refused with the id of the other.
    pub(super) async fn take(app: &Shared, user: &str, thread: &str, wait: Duration) -> Result<Self> {
        let deadline = Instant::now() + wait;
        loop {
            let released = app.replies.locks.released.notified();
            tokio::pin!(released);
            released.as_mut().enable();
            let other = match Self::try_take(app, user, thread).await? {
                Ok(lock) => return Ok(lock),
                Err(other) => other,
            };
            let until = if is_shared(&app.store) { deadline.min(Instant::now() + LOOK_EVERY) } else { deadline };
            if Instant::now() >= deadline {
                return Err(locked(&other));
            }
            // The end of the wait is no error: the lock is tried once more.
            drop(tokio::time::timeout_at(until, released).await);
        }
    }

    /// Takes the lock, or returns the response that has it.
    pub(super) async fn try_take(
        app: &Shared,
        user: &str,
        thread: &str,
    ) -> Result<std::result::Result<Self, ResponseId>> {
        let (id, locks) = (ResponseId::new(&app.node, thread), app.replies.locks.clone());
        if let Err(other) = locks.insert(user, &id) {
            return Ok(Err(other));
        }
        // From here on it is in the table, and dropping it removes it.
        let user = user.to_owned();
        let mut lock = Self { id, user, locks, lease: None, is_released: AtomicBool::new(false) };
        if is_shared(&app.store) {
            match Lease::take(&app.store, &lock.user, &lock.id).await? {
                Ok(lease) => lock.lease = Some(lease),
                Err(other) => return Ok(Err(other)),
            }
        }
        Ok(Ok(lock))
    }

    /// Lets the next response begin. Called before the client learns of the end, so that it can go on at once
    /// on any node.
    pub(crate) async fn release(&self) {
        if let Some(lease) = &self.lease {
            lease.end().await;
        }
        self.leave();
    }

    fn leave(&self) {
        if !self.is_released.swap(true, Ordering::Relaxed) {
            self.locks.remove(&self.user, &self.id);
        }
    }
}

impl Drop for ResponseLock {
    fn drop(&mut self) {
        if !self.is_released.load(Ordering::Relaxed)
            && let Some(lease) = self.lease.take()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            runtime.spawn(async move { lease.end().await });
        }
        self.leave();
    }
}

impl ResponseLocks {
    fn insert(&self, user: &str, id: &ResponseId) -> std::result::Result<(), ResponseId> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        match held.get(&key(user, id)) {
            Some(other) => Err(other.clone()),
            None => {
                held.insert(key(user, id), id.clone());
                Ok(())
            }
        }
    }

    fn remove(&self, user: &str, id: &ResponseId) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).remove(&key(user, id));
        self.released.notify_waiters();
    }
}

impl Lease {
    /// Takes the lease, or returns the response that has it.
    async fn take(store: &Store, user: &str, id: &ResponseId) -> Result<std::result::Result<Self, ResponseId>> {
        let at = scope::thread(user, &id.thread).and_then(|thread| thread.child("lock")?.document("response"));
        let at = at.map_err(bad_id)?;
        let mut version = 0;
        for _ in 0..TRIES_MAX {
            match put(store, &at, &id.name, version).await {
                Ok(version) => {
                    let version = Arc::new(AtomicU64::new(version));
                    let renewing = renew(store.clone(), at.clone(), id.name.clone(), version.clone());
                    let renewing = tokio::spawn(renewing);
                    let (store, name) = (store.clone(), id.name.clone());
                    return Ok(Ok(Self { store, at, name, version, renewing }));
                }
                Err(StoreError::Stale { .. }) => {}
                Err(error) => return Err(error.into()),
            }
            let held = read(store, &at).await?;
            match held {
                Some((StoredLease { response, until }, _)) if until > now() => {
                    return Ok(Err(ResponseId { thread: id.thread.clone(), name: response }));
                }
                held => version = held.map_or(0, |(_, version)| version),
            }
        }
        Err(Error::new(Code::Busy, "too many others answer in this conversation"))
    }

    /// Removes it, unless it is no longer this response's.
    async fn end(&self) {
        self.renewing.abort();
        let version = self.version.load(Ordering::Relaxed);
        let mut ended = self.store.delete(&self.at, Some(version)).await;
        if matches!(ended, Err(StoreError::Stale { .. })) {
            ended = match read(&self.store, &self.at).await {
                // It was renewed at this moment.
                Ok(Some((lease, version))) if lease.response == self.name => {
                    self.store.delete(&self.at, Some(version)).await
                }
                // It went with its thread.
                _ => return,
            };
        }
        if let Err(error) = ended {
            tracing::warn!(%error, "the lock of a conversation was not removed; it runs out by itself");
        }
    }
}

fn key(user: &str, id: &ResponseId) -> (String, String) {
    (user.to_owned(), id.thread.clone())
}

/// Whether other nodes write to the store.
fn is_shared(store: &Store) -> bool {
    matches!(store, Store::Redis(_))
}

async fn read(store: &Store, at: &DocumentPath) -> Result<Option<(StoredLease, u64)>> {
    let Some(document) = store.get(at).await? else { return Ok(None) };
    let lease = serde_json::from_slice(&document.value);
    let lease = lease.map_err(|error| Error::new(Code::Internal, format!("a lock cannot be read: {error}")))?;
    Ok(Some((lease, document.version)))
}

/// Writes a lease over this version of it. Returns the new version.
async fn put(store: &Store, at: &DocumentPath, name: &str, version: u64) -> std::result::Result<u64, StoreError> {
    let until = now() + LEASE.as_secs_f64();
    let value = serde_json::json!(StoredLease { response: name.to_owned(), until }).to_string();
    let terms = PutTerms { if_version: Some(version), now: now(), expires_at: Some(until), ..PutTerms::default() };
    Ok(store.put(at, value.into(), terms).await?.version)
}

/// Renews a lease until it is lost.
async fn renew(store: Store, at: DocumentPath, name: String, version: Arc<AtomicU64>) {
    loop {
        tokio::time::sleep(RENEW_EVERY).await;
        match put(&store, &at, &name, version.load(Ordering::Relaxed)).await {
            Ok(renewed) => version.store(renewed, Ordering::Relaxed),
            Err(StoreError::Stale { .. }) => return,
            Err(error) => tracing::warn!(%error, "the lock of a conversation was not renewed"),
        }
    }
}
