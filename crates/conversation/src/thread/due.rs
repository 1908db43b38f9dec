//! Threads whose summary may be behind.
//!
//! A queue between those who add turns or read a summary and the task that sums up. A thread is due when it
//! has rested, so that a conversation that goes on is not summed up after each turn; it is due at once when
//! someone wants to read its summary. Owns who waits for that.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};
use tokio::sync::{Notify, watch};

/// A user and a thread.
pub type ThreadName = (Box<str>, Box<str>);

#[derive(Debug, Default)]
struct DueState {
    /// Threads that rest.
    resting: FxHashMap<ThreadName, Rest>,
    /// The same in the order in which they were queued. An entry whose time is not that of its `Rest` is
    /// void.
    queue: VecDeque<(ThreadName, Instant)>,
    /// Threads that are due now, in the order in which they became so.
    due_now: VecDeque<ThreadName>,
    /// Being summed up.
    in_hand: FxHashSet<ThreadName>,
}

/// A thread that rests.
#[derive(Debug, Clone, Copy)]
struct Rest {
    queued: Instant,
    /// When a turn was added last.
    touched: Instant,
}

/// Threads that may be behind. Requests add, the task takes, `close` ends it.
#[derive(Debug, Default)]
pub struct Due {
    state: std::sync::Mutex<DueState>,
    wake: Notify,
    /// Notified whenever a thread was done.
    done: Notify,
    closed: watch::Sender<bool>,
}

/// What there is to do.
#[derive(Debug, PartialEq, Eq)]
pub enum NextDue {
    /// A thread, which is in hand now.
    Thread(ThreadName),
    /// Nothing before this time.
    At(Instant),
    /// Nothing; all work is done.
    Nothing,
}

/// How long a thread has no new turn before it is summed up.
const REST: Duration = Duration::from_secs(10);
/// How long a reader waits for a summary.
const READER_WAIT_MAX: Duration = Duration::from_secs(1);
/// Threads that may wait. One too many is left out: its next turn adds it again.
const THREADS_MAX: usize = 20_000;

impl Due {
    /// Adds a thread that got a turn now.
    pub fn add(&self, user: &str, thread: &str, now: Instant) {
        let mut state = self.lock();
        let thread: ThreadName = (user.into(), thread.into());
        if let Some(rest) = state.resting.get_mut(&thread) {
            rest.touched = now;
            return;
        }
        if state.resting.len() >= THREADS_MAX {
            return;
        }
        let is_first = state.queue.is_empty();
        state.resting.insert(thread.clone(), Rest { queued: now, touched: now });
        state.queue.push_back((thread, now));
        drop(state);
        // Otherwise the task wakes for one that was added before.
        if is_first {
            self.wake.notify_one();
        }
    }

    /// Adds a thread that is not done yet.
    pub(crate) fn add_again(&self, thread: ThreadName) {
        self.lock().hasten(thread);
        self.wake.notify_one();
    }

    /// Makes a thread due now, and waits until it was summed up.
    pub(crate) async fn sum_up_now(&self, user: &str, thread: &str, anyway: bool) {
        self.hasten(user, thread, anyway);
        let thread: ThreadName = (user.into(), thread.into());
        let rested = async {
            loop {
                let mut done = std::pin::pin!(self.done.notified());
                // Before the look, so that none in between is missed.
                done.as_mut().enable();
                if self.is_closed() || !self.lock().is_known(&thread) {
                    return;
                }
                done.await;
            }
        };
        if tokio::time::timeout(READER_WAIT_MAX, rested).await.is_err() {
            tracing::warn!("a reader did not wait any longer for the summary of its thread");
        }
    }

    /// Makes a thread due now if it waits, or with `anyway` if it does not.
    pub(crate) fn hasten(&self, user: &str, thread: &str, anyway: bool) {
        let thread: ThreadName = (user.into(), thread.into());
        let mut state = self.lock();
        if anyway || state.is_known(&thread) {
            state.hasten(thread);
            drop(state);
            self.wake.notify_one();
        }
    }

    /// No more is added.
    pub fn close(&self) {
        self.closed.send_replace(true);
        self.wake.notify_one();
        self.done.notify_waiters();
    }

    /// Takes the next thread in hand.
    pub fn next(&self, now: Instant) -> NextDue {
        self.lock().next(now)
    }

    /// Puts a thread out of hand.
    pub fn done(&self, thread: &ThreadName) {
        self.lock().in_hand.remove(thread);
        self.done.notify_waiters();
    }

    /// Whether no more is added.
    pub fn is_closed(&self) -> bool {
        *self.closed.borrow()
    }

    /// Resolves when there may be something to do, or at the end.
    pub(crate) async fn woken(&self) {
        self.wake.notified().await;
    }

    /// Becomes true at the end.
    pub fn closing(&self) -> watch::Receiver<bool> {
        self.closed.subscribe()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, DueState> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl DueState {
    /// Whether a thread waits or is in hand.
    fn is_known(&self, thread: &ThreadName) -> bool {
        self.resting.contains_key(thread) || self.in_hand.contains(thread) || self.due_now.contains(thread)
    }

    fn hasten(&mut self, thread: ThreadName) {
        self.resting.remove(&thread);
        if !self.due_now.contains(&thread) {
            self.due_now.push_back(thread);
        }
    }

    fn next(&mut self, now: Instant) -> NextDue {
        if let Some(at) = self.due_now.iter().position(|thread| !self.in_hand.contains(thread))
            && let Some(thread) = self.due_now.remove(at)
        {
            return self.take(thread);
        }
        while let Some((_, queued)) = self.queue.front() {
            let due = *queued + REST;
            if due > now {
                return NextDue::At(due);
            }
            let Some((thread, queued)) = self.queue.pop_front() else { break };
            let Some(rest) = self.resting.get_mut(&thread).filter(|rest| rest.queued == queued) else { continue };
            let is_resting = rest.touched + REST > now;
            if is_resting || self.in_hand.contains(&thread) {
                rest.queued = if is_resting { rest.touched } else { now };
                let queued = rest.queued;
                self.queue.push_back((thread, queued));
                continue;
            }
            self.resting.remove(&thread);
            return self.take(thread);
        }
        NextDue::Nothing
    }

    fn take(&mut self, thread: ThreadName) -> NextDue {
        self.in_hand.insert(thread.clone());
        NextDue::Thread(thread)
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::task::Poll;

    use super::*;

    const SOON: Duration = Duration::from_millis(1);

    fn name(thread: &str) -> ThreadName {
        ("u".into(), thread.into())
    }

    #[test]
    fn threads_that_wait_are_bounded_and_named_once() {
        let (due, now) = (Due::default(), Instant::now());
        for n in 0..THREADS_MAX + 5 {
            due.add("u", &n.to_string(), now);
            due.add("u", "0", now);
        }
        let lengths = {
            let state = due.lock();
            (state.resting.len(), state.queue.len())
        };
        assert_eq!(lengths, (THREADS_MAX, THREADS_MAX));
        assert_eq!(due.next(now), NextDue::At(now + REST));
        assert_eq!(due.next(now + REST), NextDue::Thread(name("0")));
        due.add("u", "0", now + REST);
        assert_eq!(due.lock().resting.len(), THREADS_MAX);
        while let NextDue::Thread(_) = due.next(now + REST) {}
        assert_eq!(due.lock().resting.len(), 1, "one that is in hand waits");
        assert!(matches!(due.next(now + REST * 2), NextDue::At(_)));
        due.done(&name("0"));
        assert_eq!(due.next(now + REST * 3), NextDue::Thread(name("0")));
        assert_eq!(due.next(now + REST * 9), NextDue::Nothing);
    }

    #[test]
    fn a_thread_that_goes_on_is_not_due() {
        let (due, begin) = (Due::default(), Instant::now());
        due.add("u", "goes on", begin);
        due.add("u", "rests", begin + SOON);
        let mut now = begin;
        for _ in 0..10 {
            now += REST / 2;
            due.add("u", "goes on", now);
            match due.next(now) {
                NextDue::Thread(thread) => assert_eq!(thread, name("rests")),
                NextDue::At(at) => assert!(at > now),
                NextDue::Nothing => panic!("one goes on"),
            }
        }
        assert_eq!(due.next(now + REST), NextDue::Thread(name("goes on")));
        assert_eq!(due.next(now + REST * 9), NextDue::Nothing);
    }

    #[test]
    fn a_thread_that_is_read_is_due_at_once_and_once() {
        let (due, now) = (Due::default(), Instant::now());
        due.add("u", "t", now);
        due.hasten("u", "t", false);
        due.hasten("u", "t", false);
        assert_eq!(due.next(now), NextDue::Thread(name("t")));
        due.hasten("u", "t", false);
        assert_eq!(due.next(now), NextDue::At(now + REST), "it is in hand, and its old place is void");
        due.done(&name("t"));
        assert_eq!(due.next(now), NextDue::Thread(name("t")));
        due.done(&name("t"));
        due.add("u", "t", now + SOON);
        assert_eq!(due.next(now + REST), NextDue::At(now + SOON + REST));
        assert_eq!(due.next(now + SOON + REST), NextDue::Thread(name("t")));
        assert_eq!(due.next(now + REST * 9), NextDue::Nothing);
    }

    async fn poll_once(mut reader: Pin<&mut impl Future<Output = ()>>) -> Poll<()> {
        std::future::poll_fn(|cx| Poll::Ready(reader.as_mut().poll(cx))).await
    }

    #[tokio::test(start_paused = true)]
    async fn a_reader_waits_for_what_waits_and_not_for_ever() {
        let due = Due::default();
        due.sum_up_now("u", "unknown", false).await;
        due.add("u", "t", Instant::now());
        let mut reader = std::pin::pin!(due.sum_up_now("u", "t", false));
        assert!(poll_once(reader.as_mut()).await.is_pending());
        assert_eq!(due.next(Instant::now()), NextDue::Thread(name("t")));
        assert!(poll_once(reader.as_mut()).await.is_pending());
        due.done(&name("t"));
        reader.await;
        let started = tokio::time::Instant::now();
        due.sum_up_now("u", "t", true).await;
        assert_eq!(started.elapsed(), READER_WAIT_MAX, "nobody takes it in hand");
    }
}
