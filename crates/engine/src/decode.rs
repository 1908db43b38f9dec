//! LevelScope requests and policy files, field by field.
//!
//! Owns the errors that name a path (`recipe.filters[1].options.maxTokens`) and the nearest known name for
//! one that is not known. Refuses unknown fields, wrong kinds and numbers out of range; never fills in a
//! default for a bad value.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::limits::ADDED_TEXT_BYTES_MAX;

/// What is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path} {problem}")]
pub struct DecodeError {
    /// Where: the path of the field, such as `recipe.budget_tokens`.
    pub path: String,
    /// What is wrong with it.
    pub problem: String,
}

impl DecodeError {
    /// An error at a path.
    pub fn new(path: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { path: path.into(), problem: problem.into() }
    }
}

/// The fields of one object, each read at most once.
pub struct Fields<'v> {
    path: String,
    map: Option<&'v Map<String, Value>>,
    known: Vec<&'static str>,
}

impl<'v> Fields<'v> {
    /// The object at `path`.
    pub fn from_value(path: impl Into<String>, value: &'v Value) -> Result<Self, DecodeError> {
        let path = path.into();
        match value {
            Value::Object(map) => Ok(Self { path, map: Some(map), known: Vec::new() }),
            _ => Err(DecodeError::new(path, "must be an object")),
        }
    }

    /// An object that was left out.
    pub fn none(path: impl Into<String>) -> Self {
        Self { path: path.into(), map: None, known: Vec::new() }
    }

    /// The path of a field.
    pub fn path(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    /// A field as it stands; absent and null are the same.
    pub fn value(&mut self, name: &'static str) -> Option<&'v Value> {
        self.known.push(name);
        self.map?.get(name).filter(|v| !v.is_null())
    }

    /// A string.
    pub fn string(&mut self, name: &'static str) -> Result<Option<&'v str>, DecodeError> {
        self.read(name, "must be a string", Value::as_str)
    }

    /// A text that is added to each of many messages, and is short for that reason.
    pub(crate) fn added_text(&mut self, name: &'static str) -> Result<Option<&'v str>, DecodeError> {
        let problem = format!("must be a string of at most {ADDED_TEXT_BYTES_MAX} bytes (ADDED_TEXT_BYTES_MAX)");
        self.read(name, &problem, |v| v.as_str().filter(|text| text.len() <= ADDED_TEXT_BYTES_MAX))
    }

    /// A boolean.
    pub fn flag(&mut self, name: &'static str) -> Result<Option<bool>, DecodeError> {
        self.read(name, "must be true or false", Value::as_bool)
    }

    /// An array; an absent one is empty.
    pub fn list(&mut self, name: &'static str) -> Result<&'v [Value], DecodeError> {
        Ok(self.read(name, "must be an array", |v| v.as_array().map(Vec::as_slice))?.unwrap_or_default())
    }

    /// A whole number from `least` to `most`.
    pub fn number(&mut self, name: &'static str, least: u32, most: u32) -> Result<Option<u32>, DecodeError> {
        let fits = |v: &Value| {
            let whole =
                v.as_u64().or_else(|| v.as_f64().filter(|f| f.fract() == 0.0 && *f >= 0.0).map(|f| f as u64))?;
            u32::try_from(whole).ok().filter(|n| (least..=most).contains(n))
        };
        self.read(name, &format!("must be a whole number from {least} to {most}"), fits)
    }

    /// A number.
    pub fn float(&mut self, name: &'static str) -> Result<Option<f64>, DecodeError> {
        self.read(name, "must be a number", Value::as_f64)
    }

    fn read<T>(
        &mut self,
        name: &'static str,
        problem: &str,
        read: impl Fn(&'v Value) -> Option<T>,
    ) -> Result<Option<T>, DecodeError> {
        match self.value(name) {
            None => Ok(None),
            Some(value) => read(value).map(Some).ok_or_else(|| DecodeError::new(self.path(name), problem)),
        }
    }

    /// Refuses what was not asked for.
    pub fn finish(self) -> Result<(), DecodeError> {
        match self.map.and_then(|map| UnknownField::among(map, &self.known).next()) {
            Some(unknown) => Err(DecodeError::new(self.path(&unknown.field), unknown.problem())),
            None => Ok(()),
        }
    }
}

/// A field that nobody knows.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct UnknownField {
    /// Its name.
    pub field: String,
    /// The known name that is nearest to it, if any is near.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub near: Option<String>,
}

impl UnknownField {
    /// The fields of an object that are not known, in the order in which they are given.
    pub fn among<'a>(object: &'a Map<String, Value>, known: &'a [&'static str]) -> impl Iterator<Item = Self> + 'a {
        let unknown = object.keys().filter(|field| !known.contains(&field.as_str()));
        unknown.map(|field| Self { field: field.clone(), near: nearest(field, known).map(str::to_owned) })
    }

    fn problem(&self) -> String {
        match &self.near {
            Some(near) => format!("is not known; did you mean {near}?"),
            None => "is not known".to_owned(),
        }
    }
}

impl fmt::Display for UnknownField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.field, self.problem())
    }
}

/// The known name nearest to one that is not, if any is near.
pub fn nearest<'n>(name: &str, known: &[&'n str]) -> Option<&'n str> {
    let edits_max = |k: &str| 1 + k.len() / 3;
    let near = |k: &&str| distance(&name.to_lowercase(), &k.to_lowercase());
    let of_like_length = known.iter().filter(|k| name.chars().count().abs_diff(k.len()) <= edits_max(k));
    let best = of_like_length.min_by_key(|k| near(k))?;
    (near(best) <= edits_max(best)).then_some(*best)
}

/// Edits between two words.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut corner = i;
        let mut left = i + 1;
        for (cell, to) in row.iter_mut().skip(1).zip(&b) {
            let here = (corner + usize::from(from != *to)).min(left + 1).min(*cell + 1);
            corner = std::mem::replace(cell, here);
            left = here;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_edits() {
        for (a, b, edits) in [("", "abc", 3), ("abc", "abc", 0), ("maxTokns", "maxTokens", 1), ("ab", "ba", 2)] {
            assert_eq!(distance(a, b), edits, "{a} {b}");
        }
    }

    #[test]
    fn a_stranger_is_told_its_nearest_name() {
        let value = serde_json::json!({"maxTokns": 3});
        let mut fields = Fields::from_value("filters[0].options", &value).unwrap();
        fields.number("maxTokens", 0, 9).unwrap();
        let error = fields.finish().unwrap_err().to_string();
        assert_eq!(error, "filters[0].options.maxTokns is not known; did you mean maxTokens?");
    }

    #[test]
    fn numbers_keep_their_range() {
        let value = serde_json::json!({"a": 9, "b": 10, "c": 1.5, "d": -1, "e": 4.0, "f": "1", "g": 1e300});
        let mut fields = Fields::from_value("x", &value).unwrap();
        assert_eq!(fields.number("a", 0, 9), Ok(Some(9)));
        assert_eq!(fields.number("e", 0, 9), Ok(Some(4)));
        assert_eq!(fields.number("absent", 0, 9), Ok(None));
        for name in ["b", "c", "d", "f", "g"] {
            assert!(fields.number(name, 0, 9).is_err(), "{name}");
        }
    }
}
