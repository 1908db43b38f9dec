//! A question that was stored and not answered, and is asked again.

use novelo_engine::{Message, Role};
use novelo_store::Turns;

use super::words::Words;

/// Whether the turns at the end of a thread are these messages, and nobody answered them: a call that failed
/// stored them, and its client tries again.
pub(crate) fn repeats_unanswered<'m>(tail: &Turns, messages: impl ExactSizeIterator<Item = &'m Message>) -> bool {
    let is_answer = tail.iter().next_back().is_none_or(|turn| turn.message.shown().is(Role::Assistant));
    if is_answer || tail.len() != messages.len() {
        return false;
    }
    let is_alike = |(turn, message): (&novelo_engine::Turn, &Message)| {
        Words::of(turn.message.shown()).is_alike(&Words::of(message.shown()))
    };
    tail.iter().zip(messages).all(is_alike)
}
