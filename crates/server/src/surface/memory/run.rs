//! `/memory/skills`: listing the skills, and running one.

use axum::extract::State;
use novelo_engine::decode::nearest;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{id, subject};
use crate::http::body::{Ids, Json, Raw, parse_object};
use crate::http::error::ApiResult;
use novelo_conversation::app::App;
use novelo_conversation::caller::Caller;
use novelo_conversation::error::Error;
use novelo_conversation::remember::results;
use novelo_conversation::remember::skills::{Call, Skill};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    user_id: Option<String>,
    session_id: Option<String>,
    task_id: Option<String>,
    arguments: Option<Value>,
}

pub async fn list(_: Caller) -> Json {
    let skills: Vec<Value> = Skill::ALL.iter().map(|skill| skill.definition()).collect();
    Json::of(&json!({"skills": skills}))
}

/// Runs a skill. With a task its result is kept in the memory of the task too.
pub async fn run(State(app): State<App>, caller: Caller, Ids(name): Ids<String>, Raw(body): Raw) -> ApiResult<Json> {
    let wire: Wire = parse_object(&body)?;
    let user = subject(wire.user_id, &caller)?;
    id("session_id", wire.session_id)?;
    let task = id("task_id", wire.task_id)?;
    let skill = Skill::from_name(&name).ok_or_else(|| unknown(&name))?;
    let call = Call { app: &app, caller: &caller, user: &user };
    let result = skill.run(call, wire.arguments).await?;
    if let Some(task) = task {
        results::keep(&app, &user, &task, skill.name(), result.get()).await?;
    }
    Ok(Json::written(format!(r#"{{"result":{}}}"#, result.get()).into_bytes()))
}

fn unknown(name: &str) -> Error {
    let names: Vec<&str> = Skill::ALL.iter().map(|skill| skill.name()).collect();
    let near = nearest(name, &names).map(|near| format!("; did you mean {near}?")).unwrap_or_default();
    Error::not_found(format_args!("skill {name}{near}"))
}
