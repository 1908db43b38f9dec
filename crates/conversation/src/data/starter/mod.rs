//! A starting catalogue for a database, made from its own schema.
//!
//! Owns what the tables, columns and some values of a SQLite file say about it, and the files that follow
//! from that: an ontology, its parameters, an entity for each table, and a policy. What is written is checked
//! as the server checks it. Refuses a database without tables and names that no file can have.

mod column;
mod entity;
mod ontology;
mod schema;
mod words;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use novelo_language::Language;
use novelo_language::schema_words::SchemaWords;

use self::column::ColumnKind;
use self::schema::SchemaTable;
use super::catalogue;
use super::database::Database;
use super::shipped::FIIS;
use crate::files::WatchedFile;

const CONTEXT: &str = "context.yaml";

/// What was found, and what was written.
#[derive(Debug)]
pub struct Starter {
    /// The language of the catalogue.
    pub locale: StarterLocale,
    /// The tables that became entities.
    pub tables: Vec<StarterTable>,
    /// Tables and views that could not be used, and why.
    pub left_out: Vec<(String, String)>,
    /// The files, with their paths below the directory.
    pub files: Vec<(PathBuf, String)>,
}

/// A table and what was made of it.
#[derive(Debug)]
pub struct StarterTable {
    /// The name in the database.
    pub name: String,
    /// The name of the entity.
    pub entity: String,
    /// What its rows are about, by the names of the ontology.
    pub subjects: Vec<String>,
    /// Columns with numbers.
    pub measures: Vec<String>,
    /// The column that gives a row its time.
    pub date: Option<String>,
    /// Words that ask for it.
    pub words: Vec<String>,
}

/// The language of questions and answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StarterLocale {
    /// Portuguese.
    Portuguese,
    /// English.
    English,
    /// Russian.
    Russian,
}

impl StarterLocale {
    /// The value of `locale` in an ontology.
    pub fn code(self) -> &'static str {
        match self {
            Self::Portuguese => "pt",
            Self::English => "en",
            Self::Russian => "ru",
        }
    }

    /// By its code: pt, en or ru.
    pub fn parse(code: &str) -> Option<Self> {
        [Self::Portuguese, Self::English, Self::Russian].into_iter().find(|it| it.code() == code)
    }

    fn language(self) -> Language {
        match self {
            Self::Portuguese => Language::Portuguese,
            Self::English => Language::English,
            Self::Russian => Language::Russian,
        }
    }

    fn words(self) -> &'static SchemaWords {
        self.language().schema_words()
    }

    /// What the ontology takes a folded word for.
    fn stem(self, folded: &str) -> String {
        novelo_language::plan::stem(folded, self.language())
    }

    fn aggregations(self) -> &'static str {
        match self {
            Self::Portuguese => include_str!("../../../policies/starter/pt.yaml"),
            Self::English => include_str!("../../../policies/starter/en.yaml"),
            Self::Russian => include_str!("../../../policies/starter/ru.yaml"),
        }
    }
}

/// Reads a database, and makes the files of its catalogue.
pub fn read(path: &Path, locale: Option<StarterLocale>) -> anyhow::Result<Starter> {
    let schema = schema::read(path)?;
    let locale = locale.unwrap_or_else(|| words::locale(&schema));
    let plan = ontology::plan(&schema);
    let mut files = vec![
        (PathBuf::from(catalogue::ONTOLOGY), ontology::write(&plan, &schema, locale)),
        (PathBuf::from(catalogue::RULES), ontology::write_rules(&plan, &schema, locale)),
        (PathBuf::from(CONTEXT), "context: {enabled: true, last_reference: {enable_last_ticker: true}}\n".to_owned()),
    ];
    for (at, table) in schema.tables.iter().enumerate() {
        let name = plan.entity(at);
        let file = Path::new(catalogue::ENTITIES).join(format!("{name}.yaml"));
        files.push((file, entity::write(&plan, &schema, at, table, locale)));
    }
    let tables = schema.tables.iter().enumerate().map(|(at, table)| plan.told(&schema, at, table)).collect();
    Ok(Starter { locale, tables, left_out: schema.left_out, files })
}

impl Starter {
    /// Writes the files below a directory. Those that are there stay unless `force` is set.
    pub fn write(&self, dir: &Path, force: bool) -> anyhow::Result<()> {
        if let Some((taken, _)) = self.files.iter().find(|(file, _)| !force && dir.join(file).exists()) {
            bail!("{} is there already; --force replaces it, --to names another directory", dir.join(taken).display());
        }
        for (file, text) in &self.files {
            let path = dir.join(file);
            let parent = path.parent().unwrap_or(dir);
            std::fs::create_dir_all(parent).with_context(|| format!("{} cannot be made", parent.display()))?;
            std::fs::write(&path, text).with_context(|| format!("{} cannot be written", path.display()))?;
        }
        Ok(())
    }

    /// Checks the files as the server checks them, in a directory that goes away.
    pub fn check(&self, database: &Path) -> anyhow::Result<()> {
        let dir = tempfile::tempdir().context("no directory for a check of the files")?;
        let dir = dir.path();
        self.write(dir, false)?;
        let database = Database::open(database)?;
        let mut files: Vec<WatchedFile> =
            [catalogue::ONTOLOGY, catalogue::RULES].iter().filter_map(|name| WatchedFile::one(dir, name)).collect();
        files.extend(WatchedFile::all(dir, catalogue::ENTITIES, "yaml"));
        let mut broken = Vec::new();
        let made = catalogue::take(&files, &FIIS, &database, &None, &mut broken);
        ensure!(made.is_some(), "the catalogue does not fit the database: {}", broken.join("; "));
        Ok(())
    }

    /// A question that the first table answers.
    pub fn example(&self) -> Option<String> {
        let table = self.tables.first()?;
        let words = if table.words.is_empty() { table.entity.clone() } else { table.words.join(" ") };
        Some(format!("{} {words}", self.locale.words().list))
    }
}

/// A name in double quotes, for SQL.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A text in double quotes, for YAML.
fn yaml(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

impl SchemaTable {
    /// The columns that can be added up.
    fn measures(&self) -> impl Iterator<Item = &schema::SchemaColumn> {
        self.columns
            .iter()
            .filter(|column| matches!(column.kind, ColumnKind::Integer | ColumnKind::Real | ColumnKind::Percent))
    }

    /// The first column with dates.
    fn date(&self) -> Option<&schema::SchemaColumn> {
        self.columns.iter().find(|column| matches!(column.kind, ColumnKind::Date(_)))
    }
}

#[cfg(test)]
#[path = "starter_tests.rs"]
mod tests;
