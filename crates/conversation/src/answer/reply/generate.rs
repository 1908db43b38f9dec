//! The answer: by a model, in as many steps as its skills take, or from the passages.
//!
//! A model that fails is asked once more, for the whole at once. If that fails too, the passages answer where nothing was
//! said, and else what was said stays.

use bytes::Bytes;
use novelo_engine::Message;
use novelo_recall::quote::language;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::draft::{Draft, PASSAGES, said};
use super::log::Log;
use super::prompt::{self, Prompt, Room};
use super::speak::{self, speak, speak_again};
use super::{Asked, Called, Event, Manner, Partial, Skills, offline, relay};
use crate::app::Shared;
use crate::context::load::cut;
use crate::error::{Code, Error, Result};
use crate::model::{Ask, Completion, Failure, Model, More, ToolCall};
use crate::remember::results;
use crate::remember::skills::{Call, Skill};
use crate::thread::kept::Kept;

/// What an answer is made of, and whom it is told.
pub struct Work<'w> {
    pub app: &'w Shared,
    pub asked: &'w Asked,
    pub standalone: &'w str,
    pub kept: &'w Kept,
    pub log: &'w Log,
}

/// Rounds of skills that one answer may take.
const ROUNDS_MAX: usize = 8;
/// How often a prompt that is too long for its model is made shorter.
const SHORTER_MAX: usize = 3;
/// Characters of a skill's result that the model is shown.
const RESULT_CHARS_MAX: usize = 8_000;

pub async fn generate(work: &Work<'_>, prompt: Prompt, draft: &mut Draft) -> Result<()> {
    let Some(model) = work.asked.model(work.app) else {
        return without(work, draft, Code::NoModel, "no model is set");
    };
    if !prompt.fits {
        return without(work, draft, Code::OverBudget, "the question is too long for the window of the model");
    }
    let mut messages = prompt.messages;
    let (mut rounds, mut shorter) = (0, 0);
    loop {
        draft.text.clear();
        draft.more = More::default();
        let ask = Ask { messages: messages.clone(), options: options(work.asked) };
        match step(work, model, &ask, draft).await {
            Ok(calls) if calls.is_empty() && relay::is_empty_answer(work.asked, draft) => return Ok(()),
            Ok(calls) if calls.is_empty() && !draft.has_begun => {
                return without(work, draft, Code::ModelFailed, "the model answered with nothing");
            }
            Ok(calls) if calls.is_empty() => return Ok(()),
            Ok(calls) if work.asked.is_relayed() => {
                draft.to_run = calls.clone();
                calls.into_iter().enumerate().for_each(|(index, call)| work.log.push(Event::Call(index, call)));
                return Ok(());
            }
            Ok(calls) if rounds < ROUNDS_MAX => {
                rounds += 1;
                messages = extended(&messages, &run_skills(work, calls, draft).await?);
            }
            Ok(_) => {
                draft.notes.push(format!("the model called skills {ROUNDS_MAX} times in a row and was stopped"));
                return Ok(());
            }
            Err(Failure::TooLong { prompt_tokens, window_tokens, .. }) if !draft.has_begun && shorter < SHORTER_MAX => {
                shorter += 1;
                match shortened(work, draft, prompt_tokens.zip(window_tokens)).await? {
                    Some(made) => messages = made,
                    None => shorter = SHORTER_MAX,
                }
            }
            Err(failure) if work.asked.is_relayed() => return relay::failed(work, draft, &failure).await,
            Err(failure) if !draft.has_begun => {
                return without(work, draft, Code::ModelFailed, &told("the model did not answer", &failure));
            }
            Err(failure) => {
                draft.partial = Some(Partial::ModelFailed);
                draft.notes.push(told("the model broke off", &failure));
                return Ok(());
            }
        }
    }
}

/// What happened, for the reader; the log has more of it.
fn told(what: &str, failure: &Failure) -> String {
    format!("{what}: {}", failure.in_words())
}

/// Lets the model say something; the skills that it calls.
async fn step(
    work: &Work<'_>,
    model: &Model,
    ask: &Ask,
    draft: &mut Draft,
) -> std::result::Result<Vec<ToolCall>, Failure> {
    let spoken = match work.asked.is_relayed() {
        true => {
            speak::relay(model, ask, |delta| {
                model.name().clone_into(&mut draft.answered_by);
                draft.relay(delta, work.log);
            })
            .await
        }
        false => {
            speak(model, ask, |text| {
                model.name().clone_into(&mut draft.answered_by);
                draft.say(text, work.log);
            })
            .await
        }
    };
    let whole = match spoken {
        Ok(whole) => whole,
        Err(failure) => again(work, model, ask, draft, failure).await?,
    };
    model.name().clone_into(&mut draft.answered_by);
    draft.add(whole.usage);
    if whole.finish == "length" {
        draft.notes.push("the answer was cut at the model's limit".to_owned());
    }
    draft.finish = whole.finish;
    Ok(whole.calls)
}

/// Asks once more after a failure, once in a reply; where that does not help it is the first failure that counts. What a
/// caller's own model has said cannot be taken back.
async fn again(
    work: &Work<'_>,
    model: &Model,
    ask: &Ask,
    draft: &mut Draft,
    failure: Failure,
) -> std::result::Result<Completion, Failure> {
    let tracer = &work.asked.tracer;
    tracer.error("stream", failure.in_words());
    let may_help = match work.asked.is_relayed() {
        true => relay::may_ask_again(draft, &failure),
        false => failure.may_pass(),
    };
    if draft.fallback || !may_help {
        return Err(failure);
    }
    let again = match work.asked.is_relayed() {
        true => model.relay_once(ask).await,
        false => speak_again(model, ask).await,
    };
    let whole = match again {
        Ok(whole) => whole,
        Err(second) => {
            tracer.error("model", second.in_words());
            return Err(failure);
        }
    };
    let what = if draft.text.is_empty() { "did not answer" } else { "broke off" };
    draft.notes.push(format!("the model {what}; it was asked again"));
    draft.fallback = true;
    draft.more = More::default();
    if !whole.more.is_empty() {
        draft.relay_more(whole.more.clone(), work.log);
    }
    draft.say_anew(whole.text.clone(), work.log);
    Ok(whole)
}

fn options(asked: &Asked) -> Map<String, Value> {
    match &asked.manner {
        Manner::Relay(request) => request.options.clone(),
        Manner::Assist(None) => Map::new(),
        Manner::Assist(Some(_)) => {
            let skills = Skill::ALL.iter().filter(|skill| skill.is_for_models());
            let tools = skills.map(|skill| skill.definition()).collect();
            Map::from_iter([("tools".to_owned(), Value::Array(tools))])
        }
    }
}

/// The passages instead of a model, and why; who asked for a model and nobody else is told that there is none.
fn without(work: &Work<'_>, draft: &mut Draft, code: Code, why: &str) -> Result<()> {
    if work.asked.is_relayed() {
        return Err(Error::new(code, format!("{why} (models.{}.url)", work.asked.job().name())));
    }
    draft.answered_by = PASSAGES.to_owned();
    draft.text.clear();
    let sources = draft.prompted.sources.clone();
    let quoted = offline::quotes(work.standalone, &sources);
    draft.notes.push(match quoted {
        None => format!("{why}; no passage fits the question"),
        Some(_) => format!("{why}; these are the passages that fit best"),
    });
    let text = quoted.unwrap_or_else(|| offline::nothing(language(work.standalone)).to_owned());
    text.split_inclusive('\n').for_each(|line| draft.say(line.to_owned(), work.log));
    Ok(())
}

/// The prompt again, so much shorter as its model says it must be; `None` where that cannot be.
async fn shortened(work: &Work<'_>, draft: &mut Draft, said: Option<(u32, u32)>) -> Result<Option<Bytes>> {
    let tokens = draft.prompted.tokens;
    let room = match said.filter(|(prompt_tokens, _)| *prompt_tokens > 0) {
        Some((prompt_tokens, window_tokens)) => {
            let share = f64::from(prompt::room_tokens(window_tokens)) / f64::from(prompt_tokens);
            (f64::from(tokens) * share.min(0.9)) as u32
        }
        None => tokens / 2,
    };
    let room = Room { tokens: Some(room), is_stored: true };
    let prompt = prompt::make(work.app, work.asked, work.standalone, room).await?;
    if !prompt.fits {
        return Ok(None);
    }
    work.asked.tracer.prompt(&prompt.prompted.trace_id);
    work.log.push(Event::Prompt(prompt.prompted.clone()));
    draft.prompted = prompt.prompted;
    Ok(Some(prompt.messages))
}

/// Runs what the model called, and stores the calls with their results.
async fn run_skills(work: &Work<'_>, calls: Vec<ToolCall>, draft: &mut Draft) -> Result<Vec<Message>> {
    let mut messages = vec![said(&draft.text, &calls)];
    for call in &calls {
        let result = match work.asked.skills().zip(work.asked.user.as_deref()) {
            Some((skills, user)) => run_skill(work.app, skills, user, call).await,
            None => error(&Error::invalid("tool_calls", "name a tool, and there is none")),
        };
        let content = cut(result.get(), RESULT_CHARS_MAX);
        messages.push(json!({"role": "tool", "tool_call_id": call.id, "content": content}));
        let called = Called { name: call.name.clone(), arguments: call.arguments.clone(), result };
        work.log.push(Event::Skill(called.clone()));
        draft.has_begun = true;
        draft.calls.push(called);
    }
    let messages: Vec<Message> = messages.iter().map(|m| Message::from_stored(m.to_string().into())).collect();
    work.kept.add(work.app, messages.clone()).await?;
    Ok(messages)
}

/// What a skill answers; what is wrong is an answer too, for the model to do better.
async fn run_skill(app: &Shared, skills: &Skills, user: &str, called: &ToolCall) -> Box<RawValue> {
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
    let call = Call { app, caller: &skills.caller, user };
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

/// An array of messages with more behind them.
fn extended(messages: &[u8], more: &[Message]) -> Bytes {
    let mut out = messages.strip_suffix(b"]").unwrap_or(messages).to_vec();
    for message in more {
        if out.last() != Some(&b'[') {
            out.push(b',');
        }
        out.extend_from_slice(message.raw());
    }
    out.push(b']');
    out.into()
}

#[cfg(test)]
mod tests {
    use novelo_engine::Role;

    use super::*;

    #[test]
    fn messages_are_added_behind() {
        let more = [Message::text(Role::User, "a"), Message::text(Role::User, "b")];
        for (before, count) in [("[]", 2), (r#"[{"role":"user","content":"x"}]"#, 3)] {
            let messages: Vec<Value> = serde_json::from_slice(&extended(before.as_bytes(), &more)).unwrap();
            assert_eq!(messages.len(), count);
            assert_eq!(messages.last().unwrap()["content"], "b");
        }
        assert_eq!(&extended(b"[]", &[])[..], b"[]");
    }
}
