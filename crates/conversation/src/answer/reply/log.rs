//! What a running reply has told so far.
//!
//! Owns the events and who reads them. The writer never waits: a reader who stops reading costs memory, bounded by the
//! length of an answer, and holds up nobody. Each event has a number, from 1, and once one was given it stands for the same
//! for ever, so that a reader who comes back goes on where it left off. What was read is kept for that in a ring of so many
//! bytes; what has left the ring is told as missed, never skipped.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio::time::Instant;

use super::{Event, Form, Patience, Source, Terms, Told};
use crate::error::Error;
use crate::telemetry::now;

/// One reply's events. Its task writes, readers read; a reader that is dropped has left.
#[derive(Debug)]
pub struct Log {
    /// What it is asked for by.
    pub name: String,
    pub terms: Terms,
    started: Instant,
    started_at: f64,
    events: Mutex<Events>,
    /// How many there are. Readers hold its receivers, so that the writer knows whether there are any.
    count: watch::Sender<usize>,
    /// What the server of a model says of the whole answer. The task sets it before the first word, readers read it.
    pub head: Arc<OnceLock<Map<String, Value>>>,
    /// Whether a reader said that the rest is not wanted.
    dismissed: watch::Sender<bool>,
}

#[derive(Debug)]
struct Events {
    held: VecDeque<Held>,
    /// How many stood before those that are held.
    gone: usize,
    /// The number of the last that was given to any reader.
    read: usize,
    /// What those take that were read and are held.
    read_bytes: usize,
    /// Where nobody comes back nothing that was read is kept.
    read_bytes_max: usize,
    /// When the last of the readers left; before any came, when the reply began.
    left: Instant,
}

#[derive(Debug, Clone)]
struct Held {
    event: Arc<Event>,
    at: f64,
    since_ms: f64,
}

/// Beyond so many that nobody has read, pieces of text are joined.
const UNREAD_MAX: usize = 1_000;
/// What was read and is kept for those who come back, of one reply; the last event is kept beside it.
const RING_BYTES_MAX: usize = 256 * 1024;
/// What an event takes beside its words.
const EVENT_BYTES: usize = 128;

/// A place in a log.
#[derive(Debug)]
pub struct Reader {
    log: Arc<Log>,
    count: watch::Receiver<usize>,
    next: usize,
    resumes: bool,
}

impl Log {
    pub fn new(name: String, terms: Terms) -> Arc<Self> {
        let read_bytes_max = if terms.patience == Patience::None { 0 } else { RING_BYTES_MAX };
        let started = Instant::now();
        Arc::new(Self {
            name,
            terms,
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

    pub fn push(&self, event: Event) {
        let mut events = self.lock();
        if !events.join(&event) {
            let since_ms = self.since_ms();
            events.held.push_back(Held { event: Arc::new(event), at: now(), since_ms });
            self.count.send_replace(events.count());
        }
    }

    /// Reads from behind the event of this number on; 0 is the beginning. Of what is not there yet nothing can have been
    /// read.
    pub fn read(self: &Arc<Self>, after: usize) -> Reader {
        let next = after.min(self.lock().count());
        Reader { log: self.clone(), count: self.count.subscribe(), next, resumes: after > 0 }
    }

    /// Milliseconds since the reply began.
    pub fn since_ms(&self) -> f64 {
        (self.started.elapsed().as_secs_f64() * 1e6).round() / 1e3
    }

    /// Says that the rest is not wanted; the last event comes soon then.
    pub fn dismiss(&self) {
        self.dismissed.send_replace(true);
    }

    pub fn has_ended(&self) -> bool {
        self.lock().have_ended()
    }

    /// Whether anybody reads.
    pub fn is_read(&self) -> bool {
        !self.count.is_closed()
    }

    /// What is held takes about so many bytes.
    pub fn bytes(&self) -> usize {
        self.lock().held.iter().map(|held| bytes(&held.event)).sum()
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
            let left = self.lock().left;
            tokio::time::sleep_until(left + patience).await;
            if !self.is_read() && self.lock().left == left {
                return;
            }
        }
    }

    /// The first event from a place on that is held, with its place, and whether the last one has come: told together, or
    /// the last one could slip in between.
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

    /// Events up to a number were given to a reader.
    fn was_read(&mut self, number: usize) {
        let new = self.held.iter().take(number - self.gone).skip(self.read.saturating_sub(self.gone));
        self.read_bytes += new.map(|held| in_ring(&held.event)).sum::<usize>();
        self.read = self.read.max(number);
    }

    /// Lets go of the oldest that were read, as many as are too much; what stands at or behind a place stays.
    fn let_go(&mut self, place: usize) {
        let end = place.min(self.read);
        while self.read_bytes > self.read_bytes_max && self.gone < end && self.held.len() > 1 {
            let oldest = self.held.pop_front();
            self.read_bytes -= oldest.map_or(0, |held| in_ring(&held.event));
            self.gone += 1;
        }
    }

    /// Adds text to text that nobody has read, where there is much of that; whether it did. What any reader was given
    /// never changes: the last event was given only where all were.
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

/// What an event takes of the ring; the last one stands beside it.
fn in_ring(event: &Event) -> usize {
    if event.is_last() { 0 } else { bytes(event) }
}

fn bytes(event: &Event) -> usize {
    let source = |source: &Source| EVENT_BYTES + source.name.len() + source.text.len();
    let sources = |sources: &[Source]| sources.iter().map(source).sum::<usize>();
    EVENT_BYTES
        + match event {
            Event::Question(understood) => understood.rewritten.question.len(),
            Event::Prompt(prompted) => sources(&prompted.sources),
            Event::Text(text) => text.len(),
            Event::Skill(called) => called.arguments.len() + called.result.get().len(),
            Event::Call(_, call) => call.arguments.len(),
            Event::More(more) => more.bytes(),
            Event::Done(reply) => reply.answer.len() + reply.more.bytes() + sources(&reply.prompted.sources),
            Event::Guided(answer) => answer.message.len(),
            Event::Failed(error) => error.message.len(),
            Event::Ready | Event::First | Event::Anew | Event::Spoken { .. } | Event::Pending => 0,
        }
}

impl Reader {
    /// What the reply is asked for by.
    pub fn name(&self) -> &str {
        &self.log.name
    }

    /// In which words it is told.
    pub fn form(&self) -> &Form {
        &self.log.terms.form
    }

    /// What the server of the model says of the whole answer, once it says it.
    pub fn head(&self) -> Arc<OnceLock<Map<String, Value>>> {
        self.log.head.clone()
    }

    /// The thread that it is kept in.
    pub fn thread(&self) -> Option<&str> {
        self.log.terms.owner.thread.as_deref()
    }

    /// What the course of it is asked for by.
    pub fn trace_id(&self) -> String {
        self.log.terms.tracer.id().encode()
    }

    /// When the reply began, in seconds since 1970.
    pub fn started_at(&self) -> f64 {
        self.log.started_at
    }

    /// Whether it goes on where another left off.
    pub fn resumes(&self) -> bool {
        self.resumes
    }

    /// Says that the rest is not wanted; the last event comes soon then.
    pub fn dismiss(&self) {
        self.log.dismiss();
    }

    /// Waits until something is answered, and tells whether that is an error; it can be read again.
    pub async fn begun(&mut self) -> Option<Error> {
        while let Some(Told { event, .. }) = self.next().await {
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
    pub async fn next(&mut self) -> Option<Told> {
        loop {
            let (found, has_ended) = self.log.at(self.next);
            if let Some((place, Held { event, at, since_ms })) = found {
                let missed = place - self.next;
                self.next = place + 1;
                let id = format!("{}.{}", self.log.name, self.next);
                return Some(Told { id, number: self.next, missed, at, since_ms, event });
            }
            if has_ended || self.count.changed().await.is_err() {
                return None;
            }
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.log.lock().left = Instant::now();
    }
}

#[cfg(test)]
#[path = "log_tests.rs"]
pub(super) mod tests;
