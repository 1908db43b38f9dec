//! A connection whose client must keep reading and send well-formed heads.
//!
//! Owns the timeout for a client that stops reading: a write without progress for `STALL_S_MAX` ends the
//! connection, so that no idle client holds a connection. Incoming bytes go through the check in `strict`.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use novelo_engine::limits::STALL_S_MAX;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

use super::strict::HeadCheck;

pub(crate) struct Stall<S> {
    stream: S,
    /// The deadline for the waiting write to make progress.
    until: Pin<Box<Sleep>>,
    /// Whether a write waits for the client. It is read before the connection is closed for another.
    is_waiting: Arc<AtomicBool>,
    heads: HeadCheck,
}

impl<S> Stall<S> {
    pub fn new(stream: S) -> Self {
        let until = Box::pin(tokio::time::sleep(Duration::ZERO));
        Self { stream, until, is_waiting: Arc::default(), heads: HeadCheck::default() }
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
        ready!(Pin::new(&mut self.stream).poll_read(cx, to))?;
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

    const ROOM: usize = 16;

    #[tokio::test(start_paused = true)]
    async fn a_client_that_stops_reading_is_left() {
        let (here, there) = tokio::io::duplex(ROOM);
        let started = Instant::now();
        let error = Stall::new(here).write_all(&[0; ROOM + 1]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(started.elapsed().as_secs(), STALL_S_MAX as u64);
        drop(there);
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_reads_slowly_is_not() {
        let (here, mut there) = tokio::io::duplex(ROOM);
        let mut here = Stall::new(here);
        let writing = tokio::spawn(async move { here.write_all(&[0; ROOM * 3]).await });
        for _ in 0..3 {
            tokio::time::sleep(Duration::from_secs(STALL_S_MAX as u64 - 1)).await;
            there.read_exact(&mut [0; ROOM]).await.unwrap();
        }
        writing.await.unwrap().unwrap();
    }
}
