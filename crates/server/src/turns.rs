//! Adding turns: the one way in which a thread grows by itself.
//!
//! Owns what every new turn gets: its id, its time, its end, and that whoever works in the background is told.

use std::sync::atomic::Ordering;

use novelo_engine::path::DocumentPath;
use novelo_engine::{Message, Role, scope};
use novelo_store::{AppendTerms, NewDocument, NewId, Op, Outcome, Range, Stamp};
use serde_json::{Value, json};

use crate::app::Shared;
use crate::http::error::{ApiError, Result};
use crate::telemetry::now;
use crate::trace::print;

/// A turn to be added.
#[derive(Debug)]
pub struct NewTurn {
    pub id: NewId,
    /// When it was said; now, where nobody says.
    pub create_time: Option<f64>,
    pub message: Message,
}

impl From<Message> for NewTurn {
    fn from(message: Message) -> Self {
        Self { id: NewId::Fresh(crate::ids::fresh_text().into()), create_time: None, message }
    }
}

/// Adds turns, all or none. `if_seq` is the last seq that the caller knows.
pub async fn append(
    app: &Shared,
    user: &str,
    thread: &str,
    turns: impl IntoIterator<Item = NewTurn>,
    if_seq: Option<u64>,
) -> Result<Vec<Stamp>> {
    append_with(app, user, thread, turns, if_seq, Beside::default()).await
}

/// What goes into one write with turns.
#[derive(Debug, Default)]
pub struct Beside {
    /// What must still be there: they were made from it.
    pub expects: Option<DocumentPath>,
    pub ops: Vec<Op>,
}

/// The same with what is written in one go with them; what was expected and is gone is `not_found`.
pub async fn append_with(
    app: &Shared,
    user: &str,
    thread: &str,
    turns: impl IntoIterator<Item = NewTurn>,
    if_seq: Option<u64>,
    beside: Beside,
) -> Result<Vec<Stamp>> {
    let to = scope::turns(user, thread).map_err(|e| ApiError::bad_id("user or thread", &e))?;
    let at = now();
    let ttl = app.config.number("threads.ttl_seconds");
    let document = |turn: NewTurn| {
        let create_time = turn.create_time.unwrap_or(at);
        let expires_at = (ttl > 0).then_some(create_time + ttl as f64);
        NewDocument { id: turn.id, create_time, value: turn.message.raw().clone(), expires_at }
    };
    let keep_last = Some(app.config.number("threads.turns_max")).filter(|n| *n > 0);
    let documents = turns.into_iter().map(document).collect();
    let append = Op::Append { to, documents, terms: AppendTerms { if_seq, keep_last } };
    // Expected first: the append itself may trim what it was made from.
    let expect = beside.expects.map(|at| Op::Expect { at });
    let outcomes = app.store.write(expect.into_iter().chain([append]).chain(beside.ops).collect()).await?;
    let appended = |outcome| if let Outcome::Appended(stamps) = outcome { Some(stamps) } else { None };
    let stamps = outcomes.into_iter().find_map(appended).unwrap_or_default();
    app.touched(user, thread);
    app.metrics.turns.fetch_add(stamps.len() as u64, Ordering::Relaxed);
    Ok(stamps)
}

/// What of a conversation that a client tells again the thread does not hold yet.
#[derive(Debug)]
pub struct Unsaid {
    pub new: Vec<Message>,
    /// Whether what the thread holds is answered.
    pub is_answered: bool,
    pub has_assistant: bool,
    /// The last turn that the thread holds; 0 where it holds none.
    pub last_seq: u64,
    pub newest: Option<DocumentPath>,
}

/// Turns of a thread that are compared with the messages that a caller sends again, beside as many as it sends.
const LOOK_BACK: usize = 200;

pub async fn unsaid(app: &Shared, user: &str, thread: &str, said: &[Message]) -> Result<Unsaid> {
    let of = scope::turns(user, thread).map_err(|e| ApiError::bad_id("user or thread", &e))?;
    let turns = app.store.turns(&of, Range::Last(LOOK_BACK + said.len())).await?;
    let kept: Vec<Words> = turns.iter().map(|turn| Words::of(turn.message.shown())).collect();
    let sent: Vec<Words> = said.iter().map(Words::of).collect();
    Ok(Unsaid {
        new: said.get(known(&kept, &sent)..).unwrap_or_default().to_vec(),
        is_answered: kept.last().is_none_or(Words::are_an_answer),
        has_assistant: kept.iter().any(Words::are_an_answer),
        last_seq: turns.iter().next_back().map_or(0, |turn| turn.seq),
        newest: turns.iter().next_back().and_then(|turn| of.document(&turn.id).ok()),
    })
}

/// How many of the messages the thread holds already: those of the longest run, from the first message on, that is a
/// run of the thread too. A single message in the middle of a thread is the same words said again, and so is what was
/// answered already.
fn known(kept: &[Words], said: &[Words]) -> usize {
    let run = |from: usize| {
        let length = kept.iter().skip(from).zip(said).take_while(|(a, b)| a == b).count();
        if length > 1 || from == 0 || from + length == kept.len() { length } else { 0 }
    };
    let longest = (0..kept.len()).map(run).max().unwrap_or(0);
    let is_asked = said.last().is_some_and(|last| last.role == Some(Role::User));
    match longest == said.len() && kept.last().is_some_and(Words::are_an_answer) && is_asked {
        true => longest - 1,
        false => longest,
    }
}

/// What tells a message from another, whoever wrote its JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Words {
    role: Option<Role>,
    print: u128,
}

impl Words {
    pub fn of(message: &Message) -> Self {
        let value: Value = serde_json::from_slice(message.raw()).unwrap_or_default();
        let member = |name: &str| value.get(name).cloned().unwrap_or_default();
        let content = match member("content") {
            Value::String(text) => Value::String(text.trim().to_owned()),
            other => other,
        };
        let call =
            |call: &Value| json!([call.get("id"), call.pointer("/function/name"), call.pointer("/function/arguments")]);
        let calls = value.get("tool_calls").and_then(Value::as_array).into_iter().flatten().map(call);
        let said = json!([member("role"), content, calls.collect::<Vec<_>>(), member("tool_call_id")]);
        Self { role: message.role(), print: print(&said.to_string()) }
    }

    fn are_an_answer(&self) -> bool {
        self.role == Some(Role::Assistant)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kept: &[&str], said: &[&str], expected: usize) {
        let message = |text: &&str| Message::text(Role::User, text);
        let words = |texts: &[&str]| texts.iter().map(|text| Words::of(&message(text))).collect::<Vec<_>>();
        assert_eq!(known(&words(kept), &words(said)), expected, "{kept:?}");
    }

    #[test]
    fn what_the_thread_holds_is_not_said_again() {
        check(&[], &["a"], 0);
        check(&["a", "b"], &["a", "b", "c"], 2);
        check(&["a", "b"], &["b", "c"], 1);
        check(&["x", "a", "b"], &["a", "b", "c", "d"], 2);
        check(&["a", "b"], &["c"], 0);
        check(&["a", "b"], &["z", "b", "c"], 0);
        check(&["a", "b", "a"], &["a", "b", "a", "b"], 3);
        check(&["a", "b", "c"], &["a", "b", "edited"], 2);
        check(&["a", "ok", "b"], &["ok", "c"], 0);
        check(&["a"], &["a"], 1);
        check(&["a "], &[" a", "b"], 1);
    }
}
