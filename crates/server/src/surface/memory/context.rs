//! `POST /memory/context`: what a model should see next of a user, in the order of the surface.

use axum::extract::State;
use novelo_engine::limits::QUESTION_BYTES_MAX;
use novelo_engine::reach::Reach;
use novelo_engine::scope::USERS;
use novelo_engine::path::CollectionPath;
use novelo_store::Range;
use serde::Deserialize;
use serde_json::{Value, json};

use super::About;
use crate::answer::Answer;
use crate::app::App;
use crate::flow;
use crate::http::body::{Json, Raw, parse_object};
use crate::http::error::{ApiError, Result};
use crate::load::cut;
use crate::recall::member;
use crate::request::{RecipeChoice, Request};
use crate::surface::native::context::{explain, tokenizer};
use crate::telemetry::now;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    user_id: Option<String>,
    session_id: Option<String>,
    task_id: Option<String>,
    include_vector: Option<bool>,
    query: Option<String>,
    explain: Option<Value>,
    budget_tokens: Option<u32>,
    tokenizer: Option<String>,
}

/// Results of tools that a query is made of, and the characters taken of each.
const RESULTS: usize = 3;
const RESULT_CHARS: usize = 200;

pub async fn make(State(app): State<App>, about: About, Raw(body): Raw) -> Result<Json> {
    let wire: Wire = parse_object(&body)?;
    let user = about.user(wire.user_id)?;
    let session = super::session(wire.session_id)?;
    let query = match wire.query {
        Some(query) => Some(checked(query)?),
        None => of_task(&app, &user, wire.task_id.as_deref()).await?,
    };
    let request = Request {
        reach: Reach::thread(&session, now()),
        recipe: RecipeChoice::Given(recipe(&app, wire.include_vector.unwrap_or(true))),
        user: Some(user),
        query,
        budget_tokens: wire.budget_tokens,
        tokenizer: wire.tokenizer.as_deref().map(tokenizer).transpose()?,
        answer: Answer::Context(explain(wire.explain)?),
        ..Request::default()
    };
    flow::context(&app, request).await.map(|made| Json::written(made.body))
}

/// Summary, user data, the newest messages, memories, conversation memory.
fn recipe(app: &App, recalls: bool) -> Value {
    let mut components = vec![json!({"kind": "summary"}), json!({"kind": "userData"}), json!({"kind": "history"})];
    if recalls {
        components.extend(["memories", "turns"].map(|from| json!({"kind": "recall", "from": from})));
    }
    let window = app.config.number("memory.short_term_window");
    json!({
        "components": components,
        "filters": [{"name": "historyWindow", "options": {"turns": window}}, "toolCallBackfill"],
    })
}

fn checked(query: String) -> Result<String> {
    if query.trim().is_empty() {
        return Err(ApiError::invalid("query", "is empty; without it the newest messages are searched for"));
    }
    match query.len() > QUESTION_BYTES_MAX {
        true => {
            let problem = format!("has {} bytes; the cap QUESTION_BYTES_MAX is {QUESTION_BYTES_MAX}", query.len());
            Err(ApiError::invalid("query", problem))
        }
        false => Ok(query),
    }
}

/// What the tools of a task answered last.
async fn of_task(app: &App, user: &str, task: Option<&str>) -> Result<Option<String>> {
    let Some(task) = task else { return Ok(None) };
    let of = CollectionPath::new(&[USERS, user, "task_memory", task, "results"]);
    let of = of.map_err(|e| ApiError::bad_id("task_id", &e))?;
    let results = app.store.turns(&of, Range::Last(RESULTS)).await?;
    let texts = results.iter().filter_map(|result| member(&result.message, "content"));
    let text = texts.map(|text| cut(&text, RESULT_CHARS)).collect::<Vec<_>>().join(" ");
    Ok((!text.trim().is_empty()).then_some(text))
}
