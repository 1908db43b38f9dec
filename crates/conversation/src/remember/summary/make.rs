//! The making of a summary: by a model where one is set and answers, else by the sentences that say most.

use novelo_recall::extract::{self, Utterance};
use novelo_store::{Error, Turns};
use serde_json::{Map, json};

use super::{By, Summary};
use crate::model::{Ask, Failure, Job, Model};
use crate::policy::Prompt;
use crate::remember::UserMemory;
use crate::search::said;
use crate::text::cut;
use crate::thread::refused::Refusals;

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

/// The turns that are summed up; what a model refused among them is left out.
pub struct Told {
    pub turns: Turns,
    pub refusals: Refusals,
}

/// The summary with turns behind it. What a caller said stays as it is; what was made here is made anew.
pub async fn continued(app: &UserMemory, before: Summary, turns: Told) -> Result<Summary, Error> {
    let chars_max = usize::try_from(app.config.number("memory.summary_chars")).unwrap_or(usize::MAX);
    if let Some(model) = app.models.get(Job::Summary) {
        match by_model(app, model, before.made(), &turns, chars_max).await {
            Ok(made) => return Ok(before.with(made, By::Model)),
            Err(failure) => tracing::warn!(%failure, "a summary is extracted, since the model did not make it"),
        }
    }
    let summed = tokio::task::spawn_blocking(move || {
        let lines = lines(&turns, TURN_CHARS_MAX);
        let said: Vec<Utterance<'_>> = lines.iter().map(|(speaker, text)| Utterance { speaker, text }).collect();
        let made = extract::summarise(Some(before.made()).filter(|made| !made.trim().is_empty()), &said, chars_max);
        before.with(made, By::Extract)
    });
    summed.await.map_err(|e| Error::Invalid(format!("summing up ended early: {e}")))
}

async fn by_model(
    app: &UserMemory,
    model: &Model,
    before: &str,
    turns: &Told,
    chars_max: usize,
) -> Result<String, Failure> {
    let lines = lines(turns, MODEL_TURN_CHARS_MAX);
    if lines.is_empty() {
        return Ok(before.to_owned());
    }
    let before = if before.trim().is_empty() { "(none)" } else { before };
    let said: Vec<String> = lines.iter().map(|(speaker, text)| format!("{speaker}: {text}")).collect();
    let shown = format!("Summary so far:\n{before}\n\nMessages since:\n{}", said.join("\n"));
    let told = format!("{}\nAt most {chars_max} characters.", app.policies.prompt(Prompt::Summary));
    let messages = json!([{"role": "system", "content": told}, {"role": "user", "content": shown}]);
    let mut options = Map::new();
    options.insert("temperature".to_owned(), 0.into());
    let made = model.complete(&Ask { messages: messages.to_string().into(), options }).await?;
    match made.said() {
        "" => Err(Failure::Refused("it answered with nothing".into())),
        text => Ok(cut(text, chars_max)),
    }
}

/// Who said what; instructions and answers of tools are left out.
fn lines(told: &Told, chars_max: usize) -> Vec<(&'static str, String)> {
    let line = |turn: &novelo_engine::Turn| {
        let message = turn.message.shown();
        let role = message.role().filter(|role| !role.instructs() && role.name() != "tool")?;
        let text = cut(&said(message)?, chars_max);
        (!text.trim().is_empty()).then(|| (role.name(), text))
    };
    told.turns.iter().filter(|turn| !told.refusals.holds(turn.seq)).filter_map(line).collect()
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
