//! One connection to the database, which can do nothing but read.
//!
//! Owns what is refused (the authorizer, and SQLite's own limits), the end of a query that takes too long,
//! and how values go in and come out. Invariant: a connection is the same after any query, however that
//! ended.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use novelo_engine::limits::{CELL_BYTES_MAX, ENTITY_COLUMNS_MAX, QUERY_TEXT_BYTES_MAX, ROWS_BYTES_MAX, SQL_BYTES_MAX};
use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, ErrorCode, OpenFlags};
use serde_json::Value;

use super::rows::{Rows, row_bytes};
use super::stamp::Stamp;
use super::{Bounds, QueryError};

/// Prepared queries that a connection keeps.
const PREPARED_MAX: usize = 256;

/// Steps of SQLite's machine between two looks at the clock: some ten microseconds.
const STEPS: i32 = 1_000;

/// A long pattern of LIKE on a long text is slow within one step.
pub(crate) const PATTERN_BYTES_MAX: usize = 256;

/// How long a connection sleeps before it asks again for a file that a writer has locked.
const RETRY: Duration = Duration::from_millis(2);

#[derive(Debug)]
pub struct Connection {
    inner: rusqlite::Connection,
    alarm: Alarm,
    /// The file as it was when it was opened.
    pub stamp: Stamp,
}

/// When the running query must end, in nanoseconds after the connection was opened. The query sets it, the
/// handlers that SQLite calls read it, all on the thread that has the connection.
#[derive(Debug, Clone)]
struct Alarm {
    opened: Instant,
    end_ns: Arc<AtomicU64>,
}

impl Alarm {
    fn set(&self, wait: Duration) {
        let end = self.opened.elapsed().saturating_add(wait).as_nanos();
        self.end_ns.store(u64::try_from(end).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    fn is_over(&self) -> bool {
        self.opened.elapsed().as_nanos() >= u128::from(self.end_ns.load(Ordering::Relaxed))
    }
}

impl Connection {
    /// `path` is absolute, for SQLite takes one that begins with `file:` for an address with options.
    pub fn open(path: &Path, stamp: Stamp, wait: Duration) -> rusqlite::Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut inner = rusqlite::Connection::open_with_flags(path, flags)?;
        let alarm = Alarm { opened: Instant::now(), end_ns: Arc::default() };
        alarm.set(wait);
        watch(&mut inner, &alarm)?;
        confine(&inner)?;
        // Reads the header and the schema, so a file that is no database is known here.
        inner.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
        inner.authorizer(Some(may))?;
        inner.set_prepared_statement_cache_capacity(PREPARED_MAX);
        Ok(Self { inner, alarm, stamp })
    }

    /// A statement that reads, and answers columns.
    fn prepare(&self, sql: &str) -> Result<CachedStatement<'_>, Refusal> {
        if sql.len() > SQL_BYTES_MAX {
            return Err(Refusal::Query(format!("has more than {SQL_BYTES_MAX} bytes (SQL_BYTES_MAX)")));
        }
        let statement = self.inner.prepare_cached(sql)?;
        match objection(&statement) {
            Some(problem) => Err(Refusal::Query(problem)),
            None => Ok(statement),
        }
    }

    /// The columns that a query answers, and the parameters it takes, as they are written.
    pub fn shape(&self, sql: &str, wait: Duration) -> Result<(Vec<String>, Vec<String>), String> {
        self.alarm.set(wait);
        let statement = self.prepare(sql).map_err(|refusal| refusal.to_string())?;
        let columns = statement.column_names().map(str::to_owned).collect();
        let name = |n| statement.parameter_name(n).unwrap_or("?").to_owned();
        Ok((columns, (1..=statement.parameter_count()).map(name).collect()))
    }

    pub fn run(&self, sql: &str, parameters: &[(&str, Value)], bounds: Bounds) -> Result<Rows, QueryError> {
        self.alarm.set(bounds.wait);
        let read = || {
            let mut statement = self.prepare(sql)?;
            bind(&mut statement, parameters)?;
            read(&mut statement, bounds.rows_max)
        };
        read().map_err(|refusal: Refusal| refusal.into_error(bounds.wait))
    }
}

/// Ends queries when their time is over, those too that wait for a writer.
fn watch(inner: &mut rusqlite::Connection, alarm: &Alarm) -> rusqlite::Result<()> {
    let running = alarm.clone();
    inner.progress_handler(STEPS, Some(move || running.is_over()))?;
    let waiting = alarm.clone();
    inner.busy_handler(Some(move |_: i32| {
        std::thread::sleep(RETRY);
        !waiting.is_over()
    }))
}

/// Takes from a connection what reading does not need.
fn confine(inner: &rusqlite::Connection) -> rusqlite::Result<()> {
    inner.pragma_update(None, "query_only", true)?;
    inner.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    inner.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    // A misspelt column in double quotes would be a text otherwise.
    inner.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
    inner.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    // A step cannot be stopped, but it works on few texts at most.
    inner.set_limit(Limit::SQLITE_LIMIT_LENGTH, QUERY_TEXT_BYTES_MAX as i32)?;
    inner.set_limit(Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, PATTERN_BYTES_MAX as i32)?;
    Ok(())
}

/// What a query may do. Full-text tables ask for `data_version` themselves.
fn may(asked: AuthContext<'_>) -> Authorization {
    match asked.action {
        // Pragmas have the form of tables too, which would be refused only when they are read.
        AuthAction::Read { table_name, .. } if table_name.to_ascii_lowercase().starts_with("pragma_") => {
            Authorization::Deny
        }
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => Authorization::Allow,
        AuthAction::Function { function_name } if function_name != "load_extension" => Authorization::Allow,
        AuthAction::Pragma { pragma_name: "data_version", pragma_value: None } => Authorization::Allow,
        _ => Authorization::Deny,
    }
}

/// What is wrong with a statement that the authorizer lets pass: VACUUM answers nothing, EXPLAIN what is not
/// data.
fn objection(statement: &CachedStatement<'_>) -> Option<String> {
    match statement.column_count() {
        0 => Some("answers no rows".to_owned()),
        _ if statement.is_explain() != 0 => Some("explains and does not answer".to_owned()),
        1..=ENTITY_COLUMNS_MAX => None,
        _ => Some(format!("answers more than {ENTITY_COLUMNS_MAX} columns (ENTITY_COLUMNS_MAX)")),
    }
}

/// Binds what the statement takes. What it takes and is not given is no null: a condition on it would be
/// another one.
fn bind(statement: &mut CachedStatement<'_>, parameters: &[(&str, Value)]) -> Result<(), Refusal> {
    for n in 1..=statement.parameter_count() {
        let name = statement.parameter_name(n).unwrap_or("?");
        let given = parameters.iter().find(|(given, _)| name.strip_prefix(':') == Some(*given));
        let Some((_, value)) = given else {
            return Err(Refusal::Query(format!("takes {name}, which is not given")));
        };
        statement.raw_bind_parameter(n, Bound(value))?;
    }
    Ok(())
}

/// A value as SQLite takes it. Lists are JSON text, for `json_each`.
struct Bound<'a>(&'a Value);

impl rusqlite::ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self.0 {
            Value::Null => rusqlite::types::Null.into(),
            Value::Bool(is_so) => i64::from(*is_so).into(),
            Value::String(text) => text.as_str().into(),
            Value::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(whole), _) => whole.into(),
                (None, Some(real)) => real.into(),
                (None, None) => rusqlite::types::Null.into(),
            },
            list @ (Value::Array(_) | Value::Object(_)) => list.to_string().into(),
        })
    }
}

fn read(statement: &mut CachedStatement<'_>, rows_max: usize) -> Result<Rows, Refusal> {
    let mut rows = Vec::new();
    let mut bytes = 0;
    let mut is_cut = false;
    let mut answered = statement.raw_query();
    while let Some(row) = answered.next()? {
        // The table may have changed since the statement was prepared, and the columns with it.
        let width = row.as_ref().column_count();
        let cells = (0..width).map(|n| cell(row.get_ref(n)?)).collect::<Result<Vec<_>, Refusal>>()?;
        bytes += row_bytes(&cells);
        if rows.len() == rows_max || bytes > ROWS_BYTES_MAX {
            is_cut = true;
            break;
        }
        rows.push(cells);
    }
    drop(answered);
    let columns = statement.column_names().map(str::to_owned).collect();
    Ok(Rows { columns, rows, is_cut })
}

/// A value as the wire has it. A blob is null: a query that wants it in words says `hex(…)`.
fn cell(value: ValueRef<'_>) -> Result<Value, Refusal> {
    Ok(match value {
        ValueRef::Null | ValueRef::Blob(_) => Value::Null,
        ValueRef::Integer(whole) => whole.into(),
        // No number for JSON: null.
        ValueRef::Real(real) => real.into(),
        ValueRef::Text(text) if text.len() > CELL_BYTES_MAX => {
            return Err(Refusal::Query(format!("answers a text of more than {CELL_BYTES_MAX} bytes (CELL_BYTES_MAX)")));
        }
        ValueRef::Text(text) => String::from_utf8_lossy(text).into(),
    })
}

/// Why a query did not run to its end.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error("{0}")]
    Query(String),
    #[error("{}", in_words(.0))]
    Sqlite(#[from] rusqlite::Error),
}

impl Refusal {
    fn into_error(self, wait: Duration) -> QueryError {
        let code = match &self {
            Self::Sqlite(error) => error.sqlite_error_code(),
            Self::Query(_) => None,
        };
        match code {
            Some(ErrorCode::OperationInterrupted) => QueryError::Slow(wait.as_millis()),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => QueryError::Busy,
            _ => QueryError::Failed(format!("the query {self}")),
        }
    }
}

/// What SQLite says, without the statement that it is said of.
pub fn in_words(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::MultipleStatement => "is more than one statement".to_owned(),
        rusqlite::Error::SqlInputError { msg, .. } => format!("is refused: {msg}"),
        other if other.sqlite_error_code() == Some(ErrorCode::AuthorizationForStatementDenied) => {
            "does more than read".to_owned()
        }
        rusqlite::Error::SqliteFailure(_, Some(message)) => format!("failed: {message}"),
        other => format!("failed: {other}"),
    }
}
