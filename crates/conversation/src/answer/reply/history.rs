//! The part of a conversation that a follow-up question may refer to.

use novelo_engine::Role;
use novelo_engine::path::DocumentPath;
use novelo_language::rewrite::Utterance;
use novelo_store::Range;

use super::offline;
use crate::answer::Shared;
use crate::error::Result;
use crate::text::cut;
use crate::thread::tail::{Line, LineCaps, Tail};

/// User turns that are read, each with what followed it.
const PAIRS: usize = 20;
/// Turns that are read for them: tool calls and their answers stand in between.
const TURNS_MAX: usize = 400;
/// Characters of one message that are looked at. A message of more bytes is not part of a talk.
const LINE_CHARS_MAX: usize = 2_000;
const LINES: LineCaps =
    LineCaps { roles: &[Role::User, Role::Assistant], bytes_max: 256 * 1024, chars_max: usize::MAX };

/// The last pairs of a thread, oldest first, words only.
#[derive(Debug, Default)]
pub struct History {
    lines: Vec<(&'static str, String)>,
    /// The newest turn of the thread.
    pub newest: Option<DocumentPath>,
}

impl History {
    /// Reads the history of a thread of a user; without a thread it is empty.
    pub async fn load(app: &Shared, place: Option<(&str, &str)>) -> Result<Self> {
        let Some((user, thread)) = place else { return Ok(Self::default()) };
        let tail = Tail::load(app, user, thread, Range::Last(TURNS_MAX)).await?;
        let (mut lines, mut users) = (Vec::new(), 0);
        for Line { role, text, .. } in tail.lines(LINES).rev() {
            users += usize::from(role == Role::User);
            let text = if role == Role::Assistant { offline::words(&text) } else { text };
            if !text.trim().is_empty() {
                lines.push((role.name(), cut(&text, LINE_CHARS_MAX)));
            }
            if users == PAIRS {
                break;
            }
        }
        lines.reverse();
        Ok(Self { lines, newest: tail.newest() })
    }

    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    pub fn said(&self) -> Vec<Utterance<'_>> {
        self.lines.iter().map(|(speaker, text)| Utterance { speaker, text }).collect()
    }
}
