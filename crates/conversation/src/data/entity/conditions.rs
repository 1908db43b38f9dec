//! What the rows of an entity can be selected by, and the query that selects them.
//!
//! Owns the declarations in its file. Invariant: a column comes from a declaration, and every value is bound.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use novelo_engine::decode::{DecodeError, nearest};
use novelo_engine::limits::{CONDITION_WORDS_MAX, ENTITY_CONDITIONS_MAX};
use novelo_language::Language;
use novelo_language::plan::{AmountUnit, Condition, ConditionRule};
use serde::Deserialize;
use serde_json::Value;

use super::Entity;
use super::columns::Columns;
use crate::data::database::Database;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConditionWire {
    /// Its own name, where it is left out.
    column: Option<String>,
    unit: Option<AmountUnit>,
    #[serde(default)]
    words: Vec<String>,
    #[serde(default)]
    values: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    only: BTreeMap<String, String>,
}

/// The parameter of a condition, by its place.
pub fn parameter(nth: usize) -> String {
    format!("condition_{nth}")
}

/// The parameter for the most rows that are left.
pub(crate) const LEFT: &str = "condition_limit";

pub fn decode(
    wires: BTreeMap<String, ConditionWire>,
    columns: &Columns,
    language: Language,
) -> Result<Vec<ConditionRule>, DecodeError> {
    if wires.len() > ENTITY_CONDITIONS_MAX {
        let problem = format!("has more than {ENTITY_CONDITIONS_MAX} conditions (ENTITY_CONDITIONS_MAX)");
        return Err(DecodeError::new("conditions", problem));
    }
    let rule = |(name, wire): (String, ConditionWire)| {
        let path = format!("conditions.{name}");
        let column = wire.column.unwrap_or(name);
        if columns.get(&column).is_none() {
            let hint = nearest(&column, &columns.names()).map(|near| format!("; did you mean {near}?"));
            let problem = format!("is on {column}, which is not among the columns{}", hint.unwrap_or_default());
            return Err(DecodeError::new(path, problem));
        }
        let words: usize = wire.words.len() + wire.values.values().map(Vec::len).sum::<usize>();
        if words > CONDITION_WORDS_MAX {
            let problem = format!("has more than {CONDITION_WORDS_MAX} words (CONDITION_WORDS_MAX)");
            return Err(DecodeError::new(path, problem));
        }
        let unit = wire.unit.unwrap_or_default();
        let rule = ConditionRule::new(&column, unit, &wire.words, &wire.values, wire.only, language);
        rule.map_err(|problem| DecodeError::new(path, problem))
    };
    wires.into_iter().map(rule).collect()
}

impl Entity {
    /// The query for an aggregation, with these conditions on its rows.
    pub(crate) fn selection(&self, aggregation: &str, conditions: &[Condition]) -> String {
        let sql = self.query(aggregation);
        if conditions.is_empty() {
            return sql.to_owned();
        }
        let mut selection = format!("SELECT * FROM (\n{}\n)", sql.trim_end().trim_end_matches(';'));
        for (nth, Condition { column, op, .. }) in conditions.iter().enumerate() {
            let joint = if nth == 0 { "WHERE" } else { "AND" };
            let parameter = parameter(nth);
            let test = match op.as_str() {
                "in" => format!("IN (SELECT value FROM json_each(:{parameter}))"),
                op @ (">" | ">=" | "<" | "<=") => format!("{op} :{parameter}"),
                _ => format!("= :{parameter}"),
            };
            _ = write!(selection, "\n{joint} \"{column}\" {test}");
        }
        _ = write!(selection, "\nLIMIT :{LEFT}");
        selection
    }

    /// Whether the rows of an aggregation have the columns of these conditions.
    pub(crate) fn can_select(&self, aggregation: &str, conditions: &[Condition]) -> bool {
        let answered = &self.of(aggregation).answered;
        conditions.iter().all(|condition| answered.contains(&condition.column))
    }

    /// Whether its queries can be selected from: all of them, by each condition that they answer.
    pub(super) fn check_conditions(&self, database: &Database, parameters: &[&str]) -> Result<(), DecodeError> {
        for rule in &self.conditions {
            let condition = Condition { column: rule.column.clone(), op: ">".to_owned(), value: Value::Null };
            for name in self.queries.keys().filter(|name| self.can_select(name, std::slice::from_ref(&condition))) {
                let first = parameter(0);
                let all = [parameters, &[&first, LEFT]].concat();
                let sql = self.selection(name, std::slice::from_ref(&condition));
                let wrong = |problem| DecodeError::new(format!("queries.{name}.sql"), problem);
                database.check(&sql, &all).map_err(wrong)?;
            }
        }
        Ok(())
    }

    /// What the rows were selected by.
    pub(super) fn tell_conditions(&self, conditions: &[Condition]) -> Option<String> {
        let one = |condition: &Condition| {
            let column = self.columns.get(&condition.column)?;
            let mut value = String::new();
            match &condition.value {
                Value::Array(values) => {
                    let texts: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
                    value.push_str(&texts.join(", "));
                }
                number => column.format.write(number, &self.writing, &mut value),
            }
            Some((column.label.clone(), condition.op.clone(), value))
        };
        let all: Vec<(String, String, String)> = conditions.iter().filter_map(one).collect();
        let parts: Vec<(&str, &str, String)> =
            all.iter().map(|(label, op, value)| (label.as_str(), op.as_str(), value.clone())).collect();
        (!parts.is_empty()).then(|| self.writing.language.tell_conditions(&parts))
    }
}
