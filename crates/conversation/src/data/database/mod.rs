//! The database that questions are answered from.
//!
//! Owns the rules of asking: one statement, that reads, with values bound by name. Refuses everything else,
//! and what takes too long. Invariant: no query changes anything, in the file or beside it, that another
//! query could see.

mod connection;
mod make;
mod pool;
mod rows;
mod stamp;

use std::path::{Path, PathBuf};
use std::time::Duration;

use novelo_engine::decode::nearest;
use novelo_engine::limits::QUERY_WAIT_MS_MAX;
use serde_json::Value;

use pool::Pool;
pub use rows::Rows;

/// A SQLite file, opened read-only. It may be replaced or written to by others while it is open.
#[derive(Debug)]
pub struct Database {
    path: PathBuf,
    pool: Pool,
}

/// How long a query may take and how much it may answer.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// The most rows of an answer.
    pub rows_max: usize,
    /// It waits as long for its turn, before that.
    pub wait: Duration,
}

/// Why a query has no rows.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// It took longer than this many milliseconds.
    #[error("the query took longer than {0} ms")]
    Slow(u128),
    /// Too many queries are running.
    #[error("too many queries are running, or the database is locked")]
    Busy,
    /// The database refused it, in its own words.
    #[error("{0}")]
    Failed(String),
}

/// How long a query that is only checked may wait.
const CHECK_WAIT: Duration = Duration::from_millis(QUERY_WAIT_MS_MAX as u64);

impl Database {
    /// Refuses what is no database; tells which file that is.
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        Self::with(path, Pool::new())
    }

    fn with(path: &Path, pool: Pool) -> anyhow::Result<Self> {
        let database = Self { path: std::path::absolute(path)?, pool };
        database.pool.with(&database.path, CHECK_WAIT, |_| ())?;
        Ok(database)
    }

    /// Makes a database by a script of SQL, in the place of one that is there. It is whole or not there,
    /// whatever happens, and queries that run meanwhile see the one before it.
    pub fn make(script: &str, path: &Path) -> anyhow::Result<()> {
        make::make(script, path)
    }

    /// The file of the database.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A number that is another one after the file was written to or replaced; zero where there is none.
    /// Costs two looks at the directory.
    pub(crate) fn generation(&self) -> u64 {
        stamp::generation(&self.path)
    }

    /// Prepares a query; the columns that it would answer. Refuses one that writes, that is more than one
    /// statement, or that takes a parameter (written `:name`) that is none of these.
    pub fn check(&self, sql: &str, parameters: &[&str]) -> Result<Vec<String>, String> {
        let shape = self.pool.with(&self.path, CHECK_WAIT, |connection| connection.shape(sql, CHECK_WAIT));
        let (columns, taken) = shape.map_err(|e| format!("cannot be checked: {e}"))??;
        let known = |name: &str| name.strip_prefix(':').is_some_and(|bare| parameters.contains(&bare));
        if let Some(stranger) = taken.iter().find(|name| !known(name)) {
            return Err(unknown(stranger, parameters));
        }
        let twice = |(n, name): &(usize, &String)| columns.iter().take(*n).any(|earlier| earlier == *name);
        match columns.iter().enumerate().find(twice) {
            Some((_, name)) => Err(format!("answers the column {name} twice")),
            None => Ok(columns),
        }
    }

    /// Runs a query. Waits, so it must not run on a thread that serves requests. Parameters that the query
    /// does not take are left alone; one that it takes and is not given is an error.
    pub fn query(&self, sql: &str, parameters: &[(&str, Value)], bounds: Bounds) -> Result<Rows, QueryError> {
        self.pool.with(&self.path, bounds.wait, |connection| connection.run(sql, parameters, bounds))?
    }
}

fn unknown(stranger: &str, parameters: &[&str]) -> String {
    let bare = stranger.trim_start_matches([':', '@', '$', '?']);
    match nearest(bare, parameters) {
        Some(near) => format!("takes {stranger}, which is not known; did you mean :{near}?"),
        None => format!("takes {stranger}, which is not known; parameters are written :name"),
    }
}

#[cfg(test)]
#[path = "database_tests.rs"]
mod tests;
