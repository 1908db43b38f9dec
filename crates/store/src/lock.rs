//! The one way in which the store locks a mutex.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks, also after a panic of another holder: no mutex of this crate guards a value that can be seen
/// half-changed.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
