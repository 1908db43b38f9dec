//! The replies that are running.
//!
//! Owns their tasks: how many there may be, and that all have ended when the server closes. Those that can be come back
//! to are known by name, also for a while after their end. A name says which node has the reply.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use novelo_engine::limits::REPLIES_MAX;
use rustc_hash::FxHashMap;
use tokio::sync::watch;

use super::ended::Ended;
use super::log::{Log, Reader};
use super::run::{Ends, run};
use super::{Asked, Event};
use crate::app::App;
use crate::caller::Caller;
use crate::error::{Code, Error, Result};
use crate::ids::reply_name;
use crate::trace::Tracer;

/// What holds for a reply from its beginning on.
#[derive(Debug)]
pub struct Terms {
    pub owner: Owner,
    pub form: Form,
    pub patience: Patience,
    /// Its course ends with it.
    pub tracer: Tracer,
}

/// Whose reply it is; nobody's is for admins.
#[derive(Debug, Clone, Default)]
pub struct Owner {
    pub user: Option<String>,
    pub thread: Option<String>,
}

/// In which words it is told: who comes back must ask where it began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Form {
    Assist,
    /// A model's own, under the name that the caller has for it.
    Relay {
        model: String,
        wants_usage: bool,
    },
    /// Of a guest, where its id is here.
    Guided {
        guest: Option<String>,
    },
}

/// How long the end of a reply is waited for.
const END_WAIT: Duration = Duration::from_secs(2);

/// How long a reply goes on that nobody reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// Who leaves does not come back.
    None,
    /// A page, or any reader of a stream, may lose its connection and open it again: `replies.patience_ms`.
    Page,
}

/// Requests begin replies; their tasks end by themselves, or when `close` says so.
#[derive(Debug)]
pub struct Replies {
    /// Those that run and can be come back to.
    named: Mutex<FxHashMap<String, Arc<Log>>>,
    ended: Ended,
    running: watch::Sender<usize>,
    closing: watch::Sender<bool>,
}

impl Owner {
    /// Whether it is this user's, in this thread or in any.
    pub fn is(&self, user: &str, thread: Option<&str>) -> bool {
        self.user.as_deref() == Some(user) && (thread.is_none() || self.thread.as_deref() == thread)
    }

    fn is_covered_by(&self, caller: &Caller) -> bool {
        self.user.as_deref().map_or(caller.is_admin(), |user| caller.scope.covers_user(user))
    }
}

impl Terms {
    /// Who may read the reply: its owner. With a guest key it is a guest that knows the name, which cannot be guessed.
    fn admit(&self, caller: &Caller) -> bool {
        let is_of_a_guest = matches!(&self.form, Form::Guided { guest: Some(_) });
        self.owner.is_covered_by(caller) || (caller.is_guest() && is_of_a_guest)
    }
}

impl Patience {
    fn duration(self, app: &App) -> Duration {
        match self {
            Self::None => Duration::ZERO,
            Self::Page => Duration::from_millis(app.config.number("replies.patience_ms")),
        }
    }
}

impl Default for Replies {
    fn default() -> Self {
        Self {
            named: Mutex::default(),
            ended: Ended::default(),
            running: watch::Sender::new(0),
            closing: watch::Sender::new(false),
        }
    }
}

impl Replies {
    /// Begins to answer; the events from the first on.
    pub fn begin(&self, app: &App, asked: Asked, terms: Terms) -> Result<Reader> {
        self.start(app, terms, |app: App, log: Arc<Log>, ends| async move { run(&app, asked, &log, ends).await })
    }

    /// The events of a reply from behind one number on, for whoever may read what is its owner's, and in its own form.
    pub fn resume(&self, name: &str, after: usize, caller: &Caller, fits: impl Fn(&Form) -> bool) -> Option<Reader> {
        let running = self.lock().get(name).cloned();
        let log = running.or_else(|| self.ended.get(name))?;
        (log.terms.admit(caller) && fits(&log.terms.form)).then(|| log.read(after))
    }

    /// Ends the replies to a thread's client that nobody reads any more, and waits until they are stored: the client goes on.
    pub async fn end_unread(&self, user: &str, thread: &str) {
        let is_left = |log: &&Arc<Log>| {
            let Terms { owner, form, .. } = &log.terms;
            owner.is(user, Some(thread)) && matches!(form, Form::Relay { .. }) && !log.is_read()
        };
        let left: Vec<Arc<Log>> = self.lock().values().filter(is_left).cloned().collect();
        let mut running = self.running.subscribe();
        left.iter().for_each(|log| log.dismiss());
        let ended = async { while left.iter().any(|log| !log.has_ended()) && running.changed().await.is_ok() {} };
        if tokio::time::timeout(END_WAIT, ended).await.is_err() {
            tracing::warn!("a reply that nobody reads is slow to end");
        }
    }

    /// Lets go of those that ended a while ago.
    pub fn sweep(&self) {
        self.ended.sweep();
    }

    /// Lets go of what a user was answered, in one thread or in all.
    pub fn forget(&self, user: &str, thread: Option<&str>) {
        self.lock().retain(|_, log| !log.terms.owner.is(user, thread));
        self.ended.forget(user, thread);
    }

    /// Lets go of a user's replies that have ended.
    pub fn forget_ended(&self, user: &str) {
        self.ended.forget(user, None);
    }

    /// Ends what runs, and waits for it.
    pub async fn close(&self) {
        self.closing.send_replace(true);
        let mut running = self.running.subscribe();
        while *running.borrow_and_update() > 0 && running.changed().await.is_ok() {}
    }

    /// Runs what answers in a task of its own, if there is room for one more. It pushes the last event by itself, and
    /// ends the course of the reply before that.
    pub fn start<W: Future<Output = ()> + Send>(
        &self,
        app: &App,
        terms: Terms,
        work: impl FnOnce(App, Arc<Log>, Ends) -> W + Send + 'static,
    ) -> Result<Reader> {
        let has_room = self.running.send_if_modified(|running| {
            let has_room = *running < REPLIES_MAX;
            *running += usize::from(has_room);
            has_room
        });
        if !has_room {
            let message = format!("more than REPLIES_MAX, {REPLIES_MAX}, questions are being answered");
            terms.tracer.error("rate_limit", &*message);
            terms.tracer.end();
            return Err(Error::new(Code::Busy, message));
        }
        let ends = Ends { patience: terms.patience.duration(app), closing: self.closing.subscribe() };
        let log = Log::new(reply_name(&app.node), terms);
        let place = Place { app: app.clone(), log: log.clone() };
        if log.terms.patience != Patience::None {
            self.lock().insert(log.name.clone(), log.clone());
        }
        // It is read from now on, or it would seem to be left before it has begun.
        let reader = log.read(0);
        tokio::spawn(async move { work(place.app.clone(), place.log.clone(), ends).await });
        Ok(reader)
    }

    /// A reply has ended; one that was forgotten meanwhile is not kept.
    fn ended(&self, log: &Arc<Log>) {
        let mut named = self.lock();
        if named.remove(&log.name).is_some() {
            self.ended.insert(log.clone());
        }
    }

    fn lock(&self) -> MutexGuard<'_, FxHashMap<String, Arc<Log>>> {
        self.named.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A reply that runs. However it ends, also by a panic, it is told, recorded and no longer counted.
struct Place {
    app: App,
    log: Arc<Log>,
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.log.has_ended() {
            let tracer = &self.log.terms.tracer;
            tracer.error("reply", "the answer ended early");
            tracer.end();
            self.log.push(Event::Failed(Error::new(Code::Internal, "the answer ended early")));
        }
        self.app.replies.ended(&self.log);
        self.app.replies.running.send_modify(|running| *running -= 1);
    }
}
