//! Transcripts and recipes at random: everything that a client was ever seen to send, and worse.
//!
//! Messages are made as text, so that spacing, key order, escapes and number spelling vary. `Plain` ones hold
//! nothing that a `serde_json::Value` would not give back as it was, for comparison with the slow reference.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Spelling {
    Plain,
    Wild,
}

/// A transcript, as the text of its messages.
pub fn transcript(spelling: Spelling) -> impl Strategy<Value = Vec<String>> {
    vec(message(spelling), 0..14)
}

fn message(spelling: Spelling) -> impl Strategy<Value = String> {
    let members = prop_oneof![3 => spoken(spelling), 2 => calling(spelling), 3 => answering(spelling)];
    let strange = match spelling {
        Spelling::Plain => vec![("name", "\"x\""), ("n", "7")],
        Spelling::Wild => vec![
            ("name", "\"x\""),
            ("docId", "\"own\""),
            ("create_time", "1.50e3"),
            ("\\ud83d", "[1.0, {}]"),
            ("x", "1E400"),
        ],
    };
    (members, option::of(select(strange)), any::<prop::sample::Index>(), any::<bool>()).prop_map(
        |(mut members, strange, first, loose)| {
            members.extend(strange.map(|(key, value)| (key, value.to_owned())));
            let first = first.index(members.len());
            members.rotate_left(first);
            write(&members, loose)
        },
    )
}

type Members = Vec<(&'static str, String)>;

fn write(members: &Members, loose: bool) -> String {
    let (colon, comma, open) = if loose { (" : ", " ,\n  ", "{ ") } else { (":", ",", "{") };
    let written: Vec<String> = members.iter().map(|(key, value)| format!("\"{key}\"{colon}{value}")).collect();
    format!("{open}{}}}", written.join(comma))
}

fn spoken(spelling: Spelling) -> impl Strategy<Value = Members> {
    let role = select(vec!["system", "developer", "user", "user", "assistant"]);
    let content = prop_oneof![
        6 => text(spelling),
        1 => Just("null".to_owned()),
        1 => text(spelling).prop_map(|t| format!(r#"[{{"type":"text","text":{t}}}]"#)),
    ];
    (role, content).prop_map(|(role, content)| vec![("role", format!("\"{role}\"")), ("content", content)])
}

fn calling(spelling: Spelling) -> impl Strategy<Value = Members> {
    let arguments = prop_oneof![1 => text(spelling), 2 => file()];
    let call = (call_id(), arguments).prop_map(|(id, arguments)| {
        format!(r#"{{"id":"{id}","type":"function","function":{{"name":"f","arguments":{arguments}}}}}"#)
    });
    let content = option::of(prop_oneof![Just("null".to_owned()), text(spelling)]);
    (content, vec(call, 0..4)).prop_map(|(content, calls)| {
        let mut members = vec![("role", "\"assistant\"".to_owned())];
        members.extend(content.map(|content| ("content", content)));
        members.push(("tool_calls", format!("[{}]", calls.join(", "))));
        members
    })
}

fn answering(spelling: Spelling) -> impl Strategy<Value = Members> {
    let id = prop_oneof![
        9 => call_id().prop_map(|id| Some(format!("\"{id}\""))),
        1 => select(vec![None, Some("null".to_owned())]),
    ];
    (id, prop_oneof![2 => text(spelling), 3 => file(), 1 => Just("null".to_owned())]).prop_map(|(id, content)| {
        let mut members = vec![("role", "\"tool\"".to_owned())];
        members.extend(id.map(|id| ("tool_call_id", id)));
        members.push(("content", content));
        members
    })
}

/// Few, so that they are used again.
fn call_id() -> impl Strategy<Value = &'static str> {
    select(vec!["a", "b", "c", "é"])
}

/// A string literal.
pub fn text(spelling: Spelling) -> impl Strategy<Value = String> {
    let mut parts = vec!["word ", "não ", "😀", "漢字", "\\n", "\\\"", "\\\\", "\\u0007", "[", "} ", "filepath", ""];
    if spelling == Spelling::Wild {
        parts.extend(["\\u00e9", "\\/", "\\ud83d\\ude00", "\\ud83d", "\\ude00", "\\u0041", "\\u005c", "\\u0022"]);
    }
    vec(select(parts), 0..12).prop_map(|parts| format!("\"{}\"", parts.concat()))
}

/// A string literal that says a file as tools do, or nearly.
fn file() -> impl Strategy<Value = String> {
    let path = prop_oneof![8 => select(vec!["a.rs", "b.rs", "ç\"d.md"]).prop_map(Value::from), 1 => Just(json!(3))];
    let body = prop_oneof![
        6 => "[a-z\\\\\"\n😀 ]{0,40}".prop_map(Value::from),
        1 => select(vec![json!(null), json!(12), json!({"a": [1, "b"]})]),
    ];
    (path, option::weighted(0.9, body), any::<bool>(), any::<bool>()).prop_map(|(path, body, body_first, loose)| {
        let mut members = vec![("filepath", path.to_string()), ("lines", "[1, 2]".replace(' ', ""))];
        members.extend(body.map(|body| ("content", body.to_string())));
        if body_first {
            members.reverse();
        }
        Value::from(write(&members, loose)).to_string()
    })
}

/// A list of any filters.
pub fn filters() -> impl Strategy<Value = Vec<Value>> {
    let tokenizer = option::weighted(0.1, select(vec!["approx", "cl100k_base"]));
    let own = prop_oneof![
        (1..9u32).prop_map(|n| json!({"name": "historyWindow", "options": {"turns": n}})),
        (1..4u32).prop_map(|n| json!({"name": "historyWindow", "options": {"pairs": n}})),
        (1..400u32, 0..=10u32).prop_map(|(max, keep)| {
            json!({"name": "stableWindow", "options": {"maxTokens": max, "keep": f64::from(keep) / 10.0}})
        }),
        module_budget(),
        (1..400u32, 1..=10u32, 1..9u32).prop_map(|(max, keep, recent)| {
            let keep = f64::from(keep) / 10.0;
            json!({"name": "compact", "options": {"maxTokens": max, "keep": keep, "recentTurns": recent}})
        }),
        Just(json!("dedupe")),
        Just(json!("collapseGroupReplacer")),
        Just(json!("sparkle")),
    ];
    let sized = (size_limiter(), tokenizer).prop_map(|(mut filter, tokenizer)| {
        filter["options"]["tokenizer"] = tokenizer.into();
        filter
    });
    vec(prop_oneof![3 => own, 1 => sized, 1 => file_limiter(), 2 => backfill()], 0..4)
}

pub fn module_budget() -> impl Strategy<Value = Value> {
    (0..120u32).prop_map(|max| json!({"name": "moduleBudget", "options": {"maxTokens": max}}))
}

/// A list of the three that the slow reference knows.
pub fn seed_filters() -> impl Strategy<Value = Vec<Value>> {
    vec(prop_oneof![size_limiter(), file_limiter(), backfill()], 1..4)
}

fn size_limiter() -> impl Strategy<Value = Value> {
    let flag = || option::of(any::<bool>());
    (0..400u32, option::of(0..20u32), flag(), flag(), flag(), option::of(0..60u32)).prop_map(
        |(max, overhead, system, user, preserve, chars)| {
            json!({"name": "sizeLimiter", "options": {"maxTokens": max, "perMessageOverhead": overhead,
                "prioritizeSystem": system, "prioritizeUser": user, "preserveAtLeastOneSystem": preserve,
                "maxContentChars": chars}})
        },
    )
}

fn file_limiter() -> impl Strategy<Value = Value> {
    let flag = || option::of(any::<bool>());
    let placeholder = option::of(select(vec!["", "(gone)", "\"\\ 😀\n"]));
    (option::of(0..3u32), option::of(0..3u32), flag(), flag(), placeholder).prop_map(
        |(files, versions, calls, answers, placeholder)| {
            json!({"name": "fileContentsLimiter", "options": {"filesLimit": files, "versionsPerFile": versions,
                "detectAssistantToolCalls": calls, "detectToolMessages": answers, "placeholder": placeholder}})
        },
    )
}

/// One that leaves a prompt which models accept.
pub fn backfill() -> impl Strategy<Value = Value> {
    let orphan_role = option::of(select(vec!["system", "user", "developer", "assistant"]));
    let missing = option::of(select(vec!["", "none \"é\""]));
    (orphan_role, missing, option::of(any::<bool>())).prop_map(|(orphan_role, missing, strip)| {
        json!({"name": "toolCallBackfill", "options": {"orphanRole": orphan_role, "missingContent": missing,
            "stripOrphanToolId": strip}})
    })
}

/// Components around the log, and the log itself, in any order.
pub fn components() -> impl Strategy<Value = Vec<Value>> {
    let around = prop_oneof![
        select(vec!["system", "user", "assistant"])
            .prop_map(|role| json!({"kind": "literal", "role": role, "value": "\"lit\"\n"})),
        Just(json!({"kind": "summary"})),
        Just(json!({"kind": "userData"})),
        (select(vec!["memories", "turns"]), option::of(Just("HERE \"are\":")), option::of(Just("none 😀")))
            .prop_map(|(from, head, empty)| json!({"kind": "recall", "from": from, "heading": head, "empty": empty})),
        module(),
        (option::of(Just("> ")), select(vec!["message", "data"]))
            .prop_map(|(f, shape)| json!({"kind": "collection", "name": "notes", "framing": f, "as": shape})),
    ];
    let log = option::weighted(0.2, Just("said \"before\": ")).prop_map(|f| json!({"kind": "history", "framing": f}));
    let again = option::weighted(0.15, log.clone());
    (vec(around.clone(), 0..3), log, vec(around, 0..2), again).prop_map(|(mut before, log, after, again)| {
        before.push(log);
        before.extend(after);
        before.extend(again);
        before
    })
}

/// A module whose text may be cut, repeated, or too long for its budget.
pub fn module() -> impl Strategy<Value = Value> {
    let priority = option::of(prop_oneof![Just(0u32), Just(50), 0..=1_000u32]);
    let text = prop_oneof![3 => "[a-z\\\\\"\n😀 ]{0,160}", 1 => Just("aside".to_owned())];
    (select(vec!["base", "tone \"é\"", "m"]), text, priority, option::of(any::<bool>())).prop_map(
        |(name, value, priority, pinned)| {
            json!({"kind": "module", "name": name, "value": value, "priority": priority, "pinned": pinned})
        },
    )
}
