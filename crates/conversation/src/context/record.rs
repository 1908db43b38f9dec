//! The trace of a prompt, and the fingerprint by which a prompt is cached.

use std::hash::{Hash, Hasher};
use std::time::Instant;

use novelo_engine::{Assembly, Loaded, Note};
use rustc_hash::FxHasher;

use super::Contexts;
use super::load::ContextInputs;
use super::request::Request;
use crate::policy::Preset;
use crate::telemetry::now;
use crate::trace::{PromptTrace, TraceId, digest, fingerprint};

/// The fingerprint of everything that goes into a prompt. The turns count by their seqs, in their order. A
/// field is ignored here only where the comment says what covers it.
pub(crate) fn inputs_fingerprint(
    plan: &Preset,
    request: &Request,
    inputs: &ContextInputs,
    loaded: &Loaded<'_>,
) -> u128 {
    let Request {
        user,
        reach,
        question,
        query,
        budget_tokens,
        // The recipe in force is `plan`, with the filters, the options of `compact` and the tokenizer of the
        // request.
        recipe: _,
        filters: _,
        compact: _,
        tokenizer: _,
        // What was read or found is in `inputs`, and how many turns were not; so are the messages and the
        // fields that were ignored.
        legacy: _,
        recalled: _,
        as_of: _,
        omits_recall_notice: _,
        messages: _,
        unknown_fields: _,
        omits_what_cannot_fit: _,
        // The format is part of the key beside this fingerprint.
        answer: _,
        // Only the trace needs it.
        made_from: _,
        is_off_record: _,
    } = request;
    let mut seqs = FxHasher::default();
    loaded.turns.iter().for_each(|turn| turn.seq.hash(&mut seqs));
    let turns = (loaded.turns.len(), seqs.finish());
    fingerprint(&(user, reach.thread_id(), plan.text().get(), (question, query), budget_tokens, turns, inputs))
}

/// A prompt that was made, and what it was made from.
pub struct MadePrompt<'p> {
    pub plan: &'p Preset,
    pub inputs: &'p ContextInputs,
    pub fingerprint: u128,
    pub assembly: &'p Assembly<'p>,
    pub messages: &'p [u8],
    pub started: Instant,
}

/// When the trace of a prompt was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Traced {
    Now,
    Before,
    No,
}

/// Records a prompt, unless it was recorded lately; returns the id of its trace in both cases. An empty
/// prompt without warnings leaves no trace. The trace of a prompt that contains legacy documents has no
/// owner; only admins can read it.
pub fn record(app: &Contexts, request: Request, prompt: MadePrompt<'_>) -> (TraceId, Traced) {
    let MadePrompt { plan, inputs, fingerprint, assembly, messages, started } = prompt;
    let Request { user: subject, reach, question, query, budget_tokens, made_from, is_off_record, .. } = request;
    let user = subject.clone().filter(|_| !inputs.outside);
    let thread = user.clone().zip(reach.thread_id().map(str::to_owned));
    let replace = |thread| app.last.replace(&(thread, plan.text().get()), inputs.epoch(), assembly.marks());
    let unchanged_tokens = thread.as_ref().and_then(replace);
    let id = TraceId::of(thread.as_ref(), &(fingerprint, unchanged_tokens));
    if is_off_record || assembly.pieces.is_empty() && !assembly.notes.iter().any(Note::warns) {
        return (id, Traced::No);
    }
    if !app.recorder.is_news(&id) {
        return (id, Traced::Before);
    }
    let trace = PromptTrace {
        id: id.encode(),
        at: now(),
        user,
        subject,
        thread: reach.thread_id().map(str::to_owned),
        preset: plan.name.clone(),
        recipe: plan.text().to_owned(),
        question,
        query,
        budget_tokens,
        inputs: inputs.to_trace(),
        messages: assembly.messages().count(),
        tokens: assembly.tokens,
        unchanged_tokens,
        digest: digest(messages),
        took_us: started.elapsed().as_micros() as u64,
    };
    let kept = app.recorder.record(&id, trace, inputs.newest_turn().or(made_from));
    (id, if kept { Traced::Now } else { Traced::No })
}
