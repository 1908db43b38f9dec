//! A question and its answer, as they are stored.
//!
//! Invariant: once the question was forgotten, on whichever node, nothing more of its answer is stored. Each
//! write says itself what must still be there.

use std::sync::{Mutex, PoisonError};

use novelo_engine::path::{CollectionPath, DocumentPath};
use novelo_engine::{Message, Role, Turn, scope};
use novelo_store::{Op, Range, Stamp};

use crate::error::{Code, Error, Result};
use crate::thread::Threads;
use crate::thread::refused::Refusals;
use crate::thread::{Beside, NewTurn, Words, is_text};
use crate::trace::RequestTracer;
use crate::{locks, thread};

/// Turns at the end of a thread among which the reason of a refusal is looked for.
const OLDER_MAX: usize = 200;

/// Where an answer is stored: behind its question, or nowhere.
pub struct StoredAnswer(Option<AnswerPlace>);

struct AnswerPlace {
    user: String,
    thread: String,
    of: CollectionPath,
    /// The seq of the question's first turn.
    seq: u64,
    /// The last turn of the question.
    question: DocumentPath,
    newest: Mutex<Newest>,
}

/// What must still be there: the newest turn of the question, or of what was added to it. An older one may
/// have been trimmed.
#[derive(Clone)]
struct Newest {
    seq: u64,
    at: DocumentPath,
}

/// A question as it is stored, and what goes into the same write.
#[derive(Debug, Default)]
pub(crate) struct StoredQuestion {
    pub turns: Vec<NewTurn>,
    pub beside: Vec<Op>,
    /// The last seq of the thread that the prompt was made from.
    pub if_seq: Option<u64>,
}

/// Others may add to the thread meanwhile this often before one more write is refused.
const TRIES_MAX: usize = 100;

impl StoredAnswer {
    /// Stores what is said, where there is a thread for it, and in the same write what is to be kept beside
    /// it. Nothing said: it was stored by a call that failed. What is traced of the request goes when this
    /// does.
    pub async fn begin(
        app: &Threads,
        tracer: &RequestTracer,
        place: Option<(&str, &str)>,
        said: Vec<Message>,
        beside: Vec<Op>,
    ) -> Result<Self> {
        let turns = said.into_iter().map(Into::into).collect();
        Self::begin_with(app, tracer, place, StoredQuestion { turns, beside, if_seq: None }).await
    }

    /// The same with turns that have their ids, and a thread that must not have moved on.
    pub(crate) async fn begin_with(
        app: &Threads,
        tracer: &RequestTracer,
        place: Option<(&str, &str)>,
        StoredQuestion { turns, beside, if_seq }: StoredQuestion,
    ) -> Result<Self> {
        let Some((user, thread)) = place else { return Ok(Self(None)) };
        let of = scope::turns(user, thread).map_err(bad_id)?;
        let ends = match turns.is_empty() {
            true => {
                if !beside.is_empty() {
                    app.store.write(beside).await?;
                }
                let newest = app.store.turns(&of, Range::Last(1)).await?;
                newest.iter().next().map(|turn| (turn.seq, turn.seq, turn.id.clone()))
            }
            false => {
                let beside = Beside { ops: beside, expects: None };
                let stamps = thread::append_with(app, user, thread, turns, if_seq, beside).await?;
                stamps.first().zip(stamps.last()).map(|(first, last)| (first.seq, last.seq, last.id.clone()))
            }
        };
        let Some((seq, last, id)) = ends else { return Ok(Self(None)) };
        let newest = Newest { seq: last, at: of.document(&id).map_err(bad_id)? };
        tracer.made_from(&newest.at);
        let (user, thread, question) = (user.to_owned(), thread.to_owned(), newest.at.clone());
        Ok(Self(Some(AnswerPlace { user, thread, of, seq, question, newest: Mutex::new(newest) })))
    }

    /// The seqs of the first and the last turn that are stored of the question so far.
    pub(crate) fn seqs(&self) -> Option<(u64, u64)> {
        self.0.as_ref().map(|place| (place.seq, place.newest().seq))
    }

    /// How many turns the thread had had with the question; none where nothing is kept.
    pub fn turns(&self) -> u64 {
        self.0.as_ref().map_or(0, |place| place.seq)
    }

    /// The id of the question's turn.
    pub(crate) fn question_id(&self) -> Option<&str> {
        self.0.as_ref().map(|place| place.question.id())
    }

    /// What must still be there for anything made from the question to be stored.
    pub fn newest(&self) -> Option<DocumentPath> {
        self.0.as_ref().map(|place| place.newest().at)
    }

    /// Adds the answer to a client that sends its conversation again. Where the thread has moved on
    /// meanwhile, the client has said what it heard of this answer by itself; what it did not wait for has no
    /// place there.
    pub(crate) async fn add_relayed(&self, app: &Threads, message: Message, is_left: bool) -> Result<bool> {
        let Some(place) = &self.0 else { return Ok(true) };
        let Newest { seq: last, at } = place.newest();
        let beside = Beside { expects: Some(at), ops: Vec::new() };
        let turn = [message.clone().into()];
        match thread::append_with(app, &place.user, &place.thread, turn, Some(last), beside).await {
            Err(error) if error.code == Code::Stale => {
                let behind = app.store.turns(&place.of, Range::After { seq: last, limit: 1 }).await?;
                let heard = behind.iter().next().map(|turn| turn.message.shown());
                let is_said = heard.is_some_and(|heard| Words::of(&message).was_heard_as(&Words::of(heard)));
                if is_left || is_said { Ok(true) } else { self.add(app, vec![message]).await }
            }
            written => place.kept(written),
        }
    }

    /// Marks what the model refused. What is more than text is the likely reason: of what the question added,
    /// else of older questions that nobody answered. Text is marked only where the server blames the
    /// messages: it may mean an option.
    pub async fn refuse(&self, app: &Threads, why: &str, blames_messages: bool) -> Result<()> {
        let Some(place) = &self.0 else { return Ok(()) };
        let Newest { seq: last, at } = place.newest();
        let turns = app.store.turns(&place.of, Range::Between { first: place.seq, last }).await?;
        let older = app.store.turns(&place.of, Range::Last(OLDER_MAX)).await?;
        let refusals = Refusals::load(&app.store, &place.user, &place.thread).await?;
        let is = |turn: &Turn, role: Role| turn.message.shown().is(role);
        let unlike_text = |turn: &&Turn| !is_text(turn.message.shown());
        let mut refused: Vec<u64> = turns.iter().filter(unlike_text).map(|turn| turn.seq).collect();
        if refused.is_empty() {
            let answered = |at: usize| older.iter().nth(at + 1).is_some_and(|next| is(next, Role::Assistant));
            let unanswered = older.iter().enumerate().filter(|(at, turn)| is(turn, Role::User) && !answered(*at));
            let unlike_text = unanswered.filter(|(_, turn)| unlike_text(turn) && !refusals.holds(turn.seq));
            refused.extend(unlike_text.map(|(_, turn)| turn.seq));
        }
        if refused.is_empty() && blames_messages {
            let behind_answer = turns.iter().rev().take_while(|turn| !is(turn, Role::Assistant));
            refused.extend(behind_answer.filter(|turn| !is(turn, Role::Tool)).map(|turn| turn.seq));
        }
        if refused.is_empty() {
            return Ok(());
        }
        let marked = Refusals::add(&app.store, &place.user, &place.thread, (&refused, at), why).await;
        unless_forgotten(marked).map(|_| ())
    }

    /// Adds turns; whether they are kept as they should be.
    pub async fn add(&self, app: &Threads, messages: Vec<Message>) -> Result<bool> {
        let Some(place) = self.0.as_ref().filter(|_| !messages.is_empty()) else { return Ok(true) };
        let beside = Beside { expects: Some(place.newest().at), ops: Vec::new() };
        let messages = messages.into_iter().map(Into::into);
        place.kept(thread::append_with(app, &place.user, &place.thread, messages, None, beside).await)
    }

    /// Adds a turn and, in the same write, operations that depend on its seq. Returns whether all were
    /// stored.
    pub(crate) async fn add_with<I: IntoIterator<Item = Op>>(
        &self,
        app: &Threads,
        turn: impl Into<NewTurn>,
        beside: impl Fn(u64) -> I,
    ) -> Result<bool> {
        let Some(place) = &self.0 else { return Ok(true) };
        let turn = turn.into();
        let AnswerPlace { user, thread, of, .. } = place;
        // Those who answer in one thread take turns: its end should not move meanwhile.
        let _pen = locks::hold([(user, thread)].into_iter()).await;
        let Newest { seq: mut last, at } = place.newest();
        for _ in 0..TRIES_MAX {
            let turn = [turn.clone()];
            let with = Beside { expects: Some(at.clone()), ops: beside(last + 1).into_iter().collect() };
            match thread::append_with(app, user, thread, turn, Some(last), with).await {
                Err(error) if error.code == Code::Stale => {
                    last = app.store.turns(of, Range::Last(1)).await?.last_seq;
                }
                written => return place.kept(written),
            }
        }
        Err(Error::new(Code::Busy, "too many others write to this conversation"))
    }
}

impl AnswerPlace {
    fn newest(&self) -> Newest {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether turns were added, unless the question was forgotten; the last of them is the newest from here
    /// on.
    fn kept(&self, added: Result<Vec<Stamp>>) -> Result<bool> {
        let Some(stamps) = unless_forgotten(added)? else { return Ok(false) };
        if let Some(stamp) = stamps.last() {
            let newest = Newest { seq: stamp.seq, at: self.of.document(&stamp.id).map_err(bad_id)? };
            *self.newest.lock().unwrap_or_else(PoisonError::into_inner) = newest;
        }
        Ok(true)
    }
}

/// What was stored; `None` where what it was made from is gone.
pub(crate) fn unless_forgotten<T>(stored: Result<T>) -> Result<Option<T>> {
    match stored {
        Err(error) if error.code == Code::NotFound => Ok(None),
        stored => stored.map(Some),
    }
}

fn bad_id(error: novelo_engine::path::PathError) -> Error {
    Error::bad_id("user or thread", &error)
}
