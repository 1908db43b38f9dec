//! The columns of an entity: what they are called, how they are written, and which words ask for them.

use std::collections::BTreeMap;

use novelo_engine::decode::DecodeError;
use novelo_engine::limits::{ASKED_BY_BYTES_MAX, ASKED_BY_MAX, ENTITY_COLUMNS_MAX, TEMPLATE_BYTES_MAX};
use novelo_language::Language;
use novelo_language::plan::{Phrase, Question};
use serde::Deserialize;

use super::format::Format;
use crate::data::database::Rows;

/// By their names.
#[derive(Debug)]
pub struct Columns(BTreeMap<String, Column>);

#[derive(Debug)]
pub struct Column {
    pub label: String,
    pub format: Format,
    /// Shown only where one of these is mentioned, if any of the columns beside it is.
    asked_by: Vec<Phrase>,
    /// Answered, and shown to nobody.
    is_hidden: bool,
    /// Its label, and the words that ask for it.
    words: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnWire {
    label: Option<String>,
    format: Option<String>,
    #[serde(default)]
    asked_by: Vec<String>,
    #[serde(default)]
    hidden: bool,
}

impl Columns {
    pub fn decode(wires: BTreeMap<String, ColumnWire>, language: Language) -> Result<Self, DecodeError> {
        if wires.is_empty() || wires.len() > ENTITY_COLUMNS_MAX {
            let problem = format!("must be 1 to {ENTITY_COLUMNS_MAX} columns (ENTITY_COLUMNS_MAX)");
            return Err(DecodeError::new("columns", problem));
        }
        let column = |(name, wire): (String, ColumnWire)| {
            let path = format!("columns.{name}");
            check_name(&path, &name)?;
            Ok((name.clone(), wire.decode(&path, name, language)?))
        };
        wires.into_iter().map(column).collect::<Result<_, _>>().map(Self)
    }

    pub fn names(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }

    pub fn get(&self, name: &str) -> Option<&Column> {
        self.0.get(name)
    }

    /// The places of the columns that are shown. If the question mentions words of some columns, the other
    /// columns with words are left out.
    pub fn shown<'a>(&'a self, rows: &'a Rows, question: &Question) -> Vec<(usize, &'a Column)> {
        let answered = rows.columns.iter().enumerate().filter_map(|(at, name)| Some((at, self.get(name)?)));
        let told: Vec<_> = answered.map(|(at, column)| (at, column, column.is_mentioned(question))).collect();
        let is_focused = told.iter().any(|(_, _, is_mentioned)| *is_mentioned);
        let is_shown = |column: &Column, is_mentioned| {
            !column.is_hidden && (!is_focused || is_mentioned || column.asked_by.is_empty())
        };
        told.into_iter()
            .filter(|(_, column, said)| is_shown(column, *said))
            .map(|(at, column, _)| (at, column))
            .collect()
    }
}

impl Column {
    pub fn words(&self) -> &[String] {
        &self.words
    }

    fn is_mentioned(&self, question: &Question) -> bool {
        self.asked_by.iter().any(|phrase| question.mentions(phrase))
    }
}

impl ColumnWire {
    fn decode(self, path: &str, name: String, language: Language) -> Result<Column, DecodeError> {
        let wrong = |field: &str, problem: String| DecodeError::new(format!("{path}.{field}"), problem);
        let format = self.format.as_deref().map_or(Ok(Format::Text), Format::parse);
        let format = format.map_err(|problem| wrong("format", problem))?;
        let label = self.label.unwrap_or(name);
        if label.trim().is_empty() || label.len() > TEMPLATE_BYTES_MAX {
            return Err(wrong("label", format!("must have 1 to {TEMPLATE_BYTES_MAX} bytes (TEMPLATE_BYTES_MAX)")));
        }
        if self.asked_by.len() > ASKED_BY_MAX {
            return Err(wrong("asked_by", format!("has more than {ASKED_BY_MAX} entries (ASKED_BY_MAX)")));
        }
        let phrase = |(n, text): (usize, &String)| {
            let is_fit = text.len() <= ASKED_BY_BYTES_MAX && text.contains(char::is_alphanumeric);
            let problem = || format!("must be words of at most {ASKED_BY_BYTES_MAX} bytes (ASKED_BY_BYTES_MAX)");
            if is_fit { Ok(Phrase::new(text, language)) } else { Err(wrong(&format!("asked_by[{n}]"), problem())) }
        };
        let asked_by = self.asked_by.iter().enumerate().map(phrase).collect::<Result<_, _>>()?;
        let words = std::iter::once(label.clone()).chain(self.asked_by).collect();
        Ok(Column { label, format, asked_by, is_hidden: self.hidden, words })
    }
}

/// A name that can stand in a query and in a template.
pub(crate) fn check_name(path: &str, name: &str) -> Result<(), DecodeError> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    match !name.is_empty() && name.len() <= TEMPLATE_BYTES_MAX && name.chars().all(is_word) {
        true => Ok(()),
        false => Err(DecodeError::new(path, "must be named in letters without accents, digits and _")),
    }
}
