//! Whether an answer is what a page says.

use serde_json::{Map, Value};

/// Stands for what is not told.
const MORE: &str = "...";

/// Clocks of one machine, and a test that takes its time.
const NOW_S_MAX: f64 = 600.0;

/// Compares by value; the first difference, with its place.
pub fn same(expected: &Value, actual: &Value, now: f64) -> Result<(), String> {
    check_matchers(expected)?;
    compare(expected, actual, now, "")
}

/// A slip in a matcher is an error wherever it stands, also where nothing is compared with it.
fn check_matchers(expected: &Value) -> Result<(), String> {
    match expected {
        Value::String(text) if is_matcher(text) => matches(text, &Value::Null, 0.0).map(drop),
        Value::Array(elements) => elements.iter().try_for_each(check_matchers),
        Value::Object(members) => members.values().try_for_each(check_matchers),
        _ => Ok(()),
    }
}

fn compare(expected: &Value, actual: &Value, now: f64, at: &str) -> Result<(), String> {
    match (expected, actual) {
        (Value::String(text), _) if is_matcher(text) => match matches(text, actual, now)? {
            true => Ok(()),
            false => Err(differ(at, expected, actual)),
        },
        (Value::Object(expected), Value::Object(actual)) => objects(expected, actual, now, at),
        (Value::Array(expected), Value::Array(actual)) => elements(expected, actual, 0, now, at),
        (Value::Number(a), Value::Number(b)) if a.as_f64() == b.as_f64() => Ok(()),
        _ if expected == actual => Ok(()),
        _ => Err(differ(at, expected, actual)),
    }
}

fn differ(at: &str, expected: &Value, actual: &Value) -> String {
    let place = if at.is_empty() { "the answer" } else { at };
    format!("{place}: expected {expected}, got {actual}")
}

fn is_matcher(text: &str) -> bool {
    text.starts_with('<') && text.ends_with('>')
}

fn matches(matcher: &str, actual: &Value, now: f64) -> Result<bool, String> {
    match matcher.trim_start_matches('<').trim_end_matches('>') {
        "any" => Ok(true),
        "number" => Ok(actual.is_number()),
        "string" => Ok(actual.is_string()),
        "uuid4" => Ok(actual.as_str().is_some_and(is_uuid4)),
        "now" => Ok(actual.as_f64().is_some_and(|time| (time - now).abs() < NOW_S_MAX)),
        inside => match inside.split_once(':').map(|(kind, what)| (kind, what, what.parse())) {
            Some(("text", parts, _)) => Ok(actual.as_str().is_some_and(|text| holds(text, parts))),
            Some(("chars", _, Ok(most))) => Ok(actual.as_str().is_some_and(|text| text.chars().count() <= most)),
            Some(("below", _, Ok(most))) => Ok(actual.as_f64().is_some_and(|number| number < most as f64)),
            _ => Err(format!("{matcher} is no matcher")),
        },
    }
}

fn is_uuid4(text: &str) -> bool {
    uuid::Uuid::parse_str(text).is_ok_and(|id| id.get_version_num() == 4 && id.to_string() == text)
}

/// Whether a text holds these parts, one after the other.
fn holds(text: &str, parts: &str) -> bool {
    let mut rest = text;
    parts.split(MORE).all(|part| match rest.find(part) {
        Some(found) => {
            rest = &rest[found + part.len()..];
            true
        }
        None => false,
    })
}

fn objects(expected: &Map<String, Value>, actual: &Map<String, Value>, now: f64, at: &str) -> Result<(), String> {
    for (key, value) in expected.iter().filter(|(key, _)| *key != MORE) {
        let at = format!("{at}/{key}");
        match actual.get(key) {
            Some(there) => compare(value, there, now, &at)?,
            None => return Err(format!("{at}: expected {value}, got nothing")),
        }
    }
    let stranger = actual.iter().find(|(key, _)| !expected.contains_key(*key) && !expected.contains_key(MORE));
    match stranger {
        Some((key, value)) => Err(format!("{at}/{key}: expected nothing, got {value}")),
        None => Ok(()),
    }
}

/// The elements from the place `from` on. With `"..."` among the expected ones, any number of elements may
/// stand in its place.
fn elements(expected: &[Value], actual: &[Value], from: usize, now: f64, at: &str) -> Result<(), String> {
    match (expected.split_first(), actual.get(from)) {
        (None, None) => Ok(()),
        (None, Some(more)) => Err(format!("{at}/{from}: expected no more elements, got {more}")),
        (Some((first, rest)), _) if first == MORE => {
            let found = (from..=actual.len()).any(|from| elements(rest, actual, from, now, at).is_ok());
            let missing = || format!("{at}: expected {} after place {from}, got {actual:?}", Value::from(rest));
            found.then_some(()).ok_or_else(missing)
        }
        (Some((first, _)), None) => Err(format!("{at}/{from}: expected {first}, got no more elements")),
        (Some((first, rest)), Some(there)) => {
            compare(first, there, now, &format!("{at}/{from}"))?;
            elements(rest, actual, from + 1, now, at)
        }
    }
}
