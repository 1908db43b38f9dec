//! What a running reply has told so far.
//!
//! Owns the events and who reads them. The writer never waits: a reader who stops reading costs memory, bounded by the
//! length of an answer, and holds up nobody. Each event has a number, from 1, so that a reader who comes back goes on
//! where it left off; where nobody can come back, what was read is let go of.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use super::Event;
use crate::http::error::ApiError;

/// One reply's events. Its task writes, readers read; a reader that is dropped has left.
#[derive(Debug)]
pub struct Log {
    events: Mutex<Events>,
    keeps: bool,
    /// How many there are. Readers hold its receivers, so that the writer knows whether there are any.
    count: watch::Sender<usize>,
    /// Whether a reader said that the rest is not wanted.
    dismissed: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct Events {
    held: VecDeque<Arc<Event>>,
    /// How many stood before those that are held.
    gone: usize,
    /// How many were given to a reader.
    read: usize,
}

/// Beyond so many that nobody has read, pieces of text are joined.
const UNREAD_MAX: usize = 1_000;

/// A place in a log.
#[derive(Debug)]
pub struct Reader {
    log: Arc<Log>,
    count: watch::Receiver<usize>,
    next: usize,
}

impl Log {
    /// Of a reply that can be come back to, or of one that cannot.
    pub fn new(keeps: bool) -> Arc<Self> {
        let (count, dismissed) = (watch::Sender::new(0), watch::Sender::new(false));
        Arc::new(Self { events: Mutex::default(), keeps, count, dismissed })
    }

    pub fn push(&self, event: Event) {
        let mut events = self.lock();
        if !events.join(&event) {
            events.held.push_back(Arc::new(event));
            self.count.send_replace(events.count());
        }
    }

    /// Reads from behind the event of this number on; 0 is the beginning.
    pub fn read(self: &Arc<Self>, after: usize) -> Reader {
        Reader { log: self.clone(), count: self.count.subscribe(), next: after }
    }

    pub fn has_ended(&self) -> bool {
        self.lock().have_ended()
    }

    /// Resolves when nobody has read for so long, or the rest is not wanted.
    pub async fn abandoned(&self, patience: Duration) {
        let mut dismissed = self.dismissed.subscribe();
        tokio::select! {
            () = self.unread(patience) => {}
            _ = dismissed.wait_for(|dismissed| *dismissed) => {}
        }
    }

    async fn unread(&self, patience: Duration) {
        loop {
            self.count.closed().await;
            if !patience.is_zero() {
                tokio::time::sleep(patience).await;
            }
            if self.count.is_closed() {
                return;
            }
        }
    }

    /// The event at a place, and whether the last one has come: told together, or the last one could slip in between.
    fn at(&self, place: usize) -> (Option<Arc<Event>>, bool) {
        let mut events = self.lock();
        let event = place.checked_sub(events.gone).and_then(|at| events.held.get(at)).cloned();
        events.read = events.read.max(place + usize::from(event.is_some()));
        while !self.keeps && events.gone < place && events.held.len() > 1 {
            events.held.pop_front();
            events.gone += 1;
        }
        (event, events.have_ended())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Events> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Events {
    fn count(&self) -> usize {
        self.gone + self.held.len()
    }

    fn have_ended(&self) -> bool {
        self.held.back().is_some_and(|event| event.is_last())
    }

    /// Adds text to text that nobody has read, where there is much of that; whether it did.
    fn join(&mut self, event: &Event) -> bool {
        let has_many = self.count() > self.read + UNREAD_MAX;
        let last = self.held.back_mut().filter(|_| has_many).and_then(Arc::get_mut);
        match (last, event) {
            (Some(Event::Text(text)), Event::Text(more)) => {
                text.push_str(more);
                true
            }
            _ => false,
        }
    }
}

impl Reader {
    /// Says that the rest is not wanted; the last event comes soon then.
    pub fn dismiss(&self) {
        self.log.dismissed.send_replace(true);
    }

    /// Waits until something is answered, and tells whether that is an error; it can be read again.
    pub async fn begun(&mut self) -> Option<ApiError> {
        while let Some((_, event)) = self.next().await {
            if !matches!(*event, Event::Question(_) | Event::Prompt(_)) {
                self.next -= 1;
                return match &*event {
                    Event::Failed(error) => Some(error.clone()),
                    _ => None,
                };
            }
        }
        None
    }

    /// The next event and its number; `None` after the last one.
    pub async fn next(&mut self) -> Option<(usize, Arc<Event>)> {
        loop {
            let (event, has_ended) = self.log.at(self.next);
            if let Some(event) = event {
                self.next += 1;
                return Some((self.next, event));
            }
            if has_ended || self.count.changed().await.is_err() {
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::error::Code;

    fn text(text: &str) -> Event {
        Event::Text(text.to_owned())
    }

    fn end() -> Event {
        Event::Failed(ApiError::new(Code::Internal, "over"))
    }

    async fn numbers(mut reader: Reader) -> Vec<usize> {
        let mut numbers = Vec::new();
        while let Some((number, _)) = reader.next().await {
            numbers.push(number);
        }
        numbers
    }

    #[tokio::test]
    async fn a_reader_goes_on_where_it_left_off() {
        let log = Log::new(true);
        let early = tokio::spawn(numbers(log.read(0)));
        ["a", "b", "c"].into_iter().for_each(|t| log.push(text(t)));
        log.push(end());
        assert_eq!(early.await.unwrap(), [1, 2, 3, 4]);
        assert_eq!(numbers(log.read(2)).await, [3, 4]);
        assert_eq!(numbers(log.read(4)).await, [] as [usize; 0]);
        assert_eq!(numbers(log.read(99)).await, [] as [usize; 0]);
    }

    #[tokio::test]
    async fn what_was_read_is_let_go_of_where_nobody_comes_back() {
        let log = Log::new(false);
        let mut reader = log.read(0);
        for n in 1..=100 {
            log.push(text("a"));
            assert_eq!(reader.next().await.unwrap().0, n);
        }
        assert!(log.lock().held.len() <= 2);
        log.push(end());
        assert_eq!(numbers(reader).await, [101]);
    }

    #[tokio::test]
    async fn text_that_nobody_reads_is_joined() {
        let log = Log::new(false);
        (0..UNREAD_MAX * 3).for_each(|_| log.push(text("ab")));
        log.push(end());
        assert_eq!(log.lock().held.len(), UNREAD_MAX + 2);
        let (mut reader, mut all) = (log.read(0), String::new());
        while let Some((_, event)) = reader.next().await {
            if let Event::Text(text) = &*event {
                all.push_str(text);
            }
        }
        assert_eq!(all, "ab".repeat(UNREAD_MAX * 3));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn the_last_event_never_slips_past_a_reader() {
        for _ in 0..2_000 {
            let log = Log::new(true);
            let reading = tokio::spawn(numbers(log.read(0)));
            log.push(text("a"));
            log.push(end());
            assert_eq!(reading.await.unwrap(), [1, 2]);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_reader_who_comes_back_in_time_has_not_left() {
        let log = Log::new(true);
        let patience = Duration::from_secs(5);
        let reader = log.read(0);
        let waits =
            |log: Arc<Log>| async move { tokio::time::timeout(Duration::from_secs(60), log.abandoned(patience)).await };
        assert!(waits(log.clone()).await.is_err());
        drop(reader);
        let again = tokio::spawn({
            let log = log.clone();
            async move {
                tokio::time::sleep(Duration::from_secs(4)).await;
                let reader = log.read(0);
                tokio::time::sleep(Duration::from_secs(1_000)).await;
                drop(reader);
            }
        });
        assert!(waits(log.clone()).await.is_err());
        again.await.unwrap();
        assert!(waits(log).await.is_ok());
    }
}
