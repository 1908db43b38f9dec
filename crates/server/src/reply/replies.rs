//! The replies that are running.
//!
//! Owns their tasks: how many there may be, and that all have ended when the server closes. Those that can be come back
//! to are kept by name until a while after their end.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use novelo_engine::limits::REPLIES_MAX;
use rustc_hash::FxHashMap;
use tokio::sync::watch;

use super::log::{Log, Reader};
use super::run::{Ends, run};
use super::{Asked, Event};
use crate::app::App;
use crate::http::error::{ApiError, Code, Result};

/// How long a reply goes on that nobody reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// Who leaves does not come back.
    None,
    /// A page may lose its connection and open it again.
    Page,
}

/// How long the end of a reply can be read again.
const KEPT: Duration = Duration::from_secs(60);

/// Requests begin replies; their tasks end by themselves, or when `close` says so.
#[derive(Debug)]
pub struct Replies {
    named: Mutex<FxHashMap<String, Named>>,
    running: watch::Sender<usize>,
    closing: watch::Sender<bool>,
}

/// A reply that can be come back to.
#[derive(Debug)]
struct Named {
    user: Option<String>,
    thread: Option<String>,
    log: Arc<Log>,
    /// When it was first seen to have ended.
    ended: Option<Instant>,
}

impl Patience {
    fn duration(self) -> Duration {
        match self {
            Self::None => Duration::ZERO,
            Self::Page => Duration::from_secs(5),
        }
    }
}

impl Default for Replies {
    fn default() -> Self {
        Self { named: Mutex::default(), running: watch::Sender::new(0), closing: watch::Sender::new(false) }
    }
}

impl Replies {
    /// Begins to answer; the events from the first on.
    pub fn begin(&self, app: &App, asked: Asked) -> Result<Reader> {
        Ok(self.start(app, asked, Patience::None)?.read(0))
    }

    /// The same for someone who comes to read later; the name to ask by.
    pub fn begin_named(&self, app: &App, asked: Asked) -> Result<String> {
        let (user, thread) = (asked.user.clone(), asked.thread.clone());
        let log = self.start(app, asked, Patience::Page)?;
        let name = uuid::Uuid::new_v4().simple().to_string();
        self.lock().insert(name.clone(), Named { user, thread, log, ended: None });
        Ok(name)
    }

    /// The events of a reply from behind one number on, for whoever may read what is this user's.
    pub fn resume(&self, name: &str, after: usize, may_read: impl Fn(Option<&str>) -> bool) -> Option<Reader> {
        self.lock().get(name).filter(|named| may_read(named.user.as_deref())).map(|named| named.log.read(after))
    }

    /// Lets go of those that ended a while ago.
    pub fn sweep(&self) {
        self.lock().retain(|_, named| {
            if named.ended.is_none() && named.log.has_ended() {
                named.ended = Some(Instant::now());
            }
            named.ended.is_none_or(|ended| ended.elapsed() < KEPT)
        });
    }

    /// Lets go of what a user was answered, in one thread or in all.
    pub fn forget(&self, user: &str, thread: Option<&str>) {
        let is_in = |named: &Named| thread.is_none() || named.thread.as_deref() == thread;
        self.lock().retain(|_, named| named.user.as_deref() != Some(user) || !is_in(named));
    }

    /// Ends what runs, and waits for it.
    pub async fn close(&self) {
        self.closing.send_replace(true);
        let mut running = self.running.subscribe();
        while *running.borrow_and_update() > 0 && running.changed().await.is_ok() {}
    }

    fn start(&self, app: &App, asked: Asked, patience: Patience) -> Result<Arc<Log>> {
        let has_room = self.running.send_if_modified(|running| {
            let has_room = *running < REPLIES_MAX;
            *running += usize::from(has_room);
            has_room
        });
        if !has_room {
            let message = format!("more than REPLIES_MAX, {REPLIES_MAX}, questions are being answered");
            return Err(ApiError::new(Code::Busy, message));
        }
        let log = Log::new(patience == Patience::Page);
        let place = Place { app: app.clone(), log: log.clone() };
        let ends = Ends { patience: patience.duration(), closing: self.closing.subscribe() };
        tokio::spawn(async move { run(&place.app, asked, &place.log, ends).await });
        Ok(log)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, FxHashMap<String, Named>> {
        self.named.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A reply that runs. However it ends, also by a panic, it is told and no longer counted.
struct Place {
    app: App,
    log: Arc<Log>,
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.log.has_ended() {
            self.log.push(Event::Failed(ApiError::new(Code::Internal, "the answer ended early")));
        }
        self.app.replies.running.send_modify(|running| *running -= 1);
    }
}
