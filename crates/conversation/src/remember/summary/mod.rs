//! The rolling summary of a thread: what fell out of its window, in a few sentences.
//!
//! Owns the summary document and the task that keeps it up. An append notifies the task and goes on. Once the
//! thread rests, or someone wants to read its summary, the task sums up what has fallen out since and moves
//! `upto_seq` by exactly that, so that a turn which arrives meanwhile is covered by the next round. A
//! caller's summary is continued, not replaced. Invariant: between `upto_seq` and the window there is, once
//! the task has rested, no turn.

mod due;
mod make;

use novelo_engine::loaded::summary_path;
use novelo_engine::path::DocumentPath;
use novelo_engine::scope;
use novelo_store::{Error as StoreError, Op, PutTerms, Store};
use serde::{Deserialize, Serialize};

use super::{TRIES_MAX, check};
use crate::error::{Code, Error, Result};
use crate::remember::UserMemory;
use crate::settings::Settings;
use crate::telemetry::now;
use crate::thread::WantedSummary;
pub use due::run;

/// A summary as its document is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The text.
    pub text: String,
    /// The last turn that it covers.
    #[serde(default)]
    pub upto_seq: u64,
    /// Who made it.
    #[serde(default)]
    pub by: By,
    /// The caller's own words, where turns were summed up behind them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub given: Option<String>,
    /// When it was made, in seconds since 1970.
    #[serde(default)]
    pub updated_at: f64,
    /// It is made again from the turns after this one. `None` where it cannot be: it is carried on.
    #[serde(skip_serializing, default)]
    pub after_seq: Option<u64>,
}

/// The same as it is stored.
#[derive(Serialize)]
struct StoredSummary<'s> {
    #[serde(flatten)]
    summary: &'s Summary,
    #[serde(skip_serializing_if = "Option::is_none")]
    after_seq: Option<u64>,
}

/// Who made it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// Extraction, without a model.
    Extract,
    /// The model of the job `summary`.
    Model,
    /// The caller.
    #[default]
    Caller,
}

/// Which turns are in a summary, by the settings.
#[derive(Debug, Clone, Copy)]
struct Window {
    turns: u64,
    threshold: u64,
}

impl Window {
    fn of(settings: &Settings) -> Self {
        let memory = &settings.memory;
        Self { turns: memory.short_term_window.get(), threshold: memory.summary_threshold_messages }
    }

    /// The first and the last seq of the next round.
    fn uncovered(self, last_seq: u64, upto_seq: u64, turns_max: u64) -> Option<(u64, u64)> {
        let (first, end) = (upto_seq.saturating_add(1), self.before(last_seq));
        (last_seq > self.threshold && first <= end).then(|| (first, end.min(upto_seq + turns_max)))
    }

    /// The last seq that the window leaves out.
    fn before(self, last_seq: u64) -> u64 {
        last_seq.saturating_sub(self.turns)
    }
}

impl Summary {
    fn says_something(&self) -> bool {
        !self.text.trim().is_empty()
    }

    /// Its document.
    fn encode(&self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(&StoredSummary { summary: self, after_seq: self.after_seq })
    }

    /// Settles from where on it is made from turns, before it is continued. A caller's words stand for the
    /// turns that they cover, and what was removed does not come back.
    fn begun(self, is_stored: bool) -> Self {
        let is_given = self.by == By::Caller && self.given.is_none();
        let after_seq = match () {
            () if !is_stored => Some(0),
            () if is_given => Some(self.upto_seq),
            () if self.made().is_empty() => Some(self.after_seq.unwrap_or(0).max(self.upto_seq)),
            () => self.after_seq,
        };
        Self { after_seq, ..self }
    }
}

/// The summary that is there, and its version; an empty one of version 0 where there is none. A document that
/// was put there as something else counts as empty too.
async fn held(store: &Store, at: &DocumentPath) -> std::result::Result<(Summary, u64), StoreError> {
    let Some(document) = store.get(at).await? else { return Ok((Summary::default(), 0)) };
    Ok((serde_json::from_slice(&document.value).unwrap_or_default(), document.version))
}

/// Stores a summary; only while the document is there that it was made from, where one is named.
async fn write(
    store: &Store,
    at: &DocumentPath,
    summary: &Summary,
    if_version: Option<u64>,
    made_from: Option<DocumentPath>,
) -> std::result::Result<(), StoreError> {
    let value = summary.encode().map_err(|e| StoreError::Invalid(e.to_string()))?;
    let terms = PutTerms { if_version, now: summary.updated_at, ..PutTerms::default() };
    let put = Op::Put { at: at.clone(), value: value.into(), terms };
    store.write(made_from.map(|at| Op::Expect { at }).into_iter().chain([put]).collect()).await?;
    Ok(())
}

/// The summary as it is now. One that is behind is brought up to date first.
pub async fn get(app: &UserMemory, user: &str, thread: &str) -> Result<Option<Summary>> {
    app.sum_up_now(user, thread, WantedSummary::IfItWaits).await;
    let (summary, version) = held(&app.store, &path(user, thread)?).await?;
    Ok((version > 0).then_some(summary).filter(Summary::says_something))
}

/// Sets a caller's summary. Without a seq it covers what lies before the window now.
pub async fn set(app: &UserMemory, user: &str, thread: &str, text: &str, upto_seq: Option<u64>) -> Result<Summary> {
    check::text("text", text, check::MEMORY)?;
    let at = path(user, thread)?;
    let of = scope::turns(user, thread).map_err(|e| Error::bad_id("thread", &e))?;
    let last_seq = app.store.version(&of).await?.last_seq;
    if let Some(upto_seq) = upto_seq.filter(|upto_seq| *upto_seq > last_seq) {
        let problem = format!("is {upto_seq}; the last turn of the thread is {last_seq}");
        return Err(Error::invalid("upto_seq", problem));
    }
    let upto_seq = upto_seq.unwrap_or_else(|| Window::of(&app.settings).before(last_seq));
    let summary = Summary { text: text.to_owned(), upto_seq, by: By::Caller, updated_at: now(), ..Summary::default() };
    write(&app.store, &at, &summary, None, None).await?;
    app.touched(user, thread);
    Ok(summary)
}

/// Whether there was one.
pub async fn remove(app: &UserMemory, user: &str, thread: &str) -> Result<bool> {
    let was_there = get(app, user, thread).await?.is_some();
    if was_there {
        app.store.delete(&path(user, thread)?, None).await?;
        begin_here(app, user, thread).await?;
    }
    Ok(was_there)
}

/// Says that what lies before the window is done with, so that a summary which was removed does not come
/// back.
pub(crate) async fn begin_here(app: &UserMemory, user: &str, thread: &str) -> Result<()> {
    let of = scope::turns(user, thread).map_err(|e| Error::bad_id("thread", &e))?;
    let upto_seq = Window::of(&app.settings).before(app.store.version(&of).await?.last_seq);
    let summary = Summary { upto_seq, by: By::Extract, updated_at: now(), ..Summary::default() };
    if upto_seq > 0 {
        write(&app.store, &path(user, thread)?, &summary, None, None).await?;
    }
    Ok(())
}

/// Says of a summary that stays that it covers no turn: those it was made from are gone, and seqs begin anew.
pub(crate) async fn begin_anew(app: &UserMemory, user: &str, thread: &str) -> Result<()> {
    let at = path(user, thread)?;
    for _ in 0..TRIES_MAX {
        let (summary, version) = held(&app.store, &at).await?;
        if version == 0 || summary.upto_seq == 0 {
            return Ok(());
        }
        let summary = Summary { upto_seq: 0, updated_at: now(), after_seq: None, ..summary };
        match write(&app.store, &at, &summary, Some(version), None).await {
            Err(StoreError::Stale { .. }) => {}
            done => return Ok(done?),
        }
    }
    Err(Error::new(Code::Busy, "this summary is being changed by others again and again"))
}

/// What takes a turn out of a thread's summary: what was made is dropped, and made again from the turns that
/// stay; a caller's own words stay. It also stops a summary that is being made from being stored. `None`
/// where there can be none.
pub async fn without(app: &UserMemory, user: &str, thread: &str, seq: u64) -> Result<Option<Op>> {
    let (at, of) = (path(user, thread)?, scope::turns(user, thread).map_err(|e| Error::bad_id("thread", &e))?);
    let (summary, version) = held(&app.store, &at).await?;
    let is_due = app.store.version(&of).await?.last_seq > Window::of(&app.settings).threshold;
    if summary.upto_seq < seq && !is_due {
        return Ok(None);
    }
    let emptied = Summary { upto_seq: 0, updated_at: now(), ..summary.with(String::new(), By::Extract) };
    let value = emptied.encode().map_err(|e| Error::new(Code::Internal, e.to_string()))?;
    let terms = PutTerms { if_version: Some(version), now: emptied.updated_at, ..PutTerms::default() };
    Ok(Some(Op::Put { at, value: value.into(), terms }))
}

fn path(user: &str, thread: &str) -> Result<DocumentPath> {
    summary_path(user, thread).map_err(|e| Error::bad_id("user or thread", &e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fell_out_and_is_not_covered_is_summed_up() {
        let window = Window { turns: 10, threshold: 20 };
        assert_eq!(window.uncovered(20, 0, 256), None);
        assert_eq!(window.uncovered(21, 0, 256), Some((1, 11)));
        assert_eq!(window.uncovered(22, 11, 256), Some((12, 12)));
        assert_eq!(window.uncovered(22, 12, 256), None);
        assert_eq!(window.uncovered(22, 99, 256), None);
        assert_eq!(window.uncovered(1_000, 5, 256), Some((6, 5 + 256)));
        assert_eq!(window.uncovered(u64::MAX, u64::MAX, 256), None);
        assert_eq!(Window { turns: 30, threshold: 20 }.uncovered(25, 0, 256), None);
    }

    #[test]
    fn a_document_of_a_caller_is_a_summary_of_nothing_yet() {
        let read = |text| serde_json::from_str::<Summary>(text).unwrap();
        let expected = Summary { text: "t".into(), ..Summary::default() };
        assert_eq!(read(r#"{"text":"t"}"#), expected);
        assert_eq!(read(r#"{"text":"t","upto_seq":3,"by":"extract","more":1}"#).upto_seq, 3);
    }
}
