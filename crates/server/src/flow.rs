//! The main path, in the order in which it runs.
//!
//! Request → plan → load → assemble → render → record. Each stage consumes its predecessor's value; data never flows
//! back. From `load` to the bytes everything is pure.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use novelo_engine::assemble::assemble;
use novelo_engine::{Assembly, Explanation, Message, Recipe, Tokenizer, render};
use serde_json::Value;

use crate::app::Shared;
use crate::http::error::{ApiError, Code, Result};
use crate::load::Near;
use crate::policy::{self, Preset};
use crate::telemetry::now;
use crate::trace::{Trace, TraceId, digest};

/// A request for a context, checked.
#[derive(Debug, Default)]
pub struct Request {
    /// Whom it is about, where that is said.
    pub user: Option<String>,
    pub thread: Option<(String, String)>,
    pub question: Option<String>,
    pub recipe: RecipeChoice,
    pub messages: Vec<Message>,
    pub filters: Option<Value>,
    pub budget_tokens: Option<u32>,
    pub tokenizer: Option<Tokenizer>,
    pub explain: Explain,
}

#[derive(Debug, Default)]
pub enum RecipeChoice {
    #[default]
    Unsaid,
    Preset(String),
    Given(Value),
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Explain {
    #[default]
    No,
    Rows,
    Text,
}

const BUDGET_TOKENS_DEFAULT: u32 = 24_000;
const ANSWER_HEAD: &[u8] = b"{\"messages\":";

/// Makes a context, and answers with its JSON.
pub async fn context(app: &Shared, mut request: Request) -> Result<Vec<u8>> {
    let started = Instant::now();
    let plan = plan(app, &mut request)?;
    load_tokenizers(&plan.recipe).await;
    let near = load(app, &plan.recipe, &mut request).await?;
    let loaded = near.loaded();
    let assembly = assemble(&plan.recipe, &loaded, request.budget_tokens)?;
    let mut answer = render(&assembly);
    let explain = request.explain;
    let id = record(app, request, &plan, &near, &assembly, &answer, started);
    finish(&mut answer, &assembly, &id, explain)?;
    app.metrics.contexts.fetch_add(1, Ordering::Relaxed);
    Ok(answer)
}

/// Records what was made, unless it was recorded lately; its id either way. A prompt of nothing leaves no trace.
fn record(
    app: &Shared,
    request: Request,
    plan: &Preset,
    near: &Near,
    assembly: &Assembly<'_>,
    answer: &[u8],
    started: Instant,
) -> TraceId {
    let Request { user, thread, question, budget_tokens, .. } = request;
    let (recipe, marks) = (plan.text.get(), assembly.marks());
    let inputs = TraceId::of(thread.as_ref(), &(&marks, recipe, &question, budget_tokens, &user, near.moment()));
    let replace = |thread| app.last.replace(&(thread, recipe), near.epoch(), marks);
    let unchanged_tokens = thread.as_ref().and_then(replace);
    let id = TraceId::of(thread.as_ref(), &(inputs.uuid, unchanged_tokens));
    if assembly.pieces.is_empty() || !app.recorder.is_news(&id) {
        return id;
    }
    let trace = Trace {
        id: id.encode(),
        at: now(),
        user,
        thread: thread.map(|(_, thread)| thread),
        preset: plan.name.clone(),
        recipe: plan.text.clone(),
        question,
        budget_tokens,
        inputs: near.inputs(),
        messages: assembly.messages().count(),
        tokens: assembly.tokens,
        unchanged_tokens,
        digest: digest(answer.get(ANSWER_HEAD.len()..).unwrap_or_default()),
        took_us: started.elapsed().as_micros() as u64,
    };
    app.recorder.record(&id, trace, &app.metrics);
    id
}

/// Makes an old prompt again; its messages, its explanation, and whether they are the same bytes.
pub async fn replay(app: &Shared, trace: &Trace) -> Result<(Vec<u8>, Explanation, bool)> {
    let value: Value = serde_json::from_str(trace.recipe.get()).map_err(|e| ApiError::invalid("recipe", e))?;
    let recipe = Recipe::decode("recipe", &value)?;
    load_tokenizers(&recipe).await;
    let near = Near::reload(&app.store, trace).await?;
    let loaded = near.loaded();
    let assembly = assemble(&recipe, &loaded, trace.budget_tokens)?;
    let mut messages = Vec::new();
    assembly.write(&mut messages);
    let identical = digest(&messages) == trace.digest;
    Ok((messages, Explanation::of(&assembly), identical))
}

/// Chooses the recipe and the budget. Without a thread only the given filters run, and nothing bounds the answer that
/// the request does not name; with a thread, and nothing said, the preset `chat` does.
fn plan(app: &Shared, request: &mut Request) -> Result<Arc<Preset>> {
    let chosen = match std::mem::take(&mut request.recipe) {
        RecipeChoice::Given(value) => Arc::new(Preset::given("recipe", value)?),
        RecipeChoice::Preset(name) => find(app, &name)?,
        RecipeChoice::Unsaid if request.thread.is_some() => find(app, policy::DEFAULT)?,
        RecipeChoice::Unsaid => Arc::new(Preset::given("recipe", Value::Object(Default::default()))?),
    };
    let default = request.thread.is_some().then_some(BUDGET_TOKENS_DEFAULT);
    request.budget_tokens = request.budget_tokens.or(chosen.recipe.budget_tokens).or(default);
    match (request.filters.take(), request.tokenizer) {
        (None, None) => Ok(chosen),
        (filters, tokenizer) => Ok(Arc::new(chosen.with(filters, tokenizer)?)),
    }
}

fn find(app: &Shared, name: &str) -> Result<Arc<Preset>> {
    let unknown = || ApiError::invalid("preset", format_args!("must be one of {}", app.policies.names().join(", ")));
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

async fn load(app: &Shared, recipe: &Recipe, request: &mut Request) -> Result<Near> {
    let mut near = match &request.thread {
        Some((user, thread)) => Near::load(&app.store, &app.shown, user, thread, &recipe.needs()).await?,
        None => Near::default(),
    };
    near.inline = std::mem::take(&mut request.messages);
    near.ask(request.question.as_deref());
    Ok(near)
}

/// The answer up to the end of its messages.
fn render(assembly: &Assembly<'_>) -> Vec<u8> {
    let size: usize = assembly.messages().map(|p| p.base().raw().len() + 1).sum();
    let mut out = Vec::with_capacity(size + 512);
    out.extend_from_slice(ANSWER_HEAD);
    assembly.write(&mut out);
    out
}

/// The rest of the answer.
fn finish(out: &mut Vec<u8>, assembly: &Assembly<'_>, id: &TraceId, explain: Explain) -> Result<()> {
    let budget = assembly.budget_tokens.map_or_else(|| "null".to_owned(), |b| b.to_string());
    let (tokens, id) = (assembly.tokens, id.encode());
    out.extend_from_slice(format!(r#","tokens":{tokens},"budget_tokens":{budget},"trace_id":"{id}""#).as_bytes());
    let explained = match explain {
        Explain::No => None,
        Explain::Rows => Some(serde_json::to_string(&Explanation::of(assembly)).map_err(unexplained)?),
        Explain::Text => Some(novelo_engine::json::literal(&render::text(assembly))),
    };
    if let Some(explained) = explained {
        out.extend_from_slice(format!(r#","explain":{explained}"#).as_bytes());
    }
    out.push(b'}');
    Ok(())
}

fn unexplained(error: serde_json::Error) -> ApiError {
    ApiError::new(Code::Internal, format!("the explanation cannot be written: {error}"))
}
