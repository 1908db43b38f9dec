//! The root of a collection.

use novelo_engine::scope::USERS;

/// The user for what is below `users/{user}`, and otherwise the first segment. A write has one root, so that
/// a back-end can keep what belongs together in one place.
pub(crate) fn root<S: AsRef<str>>(collection: &[S]) -> &[S] {
    let is_users = collection.first().is_some_and(|first| first.as_ref() == USERS);
    collection.get(..if is_users { 2 } else { 1 }).unwrap_or(collection)
}
