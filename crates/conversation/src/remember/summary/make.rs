//! The making of a summary: by a model where one is set and answers, else by the sentences that say most.

use novelo_engine::Role;
use novelo_recall::extract::{self, Utterance};
use novelo_store::Error;
use serde_json::Map;

use super::{By, Summary};
use crate::context::work_prompt::WorkPrompt;
use crate::model::{Ask, Job, Model};
use crate::policy::Prompt;
use crate::remember::UserMemory;
use crate::text::cut;
use crate::thread::tail::{Line, LineCaps, Tail};

/// Turns that one round sums up, and characters of each that are looked at.
const TURNS_MAX: u64 = 256;
const TURN_CHARS_MAX: usize = 8_000;
/// The same for a model, which has a window.
const MODEL_TURNS_MAX: u64 = 24;
const MODEL_TURN_CHARS_MAX: usize = 1_000;

/// How many turns the next round may take.
pub fn turns_max(app: &UserMemory) -> u64 {
    if app.models.get(Job::Summary).is_some() { MODEL_TURNS_MAX } else { TURNS_MAX }
}

/// The roles that are summed up: not instructions, and not answers of tools.
const ROLES: &[Role] = &[Role::User, Role::Assistant];

/// The summary with turns behind it. The words of a caller stay; the words made here are made again.
pub async fn continued(app: &UserMemory, thread: (&str, &str), before: Summary, tail: Tail) -> Result<Summary, Error> {
    let chars_max = usize::try_from(app.config.number("memory.summary_chars")).unwrap_or(usize::MAX);
    if let Some(model) = app.models.get(Job::Summary) {
        match by_model(app, model, thread, before.made(), &tail, chars_max).await {
            Ok(made) => return Ok(before.with(made, By::Model)),
            Err(problem) => tracing::warn!(%problem, "a summary is extracted, since the model did not make it"),
        }
    }
    let summed = tokio::task::spawn_blocking(move || {
        let lines = lines(&tail, TURN_CHARS_MAX);
        let said: Vec<Utterance<'_>> =
            lines.iter().map(|line| Utterance { speaker: line.role.name(), text: &line.text }).collect();
        let made = extract::summarise(Some(before.made()).filter(|made| !made.trim().is_empty()), &said, chars_max);
        before.with(made, By::Extract)
    });
    summed.await.map_err(|e| Error::Invalid(format!("summing up ended early: {e}")))
}

async fn by_model(
    app: &UserMemory,
    model: &Model,
    thread: (&str, &str),
    before: &str,
    tail: &Tail,
    chars_max: usize,
) -> Result<String, String> {
    if lines(tail, MODEL_TURN_CHARS_MAX).is_empty() {
        return Ok(before.to_owned());
    }
    let instruction = format!("{}\nAt most {chars_max} characters.", app.policies.prompt(Prompt::Summary));
    let prompt = WorkPrompt { instruction: &instruction, model, thread: Some(thread), made_from: tail.newest() };
    let prompt = prompt.make(app, |share| text(before, tail, share)).await.map_err(|error| error.message)?;
    let mut options = Map::new();
    options.insert("temperature".to_owned(), 0.into());
    let ask = Ask { messages: prompt.messages(), options };
    let made = model.complete(&ask).await.map_err(|failure| failure.to_string())?;
    match made.said() {
        "" => Err("it answered with nothing".to_owned()),
        text => Ok(cut(text, chars_max)),
    }
}

/// The text of the prompt. No turn is left out of it: each is cut to its share of the characters.
fn text(before: &str, tail: &Tail, share: usize) -> String {
    let before = if before.trim().is_empty() { "(none)" } else { before };
    let lines = lines(tail, MODEL_TURN_CHARS_MAX / share);
    let said: Vec<String> = lines.iter().map(|line| format!("{}: {}", line.role.name(), line.text)).collect();
    format!("Summary so far:\n{before}\n\nMessages since:\n{}", said.join("\n"))
}

fn lines(tail: &Tail, chars_max: usize) -> Vec<Line<'_>> {
    let caps = LineCaps { roles: ROLES, bytes_max: usize::MAX, chars_max };
    tail.lines(caps).filter(Line::says_something).collect()
}

impl Summary {
    /// The caller's own words in it.
    fn given(&self) -> Option<&str> {
        let given = match self.by {
            By::Caller => self.given.as_deref().or(Some(&self.text)),
            By::Extract | By::Model => None,
        };
        given.filter(|given| !given.is_empty())
    }

    /// What was made here of it.
    fn made(&self) -> &str {
        match self.given() {
            Some(given) => self.text.strip_prefix(given).unwrap_or("").trim_start(),
            None => &self.text,
        }
    }

    /// The same with this made instead.
    pub(super) fn with(self, made: String, by: By) -> Self {
        match self.given().map(str::to_owned) {
            None => Self { text: made, by, given: None, ..self },
            Some(given) => Self { text: format!("{given}\n{made}").trim_end().to_owned(), given: Some(given), ..self },
        }
    }
}
