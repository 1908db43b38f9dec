//! The making of a summary: by a model where one is set and answers, else by the sentences that say most.

use std::borrow::Cow;

use novelo_engine::Role;
use novelo_language::generated::accept_summary;
use novelo_language::iso_date;
use novelo_recall::extract::{DatedTurn, EarlierSummary, summarise};
use novelo_store::{Error, Range};
use serde_json::Map;

use super::{By, Summary};
use crate::context::work_prompt::WorkPrompt;
use crate::model::{Ask, Job, Model};
use crate::policy::Prompt;
use crate::remember::UserMemory;
use crate::text::{cut, member};
use crate::thread::tail::{Line, LineCaps, Tail};

/// Turns that a summary is made from again, and characters of each that are looked at. What is older is
/// carried over from the summary before.
const TURNS_MAX: u64 = 512;
const TURN_CHARS_MAX: usize = 4_000;
const ASSISTANT_CHARS_MAX: usize = 1_000;
/// Turns and characters for a model, which has a window.
const MODEL_TURNS_MAX: u64 = 24;
const MODEL_TURN_CHARS_MAX: usize = 1_000;
/// A model does not count characters well, so the prompt names less than the cap.
const MODEL_CHARS_SHARE: f64 = 0.8;
/// Tokens that it may write beside the summary, for thoughts.
const MODEL_TOKENS_MORE: usize = 256;
/// Scripts that are not Latin have about two characters per token.
const CHARS_PER_TOKEN: usize = 2;
/// The reason of a model that was stopped at its limit.
const LENGTH: &str = "length";

/// How many turns the next round may take.
pub(crate) fn turns_max(app: &UserMemory) -> u64 {
    if app.models.get(Job::Summary).is_some() { MODEL_TURNS_MAX } else { TURNS_MAX }
}

/// The roles that are summed up: not instructions, and not answers of tools.
const ROLES: &[Role] = &[Role::User, Role::Assistant];

/// The summary with turns behind it, up to a seq. The words of a caller stay; the words made here are made
/// again.
pub(crate) async fn continued(
    app: &UserMemory,
    thread: (&str, &str),
    before: Summary,
    tail: Tail,
    upto_seq: u64,
) -> Result<Summary, Error> {
    let chars_max = app.settings.memory.summary_chars;
    let extracted = extract(app, thread, &before, &tail, upto_seq, chars_max).await?;
    if let Some(model) = app.models.get(Job::Summary) {
        let work = ModelWork { app, model, thread, before: before.made(), tail: &tail, chars_max };
        match work.sum_up(&extracted).await {
            Ok(made) => return Ok(before.with(made, By::Model)),
            Err(problem) => tracing::warn!(%problem, "a summary is extracted, since the model did not make it"),
        }
    }
    Ok(before.with(extracted, By::Extract))
}

/// The summary without a model: made again from the turns where that is possible.
async fn extract(
    app: &UserMemory,
    (user, thread): (&str, &str),
    before: &Summary,
    tail: &Tail,
    upto_seq: u64,
    chars_max: usize,
) -> Result<String, Error> {
    let mut earlier = (before.made().to_owned(), before.upto_seq);
    let mut turns = DatedLine::read(tail);
    if let Some(after_seq) = before.after_seq {
        let first = (after_seq + 1).max((upto_seq + 1).saturating_sub(TURNS_MAX));
        let span = Tail::load(app, user, thread, Range::Between { first, last: upto_seq }).await;
        let span = span.map_err(|e| Error::Invalid(e.message))?;
        // Turns may have been trimmed since they were summed up.
        let first = span.turns.iter().next().map_or(upto_seq + 1, |turn| turn.seq.max(first));
        turns = DatedLine::read(&span);
        let turns_before = (first - 1).saturating_sub(after_seq);
        earlier = (if turns_before == 0 { String::new() } else { earlier.0 }, turns_before);
    }
    let summed = tokio::task::spawn_blocking(move || {
        let said: Vec<DatedTurn<'_>> = turns.iter().map(DatedLine::turn).collect();
        let turns = usize::try_from(earlier.1).unwrap_or(usize::MAX);
        summarise(EarlierSummary { text: &earlier.0, turns }, &said, chars_max)
    });
    summed.await.map_err(|e| Error::Invalid(format!("summing up ended early: {e}")))
}

/// A line, who said it and when.
struct DatedLine {
    speaker: String,
    text: String,
    date: String,
}

impl DatedLine {
    fn read(tail: &Tail) -> Vec<Self> {
        lines(tail, TURN_CHARS_MAX)
            .map(|line| {
                let is_long = line.role == Role::Assistant && line.text.len() > ASSISTANT_CHARS_MAX;
                let text = if is_long { cut(&line.text, ASSISTANT_CHARS_MAX) } else { line.text.to_string() };
                Self { speaker: speaker(&line).into_owned(), text, date: iso_date(line.turn.create_time) }
            })
            .collect()
    }

    fn turn(&self) -> DatedTurn<'_> {
        DatedTurn { speaker: &self.speaker, text: &self.text, date: &self.date }
    }
}

/// Who says a line: the name that the message gives, or the role.
fn speaker<'l>(line: &'l Line<'_>) -> Cow<'l, str> {
    let name = member(line.turn.message.shown(), "name");
    let name = name.filter(|name| !name.trim().is_empty() && !name.contains([':', '\n']));
    name.unwrap_or(Cow::Borrowed(line.role.name()))
}

/// What a model sums up.
struct ModelWork<'w> {
    app: &'w UserMemory,
    model: &'w Model,
    thread: (&'w str, &'w str),
    before: &'w str,
    tail: &'w Tail,
    chars_max: usize,
}

impl ModelWork<'_> {
    /// The model's summary, checked against what was said and against the extracted one.
    async fn sum_up(&self, extracted: &str) -> Result<String, String> {
        if lines(self.tail, MODEL_TURN_CHARS_MAX).next().is_none() {
            return Ok(self.before.to_owned());
        }
        let wanted_chars = (self.chars_max as f64 * MODEL_CHARS_SHARE) as usize;
        let instruction = format!("{}\nAt most {wanted_chars} characters.", self.app.policies.prompt(Prompt::Summary));
        let (model, thread, made_from) = (self.model, Some(self.thread), self.tail.newest());
        let prompt = WorkPrompt { instruction: &instruction, model, thread, made_from };
        let prompt = prompt.make(self.app, |share| self.text(share)).await.map_err(|error| error.message)?;
        let mut options = Map::new();
        options.insert("temperature".to_owned(), 0.into());
        options.insert("max_tokens".to_owned(), (self.chars_max / CHARS_PER_TOKEN + MODEL_TOKENS_MORE).into());
        let ask = Ask { messages: prompt.messages(), options };
        let made = self.model.complete(&ask).await.map_err(|failure| failure.to_string())?;
        if made.finish == LENGTH {
            return Err("it wrote more than it may".to_owned());
        }
        let said = self.said(1).join("\n");
        Ok(accept_summary(made.said(), &[self.before, &said], extracted, self.chars_max)?)
    }

    /// The text of the prompt. No turn is left out of it: each is cut to its share of the characters.
    fn text(&self, share: usize) -> String {
        let before = if self.before.trim().is_empty() { "(none)" } else { self.before };
        format!("Summary so far:\n{before}\n\nMessages since:\n{}", self.said(share).join("\n"))
    }

    fn said(&self, share: usize) -> Vec<String> {
        let line = |line: Line<'_>| {
            let date = iso_date(line.turn.create_time);
            format!("{date} {}: {}", speaker(&line), line.text).trim_start().to_owned()
        };
        lines(self.tail, MODEL_TURN_CHARS_MAX / share).map(line).collect()
    }
}

fn lines(tail: &Tail, chars_max: usize) -> impl Iterator<Item = Line<'_>> {
    let caps = LineCaps { roles: ROLES, bytes_max: usize::MAX, chars_max };
    tail.lines(caps).filter(Line::says_something)
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
    pub(super) fn made(&self) -> &str {
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
