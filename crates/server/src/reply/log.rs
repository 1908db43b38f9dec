//! What a running reply has told so far.
//!
//! Owns the events and who reads them. The writer never waits: a reader who stops reading costs memory, bounded by the
//! length of an answer, and holds up nobody. Each event has a number, from 1, so that a reader who comes back goes on
//! where it left off.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use super::Event;
use crate::http::error::ApiError;

/// One reply's events. Its task writes, readers read; a reader that is dropped has left.
#[derive(Debug)]
pub struct Log {
    events: Mutex<Vec<Arc<Event>>>,
    /// How many there are. Readers hold its receivers, so that the writer knows whether there are any.
    count: watch::Sender<usize>,
    /// Whether a reader said that the rest is not wanted.
    dismissed: watch::Sender<bool>,
}

/// A place in a log.
#[derive(Debug)]
pub struct Reader {
    log: Arc<Log>,
    count: watch::Receiver<usize>,
    next: usize,
}

impl Log {
    pub fn new() -> Arc<Self> {
        Arc::new(Self { events: Mutex::default(), count: watch::Sender::new(0), dismissed: watch::Sender::new(false) })
    }

    pub fn push(&self, event: Event) {
        let mut events = self.lock();
        events.push(Arc::new(event));
        self.count.send_replace(events.len());
    }

    /// Reads from behind the event of this number on; 0 is the beginning.
    pub fn read(self: &Arc<Self>, after: usize) -> Reader {
        Reader { log: self.clone(), count: self.count.subscribe(), next: after }
    }

    pub fn has_ended(&self) -> bool {
        self.lock().last().is_some_and(|event| event.is_last())
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
        let events = self.lock();
        (events.get(place).cloned(), events.last().is_some_and(|event| event.is_last()))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Event>>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reader {
    /// Says that the rest is not wanted; the last event comes soon then.
    pub fn dismiss(&self) {
        self.log.dismissed.send_replace(true);
    }

    /// Waits until something is answered, and tells whether that is an error; what was read can be read again.
    pub async fn begun(&mut self) -> Option<ApiError> {
        let next = self.next;
        let mut first = self.next().await;
        while let Some((_, event)) = &first
            && matches!(**event, Event::Question(_) | Event::Prompt(_))
        {
            first = self.next().await;
        }
        self.next = next;
        match first.as_ref().map(|(_, event)| &**event) {
            Some(Event::Failed(error)) => Some(error.clone()),
            _ => None,
        }
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
        let log = Log::new();
        let early = tokio::spawn(numbers(log.read(0)));
        ["a", "b", "c"].into_iter().for_each(|t| log.push(text(t)));
        log.push(end());
        assert_eq!(early.await.unwrap(), [1, 2, 3, 4]);
        assert_eq!(numbers(log.read(2)).await, [3, 4]);
        assert_eq!(numbers(log.read(4)).await, [] as [usize; 0]);
        assert_eq!(numbers(log.read(99)).await, [] as [usize; 0]);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn the_last_event_never_slips_past_a_reader() {
        for _ in 0..2_000 {
            let log = Log::new();
            let reading = tokio::spawn(numbers(log.read(0)));
            log.push(text("a"));
            log.push(end());
            assert_eq!(reading.await.unwrap(), [1, 2]);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_reader_who_comes_back_in_time_has_not_left() {
        let log = Log::new();
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
