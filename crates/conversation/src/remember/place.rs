//! Where things live below `users/{user}`.

use novelo_engine::path::{CollectionPath, DocumentPath};
use novelo_engine::scope::USERS;

use crate::error::{Error, Result};
use crate::search::{DOCUMENTS, MEMORIES, PASSAGES};

const TASKS: &str = "tasks";
const TASK_MEMORY: &str = "task_memory";
/// The last segment of a collection of results.
pub const RESULTS: &str = "results";

/// The collection of a user's memories.
pub fn memories(user: &str) -> Result<CollectionPath> {
    below(user, &[MEMORIES])
}

/// The collection of a user's documents.
pub fn documents(user: &str) -> Result<CollectionPath> {
    below(user, &[DOCUMENTS])
}

/// The passages of one document.
pub fn passages(user: &str, document: &str) -> Result<CollectionPath> {
    at(&documents(user)?, "id", document)?.child(PASSAGES).map_err(|e| Error::bad_id("id", &e))
}

/// The collection of a user's tasks.
pub fn tasks(user: &str) -> Result<CollectionPath> {
    below(user, &[TASKS])
}

/// What is remembered of all tasks.
pub fn task_memory(user: &str) -> Result<CollectionPath> {
    below(user, &[TASK_MEMORY])
}

/// The collection of a task's results.
pub fn results(user: &str, task: &str) -> Result<CollectionPath> {
    at(&task_memory(user)?, "task", task)?.child(RESULTS).map_err(|e| Error::bad_id("task", &e))
}

/// The document of an id that came in as `field`.
pub fn at(of: &CollectionPath, field: &str, id: &str) -> Result<DocumentPath> {
    of.document(id).map_err(|e| Error::bad_id(field, &e))
}

fn below(user: &str, rest: &[&str]) -> Result<CollectionPath> {
    CollectionPath::new(&[&[USERS, user], rest].concat()).map_err(|e| Error::bad_id("user", &e))
}
