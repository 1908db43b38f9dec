//! What is sent to a model.
//!
//! Pure. A message keeps its bytes; members that OpenAI's form does not know are left out of it, since
//! servers refuse them. Thoughts go with the calls that they led to: some servers want them there, and some
//! refuse them elsewhere.

use std::fmt;

use bytes::Bytes;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// The members of a message that models take.
const KNOWN: [&str; 9] =
    ["role", "content", "name", "tool_calls", "tool_call_id", "refusal", "audio", "function_call", "reasoning_content"];
const THOUGHTS: &str = "reasoning_content";
/// The members of a request that are ours to set.
const OURS: [&str; 4] = ["model", "messages", "stream", "stream_options"];

/// The messages as models take them.
pub fn messages(given: &[u8]) -> Result<String, serde_json::Error> {
    let given: Vec<&RawValue> = serde_json::from_slice(given)?;
    let mut out = String::from("[");
    for (index, message) in given.into_iter().enumerate() {
        out.push_str(if index == 0 { "" } else { "," });
        write(message, &mut out)?;
    }
    out.push(']');
    Ok(out)
}

fn write(message: &RawValue, out: &mut String) -> Result<(), serde_json::Error> {
    let Members(members) = serde_json::from_str(message.get())?;
    let has_calls = members.iter().any(|(name, _)| name == "tool_calls");
    let is_sent = |name: &str| KNOWN.contains(&name) && (name != THOUGHTS || has_calls);
    if members.iter().all(|(name, _)| is_sent(name)) {
        out.push_str(message.get());
        return Ok(());
    }
    let known = members.iter().filter(|(name, _)| is_sent(name));
    for (index, (name, value)) in known.enumerate() {
        out.push_str(if index == 0 { "{\"" } else { ",\"" });
        out.push_str(name);
        out.push_str("\":");
        out.push_str(value.get());
    }
    out.push_str(if out.ends_with(['[', ',']) { "{}" } else { "}" });
    Ok(())
}

/// How an answer is to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerForm {
    Stream,
    /// A stream with the usage at its end.
    StreamWithUsage,
    /// In one piece.
    Whole,
}

impl AnswerForm {
    fn members(self) -> &'static str {
        match self {
            Self::Stream => "\"stream\":true",
            Self::StreamWithUsage => "\"stream\":true,\"stream_options\":{\"include_usage\":true}",
            Self::Whole => "\"stream\":false",
        }
    }
}

/// A request.
pub fn body(model: &str, messages: &str, options: &Map<String, Value>, form: AnswerForm) -> Bytes {
    let mut out = format!("{{\"model\":{},\"messages\":{messages},{}", Value::from(model), form.members());
    for (name, value) in options.iter().filter(|(name, _)| !OURS.contains(&name.as_str())) {
        out.push_str(&format!(",{}:{value}", Value::from(name.as_str())));
    }
    out.push('}');
    out.into()
}

/// The members of an object, in their order.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Gather)
    }
}

struct Gather;

impl<'de> Visitor<'de> for Gather {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message, which is an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
        let mut members = Vec::new();
        while let Some(name) = map.next_key()? {
            members.push((name, map.next_value()?));
        }
        Ok(Members(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(given: &str, expected: &str) {
        assert_eq!(messages(given.as_bytes()).unwrap(), expected);
    }

    #[test]
    fn a_message_keeps_its_bytes() {
        check("[]", "[]");
        let message = r#"{ "role":"assistant", "content" : null,"tool_calls":[{"id":"a","x":1.0e3}] }"#;
        check(&format!("[{message}, {message}]"), &format!("[{message},{message}]"));
        let every = KNOWN.map(|name| format!("{name:?}:0")).join(",");
        check(&format!("[{{{every}}}]"), &format!("[{{{every}}}]"));
    }

    #[test]
    fn what_models_do_not_take_is_left_out() {
        check(
            r#"[{"id":"m","role":"user","content":"caf\u00e9 \"x\"","create_time":1.5},{"partial":"client_left"},{"content":"a","id":1}]"#,
            r#"[{"role":"user","content":"caf\u00e9 \"x\""},{},{"content":"a"}]"#,
        );
        check(
            r#"[{"role":"assistant","content":"a","reasoning_content":"hm"},{"tool_calls":[],"reasoning_content":"hm"}]"#,
            r#"[{"role":"assistant","content":"a"},{"tool_calls":[],"reasoning_content":"hm"}]"#,
        );
        check(r#"[{"r\u006fle":"user","content":1}]"#, r#"[{"r\u006fle":"user","content":1}]"#);
    }

    #[test]
    fn what_are_no_messages_is_refused() {
        for given in ["{}", "[1]", "[{]", "", "[\"a\"]"] {
            assert!(messages(given.as_bytes()).is_err(), "{given}");
        }
    }

    #[test]
    fn options_are_added_and_ours_are_ours() {
        let options: Map<String, Value> =
            serde_json::from_str(r#"{"temperature":0,"stream":false,"model":"x","tools":[{"a\"b":1}]}"#).unwrap();
        assert_eq!(
            body("m", "[]", &options, AnswerForm::StreamWithUsage),
            r#"{"model":"m","messages":[],"stream":true,"stream_options":{"include_usage":true},"temperature":0,"tools":[{"a\"b":1}]}"#
        );
        let body = |form: AnswerForm| body("a\"b", "[]", &Map::new(), form);
        assert_eq!(body(AnswerForm::Stream), r#"{"model":"a\"b","messages":[],"stream":true}"#);
        assert_eq!(body(AnswerForm::Whole), r#"{"model":"a\"b","messages":[],"stream":false}"#);
    }
}
