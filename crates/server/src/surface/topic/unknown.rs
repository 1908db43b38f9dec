//! Fields of a body that nobody knows.
//!
//! Owns how a caller learns that they were ignored: a header of the response, and the message of an error, so
//! that a misspelt name is noticed. The fields of a context are also in its trace.

use std::sync::Arc;

use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use novelo_conversation::error::{Error, Result};
use novelo_engine::decode::UnknownField;
use serde_json::{Map, Value};

use crate::http::body::parse_object;
use crate::http::error::ApiError;

/// Says what was ignored in a request, once for each field.
const WARNING: HeaderName = HeaderName::from_static("x-novelo-warning");
/// Fields that are named; more are counted.
const NAMED_MAX: usize = 8;
/// Characters of a name that are shown.
const NAME_CHARS_MAX: usize = 64;

/// A body, and what is not known of it.
pub(super) struct TopicBody {
    pub fields: Value,
    pub unknown: Vec<UnknownField>,
}

impl TopicBody {
    pub fn parse(bytes: &[u8], known: &'static [&'static str]) -> Result<Self> {
        let map: Map<String, Value> = parse_object(bytes)?;
        let mut unknown: Vec<UnknownField> = UnknownField::among(&map, known).take(NAMED_MAX).collect();
        for unknown in &mut unknown {
            unknown.field = shown(&unknown.field);
        }
        let count = map.keys().filter(|field| !known.contains(&field.as_str())).count();
        if count > NAMED_MAX {
            unknown.push(UnknownField { field: format!("({} more)", count - NAMED_MAX), near: None });
        }
        Ok(Self { fields: Value::Object(map), unknown })
    }
}

/// A name in printable ASCII, cut where it is very long.
fn shown(name: &str) -> String {
    let mut shown = String::new();
    for c in name.chars().take(NAME_CHARS_MAX) {
        match c {
            ' '..='~' => shown.push(c),
            _ => shown.extend(c.escape_unicode()),
        }
    }
    if name.chars().nth(NAME_CHARS_MAX).is_some() {
        shown.push_str("...");
    }
    shown
}

/// The response, with what was ignored.
pub(super) fn answer<R: IntoResponse>(result: Result<R>, unknown: &[UnknownField]) -> Response {
    let mut response = match result {
        Ok(answer) => answer.into_response(),
        Err(error) => ApiError(error).into_response(),
    };
    let sentences: Vec<String> = unknown.iter().map(UnknownField::to_string).collect();
    for value in sentences.iter().filter_map(|sentence| HeaderValue::try_from(sentence).ok()) {
        response.headers_mut().append(WARNING, value);
    }
    if let Some(error) = response.extensions_mut().get_mut::<Arc<Error>>().filter(|_| !sentences.is_empty()) {
        let told = format!("{} ({})", error.message, sentences.join("; "));
        Arc::make_mut(error).message = told;
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_told_in_printable_words() {
        let body = r#"{"presetid": 1, "ключ\n": 2, "known": 3}"#;
        let TopicBody { unknown, .. } = TopicBody::parse(body.as_bytes(), &["known", "presetId"]).unwrap();
        let response = answer(Ok("fine"), &unknown);
        let told: Vec<_> = response.headers().get_all(WARNING).iter().map(|value| value.to_str().unwrap()).collect();
        let key = "\\u{43a}\\u{43b}\\u{44e}\\u{447}\\u{a} is not known";
        assert_eq!(told, ["presetid is not known; did you mean presetId?", key]);
    }

    #[test]
    fn very_many_are_counted() {
        let fields: Vec<String> = (0..20).map(|n| format!(r#""{}{n}": 0"#, "x".repeat(99))).collect();
        let body = format!("{{{}}}", fields.join(","));
        let TopicBody { unknown, .. } = TopicBody::parse(body.as_bytes(), &["known"]).unwrap();
        assert_eq!(unknown.len(), NAMED_MAX + 1);
        assert_eq!(unknown.last().unwrap().to_string(), "(12 more) is not known");
        assert_eq!(unknown.first().unwrap().field, format!("{}...", "x".repeat(NAME_CHARS_MAX)));
    }
}
