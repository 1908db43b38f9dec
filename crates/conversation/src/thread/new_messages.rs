//! Which messages of a conversation that a client sends again are new.
//!
//! A client may send all of a conversation, its end, or only what is new. From the first message that differs
//! from the stored thread, messages are treated as new. Messages are compared by what they say (`words`); the
//! first bytes stay stored.

use novelo_engine::path::DocumentPath;
use novelo_engine::{Message, Role};
use novelo_store::{Range, Turns};

use super::words::Words;
use crate::error::Result;
use crate::thread::Threads;
use crate::thread::tail::Tail;

/// What of a conversation that a client sends again the thread does not hold yet.
#[derive(Debug)]
pub struct NewMessages {
    /// The messages that are new.
    pub new: Vec<Message>,
    /// The places of these among the messages that the client sent.
    pub new_places: Vec<usize>,
    /// Whether what the thread holds is answered.
    pub is_answered: bool,
    /// Whether an assistant has answered before.
    pub has_assistant: bool,
    /// The last turn that the thread holds; 0 where it holds none.
    pub last_seq: u64,
    /// The newest stored turn.
    pub newest: Option<DocumentPath>,
    /// The turns at its end, as many as were compared.
    pub turns: Turns,
    /// The turns at the end of the thread that a model refused, where nothing new comes after them: they are
    /// asked again.
    pub asked_again: Vec<u64>,
}

/// Turns of a thread that are compared with the messages that a caller sends again, beside as many as it
/// sends.
const LOOK_BACK: usize = 200;

/// Compares what a client sent with the thread.
pub async fn new_messages(app: &Threads, user: &str, thread: &str, said: &[Message]) -> Result<NewMessages> {
    let tail = Tail::load(app, user, thread, Range::Last(LOOK_BACK + said.len())).await?;
    let stored = StoredThread::of(&tail);
    let sent = in_order(said.iter().map(Words::of).enumerate().collect(), |(_, words)| words);
    let words: Vec<&Words> = sent.iter().map(|(_, words)| words).collect();
    let mut places: Vec<usize> = sent.iter().skip(stored.known(&words)).map(|(place, _)| *place).collect();
    places.sort_unstable();
    let new: Vec<Message> = places.iter().filter_map(|place| said.get(*place).cloned()).collect();
    let is_assistant = |turn: &novelo_engine::Turn| turn.message.shown().is(Role::Assistant);
    let is_answered = tail.turns.iter().next_back().is_none_or(is_assistant);
    let has_assistant = tail.turns.iter().any(is_assistant);
    let last_seq = tail.turns.iter().next_back().map_or(0, |turn| turn.seq);
    let asked_again = if new.is_empty() { refused_at_end(&tail) } else { Vec::new() };
    let newest = tail.newest();
    Ok(NewMessages {
        new,
        new_places: places,
        is_answered,
        has_assistant,
        last_seq,
        newest,
        turns: tail.turns,
        asked_again,
    })
}

/// The last turn, or the answers to parallel calls that are last, where a model refused them.
fn refused_at_end(Tail { turns, refusals, .. }: &Tail) -> Vec<u64> {
    let is_tool = |turn: &&novelo_engine::Turn| turn.message.shown().is(Role::Tool);
    let answers = turns.iter().rev().take_while(is_tool).count();
    let last = turns.iter().rev().take(answers.max(1));
    last.map(|turn| turn.seq).filter(|seq| refusals.holds(*seq)).collect()
}

/// The turns of a thread as they are compared.
struct StoredThread {
    turns: Vec<StoredWords>,
    /// Whether older turns were trimmed: a client may still send them.
    is_trimmed: bool,
}

struct StoredWords {
    words: Words,
    /// Whether clients may leave it out of what they send again: nobody answered it.
    may_lack: bool,
}

impl StoredThread {
    fn of(Tail { turns, refusals, .. }: &Tail) -> Self {
        let first_seq = turns.iter().next().map_or(1, |turn| turn.seq);
        let words: Vec<(u64, Words)> = turns.iter().map(|turn| (turn.seq, Words::of(turn.message.shown()))).collect();
        Self::new(words, |seq| refusals.holds(seq), first_seq > 1 && !turns.has_more)
    }

    fn new(words: Vec<(u64, Words)>, is_refused: impl Fn(u64) -> bool, is_trimmed: bool) -> Self {
        let is_user = |words: Option<&(u64, Words)>| words.is_some_and(|(_, words)| words.role == Some(Role::User));
        let unanswered: Vec<bool> =
            (0..words.len()).map(|at| is_user(words.get(at)) && is_user(words.get(at + 1))).collect();
        let turns = words.into_iter().zip(unanswered);
        let turns =
            turns.map(|((seq, words), unanswered)| StoredWords { words, may_lack: unanswered || is_refused(seq) });
        Self { turns: in_order(turns.collect(), |turn: &StoredWords| &turn.words), is_trimmed }
    }

    /// How many of the messages the thread holds already: those of the longest run, from the first message
    /// on, that is a run of the thread too. A single message in the middle of a thread is the same words said
    /// again, and so is a question that was answered already.
    fn known(&self, sent: &[&Words]) -> usize {
        let run = |from: usize| {
            let (length, end) = self.run(from, sent);
            if length > 1 || from == 0 || end == self.turns.len() { length } else { 0 }
        };
        let longest = (0..self.turns.len()).map(run).max().unwrap_or(0);
        let longest = if longest == 0 && self.is_trimmed { self.known_behind_trimmed(sent) } else { longest };
        let longest = longest.max(self.known_with_gaps(sent));
        let is_asked = sent.last().is_some_and(|last| last.role == Some(Role::User));
        let is_answered = self.turns.last().is_some_and(|turn| turn.words.are_an_answer());
        match longest > 0 && longest == sent.len() && is_answered && is_asked {
            true => longest - 1,
            false => longest,
        }
    }

    /// The same where the first messages are older than all that the thread still holds: the rest must be all
    /// of it.
    fn known_behind_trimmed(&self, sent: &[&Words]) -> usize {
        let run = |before: &usize| {
            let (length, end) = self.run(0, sent.get(*before..).unwrap_or_default());
            (length > 1 && end == self.turns.len()).then_some(before + length)
        };
        (1..sent.len()).find_map(|before| run(&before)).unwrap_or(0)
    }

    /// The same where the thread holds turns that the client dropped: an answer that was made again, a
    /// question that was edited, a middle that was trimmed. The last turn of the thread must be among the
    /// messages, with an answer in its run.
    fn known_with_gaps(&self, sent: &[&Words]) -> usize {
        let is_known = |count: &usize| self.ends_with(sent.get(..*count).unwrap_or_default());
        (2..=sent.len()).rev().find(is_known).unwrap_or(0)
    }

    fn ends_with(&self, sent: &[&Words]) -> bool {
        let mut turns = self.turns.iter().rev();
        let (mut has_gap, mut has_answer) = (false, false);
        for (back, said) in sent.iter().rev().enumerate() {
            loop {
                let Some(turn) = turns.next() else { return false };
                if turn.words.is_alike(said) {
                    has_answer |= !has_gap && turn.words.are_an_answer();
                    break;
                }
                if back == 0 {
                    return false;
                }
                has_gap |= !turn.may_lack;
            }
        }
        has_answer
    }

    /// The length of the run of messages that begins at a turn, and the turn behind it.
    fn run(&self, from: usize, sent: &[&Words]) -> (usize, usize) {
        let (mut at, mut length) = (from, 0);
        while let Some((turn, said)) = self.turns.get(at).zip(sent.get(length)) {
            match turn.words.is_alike(said) {
                true => length += 1,
                false if length > 0 && turn.may_lack => {}
                false => break,
            }
            at += 1;
        }
        (length, at)
    }
}

/// Puts the answers to parallel calls into one order: clients give them in the order in which tools ended.
fn in_order<T>(mut all: Vec<T>, words: impl Fn(&T) -> &Words) -> Vec<T> {
    let is_tool = |item: &T| words(item).role == Some(Role::Tool);
    for run in all.chunk_by_mut(|a, b| is_tool(a) && is_tool(b)).filter(|run| run.len() > 1) {
        run.sort_by_cached_key(|item| words(item).order());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(message: &str) -> Words {
        let message = match message.strip_prefix("a:").map(|said| (Role::Assistant, said)) {
            Some((role, said)) => Message::text(role, said),
            None if message.starts_with('{') => Message::from_stored(message.to_owned().into()),
            None => Message::text(Role::User, message),
        };
        Words::of(&message)
    }

    fn stored(kept: &[&str], refused: &[u64], is_trimmed: bool) -> StoredThread {
        let numbered = kept.iter().zip(1..).map(|(message, seq)| (seq, words(message))).collect();
        StoredThread::new(numbered, |seq| refused.contains(&seq), is_trimmed)
    }

    #[track_caller]
    fn check(kept: &[&str], said: &[&str], expected: usize) {
        check_in(&stored(kept, &[], false), said, expected);
    }

    #[track_caller]
    fn check_in(stored: &StoredThread, said: &[&str], expected: usize) {
        let said: Vec<(usize, Words)> = in_order(said.iter().map(|m| words(m)).enumerate().collect(), |(_, w)| w);
        assert_eq!(stored.known(&said.iter().map(|(_, words)| words).collect::<Vec<_>>()), expected, "{said:?}");
    }

    #[test]
    fn what_the_thread_holds_is_not_new() {
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
        check(&["a", "a:x"], &["a"], 0);
        check(&["a", "a:x"], &["a", "a:x"], 2);
    }

    #[test]
    fn what_nobody_answered_may_be_left_out() {
        let kept = ["u1", "a:1", "image", "u2", "a:2"];
        check_in(&stored(&kept, &[3], false), &["u1", "a:1", "u2", "a:2", "u3"], 4);
        check_in(&stored(&kept, &[3], false), &["u1", "a:1", "image", "u2", "a:2", "u3"], 5);
        check(&kept, &["u1", "a:1", "u2", "a:2", "u3"], 4);
        check_in(&stored(&["u1", "a:1", "image"], &[3], false), &["u1", "a:1", "u2"], 2);
        check_in(&stored(&["u1", "a:1", "image"], &[3], false), &["u1", "a:1", "image"], 3);
        check(&["u1", "a:1", "u2", "a:2"], &["u1", "a:1", "u3"], 2);
    }

    #[test]
    fn answers_to_parallel_calls_have_no_order() {
        let call = |id: &str| format!(r#"{{"id":"{id}","function":{{"name":"f","arguments":"{{}}"}}}}"#);
        let calls = format!(r#"{{"role":"assistant","tool_calls":[{},{}]}}"#, call("1"), call("2"));
        let answer = |id: &str| format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"of {id}"}}"#);
        let (one, two) = (answer("1"), answer("2"));
        check(&["u", &calls, &one, &two], &["u", &calls, &two, &one, "next"], 4);
        check(&["u", &calls, &one], &["u", &calls, &two, &one], 3);
    }

    #[test]
    fn what_the_client_dropped_makes_nothing_new() {
        // An answer that was made again, then a question later.
        check(&["u1", "a:1", "u2", "a:2", "u2", "a:3"], &["u1", "a:1", "u2", "a:3", "u3"], 4);
        check(&["u1", "a:1", "u2", "a:2", "u2", "a:3", "u3", "a:4"], &["u1", "a:1", "u2", "a:3", "u3", "a:4", "u4"], 6);
        // Two questions that were edited.
        let kept = ["u1", "a:1", "u2", "a:2", "u2 edited", "a:3", "u3", "a:4", "u3 edited", "a:5"];
        check(&kept, &["u1", "a:1", "u2 edited", "a:3", "u3 edited", "a:5", "u4"], 6);
        // An answer that broke off.
        check(&["u1", "a:1", "u2", "a:par", "u2", "a:3"], &["u1", "a:1", "u2", "a:3", "u3"], 4);
        // A middle that the client trimmed.
        check(&["u1", "a:1", "u2", "a:2", "u3", "a:3"], &["u1", "a:1", "u3", "a:3", "u4"], 4);
        // The same words again, and no answer of the end of the thread: new.
        check(&["u1", "a:1", "u2", "a:2", "u3"], &["u1", "a:1", "u3"], 2);
        check(&["u1", "a:1", "u2", "a:2", "u3", "a:3"], &["u1", "a:1", "u3"], 2);
    }

    #[test]
    fn what_was_trimmed_is_not_new() {
        let kept = stored(&["u2", "a:2", "u3", "a:3"], &[], true);
        check_in(&kept, &["u1", "a:1", "u2", "a:2", "u3", "a:3", "u4"], 6);
        check_in(&kept, &["u1", "a:1", "u2", "a:2", "u3", "edited"], 0);
        check(&["u2", "a:2", "u3", "a:3"], &["u1", "a:1", "u2", "a:2", "u3", "a:3", "u4"], 0);
    }
}
