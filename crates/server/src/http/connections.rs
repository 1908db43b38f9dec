//! The open connections, and which of them may be closed for a new one.
//!
//! Owns the cap on connections. A connection is busy from the head of a request to the last byte of its
//! response, else idle. When the cap is reached, the connection that has been idle longest is closed for the
//! new one; if none is idle, the new one waits. Invariant: a busy connection is never closed for another.

use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use rustc_hash::FxHashMap;
use tokio::sync::{Notify, oneshot};

#[derive(Debug)]
pub struct Connections {
    max: usize,
    /// Locked when a connection opens, ends or is evicted, and by no request.
    open: Mutex<OpenConnections>,
    /// The ticket of the next connection that becomes idle.
    next_ticket: AtomicU64,
    /// Notified whenever a connection ends or becomes idle. Only the listener waits for it.
    changed: Notify,
    evicted: AtomicU64,
}

#[derive(Debug, Default)]
struct OpenConnections {
    by_id: FxHashMap<u64, OpenConnection>,
    /// Connections that were asked to close and are still open.
    leaving: usize,
    next_id: u64,
}

#[derive(Debug)]
struct OpenConnection {
    idle: Arc<IdleTicket>,
    /// Taken when the connection must close.
    close: Option<oneshot::Sender<()>>,
}

/// Since when a connection is idle: tickets are given in that order. `BUSY` while a request is being
/// answered. The guard of the request writes it; an eviction reads it, and takes it away from a connection
/// that it closes.
#[derive(Debug)]
struct IdleTicket(AtomicU64);

const BUSY: u64 = 0;
const LEAVING: u64 = u64::MAX;

/// A counted connection, until it is dropped.
#[derive(Debug)]
pub struct CountedConnection {
    all: Arc<Connections>,
    id: u64,
    idle: Arc<IdleTicket>,
}

/// A request that is being answered.
#[derive(Debug)]
pub struct BusyConnection(Arc<CountedConnection>);

impl Connections {
    pub fn new(max: usize) -> Self {
        Self {
            max,
            open: Mutex::default(),
            next_ticket: AtomicU64::new(BUSY + 1),
            changed: Notify::new(),
            evicted: AtomicU64::new(0),
        }
    }

    pub fn max(&self) -> usize {
        self.max
    }

    pub fn open(&self) -> usize {
        self.lock().by_id.len()
    }

    /// Counts a connection. The receiver resolves when it should close.
    pub fn add(self: &Arc<Self>) -> (Arc<CountedConnection>, oneshot::Receiver<()>) {
        let (close, told) = oneshot::channel();
        let idle = Arc::new(IdleTicket(AtomicU64::new(self.ticket())));
        let mut open = self.lock();
        open.next_id += 1;
        let id = open.next_id;
        open.by_id.insert(id, OpenConnection { idle: idle.clone(), close: Some(close) });
        (Arc::new(CountedConnection { all: self.clone(), id, idle }), told)
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
        let open = self.lock();
        open.by_id.len() - open.leaving < self.max
    }

    /// Closes the connection that has been idle longest. Returns whether there was one.
    pub(crate) fn evict(&self) -> bool {
        let mut open = self.lock();
        while let Some((ticket, id)) = open.longest_idle() {
            // It may have become busy since.
            if open.by_id.get(&id).is_some_and(|entry| entry.idle.take(ticket)) {
                let is_told = open.tell(id);
                drop(open);
                self.evicted.fetch_add(u64::from(is_told), Ordering::Relaxed);
                return is_told;
            }
        }
        false
    }

    /// Asks all connections to close when they are done, and waits for it.
    pub(crate) async fn close_all(&self) {
        self.tell_all();
        while self.open() > 0 {
            self.changed.notified().await;
        }
    }

    fn tell_all(&self) {
        let mut open = self.lock();
        let ids: Vec<u64> = open.by_id.keys().copied().collect();
        for id in ids {
            open.tell(id);
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

    fn ticket(&self) -> u64 {
        self.next_ticket.fetch_add(1, Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, OpenConnections> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenConnections {
    /// The connection that has been idle longest, with its ticket. One that was asked to close does not
    /// count.
    fn longest_idle(&self) -> Option<(u64, u64)> {
        let staying = self.by_id.iter().filter(|(_, entry)| entry.close.is_some());
        staying.filter_map(|(id, entry)| Some((entry.idle.since()?, *id))).min()
    }

    /// Returns whether the connection was asked to close by this call.
    fn tell(&mut self, id: u64) -> bool {
        let Some(close) = self.by_id.get_mut(&id).and_then(|entry| entry.close.take()) else { return false };
        self.leaving += 1;
        // A connection that is already ending no longer listens, and is gone in a moment.
        let _is_listening = close.send(()).is_ok();
        true
    }
}

impl IdleTicket {
    fn since(&self) -> Option<u64> {
        Some(self.0.load(Ordering::Acquire)).filter(|ticket| ![BUSY, LEAVING].contains(ticket))
    }

    /// Returns whether the connection was still idle since then. No later eviction chooses it.
    fn take(&self, ticket: u64) -> bool {
        self.0.compare_exchange(ticket, LEAVING, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

impl CountedConnection {
    /// Marks the connection as busy with a request.
    pub fn begin(self: &Arc<Self>) -> BusyConnection {
        self.idle.0.store(BUSY, Ordering::Release);
        BusyConnection(self.clone())
    }

    pub(crate) fn is_busy(&self) -> bool {
        self.idle.0.load(Ordering::Acquire) == BUSY
    }
}

impl Drop for CountedConnection {
    fn drop(&mut self) {
        let mut open = self.all.lock();
        if open.by_id.remove(&self.id).is_some_and(|entry| entry.close.is_none()) {
            open.leaving -= 1;
        }
        drop(open);
        self.all.changed.notify_one();
    }
}

impl Drop for BusyConnection {
    fn drop(&mut self) {
        let all = &self.0.all;
        self.0.idle.0.store(all.ticket(), Ordering::Release);
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
