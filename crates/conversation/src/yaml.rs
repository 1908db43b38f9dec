//! YAML files, read as JSON values that know their lines.
//!
//! Owns the error of a broken file: its line, and the field. Refuses more than one document, keys that are
//! no text, and keys that stand twice.

use std::collections::HashMap;
use std::fmt;

use novelo_engine::decode::DecodeError;
use saphyr::{LoadableYamlNode, MarkedYaml, Scalar, YamlData};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// A file larger than this is none that anyone wrote by hand.
pub const BYTES_MAX: usize = 1024 * 1024;

/// Blanks and signs of nesting before the first word of a line, so that no file is nested deeper than this.
const OPENING_BYTES_MAX: usize = 200;

/// A file that was read.
#[derive(Debug, Default)]
pub struct Yaml {
    /// What the file says.
    pub value: Value,
    /// Where each field stands, by its path.
    lines: HashMap<String, usize>,
}

/// What is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The line, counted from 1.
    pub line: Option<usize>,
    /// The path of the field; empty for the whole file.
    pub field: String,
    /// What is wrong.
    pub problem: String,
}

impl Yaml {
    /// Reads a file.
    pub fn read(text: &str) -> Result<Self, Problem> {
        if text.len() > BYTES_MAX {
            return Err(Problem::whole(format!("the file has more than {BYTES_MAX} bytes")));
        }
        if let Some(line) = text.lines().position(|line| opening(line) > OPENING_BYTES_MAX) {
            let problem = format!("is nested too deeply: more than {OPENING_BYTES_MAX} bytes before its first word");
            return Err(Problem { line: Some(line + 1), field: String::new(), problem });
        }
        let documents = MarkedYaml::load_from_str(text).map_err(|e| Problem {
            line: Some(e.marker().line()),
            field: String::new(),
            problem: e.info().to_owned(),
        })?;
        let mut yaml = Self::default();
        match documents.as_slice() {
            [] => Ok(yaml),
            [one] => {
                yaml.value = yaml.take(one, String::new())?;
                Ok(yaml)
            }
            _ => Err(Problem::whole("the file has more than one document".to_owned())),
        }
    }

    /// What stands under the one key of a file.
    pub fn under(&self, key: &str) -> Result<&Value, Problem> {
        let Value::Object(members) = &self.value else {
            return Err(Problem::whole(format!("the file must have the key {key}")));
        };
        if let Some(other) = members.keys().find(|member| *member != key) {
            return Err(self.problem(DecodeError::new(other, format!("is not known; the file has the key {key}"))));
        }
        members.get(key).ok_or_else(|| Problem::whole(format!("the file must have the key {key}")))
    }

    /// A part of the file as a type that says how it is read. `path` is where that part stands.
    pub fn decode<T: DeserializeOwned>(&self, path: &str, value: &Value) -> Result<T, Problem> {
        serde_path_to_error::deserialize(value).map_err(|e| {
            let below = e.path().to_string();
            let path = [path, &below].into_iter().filter(|part| !part.is_empty() && *part != ".").collect::<Vec<_>>();
            self.problem(DecodeError::new(path.join("."), e.into_inner().to_string()))
        })
    }

    /// A problem with its line: that of the field, or of what the field would stand in.
    pub fn problem(&self, error: DecodeError) -> Problem {
        let DecodeError { path, problem } = error;
        let mut within = path.as_str();
        let line = loop {
            match (self.lines.get(within), within.rfind(['.', '['])) {
                (Some(line), _) => break Some(*line),
                (None, Some(end)) => within = within.get(..end).unwrap_or_default(),
                (None, None) => break None,
            }
        };
        Problem { line, field: path, problem }
    }

    fn take(&mut self, node: &MarkedYaml<'_>, path: String) -> Result<Value, Problem> {
        let line = node.span.start.line();
        self.lines.entry(path.clone()).or_insert(line);
        let wrong = |problem: &str| Problem { line: Some(line), field: path.clone(), problem: problem.to_owned() };
        match &node.data {
            YamlData::Value(scalar) => Ok(scalar_value(scalar)),
            YamlData::Sequence(items) => {
                let item = |(n, item)| self.take(item, format!("{path}[{n}]"));
                items.iter().enumerate().map(item).collect::<Result<Vec<_>, _>>().map(Value::Array)
            }
            YamlData::Mapping(members) => {
                let mut map = Map::new();
                for (key, member) in members {
                    let name = key_name(key).ok_or_else(|| wrong("has a key that is no text"))?;
                    let at = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                    self.lines.insert(at.clone(), key.span.start.line());
                    map.insert(name, self.take(member, at)?);
                }
                Ok(Value::Object(map))
            }
            _ => Err(wrong("is no value: tags and aliases are not read")),
        }
    }
}

/// Bytes of a line before anything is said: each level of nesting takes at least one, but for those in
/// brackets, which the parser counts itself.
fn opening(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t', '-', '?']).len()
}

fn scalar_value(scalar: &Scalar<'_>) -> Value {
    match scalar {
        Scalar::Null => Value::Null,
        Scalar::Boolean(value) => (*value).into(),
        Scalar::Integer(value) => (*value).into(),
        Scalar::FloatingPoint(value) => value.into_inner().into(),
        Scalar::String(text) => text.as_ref().into(),
    }
}

/// A key as text: `2024` and `no` are names too.
fn key_name(key: &MarkedYaml<'_>) -> Option<String> {
    match &key.data {
        YamlData::Value(Scalar::String(text)) => Some(text.to_string()),
        YamlData::Value(Scalar::Integer(number)) => Some(number.to_string()),
        _ => None,
    }
}

impl Problem {
    fn whole(problem: String) -> Self {
        Self { line: None, field: String::new(), problem }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        match self.field.is_empty() {
            true => f.write_str(&self.problem),
            false => write!(f, "{} {}", self.field, self.problem),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Wire {
        #[serde(rename = "max_turns")]
        _max_turns: i64,
    }

    fn problem(text: &str) -> String {
        let yaml = match Yaml::read(text) {
            Ok(yaml) => yaml,
            Err(problem) => return problem.to_string(),
        };
        let read = yaml.under("context").and_then(|value| yaml.decode::<Wire>("context", value));
        read.unwrap_err().to_string()
    }

    #[test]
    fn problems_name_line_and_field() {
        assert_eq!(
            problem("# a\ncontext:\n  max_turns: many\n"),
            "line 3: context.max_turns invalid type: string \"many\", expected i64"
        );
        assert!(problem("context:\n  max_turns: 1\n  x: 2\n").starts_with("line 3: context.x unknown field `x`"));
        assert_eq!(problem("context:\n  y: [\n").split(':').next(), Some("line 3"));
        assert!(problem("context:\n  max_turns: 1\n  max_turns: 2\n").starts_with("line 3: duplicated key"));
        assert_eq!(problem("other: 1\n"), "line 1: other is not known; the file has the key context");
        assert_eq!(problem(""), "the file must have the key context");
        assert_eq!(problem("--- 1\n--- 2\n"), "the file has more than one document");
        let deep = |levels: usize| problem(&format!("context:\n{}1\n", "- ".repeat(levels)));
        assert!(deep(OPENING_BYTES_MAX / 2).contains("invalid type"));
        assert!(deep(OPENING_BYTES_MAX / 2 + 1).starts_with("line 2: is nested too deeply"));
        assert!(deep(200_000).starts_with("line 2: is nested too deeply"));
        assert!(problem(&format!("context: {}", "[".repeat(100_000))).starts_with("line 1"));
        assert!(problem(&format!("a: {}", "x".repeat(BYTES_MAX))).contains("more than 1048576 bytes"));
    }

    #[test]
    fn a_field_of_a_list_has_its_line() {
        let yaml = Yaml::read("a:\n  - b: 1\n  - b: 2\n    c: 3\n").unwrap();
        let line = |path: &str| yaml.problem(DecodeError::new(path, "is odd")).line;
        assert_eq!([line("a[1].c"), line("a[1].d"), line("a[0].b.x"), line("z")], [Some(4), Some(3), Some(2), None]);
    }
}
