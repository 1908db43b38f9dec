//! The replies that are running.
//!
//! Owns their tasks: how many there may be, and that all have ended when the server closes. Replies that can
//! be resumed are found by name, also for a while after their end. The name contains the node that has the
//! reply.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use novelo_engine::limits::REPLIES_MAX;
use rustc_hash::FxHashMap;
use tokio::sync::watch;

use super::ended::Ended;
use super::event::Event;
use super::generate::StopSignals;
use super::log::{EventLog, EventReader};
use super::options::{Patience, RepeatKey, ReplyOptions, ReplyOwner, ResponseFormat};
use super::response::ResponseLocks;
use crate::answer::App;
use crate::caller::Caller;
use crate::error::{Code, Error, Result};
use crate::ids::reply_name;
use crate::thread::item::ResponseId;

/// How long to wait for the end of a reply.
const END_WAIT: Duration = Duration::from_secs(2);

/// Requests start replies. Their tasks end by themselves, or at `close`.
#[derive(Debug)]
pub struct Replies {
    /// Replies that run and can be resumed.
    named: Mutex<FxHashMap<String, Arc<EventLog>>>,
    /// Replies that run and are joined by the same request of their owner.
    joined: Mutex<Vec<Arc<EventLog>>>,
    ended: Ended,
    /// The threads in which a response is being made.
    pub(super) locks: Arc<ResponseLocks>,
    running: watch::Sender<usize>,
    closing: watch::Sender<bool>,
}

impl Default for Replies {
    fn default() -> Self {
        Self {
            named: Mutex::default(),
            joined: Mutex::default(),
            ended: Ended::default(),
            locks: Arc::default(),
            running: watch::Sender::new(0),
            closing: watch::Sender::new(false),
        }
    }
}

impl Replies {
    /// Resumes a reply after the event of a number. `None` if the caller may not read it, or it has another
    /// format.
    pub fn resume(
        &self,
        name: &str,
        after: usize,
        caller: &Caller,
        fits: impl Fn(&ResponseFormat) -> bool,
    ) -> Option<EventReader> {
        let running = self.lock().get(name).cloned();
        let log = running.or_else(|| self.ended.get(name))?;
        (log.options.admit(caller) && fits(&log.options.format)).then(|| log.read(after))
    }

    /// Whether a reply is running.
    pub(super) fn is_running(&self, name: &str) -> bool {
        self.lock().get(name).is_some_and(|log| !log.has_ended())
    }

    /// Joins the reply to the same request, from its beginning, while it runs.
    pub fn join(&self, owner: &ReplyOwner, key: &RepeatKey) -> Result<Option<EventReader>> {
        join(&self.lock_joined(), owner, key)
    }

    /// Ends the relayed replies of a thread that have no reader, and waits until they are stored.
    pub async fn end_unread(&self, user: &str, thread: &str) {
        let is_left = |log: &&Arc<EventLog>| {
            let ReplyOptions { owner, format, .. } = &log.options;
            owner.is(user, Some(thread)) && matches!(format, ResponseFormat::Relay { .. }) && !log.is_read()
        };
        let left: Vec<Arc<EventLog>> = self.lock().values().filter(is_left).cloned().collect();
        let mut running = self.running.subscribe();
        left.iter().for_each(|log| log.dismiss());
        let ended = async { while left.iter().any(|log| !log.has_ended()) && running.changed().await.is_ok() {} };
        if tokio::time::timeout(END_WAIT, ended).await.is_err() {
            tracing::warn!("a reply that nobody reads is slow to end");
        }
    }

    /// Drops replies that ended a while ago.
    pub(crate) fn sweep(&self) {
        self.ended.sweep();
    }

    /// Drops the replies of a user, in one thread or in all.
    pub fn forget(&self, user: &str, thread: Option<&str>) {
        self.lock().retain(|_, log| !log.options.owner.is(user, thread));
        self.lock_joined().retain(|log| !log.options.owner.is(user, thread));
        self.ended.forget(user, thread);
    }

    /// Drops the ended replies of a user.
    pub(crate) fn forget_ended(&self, user: &str) {
        self.ended.forget(user, None);
    }

    /// Ends all replies, and waits until they have ended.
    pub async fn close(&self) {
        self.closing.send_replace(true);
        let mut running = self.running.subscribe();
        while *running.borrow_and_update() > 0 && running.changed().await.is_ok() {}
    }

    /// Runs `work` in a task of its own, unless too many run, or one runs for the same request. It ends the
    /// trace, and then logs the last event.
    pub(super) fn start<W: Future<Output = ()> + Send>(
        &self,
        app: &App,
        options: ReplyOptions,
        work: impl FnOnce(App, Arc<EventLog>, StopSignals) -> W + Send + 'static,
    ) -> Result<EventReader> {
        // Held until it can be joined, or two equal requests could both start.
        let mut joined = self.lock_joined();
        if let Some(key) = &options.repeat
            && let Some(reader) = join(&joined, &options.owner, key)?
        {
            options.tracer.joined(&reader.trace_id());
            return Ok(reader);
        }
        let has_room = self.running.send_if_modified(|running| {
            let has_room = *running < REPLIES_MAX;
            *running += usize::from(has_room);
            has_room
        });
        if !has_room {
            let message = format!("more than REPLIES_MAX, {REPLIES_MAX}, questions are being answered");
            options.tracer.error("rate_limit", &*message);
            options.tracer.end();
            return Err(Error::new(Code::Busy, message));
        }
        let ends = StopSignals { patience: options.patience.duration(app), closing: self.closing.subscribe() };
        let name = options.response.as_ref().map_or_else(|| reply_name(&app.node), ResponseId::reply_name);
        let log = EventLog::new(name, options);
        let place = RunningReply { app: app.clone(), log: log.clone() };
        if log.options.patience != Patience::None || log.options.response.is_some() {
            self.lock().insert(log.name.clone(), log.clone());
        }
        if log.options.repeat.is_some() {
            joined.push(log.clone());
        }
        drop(joined);
        // Before the task starts, or it would find no reader.
        let reader = log.read(0);
        tokio::spawn(async move { work(place.app.clone(), place.log.clone(), ends).await });
        Ok(reader)
    }

    /// Keeps a reply that has ended, unless it was forgotten meanwhile.
    fn ended(&self, log: &Arc<EventLog>) {
        self.lock_joined().retain(|other| !Arc::ptr_eq(other, log));
        let mut named = self.lock();
        if named.remove(&log.name).is_some() {
            self.ended.insert(log.clone());
        }
    }

    fn lock(&self) -> MutexGuard<'_, FxHashMap<String, Arc<EventLog>>> {
        self.named.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_joined(&self) -> MutexGuard<'_, Vec<Arc<EventLog>>> {
        self.joined.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A reader of the reply to the same request, if one runs.
fn join(joined: &[Arc<EventLog>], owner: &ReplyOwner, key: &RepeatKey) -> Result<Option<EventReader>> {
    let is_same = |log: &&Arc<EventLog>| {
        let ReplyOptions { owner: of, repeat, .. } = &log.options;
        of == owner && repeat.as_ref().is_some_and(|repeat| repeat.id == key.id) && !log.has_ended()
    };
    match joined.iter().find(is_same) {
        Some(log) if log.options.repeat.as_ref() == Some(key) => Ok(Some(log.read(0))),
        Some(_) => Err(key.conflict()),
        None => Ok(None),
    }
}

/// A reply that runs. However it ends, also by a panic, its last event is logged and it is no longer counted.
struct RunningReply {
    app: App,
    log: Arc<EventLog>,
}

impl Drop for RunningReply {
    fn drop(&mut self) {
        if !self.log.has_ended() {
            let tracer = &self.log.options.tracer;
            tracer.error("reply", "the answer ended early");
            tracer.end();
            self.log.push(Event::Failed(Error::new(Code::Internal, "the answer ended early")));
        }
        self.app.replies.ended(&self.log);
        self.app.replies.running.send_modify(|running| *running -= 1);
    }
}
