//! A connection whose client must keep reading, and send well-formed heads in time.
//!
//! Owns the timeouts of a client: a write without progress for `STALL_S_MAX` ends the connection, and so does
//! a head that is not whole after `HEADER_WAIT_S_MAX`, so that no idle client holds a connection. Incoming
//! bytes go through the check in `strict`.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use novelo_engine::limits::{HEADER_WAIT_S_MAX, STALL_S_MAX};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

use super::connections::CountedConnection;
use super::strict::HeadCheck;

pub(crate) struct Stall<S> {
    stream: S,
    /// The deadline for the waiting write to make progress.
    until: Pin<Box<Sleep>>,
    /// Whether a write waits for the client. It is read before the connection is closed for another.
    is_waiting: Arc<AtomicBool>,
    heads: HeadCheck,
    head_wait: HeadWait,
}

/// The wait for the head of a request. Its timer is set for many requests at once: when it goes off, it is
/// set again unless this head has taken too long. A timer per request costs more than the rest of the check.
struct HeadWait {
    counted: Arc<CountedConnection>,
    /// The number of the head that is waited for, and since when.
    since: Option<(u64, Instant)>,
    timer: Pin<Box<Sleep>>,
}

const HEADER_WAIT_MAX: Duration = Duration::from_secs(HEADER_WAIT_S_MAX as u64);

impl HeadWait {
    fn new(counted: Arc<CountedConnection>) -> Self {
        Self { counted, since: None, timer: Box::pin(tokio::time::sleep(Duration::ZERO)) }
    }

    /// Resolves once the client has taken too long. It is polled whenever there is nothing to read.
    fn poll(&mut self, cx: &mut Context<'_>, heads: &HeadCheck) -> Poll<()> {
        let now = Instant::now();
        // Nobody waits for the next head before this request is answered.
        let is_head_due = heads.is_in_head() && !self.counted.is_busy();
        let since = match self.since.filter(|(head, _)| is_head_due && *head == heads.count()) {
            Some((_, since)) => since,
            None => now,
        };
        self.since = is_head_due.then_some((heads.count(), since));
        // The timer wakes this task, which is always the same one.
        while now >= self.timer.deadline() {
            if now >= since + HEADER_WAIT_MAX {
                return Poll::Ready(());
            }
            self.timer.as_mut().reset(since + HEADER_WAIT_MAX);
            ready!(self.timer.as_mut().poll(cx));
        }
        Poll::Pending
    }
}

impl<S> Stall<S> {
    pub fn new(stream: S, counted: Arc<CountedConnection>) -> Self {
        let until = Box::pin(tokio::time::sleep(Duration::ZERO));
        let (heads, head_wait) = (HeadCheck::default(), HeadWait::new(counted));
        Self { stream, until, is_waiting: Arc::default(), heads, head_wait }
    }

    /// Whether written bytes are still being sent.
    pub(crate) fn is_waiting(&self) -> Arc<AtomicBool> {
        self.is_waiting.clone()
    }

    /// The result of a write, or an error if it took too long.
    fn judge<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.is_waiting.store(false, Ordering::Relaxed);
            return written;
        }
        if !self.is_waiting.swap(true, Ordering::Relaxed) {
            self.until.as_mut().reset(Instant::now() + Duration::from_secs(STALL_S_MAX as u64));
        }
        ready!(self.until.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client stopped reading")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Stall<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, to: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let known = to.filled().len();
        let Poll::Ready(read) = Pin::new(&mut self.stream).poll_read(cx, to) else {
            let Self { head_wait, heads, .. } = &mut *self;
            ready!(head_wait.poll(cx, heads));
            return Poll::Ready(Err(io::Error::new(
                io::ErrorKind::TimedOut,
                "the client took too long to send a head",
            )));
        };
        read?;
        if let Some(new) = to.filled_mut().get_mut(known..) {
            self.heads.check(new);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Stall<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.judge(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bytes);
        self.judge(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        self.judge(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;
    use crate::http::connections::Connections;

    const ROOM: usize = 16;

    fn counted() -> Arc<CountedConnection> {
        Arc::new(Connections::new(1)).add().0
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_stops_reading_is_left() {
        let (here, there) = tokio::io::duplex(ROOM);
        let started = Instant::now();
        let error = Stall::new(here, counted()).write_all(&[0; ROOM + 1]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(started.elapsed().as_secs(), STALL_S_MAX as u64);
        drop(there);
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_reads_slowly_is_not() {
        let (here, mut there) = tokio::io::duplex(ROOM);
        let mut here = Stall::new(here, counted());
        let writing = tokio::spawn(async move { here.write_all(&[0; ROOM * 3]).await });
        for _ in 0..3 {
            tokio::time::sleep(Duration::from_secs(STALL_S_MAX as u64 - 1)).await;
            there.read_exact(&mut [0; ROOM]).await.unwrap();
        }
        writing.await.unwrap().unwrap();
    }

    /// Reads until the connection ends or the time is over. Returns whether it ended.
    async fn ends_within(here: &mut Stall<tokio::io::DuplexStream>, time: Duration) -> bool {
        let reading = async { while here.read(&mut [0; ROOM]).await.is_ok_and(|read| read > 0) {} };
        tokio::time::timeout(time, reading).await.is_ok()
    }

    const SOON: Duration = Duration::from_millis(10);

    #[tokio::test(start_paused = true)]
    async fn a_head_must_be_whole_in_time_and_each_has_its_own() {
        let (here, mut there) = tokio::io::duplex(1_024);
        let mut here = Stall::new(here, counted());
        for _ in 0..3 {
            there.write_all(b"GET / HTTP/1.1\r\n").await.unwrap();
            assert!(!ends_within(&mut here, HEADER_WAIT_MAX - SOON).await);
            there.write_all(b"\r\n").await.unwrap();
        }
        assert!(!ends_within(&mut here, HEADER_WAIT_MAX - SOON).await, "the next one has begun");
        assert!(ends_within(&mut here, SOON * 2).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_in_pieces_is_one_head() {
        let (here, mut there) = tokio::io::duplex(1_024);
        let mut here = Stall::new(here, counted());
        for _ in 0..3 {
            there.write_all(b"x: y\r\n").await.unwrap();
            assert!(!ends_within(&mut here, HEADER_WAIT_MAX / 4).await);
        }
        there.write_all(b"x: y\r\n").await.unwrap();
        assert!(ends_within(&mut here, HEADER_WAIT_MAX / 4 + SOON).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_is_answered_or_sends_its_body_is_not_timed_here() {
        let (here, mut there) = tokio::io::duplex(1_024);
        let counted = counted();
        let mut here = Stall::new(here, counted.clone());
        there.write_all(b"POST / HTTP/1.1\r\ncontent-length: 2\r\n\r\na").await.unwrap();
        assert!(!ends_within(&mut here, HEADER_WAIT_MAX * 3).await);
        there.write_all(b"b").await.unwrap();
        let busy = counted.begin();
        assert!(!ends_within(&mut here, HEADER_WAIT_MAX * 3).await);
        drop(busy);
        assert!(!ends_within(&mut here, HEADER_WAIT_MAX - SOON).await);
        assert!(ends_within(&mut here, HEADER_WAIT_MAX * 2).await);
    }
}
