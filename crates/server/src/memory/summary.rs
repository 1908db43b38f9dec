//! The rolling summary of a thread: what fell out of its window, in a few sentences.
//!
//! Owns the summary document and the task that keeps it up. Whoever adds turns says so, and goes on; the task sums up
//! what has fallen out since and moves `upto_seq` by exactly that, so that a turn which arrives meanwhile is covered by
//! the next round. A caller's summary is continued, not replaced. Invariant: between `upto_seq` and the window there is,
//! once the task has rested, no turn.

use std::time::Duration;

use novelo_engine::component::summary_path;
use novelo_engine::path::DocumentPath;
use novelo_engine::scope;
use novelo_recall::extract::{self, Said};
use novelo_store::{Error, PutTerms, Range, Stamp, Store, Turns};
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use tokio::sync::{MutexGuard, Notify};

use super::{TRIES_MAX, check};
use crate::app::{App, Shared};
use crate::config::Config;
use crate::http::error::{ApiError, Code, Result};
use crate::recall::said;
use crate::telemetry::now;

/// A summary as its document is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    pub text: String,
    /// The last turn that it covers.
    #[serde(default)]
    pub upto_seq: u64,
    #[serde(default)]
    pub by: By,
    /// The caller's own words, where turns were summed up behind them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub given: Option<String>,
    #[serde(default)]
    pub updated_at: f64,
}

/// Who made it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    Extract,
    #[default]
    Caller,
}

/// Threads that may be behind. Requests add, the task takes, `close` ends it.
#[derive(Debug, Default)]
pub struct Due {
    state: std::sync::Mutex<State>,
    wake: Notify,
    /// Held by the task from reading turns to having stored their summary, and by a forget, so that none slips past it.
    pen: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct State {
    threads: FxHashSet<(Box<str>, Box<str>)>,
    closed: bool,
}

/// Threads that may wait. One too many is left out: its next turn tells again.
const THREADS_MAX: usize = 20_000;
/// How long the first thread waits, so that a burst of turns is summed up once.
const GATHER: Duration = Duration::from_millis(50);
/// Turns that one round reads.
const ROUND_TURNS: u64 = 256;
/// Characters of one turn that are looked at.
const TURN_CHARS_MAX: usize = 8_000;

impl Due {
    pub fn add(&self, user: &str, thread: &str) {
        let mut state = self.lock();
        if state.threads.len() < THREADS_MAX && state.threads.insert((user.into(), thread.into())) {
            drop(state);
            self.wake.notify_one();
        }
    }

    /// Keeps the task from storing anything, once what it has in hand is stored.
    pub async fn pause(&self) -> MutexGuard<'_, ()> {
        self.pen.lock().await
    }

    pub fn close(&self) {
        self.lock().closed = true;
        self.wake.notify_one();
    }

    /// All that wait; `None` at the end.
    fn take(&self) -> Option<FxHashSet<(Box<str>, Box<str>)>> {
        let mut state = self.lock();
        (!state.closed).then(|| std::mem::take(&mut state.threads))
    }

    fn is_closed(&self) -> bool {
        self.lock().closed
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Keeps summaries up until `close`. What is left undone then is done after the thread's next turn.
pub async fn run(app: App) {
    while let Some(threads) = app.due.take() {
        if threads.is_empty() {
            app.due.wake.notified().await;
            tokio::time::sleep(GATHER).await;
        }
        for (user, thread) in &threads {
            if let Err(error) = catch_up(&app, user, thread).await {
                tracing::warn!(%error, "a summary was not made");
            }
        }
    }
}

async fn catch_up(app: &Shared, user: &str, thread: &str) -> std::result::Result<(), Error> {
    let mut lost = 0;
    while !app.due.is_closed() {
        match round(app, user, thread).await {
            Ok(Round::More) => lost = 0,
            Ok(Round::Done) => return Ok(()),
            Err(Error::Stale { .. }) if lost < TRIES_MAX => lost += 1,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[derive(Debug, PartialEq, Eq)]
enum Round {
    More,
    Done,
}

/// Sums up some of what is not covered, if anything is.
async fn round(app: &Shared, user: &str, thread: &str) -> std::result::Result<Round, Error> {
    let invalid = |e: novelo_engine::path::PathError| Error::Invalid(e.to_string());
    let (at, of) = (summary_path(user, thread).map_err(invalid)?, scope::turns(user, thread).map_err(invalid)?);
    let _pen = app.due.pause().await;
    let last_seq = app.store.version(&of).await?.last_seq;
    let window = Window::of(&app.config);
    if last_seq <= window.threshold {
        return Ok(Round::Done);
    }
    let (before, version) = held(&app.store, &at).await?;
    let Some((first, last)) = window.uncovered(last_seq, before.upto_seq) else { return Ok(Round::Done) };
    let turns = app.store.turns(&of, Range::Between { first, last }).await?;
    let chars_max = usize::try_from(app.config.number("memory.summary_chars")).unwrap_or(usize::MAX);
    let summed = tokio::task::spawn_blocking(move || before.continued(&turns, chars_max)).await;
    let summary = summed.map_err(|e| Error::Invalid(format!("summing up ended early: {e}")))?;
    let summary = Summary { upto_seq: last, updated_at: now(), ..summary };
    write(&app.store, &at, &summary, Some(version)).await?;
    Ok(Round::More)
}

/// Which turns are in a summary, by the settings.
#[derive(Debug, Clone, Copy)]
struct Window {
    turns: u64,
    threshold: u64,
}

impl Window {
    fn of(config: &Config) -> Self {
        let number = |key| config.number(key);
        Self { turns: number("memory.short_term_window"), threshold: number("memory.summary_threshold_messages") }
    }

    /// The first and the last seq of the next round.
    fn uncovered(self, last_seq: u64, upto_seq: u64) -> Option<(u64, u64)> {
        let (first, end) = (upto_seq.saturating_add(1), self.before(last_seq));
        (last_seq > self.threshold && first <= end).then(|| (first, end.min(upto_seq + ROUND_TURNS)))
    }

    /// The last seq that the window leaves out.
    fn before(self, last_seq: u64) -> u64 {
        last_seq.saturating_sub(self.turns)
    }
}

impl Summary {
    /// The same with turns behind it. What a caller said stays as it is; what was made here is made anew.
    fn continued(self, turns: &Turns, chars_max: usize) -> Self {
        let given = match self.by {
            By::Caller => self.given.clone().or(Some(self.text.clone())).filter(|given| !given.is_empty()),
            By::Extract => None,
        };
        let Some(given) = given else {
            return Self { text: sum_up(&self.text, turns, chars_max), by: By::Extract, given: None, ..self };
        };
        let made = self.text.strip_prefix(given.as_str()).unwrap_or("").trim_start();
        let text = format!("{given}\n{}", sum_up(made, turns, chars_max)).trim_end().to_owned();
        Self { text, given: Some(given), ..self }
    }

    fn says_something(&self) -> bool {
        !self.text.trim().is_empty()
    }
}

fn sum_up(before: &str, turns: &Turns, chars_max: usize) -> String {
    let texts: Vec<(&str, String)> = turns
        .iter()
        .filter_map(|turn| {
            let message = turn.message.shown();
            let role = message.role().filter(|role| !role.instructs() && role.name() != "tool")?;
            let text: String = said(message)?.chars().take(TURN_CHARS_MAX).collect();
            (!text.trim().is_empty()).then(|| (role.name(), text))
        })
        .collect();
    let said: Vec<Said<'_>> = texts.iter().map(|(speaker, text)| Said { speaker, text }).collect();
    let before = Some(before).filter(|before| !before.trim().is_empty());
    extract::summarise(before, &said, chars_max)
}

/// The summary that is there, and its version; an empty one of version 0 where there is none. A document that was put
/// there as something else counts as empty too.
async fn held(store: &Store, at: &DocumentPath) -> std::result::Result<(Summary, u64), Error> {
    let Some(document) = store.get(at).await? else { return Ok((Summary::default(), 0)) };
    Ok((serde_json::from_slice(&document.value).unwrap_or_default(), document.version))
}

async fn write(
    store: &Store,
    at: &DocumentPath,
    summary: &Summary,
    if_version: Option<u64>,
) -> std::result::Result<Stamp, Error> {
    let value = serde_json::to_vec(summary).map_err(|e| Error::Invalid(e.to_string()))?;
    let terms = PutTerms { if_version, now: summary.updated_at, ..PutTerms::default() };
    store.put(at, value.into(), terms).await
}

pub async fn get(app: &Shared, user: &str, thread: &str) -> Result<Option<Summary>> {
    let (summary, version) = held(&app.store, &path(user, thread)?).await?;
    Ok((version > 0).then_some(summary).filter(Summary::says_something))
}

/// Sets a caller's summary. Without a seq it covers what lies before the window now.
pub async fn set(app: &Shared, user: &str, thread: &str, text: &str, upto_seq: Option<u64>) -> Result<Summary> {
    check::text("text", text, check::MEMORY)?;
    let at = path(user, thread)?;
    let of = scope::turns(user, thread).map_err(|e| ApiError::bad_id("thread", &e))?;
    let last_seq = app.store.version(&of).await?.last_seq;
    if let Some(upto_seq) = upto_seq.filter(|upto_seq| *upto_seq > last_seq) {
        let problem = format!("is {upto_seq}; the last turn of the thread is {last_seq}");
        return Err(ApiError::invalid("upto_seq", problem));
    }
    let upto_seq = upto_seq.unwrap_or_else(|| Window::of(&app.config).before(last_seq));
    let summary = Summary { text: text.to_owned(), upto_seq, by: By::Caller, updated_at: now(), given: None };
    write(&app.store, &at, &summary, None).await?;
    app.touched(user, thread);
    Ok(summary)
}

/// Whether there was one.
pub async fn remove(app: &Shared, user: &str, thread: &str) -> Result<bool> {
    let was_there = get(app, user, thread).await?.is_some();
    if was_there {
        app.store.delete(&path(user, thread)?, None).await?;
        begin_here(app, user, thread).await?;
    }
    Ok(was_there)
}

/// Says that what lies before the window is done with, so that a summary which was removed does not come back.
pub async fn begin_here(app: &Shared, user: &str, thread: &str) -> Result<()> {
    let of = scope::turns(user, thread).map_err(|e| ApiError::bad_id("thread", &e))?;
    let upto_seq = Window::of(&app.config).before(app.store.version(&of).await?.last_seq);
    let summary = Summary { upto_seq, by: By::Extract, updated_at: now(), ..Summary::default() };
    if upto_seq > 0 {
        write(&app.store, &path(user, thread)?, &summary, None).await?;
    }
    Ok(())
}

/// Says of a summary that stays that it covers no turn: those it was made from are gone, and seqs begin anew.
pub async fn begin_anew(app: &Shared, user: &str, thread: &str) -> Result<()> {
    let at = path(user, thread)?;
    for _ in 0..TRIES_MAX {
        let (summary, version) = held(&app.store, &at).await?;
        if version == 0 || summary.upto_seq == 0 {
            return Ok(());
        }
        let summary = Summary { upto_seq: 0, updated_at: now(), ..summary };
        match write(&app.store, &at, &summary, Some(version)).await {
            Err(Error::Stale { .. }) => {}
            done => return done.map(|_| ()).map_err(ApiError::from),
        }
    }
    Err(ApiError::new(Code::Busy, "this summary is being changed by others again and again"))
}

fn path(user: &str, thread: &str) -> Result<DocumentPath> {
    summary_path(user, thread).map_err(|e| ApiError::bad_id("user or thread", &e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fell_out_and_is_not_covered_is_summed_up() {
        let window = Window { turns: 10, threshold: 20 };
        assert_eq!(window.uncovered(20, 0), None);
        assert_eq!(window.uncovered(21, 0), Some((1, 11)));
        assert_eq!(window.uncovered(22, 11), Some((12, 12)));
        assert_eq!(window.uncovered(22, 12), None);
        assert_eq!(window.uncovered(22, 99), None);
        assert_eq!(window.uncovered(1_000, 5), Some((6, 5 + ROUND_TURNS)));
        assert_eq!(window.uncovered(u64::MAX, u64::MAX), None);
        assert_eq!(Window { turns: 30, threshold: 20 }.uncovered(25, 0), None);
    }

    #[test]
    fn threads_that_wait_are_bounded_and_named_once() {
        let due = Due::default();
        for n in 0..THREADS_MAX + 5 {
            due.add("u", &n.to_string());
            due.add("u", "0");
        }
        assert_eq!(due.take().unwrap().len(), THREADS_MAX);
        assert!(due.take().unwrap().is_empty());
        due.close();
        assert!(due.take().is_none());
    }

    #[test]
    fn a_document_of_a_caller_is_a_summary_of_nothing_yet() {
        let read = |text| serde_json::from_str::<Summary>(text).unwrap();
        let expected = Summary { text: "t".into(), ..Summary::default() };
        assert_eq!(read(r#"{"text":"t"}"#), expected);
        assert_eq!(read(r#"{"text":"t","upto_seq":3,"by":"extract","more":1}"#).upto_seq, 3);
    }
}
