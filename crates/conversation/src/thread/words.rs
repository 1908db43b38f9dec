//! What a message says, for comparing it with another.
//!
//! Clients send messages back in a spelling of their own: arguments with other blanks, a null that was
//! missing, a text as a part of its own, members that only a server writes. Owns what of a message counts:
//! who speaks, what is said, what is called with which arguments, and which call is answered. Numbers in
//! arguments are compared exactly, but for a client that has rounded them under the id of the call.

use novelo_engine::json::{elements, member, unescape};
use novelo_engine::{Message, Role};

use super::meaning::{Nulls, fingerprint_of_doubles, json_fingerprint};
use crate::trace::fingerprint;

/// What tells one message from another, however its JSON is written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Words {
    /// Who said it.
    pub role: Option<Role>,
    /// Of all but the calls and what is answered.
    print: u128,
    calls: Vec<CallWords>,
    /// The id of the call that is answered, where it is said.
    answers: Option<String>,
    /// The text of an answer without calls.
    text: Option<String>,
    /// Whether it broke off: a client may have heard less of it than was stored.
    is_partial: bool,
}

/// What a call says.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct CallWords {
    id: Option<String>,
    name: Option<String>,
    arguments: u128,
    /// As a client reads them that has only doubles.
    in_doubles: u128,
}

/// What the content of a message is.
#[derive(Debug, Hash)]
enum MessageContent {
    Text(String),
    Parts(Vec<u128>),
}

impl Words {
    /// The words of a message.
    pub fn of(message: &Message) -> Self {
        let text = message.as_str();
        let (role, role_name) = (message.role(), string(text, "role"));
        let called = present(text, "function_call")
            .map(|called| MessageToolCall { id: None, ..MessageToolCall::of(called, "arguments", called) });
        let calls: Vec<CallWords> = calls(text).chain(called).map(MessageToolCall::words).collect();
        // Others put names on what the model and tools say; who among several users speaks is part of what is
        // said.
        let name = string(text, "name").filter(|_| role == Some(Role::User));
        let content = match content(text, role) {
            MessageContent::Text(said) if said.is_empty() => MessageContent::Text(refusal(text)),
            content => content,
        };
        let print = fingerprint(&(role_name, name, &content));
        let said = match content {
            MessageContent::Text(said) if role == Some(Role::Assistant) && calls.is_empty() => Some(said),
            _ => None,
        };
        let answers = string(text, "tool_call_id").filter(|_| role == Some(Role::Tool));
        Self { role, print, calls, answers, text: said, is_partial: present(text, "partial").is_some() }
    }

    /// Whether a message that was sent says what this stored one says. An id that one of them lacks is no
    /// difference.
    pub(crate) fn is_alike(&self, sent: &Self) -> bool {
        let is_same = self.print == sent.print || (self.is_partial && self.was_heard_as(sent));
        let calls = self.calls.iter().zip(&sent.calls);
        is_same
            && may_be_same(&self.answers, &sent.answers)
            && self.calls.len() == sent.calls.len()
            && calls.into_iter().all(|(stored, sent)| stored.is_alike(sent))
    }

    /// Whether a client heard this answer, or its beginning.
    pub(crate) fn was_heard_as(&self, sent: &Self) -> bool {
        let texts = self.text.as_deref().zip(sent.text.as_deref());
        texts.is_some_and(|(said, heard)| !heard.is_empty() && said.starts_with(heard))
    }

    pub(crate) fn are_an_answer(&self) -> bool {
        self.role == Some(Role::Assistant)
    }

    /// The order in which answers to parallel calls are compared.
    pub fn order(&self) -> impl Ord + use<> {
        (self.answers.clone(), self.print)
    }
}

impl CallWords {
    /// Numbers that a client without long ones has rounded are the same under the model's own id: it names
    /// one call only.
    fn is_alike(&self, other: &Self) -> bool {
        let has_same_id = self.id.is_some() && self.id == other.id;
        let has_same_arguments =
            self.arguments == other.arguments || (has_same_id && self.in_doubles == other.in_doubles);
        self.name == other.name && may_be_same(&self.id, &other.id) && has_same_arguments
    }
}

fn may_be_same(a: &Option<String>, b: &Option<String>) -> bool {
    a.is_none() || b.is_none() || a == b
}

/// A call of a tool.
struct MessageToolCall<'t> {
    id: Option<String>,
    name: Option<String>,
    arguments: &'t str,
}

impl<'t> MessageToolCall<'t> {
    /// Reads `name` and what it is called with from `function`.
    fn of(call: &str, arguments: &str, function: &'t str) -> Self {
        let arguments = present(function, arguments).unwrap_or("null");
        Self { id: string(call, "id"), name: string(function, "name"), arguments }
    }

    /// Arguments that are no JSON are a text.
    fn words(self) -> CallWords {
        let spelt = match unescape(self.arguments) {
            Some(spelt) if self.arguments.starts_with('"') => spelt,
            _ => self.arguments.into(),
        };
        let spelt = match spelt.trim() {
            "" | "null" => "{}",
            spelt => spelt,
        };
        let as_text = || fingerprint(&("text", spelt));
        let arguments = json_fingerprint(spelt, Nulls::Count).unwrap_or_else(as_text);
        let in_doubles = fingerprint_of_doubles(spelt).unwrap_or_else(as_text);
        CallWords { id: self.id, name: self.name, arguments, in_doubles }
    }
}

fn calls(text: &str) -> impl Iterator<Item = MessageToolCall<'_>> {
    let all = present(text, "tool_calls").unwrap_or("[]");
    elements(all).map(move |call| {
        let call = call.slice(all);
        match (present(call, "function"), present(call, "custom")) {
            (None, Some(custom)) => MessageToolCall::of(call, "input", custom),
            (function, _) => MessageToolCall::of(call, "arguments", function.unwrap_or("{}")),
        }
    })
}

fn content(text: &str, role: Option<Role>) -> MessageContent {
    let Some(content) = present(text, "content") else { return MessageContent::Text(String::new()) };
    if content.starts_with('[') {
        return parts(content);
    }
    let said = unescape(content).filter(|_| content.starts_with('"')).unwrap_or(content.into());
    let said = said.trim();
    let is_data = role == Some(Role::Tool) && said.starts_with(['{', '[']);
    match json_fingerprint(said, Nulls::Count).filter(|_| is_data) {
        Some(data) => MessageContent::Parts(vec![data]),
        None => MessageContent::Text(said.to_owned()),
    }
}

/// Parts that are all texts are one text.
fn parts(content: &str) -> MessageContent {
    let parts = || elements(content).map(|part| part.slice(content));
    match parts().map(text_of).collect::<Option<Vec<String>>>() {
        Some(texts) => MessageContent::Text(texts.concat().trim().to_owned()),
        None => MessageContent::Parts(parts().map(part).collect()),
    }
}

fn part(part: &str) -> u128 {
    match text_of(part) {
        Some(text) => fingerprint(&("text", text.trim())),
        None => json_fingerprint(part, Nulls::AreMissing).unwrap_or_else(|| fingerprint(&part)),
    }
}

/// Whether a message is words alone, without images, sounds and files.
pub(crate) fn is_text(message: &Message) -> bool {
    let content = present(message.as_str(), "content").unwrap_or("null");
    elements(content).all(|part| text_of(part.slice(content)).is_some())
}

/// The text of a part that is one.
fn text_of(part: &str) -> Option<String> {
    match string(part, "type")?.as_str() {
        "text" | "input_text" | "output_text" => string(part, "text"),
        "refusal" => string(part, "refusal"),
        _ => None,
    }
}

fn refusal(text: &str) -> String {
    string(text, "refusal").unwrap_or_default().trim().to_owned()
}

/// A member that is there and not null.
fn present<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    member(text, name).map(|value| value.slice(text)).filter(|value| *value != "null")
}

/// A member that is a string, and not an empty one.
fn string(text: &str, name: &str) -> Option<String> {
    let literal = present(text, name).filter(|value| value.starts_with('"'))?;
    unescape(literal).map(|said| said.into_owned()).filter(|said| !said.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(a: &str, b: &str, expected: bool) {
        let words = |raw: &str| Words::of(&Message::from_stored(raw.to_owned().into()));
        assert_eq!(words(a).is_alike(&words(b)), expected, "{a} {b}");
        assert_eq!(words(b).is_alike(&words(a)), expected, "{b} {a}");
    }

    fn calls(content: &str, calls: &str) -> String {
        format!(r#"{{"role":"assistant"{content},"tool_calls":[{calls}]}}"#)
    }

    fn call(id: &str, arguments: &str) -> String {
        let arguments = serde_json::Value::from(arguments);
        format!(r#"{{{id}"type":"function","function":{{"name":"weather","arguments":{arguments}}}}}"#)
    }

    #[test]
    fn arguments_are_compared_as_json() {
        let one = |arguments: &str| calls("", &call(r#""id":"a","#, arguments));
        check(&one(r#"{"city":"Recife","days":3}"#), &one(r#"{ "days": 3.0, "city": "Recife" }"#), true);
        let unnamed = |arguments: &str| calls("", &call("", arguments));
        check(&unnamed(r#"{"n":9007199254740993}"#), &unnamed(r#"{"n":9007199254740992}"#), false);
        check(&one(r#"{"n":9007199254740993}"#), &one(r#"{"n":9007199254740992}"#), true);
        check(&one(r#"{"n":1}"#), &one(r#"{"n":2}"#), false);
        check(&one("{}"), &one(""), true);
        check(&one("not json"), &one(" not json\n"), true);
        check(&one("not json"), &one("not  json"), false);
        check(&one(r#"{"a":null}"#), &one("{}"), false);
        let object = r#"{"id":"a","function":{"name":"weather","arguments":{"city":"Recife"}}}"#;
        check(&calls("", object), &one(r#"{"city": "Recife"}"#), true);
    }

    #[test]
    fn missing_and_null_are_alike() {
        let call = call(r#""id":"a","#, "{}");
        for content in [r#","content":null"#, r#","content":"""#, r#","content":[]"#] {
            check(&calls("", &call), &calls(content, &call), true);
        }
        check(&calls("", &call), &calls(r#","content":"Let me see.""#, &call), false);
        let dumped = r#"{"content":"Hi","refusal":null,"role":"assistant","annotations":[],"audio":null,"function_call":null,"tool_calls":null,"name":null,"reasoning_content":"hm"}"#;
        check(r#"{"role":"assistant","content":"Hi"}"#, dumped, true);
        check(r#"{"role":"assistant","content":"Hi"}"#, r#"{"role":"assistant","content":"Hi","name":"agent"}"#, true);
        check(r#"{"role":"user","content":"Hi","name":"ana"}"#, r#"{"role":"user","content":"Hi"}"#, false);
        let refused = r#"{"role":"assistant","content":null,"refusal":"No."}"#;
        check(refused, r#"{"role":"assistant","content":[{"type":"refusal","refusal":"No."}]}"#, true);
        check(refused, r#"{"role":"assistant","content":null}"#, false);
    }

    #[test]
    fn a_text_is_a_text_also_as_a_part() {
        let said = |content: &str| format!(r#"{{"role":"user","content":{content}}}"#);
        check(&said(r#"" Hi""#), &said(r#"[{"text":"Hi","type":"text"}]"#), true);
        check(&said(r#""Hi""#), &said(r#"[{"type":"text","text":"Ho"}]"#), false);
        let image = |more: &str| {
            said(&format!(
                r#"[{{"type":"text","text":"What?"}},{{"type":"image_url","image_url":{{"url":"data:x"{more}}}}}]"#
            ))
        };
        check(&image(""), &image(r#","detail":null"#), true);
        check(&image(""), &image(r#","detail":"low""#), false);
        check(&image(""), &said(r#""What?""#), false);
    }

    #[test]
    fn an_answer_that_broke_off_may_have_been_heard_in_part() {
        let words = |raw: &str| Words::of(&Message::from_stored(raw.to_owned().into()));
        let said = |text: &str| words(&format!(r#"{{"role":"assistant","content":"{text}"}}"#));
        let stored = words(r#"{"role":"assistant","content":"Once upon a","partial":"client_left"}"#);
        assert!(stored.is_alike(&said("Once ")) && stored.is_alike(&said("Once upon a")));
        assert!(
            !stored.is_alike(&said("Twice"))
                && !stored.is_alike(&said(""))
                && !said("Once upon a").is_alike(&said("Once"))
        );
    }

    #[test]
    fn an_id_that_is_missing_is_no_difference() {
        let one = |id: &str| calls("", &call(id, "{}"));
        check(&one(r#""id":"a","#), &one(""), true);
        check(&one(r#""id":"a","#), &one(r#""id":"b","#), false);
        let answer = |id: &str| format!(r#"{{"role":"tool"{id},"content":"31"}}"#);
        check(&answer(r#","tool_call_id":"a""#), &answer(""), true);
        check(&answer(r#","tool_call_id":"a""#), &answer(r#","tool_call_id":"b""#), false);
        let data = |content: &str| {
            format!(r#"{{"role":"tool","tool_call_id":"a","content":{}}}"#, serde_json::Value::from(content))
        };
        check(&data(r#"{"t": 31, "u": "C"}"#), &data(r#"{"u":"C","t":31}"#), true);
        check(&data(r#"{"t": 31}"#), &data(r#"{"t": 32}"#), false);
        check(&calls("", &(call("", "{}") + "," + &call("", "{}"))), &one(""), false);
    }
}
