//! Threads whose summary may be behind.
//!
//! A queue between those who add turns and the task that sums up.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;
use tokio::sync::{Notify, watch};

/// A user and a thread.
pub type ThreadName = (Box<str>, Box<str>);

#[derive(Debug, Default)]
struct DueState {
    /// In the order in which they came, each once.
    waiting: VecDeque<ThreadName>,
    known: FxHashSet<ThreadName>,
    /// Being summed up.
    in_hand: FxHashSet<ThreadName>,
}

/// Threads that may be behind. Requests add, the task takes, `close` ends it.
#[derive(Debug, Default)]
pub struct Due {
    state: std::sync::Mutex<DueState>,
    wake: Notify,
    closed: watch::Sender<bool>,
}

/// Threads that may wait. One too many is left out: its next turn tells again.
const THREADS_MAX: usize = 20_000;

impl Due {
    pub fn add(&self, user: &str, thread: &str) {
        let mut state = self.lock();
        let thread: ThreadName = (user.into(), thread.into());
        if state.waiting.len() < THREADS_MAX && state.known.insert(thread.clone()) {
            state.waiting.push_back(thread);
            drop(state);
            self.wake.notify_one();
        }
    }

    pub fn close(&self) {
        self.closed.send_replace(true);
        self.wake.notify_one();
    }

    /// The thread that has waited longest, unless it is in hand.
    pub fn next(&self) -> Option<ThreadName> {
        let mut state = self.lock();
        let at = state.waiting.iter().position(|thread| !state.in_hand.contains(thread))?;
        let thread = state.waiting.remove(at)?;
        state.known.remove(&thread);
        state.in_hand.insert(thread.clone());
        Some(thread)
    }

    /// Puts a thread out of hand.
    pub fn done(&self, thread: &ThreadName) {
        self.lock().in_hand.remove(thread);
    }

    pub fn is_closed(&self) -> bool {
        *self.closed.borrow()
    }

    /// Resolves when a thread is added, or at the end.
    pub async fn added(&self) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_wait_are_bounded_and_named_once() {
        let due = Due::default();
        for n in 0..THREADS_MAX + 5 {
            due.add("u", &n.to_string());
            due.add("u", "0");
        }
        assert_eq!(due.lock().waiting.len(), THREADS_MAX);
        let first = due.next().unwrap();
        assert_eq!(&*first.1, "0");
        due.add("u", "0");
        assert_eq!(due.lock().waiting.len(), THREADS_MAX);
        while due.next().is_some() {}
        assert_eq!(due.lock().waiting.len(), 1, "one that is in hand waits");
        due.done(&first);
        assert_eq!(due.next(), Some(first));
    }
}
