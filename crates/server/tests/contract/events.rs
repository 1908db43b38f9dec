//! A stream of events as JSON, so that it compares as any answer does.

use serde_json::{Map, Value};

/// The frames of a stream, each an object of its fields; numbers and JSON are read as such.
pub fn read(text: &str) -> Result<Value, String> {
    let frames = text.split("\n\n").map(|frame| frame.trim_start_matches('\n')).filter(|frame| !frame.is_empty());
    let frames = frames.map(frame).collect::<Result<Vec<_>, _>>()?;
    Ok(frames.into_iter().filter(|frame| !frame.is_empty()).map(Value::Object).collect())
}

fn frame(text: &str) -> Result<Map<String, Value>, String> {
    let mut fields = Map::new();
    for line in text.lines().filter(|line| !line.starts_with(':')) {
        let (name, value) = line.split_once(": ").ok_or_else(|| format!("no field of an event: {line}"))?;
        let value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
        if fields.insert(name.to_owned(), value).is_some() {
            return Err(format!("an event with two fields {name}: {text}"));
        }
    }
    Ok(fields)
}
