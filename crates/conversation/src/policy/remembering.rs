//! What a conversation remembers: the policy of `context.yaml`, shipped inside the binary or from a file of
//! that name.
//!
//! A field that is null has its default. A key that is not known is a warning, since policies are written for
//! several programs; a value of a wrong type is an error, and the file is not used.

use std::path::Path;
use std::sync::Arc;

use novelo_engine::decode::{DecodeError, nearest};
use novelo_engine::policy::Policy;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::files::WatchedFile;
use crate::yaml::Yaml;

/// The policy in force, and how its file is.
#[derive(Debug, Clone, Default)]
pub struct Remembering {
    /// The policy.
    pub policy: Arc<Policy>,
    /// Whether its file is in force.
    pub status: Status,
    /// Keys of the file that are not known, a line each.
    pub warnings: Vec<String>,
}

/// Whether the file of the policy is in force.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The file is in force.
    Ok,
    /// There is no file: the shipped policy is in force.
    #[default]
    Missing,
    /// The file is broken: the last good policy is in force, or the defaults where there was none.
    Invalid,
}

/// That of the file; the shipped one where there is none, and where it is broken the one from before.
pub fn take(
    dir: &Path,
    files: &[WatchedFile],
    shipped: &'static str,
    before: &Remembering,
    broken: &mut Vec<String>,
) -> Remembering {
    let read = match files.first() {
        None => {
            tracing::info!(file = %dir.join(FILE).display(), "there is no such policy, the shipped one is in force");
            return shipped_policy(shipped);
        }
        Some(file) => file.load().and_then(|text| read(&text)).map_err(|problem| file.tell(problem)),
    };
    match read {
        Ok((policy, warnings)) => {
            let place = dir.join(FILE);
            let warnings: Vec<_> = warnings.iter().map(|warning| format!("{}: {warning}", place.display())).collect();
            warnings.iter().for_each(|warning| tracing::warn!(%warning, "a key of a policy is ignored"));
            Remembering { policy: Arc::new(policy), status: Status::Ok, warnings }
        }
        Err(problem) => {
            broken.push(problem);
            Remembering { policy: before.policy.clone(), status: Status::Invalid, warnings: Vec::new() }
        }
    }
}

pub const FILE: &str = "context.yaml";
const KEY: &str = "context";

/// The policy that is in force where there is no file.
fn shipped_policy(text: &str) -> Remembering {
    let (policy, _) = read(text).expect("the shipped policy is read by a test");
    Remembering { policy: Arc::new(policy), status: Status::Missing, warnings: Vec::new() }
}

/// The fields of the policy, and of its blocks.
const FIELDS: &[&str] = &["enabled", "max_turns", "ttl_seconds", "max_chars", "planner", "narrator", "last_reference"];
const BLOCKS: &[(&str, &[&str])] = &[
    ("planner", &["enabled", "max_turns", "allowed_entities", "denied_entities"]),
    ("narrator", &["enabled", "inject_history", "max_turns", "max_chars", "allowed_entities", "denied_entities"]),
    ("last_reference", &["enable_last_ticker", "allowed_entities", "max_age_turns", "bucket_ttl"]),
];

/// The policy of a text, and the keys in it that are not known.
fn read(text: &str) -> Result<(Policy, Vec<String>), String> {
    let yaml = Yaml::read(text).map_err(|problem| problem.to_string())?;
    let value = match yaml.value.get(KEY) {
        Some(value) => value,
        None => yaml.under(KEY).map_err(|problem| problem.to_string())?,
    };
    let mut unknown = Unknown { yaml: &yaml, warnings: Vec::new() };
    if let Value::Object(members) = &yaml.value {
        unknown.known(members, "", &[KEY]);
    }
    let mut value = value.clone();
    if let Value::Object(members) = &mut value {
        *members = unknown.known(members, KEY, FIELDS);
        for (block, fields) in BLOCKS {
            if let Some(Value::Object(members)) = members.get_mut(*block) {
                *members = unknown.known(members, &format!("{KEY}.{block}"), fields);
            }
        }
        if let Some(Value::Object(buckets)) = members.get_mut("last_reference").and_then(|of| of.get_mut("bucket_ttl"))
        {
            buckets.retain(|_, age| !age.is_null());
        }
    }
    let warnings = unknown.warnings;
    match value.is_null() {
        true => Ok((Policy::default(), warnings)),
        false => yaml.decode(KEY, &value).map(|policy| (policy, warnings)).map_err(|problem| problem.to_string()),
    }
}

/// What was found in a file and is not known.
struct Unknown<'y> {
    yaml: &'y Yaml,
    warnings: Vec<String>,
}

impl Unknown<'_> {
    /// The members that are known and not null.
    fn known(&mut self, members: &Map<String, Value>, path: &str, fields: &[&str]) -> Map<String, Value> {
        let mut known = Map::new();
        for (name, value) in members {
            match fields.contains(&name.as_str()) {
                true if value.is_null() => {}
                true => drop(known.insert(name.clone(), value.clone())),
                false => {
                    let at = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                    let hint = nearest(name, fields).map(|near| format!("; did you mean {near}?"));
                    let problem = format!("is not known and is ignored{}", hint.unwrap_or_default());
                    self.warnings.push(self.yaml.problem(DecodeError::new(at, problem)).to_string());
                }
            }
        }
        known
    }
}

#[cfg(test)]
mod tests {
    use novelo_engine::policy::{Inheritance, Narrator, Planner};

    use super::*;

    #[test]
    fn the_shipped_policy_is_read_whole() {
        let shipped = crate::data::shipped::FIIS.context;
        let (policy, warnings) = read(shipped).unwrap();
        assert!(policy.enabled && policy.last_reference.enable_last_ticker);
        assert_eq!(warnings, [""; 0]);
        assert_eq!(*shipped_policy(shipped).policy, policy);
        assert!(read(crate::data::shipped::LIBRARY.context).unwrap().1.is_empty());
    }

    #[test]
    fn null_means_the_default_wherever_it_stands() {
        let all_null = "context:\n  enabled: true\n  max_turns:\n  planner:\n  narrator: ~\n  last_reference: null\n";
        let expected = Policy { enabled: true, ..Policy::default() };
        assert_eq!(read(all_null).unwrap(), (expected, Vec::new()));
        let inside = "context: {planner: {allowed_entities: null}, narrator: {max_turns: null}, last_reference: {bucket_ttl: {a: null, b: 2}}}";
        let (policy, _) = read(inside).unwrap();
        assert_eq!((policy.planner, policy.narrator), (Planner::default(), Narrator::default()));
        assert_eq!(policy.last_reference.bucket_ttl, [("b".to_owned(), 2)].into());
        assert_eq!(read("context:\n").unwrap().0, Policy::default());
    }

    #[test]
    fn a_key_that_is_not_known_is_a_warning_with_its_line() {
        let text = "version: 2\ncontext:\n  enabled: true\n  planer: {}\n  planner:\n    max_chars: 1\n    max_turns: 3\n  last_reference:\n    fallback: x\n";
        let (policy, warnings) = read(text).unwrap();
        assert!(policy.enabled);
        assert_eq!(policy.planner.max_turns, 3);
        assert_eq!(policy.last_reference, Inheritance::default());
        assert_eq!(
            warnings,
            [
                "line 1: version is not known and is ignored",
                "line 4: context.planer is not known and is ignored; did you mean planner?",
                "line 6: context.planner.max_chars is not known and is ignored; did you mean max_turns?",
                "line 9: context.last_reference.fallback is not known and is ignored",
            ]
        );
    }

    #[test]
    fn a_value_of_a_wrong_type_is_an_error() {
        for (text, words) in [
            ("context: {enabled: maybe}", "context.enabled"),
            ("context: {planner: 5}", "context.planner"),
            ("context: 5", "context"),
            ("other: {}", "line 1: other is not known; the file has the key context"),
            ("", "must have the key context"),
        ] {
            let problem = read(text).unwrap_err();
            assert!(problem.contains(words), "{text}: {problem}");
        }
    }
}
