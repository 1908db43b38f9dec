//! The connections of a database, and whose turn it is.
//!
//! Owns how many queries run at once. Refuses a caller who has waited for as long as its query may take.
//! Invariant: a connection is with one caller or idle, and one to a file that is no longer there in that form
//! is not used again.

use std::num::NonZero;
use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use novelo_engine::limits::QUERY_CONNECTIONS_MAX;
use rusqlite::ErrorCode;

use super::QueryError;
use super::connection::Connection;
use super::stamp::Stamp;

#[derive(Debug)]
pub struct Pool {
    /// Callers take and give back under it; nobody opens or queries while holding it.
    shelf: Mutex<Shelf>,
    /// Told by each that gives back, heard by one that waits.
    returned: Condvar,
    connections_max: usize,
}

#[derive(Debug, Default)]
struct Shelf {
    /// The last that was given back is the first that is taken: its pages are warm.
    idle: Vec<Connection>,
    taken: usize,
}

/// The right to run one query, and the connection that it may run on. Over when it is dropped.
#[derive(Debug)]
struct Turn<'p> {
    pool: &'p Pool,
    connection: Option<Connection>,
}

impl Pool {
    pub fn new() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        Self::of(QUERY_CONNECTIONS_MAX.min(cores * 2))
    }

    pub fn of(connections_max: usize) -> Self {
        Self { shelf: Mutex::default(), returned: Condvar::new(), connections_max }
    }

    /// Runs something on a connection to the file as it is now.
    pub fn with<T>(&self, path: &Path, wait: Duration, run: impl FnOnce(&Connection) -> T) -> Result<T, QueryError> {
        let stamp = Stamp::of(path).map_err(|e| QueryError::Failed(not_read(path, &e)))?;
        let mut turn = self.turn(wait)?;
        let connection = match turn.connection.take() {
            Some(connection) if connection.stamp == stamp => connection,
            stale => {
                if stale.is_some() {
                    self.clear();
                }
                Connection::open(path, stamp, wait).map_err(|e| not_opened(path, &e))?
            }
        };
        let answered = run(&connection);
        turn.connection = Some(connection);
        Ok(answered)
    }

    fn turn(&self, wait: Duration) -> Result<Turn<'_>, QueryError> {
        let begun = Instant::now();
        let mut shelf = self.lock();
        while shelf.taken >= self.connections_max {
            let left = wait.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return Err(QueryError::Busy);
            }
            shelf = self.returned.wait_timeout(shelf, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        shelf.taken += 1;
        Ok(Turn { pool: self, connection: shelf.idle.pop() })
    }

    /// Closes what is idle, so that a file that was replaced does not keep its place on the disk.
    fn clear(&self) {
        let idle = std::mem::take(&mut self.lock().idle);
        drop(idle);
    }

    /// Nothing that holds it can panic, so what a panicking thread left is whole.
    fn lock(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut shelf = self.pool.lock();
        shelf.taken -= 1;
        shelf.idle.extend(self.connection.take());
        drop(shelf);
        self.pool.returned.notify_one();
    }
}

fn not_read(path: &Path, error: &std::io::Error) -> String {
    let path = path.display();
    match error.kind() {
        std::io::ErrorKind::NotFound => format!("there is no database at {path}"),
        _ => format!("the database {path} cannot be read: {error}"),
    }
}

fn not_opened(path: &Path, error: &rusqlite::Error) -> QueryError {
    let path = path.display();
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => QueryError::Failed(format!("{path} is no SQLite database")),
        Some(ErrorCode::DatabaseBusy | ErrorCode::OperationInterrupted) => QueryError::Busy,
        _ => QueryError::Failed(format!("the database {path} cannot be opened: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn as_many_run_at_once_as_there_are_connections_and_no_more() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.db");
        rusqlite::Connection::open(&path).unwrap().execute_batch("CREATE TABLE a (b)").unwrap();
        let pool = Pool::new();
        assert!(pool.connections_max <= QUERY_CONNECTIONS_MAX);
        let (all_in, may_go) = (Barrier::new(pool.connections_max + 1), Barrier::new(pool.connections_max + 1));
        std::thread::scope(|scope| {
            for _ in 0..pool.connections_max {
                scope.spawn(|| {
                    let run = |_: &Connection| {
                        all_in.wait();
                        may_go.wait();
                    };
                    pool.with(&path, Duration::from_secs(5), run).unwrap();
                });
            }
            all_in.wait();
            let refused = pool.with(&path, Duration::from_millis(5), |_| ());
            may_go.wait();
            assert!(matches!(refused, Err(QueryError::Busy)), "{refused:?}");
        });
        assert_eq!(pool.lock().idle.len(), pool.connections_max);
        pool.with(&path, Duration::from_millis(5), |_| ()).unwrap();
    }

    #[test]
    fn a_file_that_was_replaced_is_let_go_of() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.db");
        let make =
            |name| rusqlite::Connection::open(dir.path().join(name)).unwrap().execute_batch("CREATE TABLE a (b)");
        make("a.db").unwrap();
        make("b.db").unwrap();
        let pool = Pool::of(3);
        let wait = Duration::from_secs(5);
        pool.with(&path, wait, |_| pool.with(&path, wait, |_| ()).unwrap()).unwrap();
        assert_eq!(pool.lock().idle.len(), 2);
        std::fs::rename(dir.path().join("b.db"), &path).unwrap();
        pool.with(&path, wait, |_| ()).unwrap();
        assert_eq!(pool.lock().idle.len(), 1);
    }
}
