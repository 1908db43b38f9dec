//! The schema of a database: tables and views, what their columns hold, what names their rows, and which rows
//! of other tables they speak of.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use novelo_engine::limits::ENTITIES_MAX;
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags};

use super::column::{self, ColumnKind};
use super::quoted;
use super::words::{asking, plain, split};
use novelo_language::schema_words::singular;

/// Rows of a table that are looked at.
const SAMPLE_ROWS: usize = 500;
/// Columns of a table that are used; the rest can be added by hand.
const COLUMNS_MAX: usize = 40;
/// How long one query over the schema may take.
const QUERY_MAX: Duration = Duration::from_secs(5);
/// Longer texts name nothing.
const NAME_CHARS_MAX: usize = 80;
/// Values of a column that can be selected by, and the different ones among a column of names that repeat.
pub(super) const CHOICES_MAX: usize = 20;
const CATEGORIES_MAX: i64 = 5_000;
const STEPS: i32 = 10_000;

#[derive(Debug)]
pub(super) struct Schema {
    pub tables: Vec<SchemaTable>,
    /// What could not be used, and why.
    pub left_out: Vec<(String, String)>,
}

/// A table or view with what its rows show.
#[derive(Debug)]
pub(super) struct SchemaTable {
    pub name: String,
    pub columns: Vec<SchemaColumn>,
    pub is_view: bool,
    /// The column that names a row, and others that do too.
    pub identity: Option<RowIdentity>,
    /// Rows of other tables that its rows speak of.
    pub references: Vec<TableReference>,
}

#[derive(Debug)]
pub(super) struct SchemaColumn {
    pub name: String,
    pub kind: ColumnKind,
    /// Its values, where they are few and repeat.
    pub choices: Vec<String>,
    is_primary: bool,
    is_unique: bool,
    /// How many different values it has.
    distinct: i64,
    sample: Vec<String>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct RowIdentity {
    pub column: usize,
    pub other_name: Option<usize>,
    /// Whether the values repeat: a city of each measurement.
    pub is_category: bool,
}

/// A column that holds the value of a column of another table.
#[derive(Debug, Clone, Copy)]
pub(super) struct TableReference {
    pub column: usize,
    pub table: usize,
    pub to: usize,
}

impl SchemaColumn {
    /// Values that were looked at.
    pub(super) fn sample(&self) -> &[String] {
        &self.sample
    }
}

pub(super) fn read(path: &Path) -> anyhow::Result<Schema> {
    ensure!(path.exists(), "there is no file {}", path.display());
    ensure!(path.is_file(), "{} is not a file", path.display());
    let reader = SchemaReader::open(path)?;
    let listed = reader.tables().with_context(|| format!("{} is not a SQLite database", path.display()))?;
    ensure!(!listed.is_empty(), "{} has no tables", path.display());
    let (mut tables, mut left_out) = (Vec::new(), Vec::new());
    for (name, is_view) in listed {
        if name.chars().any(char::is_control) || plain(&name).is_empty() {
            left_out
                .push((name.escape_default().to_string(), "its name has no letters that a file can have".to_owned()));
            continue;
        }
        if tables.len() >= ENTITIES_MAX {
            left_out.push((name, format!("more than {ENTITIES_MAX} tables (ENTITIES_MAX)")));
            continue;
        }
        match reader.table(&name, is_view) {
            Ok(table) if table.columns.iter().all(|column| column.kind == ColumnKind::Other) => {
                left_out.push((name, "it has no rows that say what its columns hold".to_owned()));
            }
            Ok(table) if !table.can_be_asked_for() => {
                left_out.push((name, "neither its name nor those of its columns have a word to ask for it".to_owned()));
            }
            Ok(table) => tables.push(table),
            Err(error) => left_out.push((name, format!("{error:#}"))),
        }
    }
    if tables.is_empty() {
        let why: Vec<String> = left_out.iter().map(|(name, why)| format!("{name}: {why}")).collect();
        bail!("{} has no table that can be asked about ({})", path.display(), why.join("; "));
    }
    let mut schema = Schema { tables, left_out };
    reader.relate(&mut schema)?;
    Ok(schema)
}

impl SchemaTable {
    fn can_be_asked_for(&self) -> bool {
        let names = std::iter::once(&self.name).chain(self.columns.iter().map(|column| &column.name));
        names.into_iter().any(|name| !asking(name).is_empty())
    }
}

struct SchemaReader {
    database: Connection,
    opened: Instant,
    /// When the running query must end, in milliseconds after that.
    end_ms: Arc<AtomicU64>,
}

impl SchemaReader {
    fn open(path: &Path) -> anyhow::Result<Self> {
        let path = std::path::absolute(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let database = Connection::open_with_flags(&path, flags);
        let mut database = database.with_context(|| format!("{} cannot be opened", path.display()))?;
        let (opened, end_ms) = (Instant::now(), Arc::new(AtomicU64::new(u64::MAX)));
        let end = end_ms.clone();
        let is_over = move || opened.elapsed().as_millis() > u128::from(end.load(Ordering::Relaxed));
        database.progress_handler(STEPS, Some(is_over))?;
        Ok(Self { database, opened, end_ms })
    }

    fn rows<T>(
        &self,
        sql: &str,
        parameters: &[&str],
        row: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> anyhow::Result<Vec<T>> {
        let end = (self.opened.elapsed() + QUERY_MAX).as_millis();
        self.end_ms.store(u64::try_from(end).unwrap_or(u64::MAX), Ordering::Relaxed);
        let mut statement = self.database.prepare(sql)?;
        let rows = statement.query_map(rusqlite::params_from_iter(parameters), row)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    fn count(&self, sql: &str) -> anyhow::Result<i64> {
        self.rows(sql, &[], |row| row.get(0))?.first().copied().context("nothing was counted")
    }

    /// Tables before views.
    fn tables(&self) -> anyhow::Result<Vec<(String, bool)>> {
        const LIST: &str = "SELECT name, type = 'view' FROM sqlite_schema WHERE type IN ('table', 'view') \
                            AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type = 'view', rowid";
        self.rows(LIST, &[], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    fn table(&self, name: &str, is_view: bool) -> anyhow::Result<SchemaTable> {
        let names: Vec<(String, i64)> =
            self.rows("SELECT name, pk FROM pragma_table_info(?)", &[name], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let keys: Vec<String> =
            self.rows("SELECT \"from\" FROM pragma_foreign_key_list(?)", &[name], |row| row.get(0))?;
        let table = quoted(name);
        let count = names.len();
        let sample = self.rows(&format!("SELECT * FROM {table} LIMIT {SAMPLE_ROWS}"), &[], |row| {
            (0..count).map(|at| row.get::<_, Value>(at)).collect::<rusqlite::Result<Vec<_>>>()
        })?;
        let has_one_key = names.iter().filter(|(_, key)| *key > 0).count() == 1;
        let rows = self.count(&format!("SELECT count(*) FROM {table}"))?;
        let mut columns = Vec::new();
        for (at, (column, key)) in names.into_iter().enumerate().take(COLUMNS_MAX) {
            if column.chars().any(char::is_control) {
                continue;
            }
            let values: Vec<Value> = sample.iter().filter_map(|row| row.get(at).cloned()).collect();
            let is_primary = has_one_key && key > 0;
            let kind = column::kind(&column, is_primary || keys.contains(&column), &values);
            let mut made = SchemaColumn {
                name: column,
                kind,
                choices: Vec::new(),
                is_primary,
                is_unique: false,
                distinct: 0,
                sample: Vec::new(),
            };
            if kind == ColumnKind::Text {
                self.look_at_texts(&table, rows, &mut made, &values)?;
            }
            made.is_unique |= is_primary;
            columns.push(made);
        }
        Ok(SchemaTable { name: name.to_owned(), columns, is_view, identity: None, references: Vec::new() })
    }

    fn look_at_texts(&self, table: &str, rows: i64, column: &mut SchemaColumn, values: &[Value]) -> anyhow::Result<()> {
        let of = quoted(&column.name);
        column.distinct = self.count(&format!("SELECT count(DISTINCT {of}) FROM {table}"))?;
        let filled = self.count(&format!("SELECT count({of}) FROM {table}"))?;
        column.is_unique = column.distinct == filled && filled == rows;
        column.sample = values.iter().filter_map(column::text).map(str::to_owned).collect();
        let is_few = column.distinct as usize <= CHOICES_MAX && column.distinct * 2 <= rows;
        if is_few {
            column.choices =
                self.rows(&format!("SELECT DISTINCT {of} FROM {table} WHERE {of} <> '' ORDER BY 1"), &[], |row| {
                    row.get(0)
                })?;
            column
                .choices
                .retain(|value| value.chars().count() <= NAME_CHARS_MAX && !value.chars().any(char::is_control));
        }
        Ok(())
    }

    /// Finds what names the rows of each table, and what they speak of.
    fn relate(&self, schema: &mut Schema) -> anyhow::Result<()> {
        for at in 0..schema.tables.len() {
            let found = self.declared(schema, at)?;
            schema.tables.get_mut(at).into_iter().for_each(|table| table.references = found.clone());
        }
        for at in 0..schema.tables.len() {
            let shared = self.by_values(schema, at)?;
            let Some(table) = schema.tables.get_mut(at) else { continue };
            for reference in shared {
                if !table.references.iter().any(|known| known.table == reference.table) {
                    table.references.push(reference);
                }
            }
            table.identity = table.identify();
        }
        // Tables that come later may name what earlier ones speak of.
        for at in 0..schema.tables.len() {
            let shared = self.by_values(schema, at)?;
            let Some(table) = schema.tables.get_mut(at) else { continue };
            for reference in shared {
                let is_own = table.identity.is_some_and(|own| own.column == reference.column);
                if !is_own && !table.references.iter().any(|known| known.table == reference.table) {
                    table.references.push(reference);
                }
            }
            if table.identity.is_none() && table.references.is_empty() {
                table.identity = table.categorise();
            }
        }
        Ok(())
    }

    /// Foreign keys, and columns that are named as one: `product_id`.
    fn declared(&self, schema: &Schema, at: usize) -> anyhow::Result<Vec<TableReference>> {
        let Some(table) = schema.tables.get(at) else { return Ok(Vec::new()) };
        let keys: Vec<(String, String, Option<String>)> =
            self.rows("SELECT \"table\", \"from\", \"to\" FROM pragma_foreign_key_list(?)", &[&table.name], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })?;
        let mut found: Vec<TableReference> = Vec::new();
        for (column, own) in table.columns.iter().enumerate() {
            let declared = keys.iter().find(|(_, from, _)| *from == own.name);
            let words = split(&own.name);
            let stem = words
                .split_last()
                .filter(|(last, rest)| *last == "id" && !rest.is_empty())
                .map(|(_, rest)| rest.join("_"));
            for (other, target) in schema.tables.iter().enumerate().filter(|(other, _)| *other != at) {
                let is_key = declared.is_some_and(|(table, _, _)| table.eq_ignore_ascii_case(&target.name));
                let is_named = declared.is_none()
                    && stem.as_ref().is_some_and(|stem| {
                        let name = plain(&target.name);
                        *stem == name || *stem == singular(&name)
                    });
                let to = declared.and_then(|(_, _, to)| to.clone());
                let is_target = |column: &SchemaColumn| match &to {
                    Some(to) if is_key => column.name == *to,
                    _ => column.is_primary || (is_named && column::is_id(&column.name)),
                };
                let to = target.columns.iter().position(is_target).filter(|_| is_key || is_named);
                found.extend(to.map(|to| TableReference { column, table: other, to }));
            }
        }
        Ok(found)
    }

    /// Columns whose texts are those that name the rows of another table.
    fn by_values(&self, schema: &Schema, at: usize) -> anyhow::Result<Vec<TableReference>> {
        let mut found = Vec::new();
        let Some(table) = schema.tables.get(at) else { return Ok(found) };
        for (column, own) in table.columns.iter().enumerate().filter(|(_, column)| column.kind == ColumnKind::Text) {
            for (other, target) in schema.tables.iter().enumerate().filter(|(other, _)| *other != at) {
                let Some(identity) = target.identity.filter(|it| !it.is_category) else { continue };
                for to in [Some(identity.column), identity.other_name].into_iter().flatten() {
                    let Some(named) = target.columns.get(to) else { continue };
                    let values = format!(
                        "SELECT DISTINCT {} AS v FROM {} WHERE v IS NOT NULL LIMIT 200",
                        quoted(&own.name),
                        quoted(&table.name)
                    );
                    let among = format!("SELECT {} FROM {}", quoted(&named.name), quoted(&target.name));
                    let all = self.count(&format!("SELECT count(*) FROM ({values})"))?;
                    let known = self.count(&format!("SELECT count(*) FROM ({values}) WHERE v IN ({among})"))?;
                    if all > 0 && known * 10 >= all * 9 && !found.iter().any(|it: &TableReference| it.column == column)
                    {
                        found.push(TableReference { column, table: other, to });
                    }
                }
            }
        }
        Ok(found)
    }
}

impl SchemaTable {
    /// The columns that name its rows: a code, a name, or both.
    fn identify(&self) -> Option<RowIdentity> {
        let is_free = |at: usize| !self.references.iter().any(|reference| reference.column == at);
        let is_short = |column: &SchemaColumn| {
            column.sample.iter().all(|text| text.chars().count() <= NAME_CHARS_MAX && !text.trim().is_empty())
        };
        let texts = || {
            self.columns
                .iter()
                .enumerate()
                .filter(|(at, it)| it.kind == ColumnKind::Text && is_free(*at) && is_short(it))
        };
        let unique = || texts().filter(|(_, column)| column.is_unique && !column.sample.is_empty());
        let code =
            unique().find(|(_, it)| it.is_primary).or_else(|| unique().find(|(_, it)| column::is_code(&it.name)));
        let name = unique().find(|(_, it)| column::is_name(&it.name));
        let other = || texts().find(|(_, it)| column::is_name(&it.name));
        let is_fact = !self.references.is_empty();
        let any = || unique().find(|_| !is_fact);
        let (column, _) = code.or(name).or_else(any)?;
        let other_name = name.or_else(other).map(|(at, _)| at).filter(|at| *at != column);
        Some(RowIdentity { column, other_name, is_category: false })
    }

    /// A column of names that repeat, where nothing else says what the rows are about.
    fn categorise(&self) -> Option<RowIdentity> {
        let repeats = |column: &&SchemaColumn| {
            column.kind == ColumnKind::Text && (2..=CATEGORIES_MAX).contains(&column.distinct) && !column.is_unique
        };
        let is_short = |column: &&SchemaColumn| column.sample.iter().all(|text| text.chars().count() <= NAME_CHARS_MAX);
        let column = self.columns.iter().position(|column| repeats(&column) && is_short(&column))?;
        Some(RowIdentity { column, other_name: None, is_category: true })
    }
}
