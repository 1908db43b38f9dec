//! Skills that a model calls while it answers.

use novelo_engine::Message;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::event::{Event, SkillCall};
use super::generation::{Generation, message};
use super::log::EventLog;
use crate::answer::Shared;
use crate::caller::Caller;
use crate::error::{Code, Error};
use crate::model::ToolCall;
use crate::remember::results;
use crate::remember::skills::{Skill, SkillCaller};
use crate::text::cut;

/// The skills of a caller. Their results are stored with the task.
#[derive(Debug)]
pub struct Skills {
    /// Who calls them.
    pub caller: Caller,
    /// The task that their results belong to.
    pub task: Option<String>,
}

/// Characters of a skill's result that the model is shown.
const RESULT_CHARS_MAX: usize = 8_000;

/// The tools of a request to a model: the skills that models may call.
pub fn definitions() -> Value {
    let skills = Skill::ALL.iter().filter(|skill| skill.is_for_models());
    Value::Array(skills.map(|skill| skill.definition()).collect())
}

/// Runs what the model called, and returns the messages for the model: its calls, and their results.
pub async fn run(
    app: &Shared,
    skills: Option<(&Skills, &str)>,
    calls: &[ToolCall],
    generation: &mut Generation,
    log: &EventLog,
) -> Vec<Message> {
    let mut messages = vec![message(&generation.generated.text, calls, &Map::new())];
    for call in calls {
        let result = match skills {
            Some((skills, user)) => run_one(app, skills, user, call).await,
            None => error(&Error::invalid("tool_calls", "name a tool, and there is none")),
        };
        let content = cut(result.get(), RESULT_CHARS_MAX);
        messages.push(json!({"role": "tool", "tool_call_id": call.id, "content": content}));
        let called = SkillCall { name: call.name.clone(), arguments: call.arguments.clone(), result };
        log.push(Event::Skill(called.clone()));
        generation.has_begun = true;
        generation.generated.calls.push(called);
    }
    messages.iter().map(|message| Message::from_stored(message.to_string().into())).collect()
}

/// The result of a skill. An error is a result too, so that the model can correct its call.
async fn run_one(app: &Shared, skills: &Skills, user: &str, called: &ToolCall) -> Box<RawValue> {
    let Some(skill) = Skill::from_name(&called.name) else {
        return error(&Error::not_found(format_args!("skill {}", called.name)));
    };
    if !skill.is_for_models() {
        return error(&Error::new(Code::Forbidden, format!("{} is not for models to call", skill.name())));
    }
    let arguments = match called.arguments.trim() {
        "" => None,
        text => match serde_json::from_str(text) {
            Ok(arguments) => Some(arguments),
            Err(problem) => return error(&Error::invalid("arguments", format_args!("is not JSON: {problem}"))),
        },
    };
    let call = SkillCaller { app, caller: &skills.caller, user, is_model: true };
    let result = skill.run(call, arguments).await.unwrap_or_else(|problem| error(&problem));
    if let Some(task) = &skills.task
        && let Err(problem) = results::keep(app, user, task, skill.name(), result.get()).await
    {
        tracing::warn!(%problem, task, "the result of a skill was not kept with its task");
    }
    result
}

fn error(error: &Error) -> Box<RawValue> {
    let text = String::from_utf8_lossy(&error.body()).into_owned();
    RawValue::from_string(text).expect("the body of an error is JSON")
}
