//! Task memory: what tools answered while a task was worked on.
//!
//! Owns `task_memory/{task}/results/{id}`, appended and kept for `memory.task_ttl_seconds`. A task here is
//! any id: it needs no document among the tasks.

use novelo_engine::json;
use novelo_engine::limits::TASK_RESULT_BYTES_MAX;
use novelo_engine::path::DocumentPath;
use novelo_store::{AppendTerms, NewDocument, NewId, Range};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use super::skills::Skill;
use super::{check, place};
use crate::error::{Code, Error, Result};
use crate::ids;
use crate::remember::UserMemory;
use crate::telemetry::now;

const PAGE: usize = 1_000;

/// A result as its document is.
#[derive(Debug, Serialize, Deserialize)]
pub struct StoredResult {
    /// The tool that gave it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<String>,
    /// Any JSON, as it was given.
    pub content: Box<RawValue>,
    /// When it was stored, in seconds since 1970.
    pub at: f64,
}

/// The same with its id, as it is listed.
#[derive(Debug, Serialize)]
pub struct ListedResult {
    /// The id.
    pub id: Box<str>,
    /// What is stored.
    #[serde(flatten)]
    pub stored: StoredResult,
}

/// A page of results.
#[derive(Debug, Serialize)]
pub struct ResultPage {
    /// The results.
    pub results: Vec<ListedResult>,
    /// Whether more follow.
    pub has_more: bool,
}

/// Keeps a result, which is any JSON; its id.
pub async fn add(
    app: &UserMemory,
    user: &str,
    task: &str,
    name: Option<&str>,
    content: Box<RawValue>,
) -> Result<Box<str>> {
    if let Some(name) = name {
        check::text("name", name, check::NAME)?;
    }
    let shown = json::unescape(content.get()).unwrap_or_else(|| content.get().into());
    check::size("content", &shown, ("TASK_RESULT_BYTES_MAX", TASK_RESULT_BYTES_MAX))?;
    check::depth("content", content.get())?;
    let (to, at) = (place::results(user, task)?, now());
    let stored = StoredResult { name: name.map(str::to_owned), content, at };
    let value = serde_json::to_vec(&stored).map_err(|e| Error::new(Code::Internal, e.to_string()))?;
    let ttl = app.settings.memory.task_ttl;
    let id: Box<str> = ids::fresh_text().into();
    let expires_at = ttl.map(|ttl| at + ttl.as_secs_f64());
    let document = NewDocument { id: NewId::Fresh(id.clone()), create_time: at, value: value.into(), expires_at };
    app.store.append(&to, vec![document], AppendTerms::default()).await?;
    Ok(id)
}

/// Keeps the result of a skill. It may be of any size; of a large one the front is kept.
pub async fn keep(app: &UserMemory, user: &str, task: &str, skill: &str, result: &str) -> Result<Box<str>> {
    let content = to_raw_value(front(result, TASK_RESULT_BYTES_MAX));
    let content = content.map_err(|e| Error::new(Code::Internal, e.to_string()))?;
    add(app, user, task, Some(skill), content).await
}

/// At most so many bytes of a text, and no half of a character.
fn front(text: &str, bytes_max: usize) -> &str {
    let end = (0..=bytes_max.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    end.and_then(|end| text.get(..end)).unwrap_or("")
}

/// Results in the order in which they came, from the one after `after` on.
pub async fn list(app: &UserMemory, user: &str, task: &str, after: Option<&str>, limit: usize) -> Result<ResultPage> {
    let of = place::results(user, task)?;
    let seq = match after {
        Some(id) => {
            let last = app.store.get(&place::at(&of, "after", id)?).await?;
            last.ok_or_else(|| Error::invalid("after", "names no result"))?.seq
        }
        None => 0,
    };
    let turns = app.store.turns(&of, Range::After { seq, limit }).await?;
    let listed = turns.iter().filter_map(|turn| {
        let stored = serde_json::from_slice(turn.message.raw()).ok()?;
        Some(ListedResult { id: turn.id.clone(), stored })
    });
    Ok(ResultPage { results: listed.collect(), has_more: turns.has_more })
}

/// Where the results of skills are, of all tasks; those that a caller added are the caller's own.
pub(crate) async fn of_skills(app: &UserMemory, user: &str) -> Result<Vec<DocumentPath>> {
    let under = place::task_memory(user)?;
    let mut found = Vec::new();
    let mut after: Option<Box<str>> = None;
    loop {
        let page = app.store.threads(&under, place::RESULTS, after.as_deref(), PAGE).await?;
        for row in &page.items {
            let of = place::results(user, &row.id)?;
            let mut seq = 0;
            loop {
                let results = app.store.turns(&of, Range::After { seq, limit: PAGE }).await?;
                for result in results.iter() {
                    let stored = serde_json::from_slice::<StoredResult>(result.message.raw()).ok();
                    if stored.and_then(|stored| Skill::from_name(&stored.name?)).is_some() {
                        found.push(place::at(&of, "id", &result.id)?);
                    }
                    seq = result.seq;
                }
                if !results.has_more {
                    break;
                }
            }
        }
        match page.items.last().filter(|_| page.has_more) {
            Some(last) => after = Some(last.id.clone()),
            None => return Ok(found),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::front;

    #[test]
    fn the_front_of_a_text_ends_between_characters() {
        for (bytes, expected) in [(0, ""), (1, "a"), (2, "a"), (3, "aé"), (4, "aéb"), (9, "aéb")] {
            assert_eq!(front("aéb", bytes), expected, "{bytes}");
        }
    }
}
