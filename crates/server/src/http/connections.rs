//! The open connections, and which of them may be closed for a new one.
//!
//! Owns the cap on connections. A connection is busy from the head of a request to the last byte of its
//! response, else idle. When the cap is reached, the connection that has been idle longest is closed for the
//! new one; if none is idle, the new one waits. Invariant: a busy connection is never closed for another.

use std::collections::{BTreeMap, HashMap};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use tokio::sync::{Notify, oneshot};

#[derive(Debug)]
pub struct Connections {
    max: usize,
    state: Mutex<ConnectionStates>,
    /// Notified whenever a connection ends or becomes idle. Only the listener waits for it.
    changed: Notify,
    evicted: AtomicU64,
}

#[derive(Debug, Default)]
struct ConnectionStates {
    open: HashMap<u64, OpenConnection>,
    /// The idle connections, in the order in which they became idle.
    idle: BTreeMap<u64, u64>,
    /// Connections that were asked to close and are still open.
    leaving: usize,
    next: u64,
}

#[derive(Debug)]
struct OpenConnection {
    /// Its key in `idle`.
    idle: Option<u64>,
    /// Taken when the connection must close.
    close: Option<oneshot::Sender<()>>,
}

/// A counted connection, until it is dropped.
#[derive(Debug)]
pub struct CountedConnection {
    all: Arc<Connections>,
    id: u64,
    /// Whether a request is being answered; its guard writes it.
    is_busy: AtomicBool,
}

/// A request that is being answered.
#[derive(Debug)]
pub struct BusyConnection(Arc<CountedConnection>);

impl Connections {
    pub fn new(max: usize) -> Self {
        Self { max, state: Mutex::default(), changed: Notify::new(), evicted: AtomicU64::new(0) }
    }

    pub fn max(&self) -> usize {
        self.max
    }

    pub fn open(&self) -> usize {
        self.lock().open.len()
    }

    /// Counts a connection. The receiver resolves when it should close.
    pub fn add(self: &Arc<Self>) -> (Arc<CountedConnection>, oneshot::Receiver<()>) {
        let (close, told) = oneshot::channel();
        let mut state = self.lock();
        let id = state.ticket();
        state.open.insert(id, OpenConnection { idle: Some(id), close: Some(close) });
        state.idle.insert(id, id);
        (Arc::new(CountedConnection { all: self.clone(), id, is_busy: AtomicBool::new(false) }), told)
    }

    /// Waits until there is room for one more connection, and closes an idle one if needed.
    pub(crate) async fn make_room(&self) {
        while self.open() >= self.max {
            if !self.is_one_leaving() {
                self.evict();
            }
            self.changed.notified().await;
        }
    }

    /// Whether there will be room once the closing connections are gone.
    fn is_one_leaving(&self) -> bool {
        let state = self.lock();
        state.open.len() - state.leaving < self.max
    }

    /// Closes the connection that has been idle longest. Returns whether there was one.
    pub(crate) fn evict(&self) -> bool {
        let mut state = self.lock();
        let Some((_, id)) = state.idle.pop_first() else { return false };
        let is_told = state.tell(id);
        drop(state);
        self.evicted.fetch_add(u64::from(is_told), Ordering::Relaxed);
        is_told
    }

    /// Asks all connections to close when they are done, and waits for it.
    pub(crate) async fn close_all(&self) {
        self.tell_all();
        while self.open() > 0 {
            self.changed.notified().await;
        }
    }

    fn tell_all(&self) {
        let mut state = self.lock();
        let ids: Vec<u64> = state.open.keys().copied().collect();
        for id in ids {
            state.tell(id);
        }
    }

    /// Waits for any change.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }

    /// The metrics for Prometheus.
    pub fn metrics(&self) -> String {
        let (open, max, evicted) = (self.open(), self.max, self.evicted.load(Ordering::Relaxed));
        format!(
            "# TYPE novelo_connections_open gauge\nnovelo_connections_open {open}\n\
            # TYPE novelo_connections_max gauge\nnovelo_connections_max {max}\n\
            # TYPE novelo_connections_evicted_total counter\nnovelo_connections_evicted_total {evicted}\n"
        )
    }

    fn lock(&self) -> MutexGuard<'_, ConnectionStates> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConnectionStates {
    fn ticket(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Returns whether the connection was asked to close by this call.
    fn tell(&mut self, id: u64) -> bool {
        let Some(entry) = self.open.get_mut(&id) else { return false };
        if let Some(ticket) = entry.idle.take() {
            self.idle.remove(&ticket);
        }
        let Some(close) = entry.close.take() else { return false };
        self.leaving += 1;
        // A connection that is already ending no longer listens, and is gone in a moment.
        let _is_listening = close.send(()).is_ok();
        true
    }
}

impl CountedConnection {
    /// Marks the connection as busy with a request.
    pub fn begin(self: &Arc<Self>) -> BusyConnection {
        let mut state = self.all.lock();
        if let Some(ticket) = state.open.get_mut(&self.id).and_then(|entry| entry.idle.take()) {
            state.idle.remove(&ticket);
        }
        self.is_busy.store(true, Ordering::Release);
        BusyConnection(self.clone())
    }

    pub(crate) fn is_busy(&self) -> bool {
        self.is_busy.load(Ordering::Acquire)
    }
}

impl Drop for CountedConnection {
    fn drop(&mut self) {
        let mut state = self.all.lock();
        if let Some(entry) = state.open.remove(&self.id) {
            if let Some(ticket) = entry.idle {
                state.idle.remove(&ticket);
            }
            if entry.close.is_none() {
                state.leaving -= 1;
            }
        }
        drop(state);
        self.all.changed.notify_one();
    }
}

impl Drop for BusyConnection {
    fn drop(&mut self) {
        let all = &self.0.all;
        let mut state = all.lock();
        let ticket = state.ticket();
        self.0.is_busy.store(false, Ordering::Release);
        if let Some(entry) = state.open.get_mut(&self.0.id).filter(|entry| entry.close.is_some()) {
            entry.idle = Some(ticket);
            state.idle.insert(ticket, self.0.id);
        }
        drop(state);
        all.changed.notify_one();
    }
}

/// The body of an answer, which keeps its connection busy until its end.
pub(crate) struct BusyBody {
    inner: Body,
    busy: Option<BusyConnection>,
}

impl BusyBody {
    pub fn new(inner: Body, busy: BusyConnection) -> Self {
        Self { inner, busy: Some(busy) }
    }
}

impl hyper::body::Body for BusyBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = Pin::new(&mut self.inner).poll_frame(cx);
        if matches!(frame, Poll::Ready(None)) {
            self.busy = None;
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn is_pending(mut future: Pin<&mut impl Future<Output = ()>>) -> bool {
        std::future::poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx).is_pending())).await
    }

    #[tokio::test]
    async fn the_longest_idle_goes_first_and_a_busy_one_never() {
        let all = Arc::new(Connections::new(3));
        let (first, mut first_told) = all.add();
        let (second, mut second_told) = all.add();
        let (third, mut third_told) = all.add();
        let busy = first.begin();
        drop(third.begin());
        let mut room = Box::pin(all.make_room());
        assert!(is_pending(room.as_mut()).await);
        assert!(second_told.try_recv().is_ok(), "the third was used since, the first is busy");
        assert!(third_told.try_recv().is_err() && first_told.try_recv().is_err());
        assert!(is_pending(room.as_mut()).await, "it has not left yet");
        drop(second);
        room.await;
        assert_eq!((all.open(), all.max()), (2, 3));
        assert!(all.evict() && third_told.try_recv().is_ok());
        assert!(!all.evict(), "the one that is left is busy");
        drop(busy);
        assert!(all.evict() && first_told.try_recv().is_ok(), "no longer");
        drop((first, third));
        assert_eq!(all.open(), 0);
        assert!(all.metrics().contains("novelo_connections_evicted_total 3"));
    }

    #[tokio::test]
    async fn all_are_waited_for() {
        let all = Arc::new(Connections::new(3));
        let (counted, told) = all.add();
        let mut closed = Box::pin(all.close_all());
        assert!(is_pending(closed.as_mut()).await);
        told.await.unwrap();
        assert!(!all.evict(), "it is leaving already");
        drop(counted);
        closed.await;
    }
}
