//! What was said in a thread, as far as a follow-up may refer to it.

use novelo_engine::{Role, scope};
use novelo_language::rewrite::Utterance;
use novelo_store::Range;

use super::offline;
use crate::app::Shared;
use crate::error::{Error, Result};
use crate::search::said;
use crate::text::cut;
use crate::thread::refused::Refusals;

/// User turns that are looked back at, each with what followed it.
const PAIRS: usize = 20;
/// Turns that are read for them: calls of tools and their answers stand in between.
const TURNS_MAX: usize = 400;
/// Characters of one message that are looked at; one of more bytes is no part of a talk.
const LINE_CHARS_MAX: usize = 2_000;
const LINE_BYTES_MAX: usize = 256 * 1024;

/// The last pairs of a thread, oldest first, words only.
#[derive(Debug, Default)]
pub struct History(Vec<(&'static str, String)>);

impl History {
    /// Of a thread and its user; without one nothing was said.
    pub async fn load(app: &Shared, place: Option<(&str, &str)>) -> Result<Self> {
        let Some((user, thread)) = place else { return Ok(Self::default()) };
        let of = scope::turns(user, thread).map_err(|e| Error::bad_id("user or thread", &e))?;
        let turns = app.store.turns(&of, Range::Last(TURNS_MAX)).await?;
        let refusals = Refusals::load(&app.store, user, thread).await?;
        let (mut lines, mut users) = (Vec::new(), 0);
        for turn in turns.iter().rev().filter(|turn| !refusals.holds(turn.seq)) {
            let message = turn.message.shown();
            let Some(role @ (Role::User | Role::Assistant)) = message.role() else { continue };
            users += usize::from(role == Role::User);
            let text =
                if message.raw().len() <= LINE_BYTES_MAX { said(message).unwrap_or_default() } else { "".into() };
            let text = if role == Role::Assistant { offline::words(&text) } else { text };
            if !text.trim().is_empty() {
                lines.push((role.name(), cut(&text, LINE_CHARS_MAX)));
            }
            if users == PAIRS {
                break;
            }
        }
        lines.reverse();
        Ok(Self(lines))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn said(&self) -> Vec<Utterance<'_>> {
        self.0.iter().map(|(speaker, text)| Utterance { speaker, text }).collect()
    }
}
