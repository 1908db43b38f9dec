//! Guided answers: a message is weighed, routed and answered with the modules that fit it.
//!
//! Owns one path: cache → shortcut → decision → route → load → prompt → generate → finish → store. The
//! weights and the instructions for the model are data (`policies/eco`). Invariants: an answer that fell back
//! is neither cached nor remembered; a cached context gives the same prompt as a new one; danger that was
//! voiced stays in force until it is over (`crisis`).

mod cached;
mod compose;
mod crisis;
mod finish;
mod generate;
pub mod load;
mod repeat;
mod run;
mod shortcut;

use novelo_engine::Message;
use novelo_language::decide::{Delivery, Step};
use novelo_language::finish::Block;

pub(super) use run::answer;

use crate::answer::options::RepeatKey;
use crate::cache::Cache;
use crate::thread::Words;
use crate::trace::{RequestTracer, fingerprint};
use compose::ComposedContexts;
use load::Examples;

/// A conversation as its client sent it, checked.
#[derive(Debug)]
pub struct GuidedRequest {
    /// The user who writes.
    pub user: String,
    /// The thread of the conversation.
    pub thread: String,
    /// Whether the user is a guest.
    pub is_guest: bool,
    /// All that the client sent. The last message is the user's, and is not empty.
    pub messages: Vec<Message>,
    /// The last message.
    pub text: String,
    /// How the answer is delivered.
    pub delivery: Delivery,
    /// Whether `Ready` is sent before the prompt is made.
    pub is_ready_at_once: bool,
    /// Whether the caller asked for an answer that is not cached.
    pub forced: bool,
    /// Instructions for the model, in place of the modules.
    pub instructions: Option<String>,
    /// The name of the user, where the client sends it.
    pub name: Option<String>,
    /// The level that the client suggests.
    pub opening: Option<u8>,
    /// A technical block in place of the model's.
    pub block: Option<Block>,
    /// The id under which it may be sent again.
    pub repeat: Option<RepeatKey>,
    /// Whether the answer contains its trace.
    pub wants_trace: bool,
    /// The trace of the request.
    pub tracer: RequestTracer,
}

impl GuidedRequest {
    /// A fingerprint of all that the answer depends on.
    pub fn print(&self) -> String {
        let Self { messages, is_guest, forced, instructions, name, opening, block, .. } = self;
        let said: Vec<Words> = messages.iter().map(Words::of).collect();
        let block = block.as_ref().map(|block| format!("{block:?}"));
        format!("{:032x}", fingerprint(&(said, is_guest, forced, instructions, name, opening, block)))
    }

    /// A fingerprint of the message that is answered.
    pub fn message_print(&self) -> String {
        format!("{:032x}", fingerprint(&self.messages.last().map(Words::of)))
    }
}

/// Caches of this process. All of them are bounded.
#[derive(Debug)]
pub struct Guides {
    contexts: ComposedContexts,
    examples: Examples,
}

const CONTEXTS_BYTES_MAX: usize = 16 * 1024 * 1024;

impl Default for Guides {
    fn default() -> Self {
        Self { contexts: Cache::new(CONTEXTS_BYTES_MAX), examples: Examples::default() }
    }
}

impl Guides {
    /// Drops the contexts of a user.
    pub fn forget(&self, user: &str) {
        self.contexts.retain(|key| key.user != user);
    }
}

/// The names of steps, for clients and modules.
fn names(steps: &[Step]) -> Vec<&'static str> {
    steps.iter().map(|step| step.name()).collect()
}

/// An intensity as clients see it: to the tenth.
fn tenths(intensity: f32) -> f64 {
    (f64::from(intensity) * 10.0).round() / 10.0
}

/// The mode of an answer that needed no model.
const SHORTCUT: &str = "shortcut";
