//! The same message sent twice: answered once, and stored once.
//!
//! Owns `answered/{digest}` below a thread: that the message of an id is being answered, and then its answer.
//! The record is written with the question, so that of two nodes one answers and the other waits for it. An
//! answer that is not whole leaves no record: sent again, the message is answered anew. On one node a second
//! request joins the events of the first (`Replies::join`) and never comes here while that runs.

use std::time::Duration;

use novelo_engine::path::DocumentPath;
use novelo_engine::{Role, scope};
use novelo_store::{Op, PutTerms, Range};
use serde::{Deserialize, Serialize};

use super::run::GuidedWork;
use crate::answer::guided_answer::GuidedAnswer;
use crate::answer::options::RepeatKey;
use crate::error::{Code, Error, Result};
use crate::telemetry::now;
use crate::text::said;
use crate::trace::fingerprint;

/// How long an answer is given again.
const ANSWER_LIVES_S: f64 = 24.0 * 3_600.0;
/// How long another node may take to answer, before this one does.
const RUNNING_LIVES_S: f64 = 120.0;
const WAIT: Duration = Duration::from_millis(100);

/// The document of a message that was sent under an id.
#[derive(Debug, Serialize, Deserialize)]
struct RepeatRecord {
    /// The fingerprint of what was sent.
    print: String,
    /// When it ends to hold.
    until: f64,
    /// The answer and the seq of its turn; none while it is being made.
    answer: Option<(u64, GuidedAnswer)>,
}

/// What was found under the id of a request.
pub enum Earlier {
    Answer(Box<GuidedAnswer>),
    /// Nothing that holds; the record may be written over this version.
    Nothing(u64),
}

/// A request that can be recognised when it is sent again.
pub struct Repeatable<'r> {
    key: &'r RepeatKey,
    at: DocumentPath,
}

impl<'r> Repeatable<'r> {
    /// `None` for a request without an id.
    pub fn of(work: &GuidedWork<'r>) -> Result<Option<Self>> {
        let Some(key) = &work.asked.repeat else { return Ok(None) };
        let id = format!("{:032x}", fingerprint(&key.id));
        let thread = scope::thread(&work.asked.user, &work.asked.thread);
        let at = thread.and_then(|thread| thread.child("answered")?.document(&id));
        Ok(Some(Self { key, at: at.map_err(|e| Error::bad_id("user or thread", &e))? }))
    }

    /// Looks for an answer to the same request. Waits while another node makes it.
    pub async fn find(&self, work: &GuidedWork<'_>) -> Result<Earlier> {
        loop {
            let Some(document) = work.app.store.get(&self.at).await? else { return Ok(Earlier::Nothing(0)) };
            let nothing = Earlier::Nothing(document.version);
            // A client with write access may have replaced it.
            let record = serde_json::from_slice::<RepeatRecord>(&document.value).ok();
            let Some(record) = record.filter(|record| now() < record.until) else { return Ok(nothing) };
            if record.print != self.key.print {
                return Err(self.key.conflict());
            }
            match record.answer {
                Some((seq, answer)) if is_stored(work, seq, &answer).await? => {
                    return Ok(Earlier::Answer(Box::new(answer)));
                }
                // This process does not answer it: it would have been joined.
                None if work.app.settings.is_shared() => tokio::time::sleep(WAIT).await,
                _ => return Ok(nothing),
            }
        }
    }

    /// The write that says that this request is being answered. It fails where another node was faster.
    pub fn claim(&self, version: u64) -> Result<Op> {
        self.put(None, RUNNING_LIVES_S, Some(version))
    }

    /// The write that keeps the answer, whose turn has this seq.
    pub fn keep(&self, seq: u64, answer: &GuidedAnswer) -> Result<Op> {
        self.put(Some((seq, answer.clone())), ANSWER_LIVES_S, None)
    }

    /// The write after which the request is answered anew.
    pub fn release(&self) -> Op {
        Op::Delete { at: self.at.clone(), if_version: None }
    }

    fn put(&self, answer: Option<(u64, GuidedAnswer)>, lives_s: f64, if_version: Option<u64>) -> Result<Op> {
        let now = now();
        let until = now + lives_s;
        let record = RepeatRecord { print: self.key.print.clone(), until, answer };
        let value = serde_json::to_vec(&record).map_err(|e| Error::new(Code::Internal, e.to_string()))?;
        let terms = PutTerms { now, expires_at: Some(until), if_version, ..PutTerms::default() };
        Ok(Op::Put { at: self.at.clone(), value: value.into(), terms })
    }
}

/// Whether the turn of an answer still says it.
async fn is_stored(work: &GuidedWork<'_>, seq: u64, answer: &GuidedAnswer) -> Result<bool> {
    let of = scope::turns(&work.asked.user, &work.asked.thread).map_err(|e| Error::bad_id("user or thread", &e))?;
    let turns = work.app.store.turns(&of, Range::Between { first: seq, last: seq }).await?;
    let says_it = |turn: &novelo_engine::Turn| {
        let message = turn.message.shown();
        message.is(Role::Assistant) && said(message).is_some_and(|text| text == answer.message)
    };
    Ok(turns.iter().any(says_it))
}
