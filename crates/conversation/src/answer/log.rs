//! The events of one reply.
//!
//! Owns the events and their readers. The writer never waits: a reader that stops reading costs memory,
//! bounded by the length of an answer, and delays nobody. Events are numbered from 1, and a number never
//! changes its event, so that a reader can resume. Events that were read are kept for that in a ring of
//! limited size; a reader learns how many it missed.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio::time::Instant;

use super::event::{Event, LoggedEvent};
use super::generation::Generated;
use super::options::{Patience, ReplyOptions, ResponseFormat};
use crate::error::Error;
use crate::search::FoundPassage;
use crate::telemetry::now;

/// The events of one reply. Its task writes, readers read. A reader leaves by being dropped.
#[derive(Debug)]
pub struct EventLog {
    /// Clients resume the reply by it.
    pub name: String,
    /// How the reply is delivered, and to whom.
    pub options: ReplyOptions,
    started: Instant,
    started_at: f64,
    events: Mutex<Events>,
    /// The number of events. Readers hold its receivers, so that the writer knows whether there are readers.
    count: watch::Sender<usize>,
    /// Members of the model server's response that hold for the whole answer. The task sets them before the
    /// first word.
    pub head: Arc<OnceLock<Map<String, Value>>>,
    /// Whether a reader asked to stop.
    dismissed: watch::Sender<bool>,
}

#[derive(Debug)]
struct Events {
    held: VecDeque<Held>,
    /// The number of events before those that are held.
    gone: usize,
    /// The number of the last event that any reader got.
    read: usize,
    /// The size of the events that were read and are still held.
    read_bytes: usize,
    /// 0 where the reply cannot be resumed.
    read_bytes_max: usize,
    /// When the last reader left; before the first reader, when the reply began.
    left: Instant,
}

#[derive(Debug, Clone)]
struct Held {
    event: Arc<Event>,
    at: f64,
    since_ms: f64,
}

/// With more unread events than these, pieces of text are joined.
const UNREAD_MAX: usize = 1_000;
/// The size of the events of one reply that are kept after they were read. The last event is kept in
/// addition.
const RING_BYTES_MAX: usize = 256 * 1024;
/// The same of a response: its events are numbered by all that came before them, so a client that resumes
/// needs all of them.
const RESPONSE_BYTES_MAX: usize = 8 * 1024 * 1024;
/// The size of an event without its text.
const EVENT_BYTES: usize = 128;

/// A position in a log.
#[derive(Debug)]
pub struct EventReader {
    log: Arc<EventLog>,
    count: watch::Receiver<usize>,
    next: usize,
}

impl EventLog {
    /// An empty log of the reply `name`.
    pub fn new(name: String, options: ReplyOptions) -> Arc<Self> {
        let read_bytes_max = match (&options.format, options.patience) {
            (ResponseFormat::Response(_), _) => RESPONSE_BYTES_MAX,
            (_, Patience::None) => 0,
            _ => RING_BYTES_MAX,
        };
        let started = Instant::now();
        Arc::new(Self {
            name,
            options,
            started,
            started_at: now(),
            events: Mutex::new(Events {
                held: VecDeque::new(),
                gone: 0,
                read: 0,
                read_bytes: 0,
                read_bytes_max,
                left: started,
            }),
            count: watch::Sender::new(0),
            head: Arc::default(),
            dismissed: watch::Sender::new(false),
        })
    }

    /// Adds an event and wakes all readers.
    pub fn push(&self, event: Event) {
        let mut events = self.lock();
        if !events.join(&event) {
            let since_ms = self.since_ms();
            events.held.push_back(Held { event: Arc::new(event), at: now(), since_ms });
            self.count.send_replace(events.count());
        }
    }

    /// Reads from after the event of this number; 0 is the beginning. After a number that there was never, a
    /// reader gets the last event, or what is still to come.
    pub fn read(self: &Arc<Self>, after: usize) -> EventReader {
        let events = self.lock();
        let next = match events.count() {
            count if after > count => count - usize::from(events.have_ended()),
            _ => after,
        };
        drop(events);
        EventReader { log: self.clone(), count: self.count.subscribe(), next }
    }

    /// Milliseconds since the reply began.
    pub fn since_ms(&self) -> f64 {
        (self.started.elapsed().as_secs_f64() * 1e6).round() / 1e3
    }

    /// Stops the reply. Its last event follows soon.
    pub fn dismiss(&self) {
        self.dismissed.send_replace(true);
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.lock().have_ended()
    }

    /// Whether there is a reader.
    pub(crate) fn is_read(&self) -> bool {
        !self.count.is_closed()
    }

    /// The approximate size of the events that are held.
    pub fn bytes(&self) -> usize {
        self.lock().held.iter().map(|held| bytes(&held.event)).sum()
    }

    /// Resolves when there was no reader for so long, or when a reader asks to stop.
    pub(crate) async fn abandoned(&self, patience: Duration) {
        let mut dismissed = self.dismissed.subscribe();
        tokio::select! {
            () = self.unread(patience) => {}
            _ = dismissed.wait_for(|dismissed| *dismissed) => {}
        }
    }

    async fn unread(&self, patience: Duration) {
        loop {
            self.count.closed().await;
            let left = self.lock().left;
            tokio::time::sleep_until(left + patience).await;
            if !self.is_read() && self.lock().left == left {
                return;
            }
        }
    }

    /// The first event from a position on that is held, with its position, and whether the reply has ended.
    /// One lock for both, or the last event could come in between.
    fn at(&self, place: usize) -> (Option<(usize, Held)>, bool) {
        let mut events = self.lock();
        events.let_go(place);
        let place = place.max(events.gone);
        let held = events.held.get(place - events.gone).cloned();
        if held.is_some() {
            events.was_read(place + 1);
        }
        (held.map(|held| (place, held)), events.have_ended())
    }

    fn lock(&self) -> MutexGuard<'_, Events> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Events {
    fn count(&self) -> usize {
        self.gone + self.held.len()
    }

    fn have_ended(&self) -> bool {
        self.held.back().is_some_and(|held| held.event.is_last())
    }

    /// A reader got the events up to a number.
    fn was_read(&mut self, number: usize) {
        let new = self.held.iter().take(number - self.gone).skip(self.read.saturating_sub(self.gone));
        self.read_bytes += new.map(|held| in_ring(&held.event)).sum::<usize>();
        self.read = self.read.max(number);
    }

    /// Drops the oldest events that were read until they fit the ring, but none from a position on.
    fn let_go(&mut self, place: usize) {
        let end = place.min(self.read);
        while self.read_bytes > self.read_bytes_max && self.gone < end && self.held.len() > 1 {
            let oldest = self.held.pop_front();
            self.read_bytes -= oldest.map_or(0, |held| in_ring(&held.event));
            self.gone += 1;
        }
    }

    /// Joins text to an unread piece of text, where many events are unread; whether it did. An event that a
    /// reader got never changes: the last event is read only where all are.
    fn join(&mut self, event: &Event) -> bool {
        let has_many = self.count() > self.read + UNREAD_MAX;
        let last = self.held.back_mut().filter(|_| has_many).and_then(|held| Arc::get_mut(&mut held.event));
        match (last, event) {
            (Some(Event::Text(text)), Event::Text(more)) => {
                text.push_str(more);
                true
            }
            _ => false,
        }
    }
}

/// The size of an event in the ring, which does not hold the last one.
fn in_ring(event: &Event) -> usize {
    if event.is_last() { 0 } else { bytes(event) }
}

fn bytes(event: &Event) -> usize {
    let sources = |sources: &[FoundPassage]| sources.iter().map(FoundPassage::bytes).sum::<usize>();
    EVENT_BYTES
        + match event {
            Event::Question(understood) => understood.rewritten.question.len(),
            Event::Prompt(prompted) => sources(&prompted.sources),
            Event::Text(text) => text.len(),
            Event::Skill(called) => called.arguments.len() + called.result.get().len(),
            Event::Call(_, call) => call.arguments.len(),
            Event::More(more) => more.bytes(),
            Event::Done(reply) => {
                let Generated { text, more, .. } = &reply.generated;
                text.len() + more.bytes() + sources(&reply.prompted.sources)
            }
            Event::Guided(answer) => answer.message.len(),
            Event::Failed(error) => error.message.len(),
            Event::Ready | Event::First | Event::Anew | Event::Spoken { .. } | Event::Pending => 0,
        }
}

impl EventReader {
    /// Clients resume the reply by it.
    pub fn name(&self) -> &str {
        &self.log.name
    }

    /// The format in which the reply was asked for.
    pub fn format(&self) -> &ResponseFormat {
        &self.log.options.format
    }

    /// Members of the model server's response that hold for the whole answer, once they are known.
    pub fn head(&self) -> Arc<OnceLock<Map<String, Value>>> {
        self.log.head.clone()
    }

    /// The thread that the answer is stored in.
    pub fn thread(&self) -> Option<&str> {
        self.log.options.owner.thread.as_deref()
    }

    /// The id of the request's trace.
    pub fn trace_id(&self) -> String {
        self.log.options.tracer.id().encode()
    }

    /// When the reply began, in seconds since 1970.
    pub fn started_at(&self) -> f64 {
        self.log.started_at
    }

    /// Stops the reply. Its last event follows soon.
    pub fn dismiss(&self) {
        self.log.dismiss();
    }

    /// Whether its first events can no longer be read.
    pub fn is_cut(&self) -> bool {
        self.log.lock().gone > 0
    }

    /// Waits for the first event of the answer itself; the error, if it is one. The event is not consumed.
    pub async fn begun(&mut self) -> Option<Error> {
        while let Some(LoggedEvent { event, .. }) = self.next().await {
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
    pub async fn next(&mut self) -> Option<LoggedEvent> {
        loop {
            let (found, has_ended) = self.log.at(self.next);
            if let Some((place, Held { event, at, since_ms })) = found {
                let missed = place - self.next;
                self.next = place + 1;
                let id = format!("{}.{}", self.log.name, self.next);
                return Some(LoggedEvent { id, number: self.next, missed, at, since_ms, event });
            }
            if has_ended || self.count.changed().await.is_err() {
                return None;
            }
        }
    }
}

impl Drop for EventReader {
    fn drop(&mut self) {
        self.log.lock().left = Instant::now();
    }
}

#[cfg(test)]
#[path = "log_tests.rs"]
pub(super) mod tests;
