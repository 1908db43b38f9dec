//! The main path, in the order in which it runs.
//!
//! Request → plan → load → assemble → render → record. Each stage consumes its predecessor's value; data
//! never flows back. From `load` to the bytes everything is pure.

pub mod answer;
pub mod collapse;
pub mod compact;
mod last;
pub mod load;
mod record;
pub mod request;
pub mod work_prompt;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use novelo_engine::Note;
use novelo_engine::assemble::assemble;
use novelo_engine::{Assembly, Explanation, Need, Recipe};
use serde_json::Value;

use self::last::LastPrompts;
use self::record::{MadePrompt, Traced, inputs_fingerprint, record};
use crate::base::above;
use crate::cache::Cache;
use crate::context::answer::{Answer, ContextResponse, Draft};
use crate::context::load::{Caches, ContextInputs, Whose};
use crate::context::request::{RecipeChoice, Request};
use crate::error::{Error, Result};
use crate::policy::{self, Preset};
use crate::thread::Threads;
use crate::trace::{PromptTrace, digest};

/// The room of contexts.
pub struct Contexts {
    /// The threads below.
    pub threads: Threads,
    /// Documents as they are shown.
    pub caches: Caches,
    /// Responses to requests that came more than once, by the fingerprint of everything they depend on.
    pub made: Cache<(u128, Answer), ContextResponse>,
    /// The last prompt of each thread.
    pub last: LastPrompts,
}

above!(Contexts, threads: Threads);

impl Contexts {
    /// No prompt is cached yet.
    pub fn new(threads: Threads) -> Self {
        let (caches, last) = (Caches::default(), LastPrompts::default());
        Self { threads, caches, made: Cache::new(MADE_BYTES_MAX), last }
    }
}

const MADE_BYTES_MAX: usize = 32 * 1024 * 1024;
const BUDGET_TOKENS_DEFAULT: u32 = 24_000;

/// Makes a context, and returns its JSON. If it leaves out turns that no summary covers yet, they are summed
/// up first, and it is made again.
pub async fn context(app: &Contexts, mut request: Request) -> Result<ContextResponse> {
    let started = Instant::now();
    let plan = plan(app, &mut request)?;
    load_tokenizers(plan.recipe()).await;
    let mut inputs = load(app, plan.recipe(), &mut request).await?;
    app.metrics.contexts.fetch_add(1, Ordering::Relaxed);
    let (mut is_summed_up, mut is_compacted, mut compaction) = (false, false, None);
    loop {
        let loaded = inputs.loaded();
        let key = (inputs_fingerprint(&plan, &request, &inputs, &loaded), request.answer);
        if let Some(made) = app.made.get(&key).filter(|made| app.recorder.is_recent(&made.trace)) {
            return Ok(made);
        }
        let mut assembly = assemble(plan.recipe(), &loaded, request.budget_tokens)?;
        if let Some(due) = assembly.compaction.take().filter(|due| !is_compacted && !due.spans.is_empty()) {
            drop(assembly);
            drop(loaded);
            compaction = inputs.compact(app, &request, &due, plan.recipe().tokenizer).await?;
            is_compacted = true;
            continue;
        }
        if !is_summed_up && let Some(upto_seq) = uncovered(app, plan.recipe(), &inputs, &assembly) {
            drop(assembly);
            drop(loaded);
            inputs.sum_up(app, &request, upto_seq).await?;
            is_summed_up = true;
            continue;
        }
        warn(&assembly);
        let draft = Draft::begin(&assembly, request.answer);
        let messages = draft.messages();
        let prompt =
            MadePrompt { plan: &plan, inputs: &inputs, fingerprint: key.0, assembly: &assembly, messages, started };
        let (trace, traced) = record(app, request, prompt);
        let mut made =
            draft.finish(&assembly, inputs.sources.as_slice().into(), (trace, traced != Traced::No), key.1)?;
        if traced == Traced::Before {
            app.made.insert(key, made.clone(), made.bytes());
        }
        made.compaction = compaction;
        return Ok(made);
    }
}

/// The last turn that a prompt with a summary leaves out at its front, if the summary does not reach that far
/// and should.
fn uncovered(app: &Contexts, recipe: &Recipe, inputs: &ContextInputs, assembly: &Assembly<'_>) -> Option<u64> {
    let memory = &app.settings.memory;
    let last_seq = inputs.last_seq().filter(|last_seq| *last_seq > memory.summary_threshold_messages)?;
    let before_window = last_seq.saturating_sub(memory.short_term_window.get());
    let upto_seq = inputs.left_out_upto(assembly).min(before_window);
    let is_behind = upto_seq > inputs.summary_upto() && recipe.needs().contains(&Need::Summary);
    is_behind.then_some(upto_seq)
}

/// Logs the notes that an operator should see.
fn warn(assembly: &Assembly<'_>) {
    for note in &assembly.notes {
        match note {
            Note::UnknownFilter { name } => tracing::warn!(name, "an unknown filter was skipped"),
            Note::UnknownField(unknown) => tracing::warn!(%unknown, "a field of a request was ignored"),
            Note::LookupFailed { what } => tracing::warn!(what, "a lookup failed"),
            _ => {}
        }
    }
}

/// Makes an old prompt again; its messages, its explanation, and whether they are the same bytes.
pub async fn replay(app: &Contexts, trace: &PromptTrace) -> Result<(Vec<u8>, Explanation, bool)> {
    let value: Value = serde_json::from_str(trace.recipe.get()).map_err(|e| Error::invalid("recipe", e))?;
    let recipe = Recipe::decode("recipe", &value)?;
    load_tokenizers(&recipe).await;
    let inputs = ContextInputs::reload(&app.store, &recipe, trace).await?;
    let loaded = inputs.loaded();
    let assembly = assemble(&recipe, &loaded, trace.budget_tokens)?;
    let mut messages = Vec::new();
    assembly.write(&mut messages);
    let identical = digest(&messages) == trace.digest;
    Ok((messages, assembly.explain(), identical))
}

/// Chooses the recipe and the budget. Without a thread only the given filters run, and nothing bounds the
/// answer that the request does not name; with a thread, and nothing said, the preset `chat` does.
fn plan(app: &Contexts, request: &mut Request) -> Result<Arc<Preset>> {
    let chosen = match std::mem::take(&mut request.recipe) {
        RecipeChoice::Given(value) => Arc::new(Preset::given("recipe", value)?),
        RecipeChoice::Built(document) => Arc::new(Preset::from(document)),
        RecipeChoice::Preset(name) => find(app, &name)?,
        RecipeChoice::Decoded(preset) => {
            request.budget_tokens = request.budget_tokens.or(preset.recipe().budget_tokens);
            return Ok(preset);
        }
        RecipeChoice::Unspecified if request.reach.local.is_some() => find(app, policy::DEFAULT)?,
        RecipeChoice::Unspecified => Arc::new(Preset::given("recipe", Value::Object(Default::default()))?),
    };
    let default = request.reach.local.is_some().then_some(BUDGET_TOKENS_DEFAULT);
    request.budget_tokens = request.budget_tokens.or(chosen.recipe().budget_tokens).or(default);
    let chosen = match (request.filters.take(), request.tokenizer) {
        (None, None) => chosen,
        (filters, tokenizer) => Arc::new(chosen.with(filters, tokenizer)?),
    };
    match request.compact.take() {
        None => Ok(chosen),
        Some(options) => Ok(Arc::new(chosen.with_compact("compact", options)?)),
    }
}

fn find(app: &Contexts, name: &str) -> Result<Arc<Preset>> {
    let unknown = || Error::invalid("preset", format_args!("must be one of {}", app.policies.names().join(", ")));
    app.policies.preset(name).ok_or_else(unknown)
}

/// Exact vocabularies take a moment to load, which must not hold up other requests.
async fn load_tokenizers(recipe: &Recipe) {
    for tokenizer in recipe.tokenizers().filter(|t| !t.is_loaded()) {
        if let Err(error) = tokio::task::spawn_blocking(move || tokenizer.load()).await {
            tracing::error!(%error, tokenizer = tokenizer.name(), "a tokenizer did not load");
        }
    }
}

async fn load(app: &Contexts, recipe: &Recipe, request: &mut Request) -> Result<ContextInputs> {
    let whose = Whose { user: request.user.as_deref(), legacy: request.legacy };
    let (reach, turns_max) = (&request.reach, request.turns_max(recipe));
    let mut inputs = ContextInputs::load_documents(&app.store, &app.caches, whose, reach, recipe, turns_max).await?;
    inputs.inline = std::mem::take(&mut request.messages);
    inputs.unknown_fields = std::mem::take(&mut request.unknown_fields);
    inputs.ask(request.question.as_deref());
    inputs.search_passages(app, recipe, request).await?;
    Ok(inputs)
}
