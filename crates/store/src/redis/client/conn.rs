//! One connection that many callers share.
//!
//! Owns a socket and the task that writes requests to it and reads the answers, which come in the same order.
//! Does not reconnect: a caller that finds a connection down makes another. Invariant: a request that failed
//! with `NotSent` may be sent again, since not one byte of it was given to the socket.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::Instant;

use super::resp::{Decoder, Reply};
use crate::lock::lock;

/// Requests that wait for the socket; then callers wait for a place.
const QUEUE_MAX: usize = 1024;
/// Requests that are written together.
const BATCH_MAX: usize = 512;
/// Smaller ones are copied together for one system call.
const COPIED_BYTES_MAX: usize = 16 * 1024;
/// What is copied together before it is written.
const GATHERED_BYTES_MAX: usize = 256 * 1024;

/// Why there is no answer.
#[derive(Debug, Clone)]
pub(super) enum CallFailure {
    /// The server cannot be reached; nothing was sent.
    Unreachable(String),
    /// The connection ended first; nothing was sent, so it may be sent again.
    NotSent(String),
    /// It was sent and not answered, so it may have been executed.
    MaybeDone(String),
}

impl CallFailure {
    pub(super) fn why(self) -> String {
        match self {
            Self::Unreachable(why) | Self::NotSent(why) | Self::MaybeDone(why) => why,
        }
    }
}

/// Commands that are written together; there are as many answers as commands.
struct QueuedRequest {
    commands: Vec<Bytes>,
    answer: oneshot::Sender<Result<Vec<Reply>, CallFailure>>,
}

/// An answer that is waited for.
pub(super) struct PendingReplies(oneshot::Receiver<Result<Vec<Reply>, CallFailure>>);

impl PendingReplies {
    pub(super) async fn wait(self) -> Result<Vec<Reply>, CallFailure> {
        self.0.await.unwrap_or_else(|_| Err(CallFailure::MaybeDone("the connection ended".into())))
    }
}

/// The callers' end; the task ends with the last clone.
#[derive(Clone)]
pub(super) struct Connection(mpsc::Sender<QueuedRequest>);

impl Connection {
    /// Closes itself if nothing is read for `timeout` while an answer is due.
    pub(super) fn new<S>(stream: S, timeout: Duration) -> Self
    where
        S: AsyncRead + AsyncWrite + Send + 'static,
    {
        let (sender, queue) = mpsc::channel(QUEUE_MAX);
        tokio::spawn(drive(stream, queue, timeout));
        Self(sender)
    }

    pub(super) fn is_down(&self) -> bool {
        self.0.is_closed()
    }

    /// Returns the commands if the connection is down.
    pub(super) async fn send(&self, commands: Vec<Bytes>) -> Result<PendingReplies, Vec<Bytes>> {
        let (answer, pending) = oneshot::channel();
        match self.0.send(QueuedRequest { commands, answer }).await {
            Ok(()) => Ok(PendingReplies(pending)),
            Err(refused) => Err(refused.0.commands),
        }
    }
}

/// Requests that were given to the socket, the oldest first. The writer adds, the reader removes.
struct InFlight {
    requests: Mutex<VecDeque<SentRequest>>,
    /// Notified by the writer when the first one is added; `watch` waits for it.
    first: Notify,
}

struct SentRequest {
    at: Instant,
    missing: usize,
    replies: Vec<Reply>,
    answer: oneshot::Sender<Result<Vec<Reply>, CallFailure>>,
}

async fn drive<S: AsyncRead + AsyncWrite>(stream: S, mut queue: mpsc::Receiver<QueuedRequest>, timeout: Duration) {
    let (reader, writer) = tokio::io::split(stream);
    let in_flight = InFlight { requests: Mutex::default(), first: Notify::new() };
    let last_read = Mutex::new(Instant::now());
    let mut batch = Vec::new();
    // The reader first: a connection that is found closed takes no request with it.
    let why = tokio::select! {
        biased;
        why = read(reader, &in_flight, &last_read) => why,
        why = watch(&in_flight, &last_read, timeout) => why,
        why = write(writer, &mut queue, &mut batch, &in_flight) => why,
    };
    queue.close();
    for sent in lock(&in_flight.requests).drain(..) {
        // A caller that does not wait any more needs no answer, here as below.
        drop(sent.answer.send(Err(CallFailure::MaybeDone(why.clone()))));
    }
    for request in batch {
        drop(request.answer.send(Err(CallFailure::NotSent(why.clone()))));
    }
    while let Some(request) = queue.recv().await {
        drop(request.answer.send(Err(CallFailure::NotSent(why.clone()))));
    }
}

async fn write<W: AsyncWrite + Unpin>(
    mut to: W,
    queue: &mut mpsc::Receiver<QueuedRequest>,
    batch: &mut Vec<QueuedRequest>,
    in_flight: &InFlight,
) -> String {
    let mut gathered = Vec::new();
    while queue.recv_many(batch, BATCH_MAX).await > 0 {
        // Lets other requests join, and lets the reader notice that the server closed the connection.
        tokio::task::yield_now().await;
        while batch.len() < BATCH_MAX
            && let Ok(request) = queue.try_recv()
        {
            batch.push(request);
        }
        batch.retain(|request| !request.answer.is_closed());
        let commands = in_flight.add(batch);
        if let Err(error) = write_all(&mut to, commands, &mut gathered).await {
            return describe_io_error(&error);
        }
    }
    "the client was closed".into()
}

impl InFlight {
    fn add(&self, batch: &mut Vec<QueuedRequest>) -> Vec<Bytes> {
        let at = Instant::now();
        let mut commands = Vec::with_capacity(batch.len());
        let mut requests = lock(&self.requests);
        let is_first = requests.is_empty();
        for request in batch.drain(..) {
            requests.push_back(SentRequest {
                at,
                missing: request.commands.len(),
                replies: Vec::with_capacity(request.commands.len()),
                answer: request.answer,
            });
            commands.extend(request.commands);
        }
        if is_first {
            self.first.notify_one();
        }
        commands
    }

    /// Whether somebody waited for it.
    fn answer(&self, reply: Reply) -> bool {
        let mut requests = lock(&self.requests);
        let Some(sent) = requests.front_mut() else { return false };
        sent.replies.push(reply);
        sent.missing -= 1;
        if sent.missing == 0
            && let Some(sent) = requests.pop_front()
        {
            drop(requests);
            drop(sent.answer.send(Ok(sent.replies)));
        }
        true
    }
}

async fn write_all<W: AsyncWrite + Unpin>(
    to: &mut W,
    commands: Vec<Bytes>,
    gathered: &mut Vec<u8>,
) -> std::io::Result<()> {
    for command in commands {
        let is_large = command.len() > COPIED_BYTES_MAX;
        if !gathered.is_empty() && (is_large || gathered.len() + command.len() > GATHERED_BYTES_MAX) {
            to.write_all(gathered).await?;
            gathered.clear();
        }
        if is_large {
            to.write_all(&command).await?;
        } else {
            gathered.extend_from_slice(&command);
        }
    }
    to.write_all(gathered).await?;
    gathered.clear();
    to.flush().await
}

async fn read<R: AsyncRead + Unpin>(mut from: R, in_flight: &InFlight, last_read: &Mutex<Instant>) -> String {
    let mut decoder = Decoder::default();
    loop {
        match from.read_buf(decoder.room()).await {
            Ok(0) => return "the server closed the connection".into(),
            Ok(_) => *lock(last_read) = Instant::now(),
            Err(error) => return describe_io_error(&error),
        }
        loop {
            match decoder.next() {
                Ok(Some(reply)) => {
                    if !in_flight.answer(reply) {
                        return "the server answered what was not asked".into();
                    }
                }
                Ok(None) => break,
                Err(nonsense) => return nonsense.to_string(),
            }
        }
    }
}

/// Ends when an answer is due and nothing was read for `timeout`.
async fn watch(in_flight: &InFlight, last_read: &Mutex<Instant>, timeout: Duration) -> String {
    loop {
        let oldest = lock(&in_flight.requests).front().map(|sent| sent.at);
        let Some(sent_at) = oldest else {
            in_flight.first.notified().await;
            continue;
        };
        let due = sent_at.max(*lock(last_read)) + timeout;
        if Instant::now() >= due {
            return format!("no answer within {} ms", timeout.as_millis());
        }
        tokio::time::sleep_until(due).await;
    }
}

/// The text of an I/O error, without its number.
pub(super) fn describe_io_error(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::ConnectionRefused => "connection refused".into(),
        std::io::ErrorKind::ConnectionReset | std::io::ErrorKind::BrokenPipe => "the connection was cut".into(),
        _ => error.to_string(),
    }
}
