//! An entity: what can be looked up, by which queries, and how the rows are presented.
//!
//! Owns its file: what may stand in it, and that its templates, columns and queries fit each other. Refuses a
//! file in part: an entity is right or not there.

mod columns;
mod conditions;
mod decimal;
mod escape;
mod format;
mod present;
mod template;

use std::collections::BTreeMap;
use std::time::Duration;

use novelo_engine::decode::{DecodeError, nearest};
use novelo_engine::limits::{
    ENTITY_CACHE_S_MAX, ENTITY_QUERIES_MAX, QUERY_WAIT_MS_MAX, ROWS_MAX, SQL_BYTES_MAX, TEMPLATE_BYTES_MAX,
};
use novelo_language::Language;
use novelo_language::generated::{FactCell, FactColumn};
use novelo_language::plan::{Condition, ConditionRule, Ontology, Question};
use serde::Deserialize;
use serde_json::Value;

use crate::data::database::{Bounds, Database, Rows};
use columns::{ColumnWire, Columns, check_name};
use conditions::ConditionWire;
pub(crate) use conditions::{LEFT, parameter};
use format::{Format, Writing};
use present::Manner;
use template::{Names, Template};

/// The query that an entity must have.
pub(crate) const LIST: &str = "list";

const ROWS_USUAL: u32 = 100;
const WAIT_MS_USUAL: u32 = 500;

/// Read from its file, checked when it is read.
#[derive(Debug)]
pub struct Entity {
    /// The name, which is also that of its file.
    pub name: String,
    /// What it is, in a sentence.
    pub about: String,
    /// How long its query may take and how much it may answer.
    pub bounds: Bounds,
    /// How long an answer may be given again; zero: never.
    pub keep: Duration,
    /// Whether a model may put its rows into words.
    pub is_narrated: bool,
    /// The query for the last day that there is data of. It takes no parameters.
    pub last_day: Option<String>,
    /// What its rows can be selected by.
    pub conditions: Vec<ConditionRule>,
    columns: Columns,
    queries: BTreeMap<String, Query>,
    empty: Template,
    writing: Writing,
}

/// What an entity has of its catalogue: how values are written, and what subjects are called.
#[derive(Debug, Clone)]
pub struct EntityLanguage {
    writing: Writing,
    /// What several subjects of each kind are called.
    plurals: Vec<String>,
}

impl EntityLanguage {
    /// A language with a currency and the plurals of the catalogue.
    pub fn new(language: Language, currency: Option<&str>, plurals: Vec<String>) -> Self {
        Self { writing: Writing::new(language, currency), plurals }
    }

    /// The language of an ontology.
    pub fn of(ontology: &Ontology) -> Self {
        let plurals = ontology.kinds().iter().map(|kind| kind.plural.clone()).collect();
        Self::new(ontology.language(), ontology.currency(), plurals)
    }
}

/// What is looked up for one aggregation.
#[derive(Debug)]
struct Query {
    sql: String,
    manner: Manner,
    /// The columns that it answers, once it was checked.
    answered: Vec<String>,
}

/// What a presentation may speak of, beside the rows.
#[derive(Debug, Clone, Copy)]
pub struct Spoken<'a> {
    /// The name of the aggregation.
    pub aggregation: &'a str,
    /// Those of each kind, as they are shown.
    pub subjects: &'a [Vec<String>],
    /// `nos últimos 12 meses`, or empty.
    pub window: &'a str,
    /// The question.
    pub question: &'a Question,
    /// The conditions on columns.
    pub conditions: &'a [Condition],
}

/// Rows in words.
#[derive(Debug)]
pub(crate) struct Presented {
    pub told: String,
    /// Shown below the rows and below a narration of them: that there are more, and what they were selected
    /// by.
    pub remarks: Vec<String>,
}

impl Presented {
    /// All of it.
    pub(crate) fn into_text(self) -> String {
        with_remarks(self.told, &self.remarks)
    }
}

/// A text with remarks below it.
pub(crate) fn with_remarks(mut text: String, remarks: &[String]) -> String {
    for remark in remarks {
        text.push_str("\n\n");
        text.push_str(remark);
    }
    text
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct EntityWire {
    about: String,
    last_day: Option<String>,
    rows_max: Option<u32>,
    timeout_ms: Option<u32>,
    cache_seconds: Option<u32>,
    narrate: Option<bool>,
    columns: BTreeMap<String, ColumnWire>,
    #[serde(default)]
    conditions: BTreeMap<String, ConditionWire>,
    queries: BTreeMap<String, QueryWire>,
    empty: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct QueryWire {
    sql: String,
    table: Option<TableWire>,
    list: Option<ListWire>,
    text: Option<TextWire>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TableWire {
    title: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListWire {
    title: Option<String>,
    item: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TextWire {
    item: String,
}

impl Entity {
    /// From what stands in its file, whose name it has.
    pub fn decode(name: &str, words: &EntityLanguage, value: &Value) -> Result<Self, DecodeError> {
        let wire: EntityWire = serde_path_to_error::deserialize(value).map_err(|e| {
            let path = e.path().to_string();
            DecodeError::new(if path == "." { "" } else { &path }, e.into_inner().to_string())
        })?;
        let rows_max = within("rows_max", wire.rows_max.unwrap_or(ROWS_USUAL), 1, ROWS_MAX)?;
        let wait_ms = within("timeout_ms", wire.timeout_ms.unwrap_or(WAIT_MS_USUAL), 1, QUERY_WAIT_MS_MAX)?;
        let keep_s = within("cache_seconds", wire.cache_seconds.unwrap_or(0), 0, ENTITY_CACHE_S_MAX)?;
        check_text("about", &wire.about, TEMPLATE_BYTES_MAX, "TEMPLATE_BYTES_MAX")?;
        if let Some(sql) = &wire.last_day {
            check_text("last_day", sql, SQL_BYTES_MAX, "SQL_BYTES_MAX")?;
        }
        let language = words.writing.language;
        let columns = Columns::decode(wire.columns, language)?;
        let conditions = conditions::decode(wire.conditions, &columns, language)?;
        let subjects = &words.plurals;
        let queries = decode_queries(wire.queries, Names { subjects, columns: &columns.names(), is_of_row: true })?;
        let none = Names { subjects, columns: &[], is_of_row: false };
        let empty = template("empty", wire.empty.as_deref().unwrap_or(language.no_rows()), none)?;
        Ok(Self {
            name: name.to_owned(),
            about: wire.about.trim().to_owned(),
            bounds: Bounds { rows_max: rows_max as usize, wait: Duration::from_millis(wait_ms.into()) },
            keep: Duration::from_secs(keep_s.into()),
            is_narrated: wire.narrate.unwrap_or(true),
            last_day: wire.last_day,
            conditions,
            columns,
            queries,
            empty,
            writing: words.writing.clone(),
        })
    }

    /// Whether its queries run on this database and its templates name what they answer. The parameters are
    /// those that questions come with.
    pub fn check(&mut self, database: &Database, parameters: &[&str]) -> Result<(), DecodeError> {
        let wrong = |path: String| move |problem: String| DecodeError::new(path, problem);
        if let Some(sql) = &self.last_day {
            let columns = database.check(sql, &[]).map_err(wrong("last_day".to_owned()))?;
            if columns.len() != 1 {
                return Err(DecodeError::new("last_day", "must answer one column"));
            }
        }
        let mut found = Vec::with_capacity(self.queries.len());
        let mut unanswered = self.columns.names();
        for (name, query) in &self.queries {
            let path = format!("queries.{name}");
            let answered = database.check(&query.sql, parameters).map_err(wrong(format!("{path}.sql")))?;
            self.check_answered(&path, query, &answered)?;
            unanswered.retain(|column| !answered.iter().any(|name| name == column));
            found.push((name.clone(), answered));
        }
        match unanswered.first() {
            Some(column) => Err(DecodeError::new(format!("columns.{column}"), "is answered by no query")),
            None => {
                for (name, answered) in found {
                    self.queries.get_mut(&name).into_iter().for_each(|query| query.answered.clone_from(&answered));
                }
                self.check_conditions(database, parameters)
            }
        }
    }

    fn check_answered(&self, path: &str, query: &Query, answered: &[String]) -> Result<(), DecodeError> {
        if let Some(stranger) = answered.iter().find(|name| self.columns.get(name).is_none()) {
            let hint = nearest(stranger, &self.columns.names()).map(|near| format!("; did you mean {near}?"));
            let hint = hint.unwrap_or_default();
            let problem = format!("answers the column {stranger}, which is not among the columns{hint}");
            return Err(DecodeError::new(format!("{path}.sql"), problem));
        }
        for (field, template) in query.manner.templates() {
            if let Some(missing) = template.columns().find(|column| !answered.iter().any(|name| name == column)) {
                let problem = format!("names {{{missing}}}, which its query does not answer");
                return Err(DecodeError::new(format!("{path}.{field}"), problem));
            }
        }
        Ok(())
    }

    /// Whether it has a query of its own for an aggregation.
    pub fn answers(&self, aggregation: &str) -> bool {
        self.queries.contains_key(aggregation)
    }

    /// The query for an aggregation; that for `list` where it has none of its own.
    pub fn query(&self, aggregation: &str) -> &str {
        &self.of(aggregation).sql
    }

    /// The rows in words, as Markdown.
    pub(crate) fn present(&self, rows: &Rows, spoken: &Spoken<'_>) -> Presented {
        let manner = &self.of(spoken.aggregation).manner;
        let told = present::tell(&self.columns, &self.writing, manner, &self.empty, rows, spoken);
        let cut = present::tell_cut(rows, &self.writing);
        let remarks = cut.into_iter().chain(self.tell_conditions(spoken.conditions)).collect();
        Presented { told, remarks }
    }

    /// The rows with all that their templates make of them, for judging what a model makes of them.
    pub fn facts<'a>(&'a self, rows: &'a Rows, aggregation: &str) -> (Vec<FactColumn<'a>>, Vec<Vec<FactCell<'a>>>) {
        let manner = &self.of(aggregation).manner;
        let columns = rows.columns.iter().map(|name| {
            let words = self.columns.get(name).map_or(&[][..], |column| column.words());
            FactColumn { words: words.iter().map(String::as_str).collect() }
        });
        let formats: Vec<Vec<Format>> = rows
            .columns
            .iter()
            .map(|name| {
                let own = manner.templates().flat_map(|(_, template)| template.formats(name));
                self.columns.get(name).map(|column| column.format).into_iter().chain(own).collect()
            })
            .collect();
        let cell = |(value, formats): (&'a Value, &Vec<Format>)| {
            let written = formats.iter().map(|format| format.written(value, &self.writing)).collect();
            FactCell { value, written }
        };
        let cells = rows.rows.iter().map(|row| row.iter().zip(&formats).map(cell).collect());
        (columns.collect(), cells.collect())
    }

    fn of(&self, aggregation: &str) -> &Query {
        let found = self.queries.get(aggregation).or_else(|| self.queries.get(LIST));
        found.expect("an entity without the query for list is not decoded")
    }
}

fn decode_queries(
    wires: BTreeMap<String, QueryWire>,
    names: Names<'_>,
) -> Result<BTreeMap<String, Query>, DecodeError> {
    if !wires.contains_key(LIST) {
        return Err(DecodeError::new("queries", format!("must have the query {LIST}")));
    }
    if wires.len() > ENTITY_QUERIES_MAX {
        let problem = format!("has more than {ENTITY_QUERIES_MAX} queries (ENTITY_QUERIES_MAX)");
        return Err(DecodeError::new("queries", problem));
    }
    let query = |(name, wire): (String, QueryWire)| {
        let path = format!("queries.{name}");
        check_name(&path, &name)?;
        check_text(&format!("{path}.sql"), &wire.sql, SQL_BYTES_MAX, "SQL_BYTES_MAX")?;
        let manner = decode_manner(&path, wire.table, wire.list, wire.text, names)?;
        Ok((name, Query { sql: wire.sql, manner, answered: Vec::new() }))
    };
    wires.into_iter().map(query).collect()
}

fn decode_manner(
    path: &str,
    table: Option<TableWire>,
    list: Option<ListWire>,
    text: Option<TextWire>,
    names: Names<'_>,
) -> Result<Manner, DecodeError> {
    let of_all = Names { is_of_row: false, ..names };
    let title = |field: &str, text: Option<String>| {
        text.map(|text| template(&format!("{path}.{field}.title"), &text, of_all)).transpose()
    };
    let item = |field: &str, text: &str| template(&format!("{path}.{field}.item"), text, names);
    match (table, list, text) {
        (Some(table), None, None) => Ok(Manner::Table { title: title("table", table.title)? }),
        (None, Some(list), None) => {
            let item = list.item.map(|text| item("list", &text)).transpose()?;
            Ok(Manner::List { title: title("list", list.title)?, item })
        }
        (None, None, Some(text)) => Ok(Manner::Text { item: item("text", &text.item)? }),
        _ => Err(DecodeError::new(path, "must have exactly one of table, list and text")),
    }
}

fn template(path: &str, text: &str, names: Names<'_>) -> Result<Template, DecodeError> {
    check_text(path, text, TEMPLATE_BYTES_MAX, "TEMPLATE_BYTES_MAX")?;
    Template::parse(text, names).map_err(|problem| DecodeError::new(path, problem))
}

fn within(field: &str, value: u32, least: u32, most: usize) -> Result<u32, DecodeError> {
    match value >= least && value as usize <= most {
        true => Ok(value),
        false => Err(DecodeError::new(field, format!("must be a whole number from {least} to {most}"))),
    }
}

fn check_text(path: &str, text: &str, most: usize, limit: &str) -> Result<(), DecodeError> {
    match !text.trim().is_empty() && text.len() <= most {
        true => Ok(()),
        false => Err(DecodeError::new(path, format!("must have 1 to {most} bytes ({limit})"))),
    }
}

#[cfg(test)]
#[path = "entity_tests.rs"]
mod tests;
