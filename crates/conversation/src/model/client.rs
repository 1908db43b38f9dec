//! A call to a model: begun, tried again, read on, ended.
//!
//! Owns deadlines and retries. A call is tried again only before its first byte, and one that is made because
//! another failed not even then. A call that is passed on for a client is tried again once, and only where it
//! did not reach a model: the client tries again by itself. What is dropped is cancelled: it closes its
//! connection and gives its place to the next.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header;
use novelo_engine::limits::MODEL_CALLS_MAX;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, timeout, timeout_at};

use super::delta::StreamFault;
use super::reading::Reading;
use super::refusal::RefusalText;
use super::server::{Server, passes};
use super::tally::RunningCall;
use super::wire::{self, AnswerForm};
use super::{Ask, Completion, Delta, Failure, Model};
use crate::outbound;

/// Further tries after the first.
const TRIES_MORE: u32 = 2;
const PAUSE: Duration = Duration::from_millis(250);
/// How long the usage is waited for, once the model has finished.
const USAGE_WAIT: Duration = Duration::from_secs(2);
/// How long the end of a connection is waited for, so that the next call can use it.
const CLOSING_WAIT: Duration = Duration::from_millis(20);

/// How long a server may ask a client's call to wait; a longer wait is left to the client.
const RELAY_PAUSE_MAX: Duration = Duration::from_secs(2);
/// Headers that tell clients when to try again.
const RETRY_HEADERS: [&str; 3] = ["retry-after", "retry-after-ms", "x-should-retry"];

/// How a model is asked.
#[derive(Debug, Clone, Copy)]
struct Way {
    /// For all of the answer at once, within the time-out.
    is_whole: bool,
    tries_more: u32,
    /// For a client that gets all that the server says.
    is_relay: bool,
}

const STREAM: Way = Way { is_whole: false, tries_more: TRIES_MORE, is_relay: false };
const WHOLE: Way = Way { is_whole: true, tries_more: TRIES_MORE, is_relay: false };
const ONCE: Way = Way { is_whole: true, tries_more: 0, is_relay: false };
const RELAY: Way = Way { is_whole: false, tries_more: 1, is_relay: true };
const RELAY_ONCE: Way = Way { is_whole: true, tries_more: 0, is_relay: true };

/// Until when something must come.
#[derive(Debug, Clone, Copy)]
struct ModelDeadline {
    patience: Duration,
    /// The patience is for all of it; else for each silence.
    is_whole: bool,
    until: Instant,
}

impl ModelDeadline {
    fn start(patience: Duration, is_whole: bool) -> Self {
        Self { patience, is_whole, until: Instant::now() + patience }
    }

    fn something_came(&mut self) {
        if !self.is_whole {
            self.until = Instant::now() + self.patience;
        }
    }

    /// The caller did not ask for more for so long: that is no silence of the model.
    fn was_not_asked_for(&mut self, away: Duration) {
        if !self.is_whole {
            self.until += away;
        }
    }

    fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }

    /// What is said when the time is over.
    fn late(&self, server: &Server) -> Failure {
        match self.is_whole {
            true => Failure::Slow(format!("{} took longer than {:?}", server.place(), self.patience)),
            false => server.slow(self.patience),
        }
    }
}

/// An answer as it comes. Dropping it ends the call.
#[derive(Debug)]
pub struct Deltas {
    server: Arc<Server>,
    body: Incoming,
    reading: Reading,
    /// Read, and not given yet.
    ready: VecDeque<Delta>,
    /// What comes after the ready ones.
    failure: Option<Failure>,
    has_said: bool,
    is_over: bool,
    clock: ModelDeadline,
    /// When the last piece was given, until the next is asked for.
    gave_at: Option<Instant>,
    call: RunningCall,
    /// One of the calls that may run at once.
    _place: OwnedSemaphorePermit,
}

/// A try that came to nothing.
struct Miss {
    failure: Failure,
    may_pass: bool,
    /// Whether no model was asked: the server was not reached, or is a gateway that says so.
    was_not_reached: bool,
    /// How long the server asks to be left alone.
    after: Option<Duration>,
    refuses_usage: bool,
}

impl Model {
    /// Begins an answer: resolves with its first byte. Tries again before that, never after.
    pub async fn stream(&self, ask: &Ask) -> Result<Deltas, Failure> {
        self.open(ask, STREAM).await
    }

    /// The whole answer, within the deadline of the job.
    pub async fn complete(&self, ask: &Ask) -> Result<Completion, Failure> {
        self.open(ask, STREAM).await?.gathered().await
    }

    /// The whole answer, asked for in one piece, within the time-out.
    pub async fn whole(&self, ask: &Ask) -> Result<Completion, Failure> {
        self.open(ask, WHOLE).await?.gathered().await
    }

    /// The same with a single try, where another call has failed already.
    pub async fn whole_once(&self, ask: &Ask) -> Result<Completion, Failure> {
        self.open(ask, ONCE).await?.gathered().await
    }

    /// Begins an answer for a client of its own tries: with all that the server says.
    pub(crate) async fn relay(&self, ask: &Ask) -> Result<Deltas, Failure> {
        self.open(ask, RELAY).await
    }

    /// The same whole, with a single try.
    pub(crate) async fn relay_once(&self, ask: &Ask) -> Result<Completion, Failure> {
        self.open(ask, RELAY_ONCE).await?.gathered().await
    }

    async fn open(&self, ask: &Ask, way: Way) -> Result<Deltas, Failure> {
        let mut call = self.tally.begin();
        let clock = ModelDeadline::start(self.timeout, way.is_whole || self.job.has_whole_deadline());
        match self.begin(ask, way, &clock).await {
            Ok((body, first, place)) => {
                let mut deltas = Deltas::new(self.server.clone(), body, clock, call, place);
                if way.is_relay {
                    deltas.reading = Reading::of_all();
                }
                deltas.take(&first);
                Ok(deltas)
            }
            Err(failure) => {
                call.failed(&failure);
                Err(failure)
            }
        }
    }

    async fn begin(
        &self,
        ask: &Ask,
        way: Way,
        clock: &ModelDeadline,
    ) -> Result<(Incoming, Bytes, OwnedSemaphorePermit), Failure> {
        let messages = wire::messages(&ask.messages)
            .map_err(|e| Failure::Refused(format!("what is to be asked is not an array of messages: {e}").into()))?;
        let late = |_| clock.late(&self.server);
        let place = self.place(clock).await?;
        let name = timeout_at(clock.until, self.resolve(clock.left())).await.map_err(late)??;
        let mut tries = 0;
        loop {
            let form = match way.is_whole {
                true => AnswerForm::Whole,
                false if self.server.takes_usage() => AnswerForm::StreamWithUsage,
                false => AnswerForm::Stream,
            };
            let body = wire::body(name, &messages, &ask.options, form);
            let miss = match timeout_at(clock.until, open(&self.server, body)).await.map_err(late)? {
                Ok((body, first)) => return Ok((body, first, place)),
                Err(miss) => miss,
            };
            if miss.refuses_usage && form == AnswerForm::StreamWithUsage {
                self.server.takes_no_usage();
                continue;
            }
            let pause = pause(tries).max(miss.after.unwrap_or_default());
            let may_pass = match way.is_relay {
                true => miss.was_not_reached && pause <= RELAY_PAUSE_MAX,
                false => miss.may_pass,
            };
            if !may_pass || tries == way.tries_more || pause >= clock.left() {
                return Err(miss.failure);
            }
            tries += 1;
            tokio::time::sleep(pause).await;
        }
    }

    /// Waits until it may run.
    async fn place(&self, clock: &ModelDeadline) -> Result<OwnedSemaphorePermit, Failure> {
        let busy = |_| Failure::Slow(format!("{MODEL_CALLS_MAX} calls to models run already (MODEL_CALLS_MAX)"));
        let place = timeout_at(clock.until, self.places.clone().acquire_owned()).await.map_err(busy)?;
        place.map_err(|e| Failure::Down(e.to_string().into()))
    }
}

/// One try: up to the first byte of an answer.
async fn open(server: &Server, body: Bytes) -> Result<(Incoming, Bytes), Miss> {
    let passing = |failure| Miss { failure, may_pass: true, was_not_reached: true, after: None, refuses_usage: false };
    let response = server.completions.begin(body).await.map_err(|e| passing(server.failure(e)))?;
    let status = response.status().as_u16();
    if !response.status().is_success() {
        let after = response.headers().get(header::RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
        let headers = retry_headers(response.headers());
        let said = RefusalText::of_body(&outbound::refusal(response.into_body()).await);
        return Err(Miss {
            failure: server.refused(status, &said, headers),
            may_pass: passes(status) && said.too_long.is_none(),
            was_not_reached: matches!(status, 502..=504) && said.too_long.is_none(),
            after: after.map(Duration::from_secs),
            refuses_usage: matches!(status, 400 | 422) && said.words.contains("stream_options"),
        });
    }
    let mut body = response.into_body();
    loop {
        match body.frame().await.map(|frame| frame.map(hyper::body::Frame::into_data)) {
            Some(Ok(Ok(bytes))) if !bytes.is_empty() => return Ok((body, bytes)),
            Some(Ok(_)) => {}
            Some(Err(error)) => return Err(passing(server.down(&outbound::causes(&error)))),
            None => return Err(passing(server.down("it ended before the first byte of an answer"))),
        }
    }
}

/// What a server says of when to try again, as far as it is of a form that clients read.
fn retry_headers(headers: &header::HeaderMap) -> Vec<(&'static str, String)> {
    let is_plain =
        |value: &str| value.len() <= 64 && value.bytes().all(|b| b.is_ascii_alphanumeric() || b" ,:.".contains(&b));
    let told = |name: &'static str| {
        let value = headers.get(name)?.to_str().ok()?.trim();
        (!value.is_empty() && is_plain(value)).then(|| (name, value.to_owned()))
    };
    RETRY_HEADERS.into_iter().filter_map(told).collect()
}

/// A pause that grows, and differs, so that those who failed together do not come back together.
fn pause(tries: u32) -> Duration {
    let longest = PAUSE * 2_u32.pow(tries.min(8));
    let share = getrandom::u32().map_or(1.0, |random| f64::from(random) / f64::from(u32::MAX));
    longest.mul_f64(0.5 + share / 2.0)
}

impl Deltas {
    fn new(
        server: Arc<Server>,
        body: Incoming,
        clock: ModelDeadline,
        call: RunningCall,
        place: OwnedSemaphorePermit,
    ) -> Self {
        Self {
            server,
            body,
            reading: Reading::default(),
            ready: VecDeque::new(),
            failure: None,
            has_said: false,
            is_over: false,
            clock,
            gave_at: None,
            call,
            _place: place,
        }
    }

    /// All of it, put together.
    async fn gathered(mut self) -> Result<Completion, Failure> {
        let mut whole = Completion::default();
        while let Some(delta) = self.next().await {
            whole.add(delta?);
        }
        Ok(whole)
    }

    /// The next piece; `None` after the last, and after a failure.
    pub async fn next(&mut self) -> Option<Result<Delta, Failure>> {
        if let Some(gave_at) = self.gave_at.take() {
            self.clock.was_not_asked_for(gave_at.elapsed());
        }
        loop {
            if let Some(delta) = self.ready.pop_front() {
                return Some(Ok(self.give(delta)));
            }
            if let Some(failure) = self.failure.take() {
                self.call.failed(&failure);
                return Some(Err(failure));
            }
            if self.is_over {
                return None;
            }
            self.more().await;
        }
    }

    fn give(&mut self, delta: Delta) -> Delta {
        match &delta {
            Delta::End { usage, .. } => self.call.succeeded(*usage),
            Delta::More(_) => {}
            _ => self.call.speaks(),
        }
        self.gave_at = Some(Instant::now());
        delta
    }

    /// Waits for what the server sends next.
    async fn more(&mut self) {
        if self.reading.is_done() {
            return self.close().await;
        }
        let finished = self.reading.has_finished();
        let until = if finished { self.clock.until.min(Instant::now() + USAGE_WAIT) } else { self.clock.until };
        match timeout_at(until, self.body.frame()).await {
            Ok(Some(Ok(frame))) => {
                if let Ok(bytes) = frame.into_data() {
                    self.take(&bytes);
                }
            }
            Ok(None) => self.end(),
            Ok(Some(Err(_))) | Err(_) if finished => self.end(),
            Ok(Some(Err(error))) => self.fail(self.server.broke(&outbound::causes(&error))),
            Err(_) => self.fail(self.clock.late(&self.server)),
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        let signs = self.reading.signs;
        let fed = self.reading.feed(bytes, &mut self.ready);
        if self.reading.signs > signs {
            self.clock.something_came();
        }
        self.has_said |= self.ready.iter().any(Delta::is_answer);
        if let Err(fault) = fed {
            self.fault(fault);
        }
    }

    /// The server has said that this was all: reads to the end of its body, so that the connection can be
    /// used again.
    async fn close(&mut self) {
        let rest = async { while let Some(Ok(_)) = self.body.frame().await {} };
        if timeout(CLOSING_WAIT, rest).await.is_err() {
            tracing::debug!("a model server is slow to end its stream");
        }
        self.end();
    }

    fn end(&mut self) {
        match self.reading.end(&mut self.ready) {
            Ok(()) => self.is_over = true,
            Err(fault) => self.fault(fault),
        }
    }

    fn fault(&mut self, fault: StreamFault) {
        let failure = match fault {
            StreamFault::Said(error) => self.server.said(&error, self.has_said),
            StreamFault::Form(why) => self.server.broke(&why),
        };
        self.fail(failure);
    }

    fn fail(&mut self, failure: Failure) {
        self.failure = Some(failure);
        self.is_over = true;
    }
}
