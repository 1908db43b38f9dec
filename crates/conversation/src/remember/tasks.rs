//! Tasks of a user.
//!
//! Owns `tasks/{id}`. A task goes into a context only if the recipe asks for it. Invariant:
//! a task has `done_at` exactly while it is done.

use novelo_engine::path::DocumentPath;
use novelo_store::{Cursor, Document, Error as StoreError, PutTerms, Stamp, Window};
use serde::{Deserialize, Serialize};

use super::{TRIES_MAX, check, place};
use crate::error::{Code, Error, Result};
use crate::ids;
use crate::locks;
use crate::remember::UserMemory;
use crate::telemetry::now;

/// Whether a task is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskStatus {
    /// It is to be done.
    Open,
    /// It is done.
    Done,
}

/// A task as its document is.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StoredTask {
    /// What is to be done.
    pub title: String,
    /// Whether it is done.
    pub status: TaskStatus,
    /// Notes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub notes: Option<String>,
    /// When it is due, in the caller's own form.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub due: Option<String>,
    /// When it was made, in seconds since 1970.
    pub created_at: f64,
    /// When it was last changed, in seconds since 1970.
    pub updated_at: f64,
    /// When it was done, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub done_at: Option<f64>,
}

/// The same with its id, as it is shown.
#[derive(Debug, Serialize)]
pub struct Task {
    /// The id.
    pub id: Box<str>,
    /// What is stored.
    #[serde(flatten)]
    pub stored: StoredTask,
}

/// A page of tasks.
#[derive(Debug, Serialize)]
pub struct TaskPage {
    /// The tasks.
    pub tasks: Vec<Task>,
    /// Whether more follow.
    pub has_more: bool,
}

/// A task to store.
#[derive(Debug, Clone, Copy)]
pub struct NewTask<'t> {
    /// The id; one is made without it.
    pub id: Option<&'t str>,
    /// What is to be done.
    pub title: &'t str,
    /// Notes.
    pub notes: Option<&'t str>,
    /// When it is due.
    pub due: Option<&'t str>,
}

/// What changes of a task; `Some(None)` takes away.
#[derive(Debug, Clone, Copy, Default)]
pub struct Change<'t> {
    /// The new title.
    pub title: Option<&'t str>,
    /// The new status.
    pub status: Option<TaskStatus>,
    /// The new notes.
    pub notes: Option<Option<&'t str>>,
    /// The new due date.
    pub due: Option<Option<&'t str>>,
}

impl TaskStatus {
    /// The status of this name.
    pub fn from_name(name: &str) -> Result<Self> {
        match name {
            "open" => Ok(Self::Open),
            "done" => Ok(Self::Done),
            _ => Err(Error::invalid("status", "must be open or done")),
        }
    }
}

impl Change<'_> {
    fn check(&self) -> Result<()> {
        self.title.map_or(Ok(()), |title| check::text("title", title, check::MEMORY))?;
        self.notes.flatten().map_or(Ok(()), |notes| check::size("notes", notes, check::MEMORY))?;
        self.due.flatten().map_or(Ok(()), |due| check::text("due", due, check::NAME))
    }

    /// The task with this change.
    fn on(&self, task: StoredTask, now: f64) -> StoredTask {
        let text = |given: Option<Option<&str>>, before| given.map_or(before, |given| given.map(str::to_owned));
        let status = self.status.unwrap_or(task.status);
        StoredTask {
            title: self.title.map_or(task.title, str::to_owned),
            status,
            notes: text(self.notes, task.notes),
            due: text(self.due, task.due),
            created_at: task.created_at,
            updated_at: now,
            done_at: (status == TaskStatus::Done).then(|| task.done_at.unwrap_or(now)),
        }
    }
}

/// Adds a task. An id that is taken is refused.
pub async fn add(app: &UserMemory, user: &str, new: NewTask<'_>) -> Result<Task> {
    check::text("title", new.title, check::MEMORY)?;
    let change = Change { notes: Some(new.notes), due: Some(new.due), ..Change::default() };
    change.check()?;
    let id = new.id.map_or_else(ids::fresh_text, str::to_owned);
    let place = place::at(&place::tasks(user)?, "id", &id)?;
    let at = now();
    let empty = StoredTask {
        title: new.title.to_owned(),
        status: TaskStatus::Open,
        notes: None,
        due: None,
        created_at: at,
        updated_at: at,
        done_at: None,
    };
    let stored = change.on(empty, at);
    match write(app, &place, &stored, 0).await {
        Ok(_) => Ok(Task { id: id.into(), stored }),
        Err(StoreError::Stale { .. }) => {
            Err(Error { param: Some("id".into()), ..Error::new(Code::Conflict, "id is that of another task") })
        }
        Err(error) => Err(error.into()),
    }
}

/// Changes a task; `None` if there is none.
pub async fn change(app: &UserMemory, user: &str, id: &str, change: Change<'_>) -> Result<Option<Task>> {
    change.check()?;
    let at = place::at(&place::tasks(user)?, "id", id)?;
    let _lock = locks::hold([&at].into_iter()).await;
    for _ in 0..TRIES_MAX {
        let Some((document, task)) = read(app, &at).await? else { return Ok(None) };
        let stored = change.on(task.stored, now());
        match write(app, &at, &stored, document.version).await {
            Ok(_) => return Ok(Some(Task { id: document.id, stored })),
            Err(StoreError::Stale { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Error::new(Code::Busy, "this task is being changed by others again and again"))
}

/// The task of this id.
pub async fn get(app: &UserMemory, user: &str, id: &str) -> Result<Option<Task>> {
    let at = place::at(&place::tasks(user)?, "id", id)?;
    Ok(read(app, &at).await?.map(|(_, task)| task))
}

/// Whether there was such a task.
pub async fn remove(app: &UserMemory, user: &str, id: &str) -> Result<bool> {
    Ok(app.store.delete(&place::at(&place::tasks(user)?, "id", id)?, None).await?)
}

/// Tasks in the order in which they came, all or those of one status, from the one after `after` on.
pub async fn list(
    app: &UserMemory,
    user: &str,
    status: Option<TaskStatus>,
    after: Option<&str>,
    limit: usize,
) -> Result<TaskPage> {
    let of = place::tasks(user)?;
    let mut after = match after {
        Some(id) => {
            let last = app.store.get(&place::at(&of, "after", id)?).await?;
            Some(cursor(&last.ok_or_else(|| Error::invalid("after", "names no task"))?))
        }
        None => None,
    };
    let mut tasks = Vec::new();
    loop {
        let page = app.store.scan(&of, Window { after, limit: limit + 1, ..Window::default() }).await?;
        after = page.items.last().map(cursor);
        let read = page.items.iter().filter_map(task);
        tasks.extend(read.filter(|task| status.is_none_or(|status| task.stored.status == status)));
        if tasks.len() > limit || !page.has_more {
            let has_more = tasks.len() > limit;
            tasks.truncate(limit);
            return Ok(TaskPage { tasks, has_more });
        }
    }
}

fn cursor(document: &Document) -> Cursor {
    Cursor { create_time: document.create_time, seq: document.seq }
}

fn task(document: &Document) -> Option<Task> {
    let stored = serde_json::from_slice(&document.value).ok()?;
    Some(Task { id: document.id.clone(), stored })
}

async fn read(app: &UserMemory, at: &DocumentPath) -> Result<Option<(Document, Task)>> {
    let document = app.store.get(at).await?;
    Ok(document.and_then(|document| task(&document).map(|task| (document, task))))
}

/// Stores a task over the version that was read; 0 is none.
async fn write(
    app: &UserMemory,
    at: &DocumentPath,
    task: &StoredTask,
    version: u64,
) -> std::result::Result<Stamp, StoreError> {
    let value = serde_json::to_vec(task).map_err(|e| StoreError::Invalid(e.to_string()))?;
    let terms = PutTerms { if_version: Some(version), now: task.updated_at, ..PutTerms::default() };
    app.store.put(at, value.into(), terms).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn done_at_is_there_exactly_while_a_task_is_done() {
        let empty = StoredTask {
            title: "t".into(),
            status: TaskStatus::Open,
            notes: Some("n".into()),
            due: None,
            created_at: 1.0,
            updated_at: 1.0,
            done_at: None,
        };
        let to = |status| Change { status: Some(status), ..Change::default() };
        let done = to(TaskStatus::Done).on(empty, 2.0);
        assert_eq!((done.done_at, done.updated_at, done.created_at), (Some(2.0), 2.0, 1.0));
        let still = Change { notes: Some(None), ..to(TaskStatus::Done) }.on(done.clone(), 3.0);
        assert_eq!((still.done_at, still.notes), (Some(2.0), None));
        assert_eq!(to(TaskStatus::Open).on(done, 3.0).done_at, None);
    }
}
