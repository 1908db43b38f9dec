//! `POST /memory/context`: what a model should see next about a user, in the order of this surface.

use axum::extract::State;
use axum::response::Response;
use novelo_engine::recall::RecallSource;
use novelo_engine::recipe::{ComponentSpec, FilterSpec, RecipeBuilder, RecipeDocument, WindowSize};
use novelo_engine::time_scope::TimeScope;
use novelo_store::Range;
use serde::Deserialize;
use serde_json::Value;

use super::subject;
use crate::http::body::{RawBody, parse_object};
use crate::http::error::ApiResult;
use crate::surface::native::context::{answer, budget, explain, tokenizer};
use crate::surface::native::time::{TimeWire, as_of};
use crate::surface::optional_id;
use novelo_conversation::app::App;
use novelo_conversation::caller::Caller;
use novelo_conversation::context;
use novelo_conversation::context::answer::Answer;
use novelo_conversation::context::request::{RecipeChoice, Request};
use novelo_conversation::error::Result;
use novelo_conversation::remember::reset::DEFAULT_SESSION;
use novelo_conversation::remember::{check, place};
use novelo_conversation::telemetry::now;
use novelo_conversation::text::cut;
use novelo_conversation::text::shown_member;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MemoryContextRequest {
    user_id: Option<String>,
    session_id: Option<String>,
    task_id: Option<String>,
    include_vector: Option<bool>,
    query: Option<String>,
    explain: Option<Value>,
    budget_tokens: Option<u32>,
    tokenizer: Option<String>,
    as_of: Option<TimeWire>,
}

/// How many tool results a query is made from, and the characters taken from each.
const RESULTS: usize = 3;
const RESULT_CHARS: usize = 200;

pub(crate) async fn make(State(app): State<App>, caller: Caller, RawBody(body): RawBody) -> ApiResult<Response> {
    let wire: MemoryContextRequest = parse_object(&body)?;
    let user = subject(wire.user_id, &caller)?;
    let session = optional_id("session_id", wire.session_id)?.unwrap_or_else(|| DEFAULT_SESSION.to_owned());
    let task = optional_id("task_id", wire.task_id)?;
    if let Some(query) = &wire.query {
        check::text("query", query, check::QUERY)?;
    }
    let query = match (wire.query, task) {
        (None, Some(task)) => results(&app, &user, &task).await?,
        (query, _) => query,
    };
    app.touched(&user, &session);
    let request = Request {
        reach: TimeScope::thread(&session, now()),
        recipe: RecipeChoice::Built(recipe([], window_turns(&app), wire.include_vector.unwrap_or(true))?),
        user: Some(user),
        query,
        as_of: as_of(wire.as_of)?,
        budget_tokens: budget(wire.budget_tokens)?,
        tokenizer: wire.tokenizer.as_deref().map(tokenizer).transpose()?,
        answer: Answer::Context(explain(wire.explain)?),
        omits_recall_notice: true,
        ..Request::default()
    };
    Ok(context::context(&app, request).await.map(answer)?)
}

/// How many of the newest messages a context shows.
pub(crate) fn window_turns(app: &App) -> u32 {
    u32::try_from(app.settings.memory.short_term_window.get()).unwrap_or(u32::MAX)
}

/// Summary, user data, the newest messages, memories, conversation memory.
pub(crate) fn recipe(
    leading: impl IntoIterator<Item = ComponentSpec>,
    turns: u32,
    recalls: bool,
) -> Result<RecipeDocument> {
    let sources = [RecallSource::Memories, RecallSource::Turns].into_iter().filter(|_| recalls);
    let recipe = RecipeBuilder::new()
        .components(leading)
        .components([ComponentSpec::Summary, ComponentSpec::UserData, ComponentSpec::history()])
        .components(sources.map(ComponentSpec::recall))
        .filter(FilterSpec::HistoryWindow(WindowSize::Turns(turns)))
        .filter(FilterSpec::tool_call_backfill());
    Ok(recipe.build()?)
}

/// The last tool results of a task.
async fn results(app: &App, user: &str, task: &str) -> Result<Option<String>> {
    let results = app.store.turns(&place::results(user, task)?, Range::Last(RESULTS)).await?;
    let texts = results.iter().filter_map(|result| shown_member(&result.message, "content"));
    let text = texts.map(|text| cut(&text, RESULT_CHARS)).collect::<Vec<_>>().join(" ");
    Ok((!text.trim().is_empty()).then_some(text))
}
