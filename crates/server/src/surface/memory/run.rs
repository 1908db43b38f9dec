//! `/memory/skills`: listing the skills, and running one.

use axum::extract::State;
use novelo_engine::decode::nearest;
use serde::Deserialize;
use serde_json::{Value, json};

use super::subject;
use crate::http::body::{Json, PathIds, RawBody, parse_object};
use crate::http::error::ApiResult;
use crate::surface::optional_id;
use novelo_conversation::app::App;
use novelo_conversation::caller::Caller;
use novelo_conversation::error::Error;
use novelo_conversation::remember::results;
use novelo_conversation::remember::skills::{Skill, SkillCaller};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SkillRequest {
    user_id: Option<String>,
    session_id: Option<String>,
    task_id: Option<String>,
    arguments: Option<Value>,
}

pub(crate) async fn list() -> Json {
    let skills: Vec<Value> = Skill::ALL.iter().map(|skill| skill.definition()).collect();
    Json::from_value(&json!({"skills": skills}))
}

/// Runs a skill. If a task is named, the result is also stored with the task.
pub(crate) async fn run(
    State(app): State<App>,
    caller: Caller,
    PathIds(name): PathIds<String>,
    RawBody(body): RawBody,
) -> ApiResult<Json> {
    let wire: SkillRequest = parse_object(&body)?;
    let user = subject(wire.user_id, &caller)?;
    optional_id("session_id", wire.session_id)?;
    let task = optional_id("task_id", wire.task_id)?;
    let skill = Skill::from_name(&name).ok_or_else(|| unknown(&name))?;
    let call = SkillCaller { app: &app, caller: &caller, user: &user, is_model: false };
    let result = skill.run(call, wire.arguments).await?;
    if let Some(task) = task {
        results::keep(&app, &user, &task, skill.name(), result.get()).await?;
    }
    Ok(Json::from_bytes(format!(r#"{{"result":{}}}"#, result.get()).into_bytes()))
}

fn unknown(name: &str) -> Error {
    let names: Vec<&str> = Skill::ALL.iter().map(|skill| skill.name()).collect();
    let near = nearest(name, &names).map(|near| format!("; did you mean {near}?")).unwrap_or_default();
    Error::not_found(format_args!("skill {name}{near}"))
}
