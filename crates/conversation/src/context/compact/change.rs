//! What callers do with compactions: make one now, and have a span back.

use novelo_engine::assemble::assemble;
use novelo_engine::compact::{CompactedSpan, SpanMaker};
use novelo_engine::decode::DecodeError;
use novelo_engine::limits::CONTEXT_TURNS_MAX;
use novelo_engine::path::PathError;
use novelo_engine::recipe::{CompactOptions, ComponentSpec, FilterSpec, RecipeBuilder};
use novelo_engine::time_scope::TimeScope;
use novelo_engine::{Message, Tokenizer, scope};
use novelo_store::{Error as StoreError, Range};
use serde::Serialize;
use serde_json::value::RawValue;

use super::{CompactionWork, ThreadCompactions, find};
use crate::context::Contexts;
use crate::context::load::{ContextInputs, Whose};
use crate::error::{Code, Error, Result};
use crate::model::Job;
use crate::telemetry::now;
use crate::thread::compaction::{Compaction, Pins, compaction_of, read, store, trim};

/// How often a change is tried again because others write at the same time.
const TRIES_MAX: usize = 8;

/// A compaction that a caller asks for.
#[derive(Debug, Clone, Default)]
pub struct CompactRequest {
    /// When to compact, and how.
    pub options: CompactOptions,
    /// What counts the tokens.
    pub tokenizer: Tokenizer,
}

/// What a compaction came to.
#[derive(Debug, Clone, Serialize)]
pub struct Compacted {
    /// `None` where the thread is no larger than it may be.
    pub compaction: Option<Compaction>,
    /// What the turns of the thread cost in a prompt now.
    pub tokens: u32,
    /// What they may cost.
    pub max_tokens: u32,
}

/// What a thread costs where no cap is given.
const MAX_TOKENS_DEFAULT: u32 = 24_000;

/// Compacts a thread now, if it costs more than it may.
pub async fn compact(app: &Contexts, user: &str, thread: &str, asked: &CompactRequest) -> Result<Compacted> {
    let max_tokens = asked.options.max_tokens.unwrap_or(MAX_TOKENS_DEFAULT);
    let options = CompactOptions { max_tokens: Some(max_tokens), ..asked.options.clone() };
    if options.by == Some(SpanMaker::Model) && app.models.get(Job::Summary).is_none() {
        return Err(Error::new(Code::NoModel, "by is model, and no model is set: models.summary.url"));
    }
    let recipe = RecipeBuilder::new().component(ComponentSpec::history()).filter(FilterSpec::Compact(options));
    let recipe = recipe.tokenizer(asked.tokenizer).build().map_err(option_error)?;
    tokenizer_loaded(asked.tokenizer).await;
    let reach = TimeScope::thread(thread, now());
    let whose = Whose { user: Some(user), legacy: false };
    for _ in 0..TRIES_MAX {
        let inputs =
            ContextInputs::load_documents(&app.store, &app.caches, whose, &reach, recipe.recipe(), CONTEXT_TURNS_MAX)
                .await?;
        let (plan, tokens) = {
            let loaded = inputs.loaded();
            let assembly = assemble(recipe.recipe(), &loaded, None)?;
            (assembly.compaction, assembly.tokens)
        };
        let Some(plan) = plan else { return Ok(Compacted { compaction: None, tokens, max_tokens }) };
        if plan.spans.is_empty() {
            let problem = plan.check().err().map(|error| error.to_string());
            let problem = problem.unwrap_or_else(|| format!("is {max_tokens}, and nothing of {tokens} tokens can go"));
            let message = format!("max_tokens {problem}");
            return Err(Error { param: Some("max_tokens".to_owned()), ..Error::new(Code::OverBudget, message) });
        }
        let number = inputs.compactions().map_or(1, ThreadCompactions::next_number);
        let (of, tokenizer, made_from) = (Some((user, thread)), asked.tokenizer, inputs.newest_turn());
        let work = CompactionWork { app, thread: of, plan: &plan, tokenizer, number, made_from };
        let made = work.make(&inputs.span_messages(&plan)).await?;
        let turns = scope::turns(user, thread).map_err(bad_id)?;
        if store(app, user, thread, &made, &inputs.span_turns(&turns, &made)?).await? {
            trim(app, user, thread).await?;
            return Ok(Compacted { tokens: made.tokens_after, compaction: Some(made), max_tokens });
        }
    }
    Err(Error::new(Code::Busy, "this thread is being compacted by others again and again"))
}

/// Compacts messages that are given, if they cost more than they may, and stores nothing.
pub async fn compact_messages(
    app: &Contexts,
    messages: Vec<Message>,
    asked: &CompactRequest,
) -> Result<Option<Compaction>> {
    let recipe = RecipeBuilder::new().filter(FilterSpec::Compact(asked.options.clone()));
    let recipe = recipe.tokenizer(asked.tokenizer).build().map_err(option_error)?;
    tokenizer_loaded(asked.tokenizer).await;
    let inputs = ContextInputs::given(messages);
    let plan = assemble(recipe.recipe(), &inputs.loaded(), None)?.compaction;
    let Some(plan) = plan.filter(|plan| !plan.spans.is_empty()) else { return Ok(None) };
    let tokenizer = asked.tokenizer;
    let work = CompactionWork { app, thread: None, plan: &plan, tokenizer, number: 1, made_from: None };
    Ok(Some(work.make(&inputs.span_messages(&plan)).await?))
}

/// A wrong option of the filter, as the field of the request that it is.
fn option_error(error: DecodeError) -> Error {
    let option = error.path.rsplit('.').next().unwrap_or_default();
    let mut field = String::new();
    for c in option.chars() {
        if c.is_uppercase() {
            field.push('_');
        }
        field.extend(c.to_lowercase());
    }
    Error::invalid(field, error.problem)
}

async fn tokenizer_loaded(tokenizer: Tokenizer) {
    if !tokenizer.is_loaded()
        && let Err(error) = tokio::task::spawn_blocking(move || tokenizer.load()).await
    {
        tracing::error!(%error, "a tokenizer did not load");
    }
}

/// A span with its turns, word for word.
#[derive(Debug, Serialize)]
pub struct SpanTurns {
    /// The span.
    pub span: CompactedSpan,
    /// Its turns, oldest first.
    pub messages: Vec<SpanTurn>,
    /// Turns of it that were forgotten since.
    pub missing: u64,
}

/// A turn of a span.
#[derive(Debug, Serialize)]
pub struct SpanTurn {
    /// The id of the turn.
    pub id: Box<str>,
    /// Its place in the thread.
    pub seq: u64,
    /// When it was said, in seconds since 1970.
    pub create_time: f64,
    /// The message as it is stored.
    pub message: Box<RawValue>,
}

/// What a span replaced. Nothing changes.
pub async fn span(app: &Contexts, user: &str, thread: &str, id: &str) -> Result<SpanTurns> {
    let unknown = || Error::not_found(format_args!("span {id}; it may have been forgotten with its turns"));
    let compaction = compaction_of(id).ok_or_else(unknown)?;
    let (compaction, _) = read(&app.store, user, thread, &compaction).await?.ok_or_else(unknown)?;
    let span = compaction.spans.into_iter().find(|span| &*span.id == id).ok_or_else(unknown)?;
    let turns = scope::turns(user, thread).map_err(bad_id)?;
    let range = Range::Between { first: span.first_seq, last: span.last_seq };
    let turns = app.store.turns(&turns, range).await?;
    let turn = |turn: &novelo_engine::Turn| {
        let message = RawValue::from_string(turn.message.as_str().to_owned()).ok()?;
        Some(SpanTurn { id: turn.id.clone(), seq: turn.seq, create_time: turn.create_time, message })
    };
    let messages: Vec<SpanTurn> = turns.iter().filter_map(turn).collect();
    if messages.is_empty() {
        return Err(Error::not_found(format_args!("turn of span {id} any more: they were forgotten")));
    }
    let missing = u64::from(span.turns).saturating_sub(messages.len() as u64);
    Ok(SpanTurns { span, messages, missing })
}

/// Shows a span word for word in prompts again. Its turns count as new from now on.
pub async fn restore(app: &Contexts, user: &str, thread: &str, id: &str) -> Result<SpanTurns> {
    let turns = scope::turns(user, thread).map_err(bad_id)?;
    for _ in 0..TRIES_MAX {
        let mut found = span(app, user, thread, id).await?;
        let last_seq = app.store.version(&turns).await?.last_seq;
        let compaction = compaction_of(id).unwrap_or_default();
        let Some((mut compaction, version)) = read(&app.store, user, thread, &compaction).await? else { continue };
        let restored = compaction.spans.iter_mut().filter(|span| &*span.id == id);
        restored.for_each(|span| span.restored_at = Some(last_seq));
        let put = compaction.put(app, user, thread, Some(version))?;
        match app.store.write(vec![put]).await {
            Err(StoreError::Stale { .. }) => {}
            written => {
                written?;
                found.span.restored_at = Some(last_seq);
                return Ok(found);
            }
        }
    }
    Err(Error::new(Code::Busy, "this compaction is being changed by others again and again"))
}

/// The pinned turns of a thread.
pub async fn pins(app: &Contexts, user: &str, thread: &str) -> Result<Pins> {
    let found = find(&app.store, &app.caches.compactions, user, thread).await?;
    let mut turns: Vec<String> = found.iter().flat_map(|found| found.compactions.pins()).map(str::to_owned).collect();
    turns.sort_unstable();
    Ok(Pins { turns })
}

fn bad_id(error: PathError) -> Error {
    Error::bad_id("user or thread", &error)
}
