//! The end of a guided answer: what the message is about, and the memory of it.

use novelo_language::decide::{Decision, FULL_INTENSITY};
use novelo_language::finish::Block;
use serde_json::json;
use serde_json::value::to_raw_value;

use super::run::GuidedWork;
use super::tenths;
use crate::answer::guided_answer::MessageSense;
use crate::error::{Code, Error, Result};
use crate::remember::memories::{self, NewMemory};
use crate::text::cut;
use crate::thread::kept::{StoredAnswer, unless_forgotten};
use crate::trace::MemoryMark;

/// Characters of a memory; the rest of a longer message is not remembered.
const MEMORY_CHARS_MAX: usize = 1_000;

/// What a message is about: as the client says, else the model, else the words.
pub(crate) fn sense(work: &GuidedWork<'_>, decision: &Decision, block: Option<Block>, in_crisis: bool) -> MessageSense {
    let words = work.guide.rules.block(&work.read);
    let block = work.asked.block.clone().or(block).unwrap_or_default();
    // Neither the client nor the model makes danger, or pain that follows it, calm.
    let least = if in_crisis && decision.intensity >= FULL_INTENSITY { FULL_INTENSITY } else { 0.0 };
    MessageSense {
        intensity: tenths(block.intensity.unwrap_or(decision.intensity).max(least)),
        summary: block.summary.filter(|summary| !summary.trim().is_empty()).or(words.summary),
        tags: if block.tags.is_empty() { words.tags } else { block.tags },
        category: block.category.or(words.category),
        emotion: block.emotion.or(words.emotion),
    }
}

/// What is remembered of a message: a summary that the client or the model gave, else the message itself.
pub fn remembered(work: &GuidedWork<'_>, block: Option<&Block>) -> String {
    let summary = work.asked.block.as_ref().or(block).and_then(|block| block.summary.as_deref());
    let summary = summary.filter(|summary| !summary.trim().is_empty());
    cut(summary.unwrap_or_else(|| work.asked.text.trim()), MEMORY_CHARS_MAX)
}

/// Stores a memory of the message; whether it did. If that fails, the error is traced and the answer is still
/// returned.
pub async fn remember(work: &GuidedWork<'_>, kept: &StoredAnswer, text: &str, sense: &MessageSense) -> bool {
    let tracer = &work.asked.tracer;
    let kept = unless_forgotten(memory(work, kept, text, sense).await);
    let is_kept = matches!(kept, Ok(Some(_)));
    match kept {
        Ok(Some(id)) => mark(work, Some(id.into()), "intensity of 7 or more"),
        Ok(None) => mark(work, None, "the thread was forgotten meanwhile"),
        Err(error) => {
            mark(work, None, "it could not be stored");
            tracer.error("memory", error.message);
        }
    }
    is_kept
}

/// Traces the outcome of the decision to remember.
pub fn mark(work: &GuidedWork<'_>, id: Option<String>, why: &str) {
    let intensity =
        work.asked.tracer.look(|request_trace| request_trace.memory.as_ref().map_or(0.0, |mark| mark.intensity));
    work.asked.tracer.memory(MemoryMark { saves: id.is_some(), intensity, why: why.to_owned(), id });
}

async fn memory(work: &GuidedWork<'_>, kept: &StoredAnswer, text: &str, sense: &MessageSense) -> Result<Box<str>> {
    let meta = json!({
        "origem": "ask-eco",
        "sessao": work.asked.thread,
        "turno": kept.question_id(),
        "intensidade": sense.intensity,
        "emocao": sense.emotion,
        "categoria": sense.category,
        "tags": sense.tags,
    });
    let meta = to_raw_value(&meta).map_err(|e| Error::new(Code::Internal, e.to_string()))?;
    let new = NewMemory { text, meta: Some(&meta), ..NewMemory::default() };
    memories::add_of(work.app, &work.asked.user, new, kept.newest()).await
}
