//! The seed's three filters, written the slow and obvious way over `serde_json::Value`.

use serde_json::{Value, json};

/// Applies one filter, given as `{name, options}`.
pub fn apply(filter: &Value, messages: Vec<Value>) -> Vec<Value> {
    let options = &filter["options"];
    match filter["name"].as_str() {
        Some("sizeLimiter") => size_limiter(options, messages),
        Some("fileContentsLimiter") => file_contents_limiter(options, messages),
        Some("toolCallBackfill") => tool_call_backfill(options, messages),
        other => panic!("no reference for {other:?}"),
    }
}

fn number(options: &Value, name: &str, default: u64) -> usize {
    options[name].as_u64().unwrap_or(default) as usize
}

fn flag(options: &Value, name: &str, default: bool) -> bool {
    options[name].as_bool().unwrap_or(default)
}

fn is(message: &Value, role: &str) -> bool {
    message["role"] == role
}

fn size_limiter(options: &Value, mut messages: Vec<Value>) -> Vec<Value> {
    for message in &mut messages {
        let most = number(options, "maxContentChars", 50_000);
        if let Some(text) = message["content"].as_str().filter(|_| most > 0) {
            message["content"] = cut(text, most).into();
        }
    }
    let mut order: Vec<usize> = (0..messages.len()).rev().collect();
    order.sort_by_key(|at| match &messages[*at] {
        m if is(m, "system") && flag(options, "prioritizeSystem", false) => 0,
        m if is(m, "user") && flag(options, "prioritizeUser", true) => 1,
        _ => 2,
    });
    let mut room = number(options, "maxTokens", 24_000);
    let mut kept = Vec::new();
    for at in order {
        let units = messages[at].to_string().encode_utf16().count();
        let tokens = units.div_ceil(4) + number(options, "perMessageOverhead", 8);
        if tokens <= room {
            room -= tokens;
            kept.push(at);
        }
    }
    if kept.is_empty() && flag(options, "preserveAtLeastOneSystem", true) {
        kept.extend(messages.iter().rposition(|m| is(m, "system")));
    }
    kept.sort_unstable();
    kept.into_iter().map(|at| messages[at].clone()).collect()
}

fn cut(text: &str, units_max: usize) -> String {
    let mut units = 0;
    let fits = |c: &char| {
        units += c.len_utf16();
        units <= units_max
    };
    text.chars().take_while(fits).collect()
}

fn file_contents_limiter(options: &Value, mut messages: Vec<Value>) -> Vec<Value> {
    let mut seen: Vec<(String, usize)> = Vec::new();
    for message in messages.iter_mut().rev() {
        if is(message, "tool") && flag(options, "detectToolMessages", true) {
            limit_file(options, &mut seen, &mut message["content"]);
        }
        if is(message, "assistant") && flag(options, "detectAssistantToolCalls", true) {
            for call in message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten() {
                limit_file(options, &mut seen, &mut call["function"]["arguments"]);
            }
        }
    }
    messages
}

fn limit_file(options: &Value, seen: &mut Vec<(String, usize)>, text: &mut Value) {
    let Some(Ok(mut payload)) = text.as_str().map(serde_json::from_str::<Value>) else { return };
    if payload["filepath"].is_null() || payload["content"].is_null() {
        return;
    }
    let path = payload["filepath"].as_str().map_or_else(|| payload["filepath"].to_string(), str::to_owned);
    if !seen.iter().any(|(known, _)| *known == path) && seen.len() < number(options, "filesLimit", 7) {
        seen.push((path.clone(), 0));
    }
    let known = seen.iter_mut().find(|(known, _)| *known == path);
    if let Some((_, versions)) = known.filter(|(_, kept)| *kept < number(options, "versionsPerFile", 2)) {
        *versions += 1;
        return;
    }
    payload["content"] = options["placeholder"].as_str().unwrap_or("(file contents ommited for space)").into();
    *text = payload.to_string().into();
}

fn tool_call_backfill(options: &Value, messages: Vec<Value>) -> Vec<Value> {
    let string = |name: &str, default: &str| options[name].as_str().unwrap_or(default).to_owned();
    let owners = owners(&messages);
    let mut out = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        if is(message, "tool") && owners[at].is_some() {
            continue;
        }
        out.push(message.clone());
        if is(message, "tool") {
            let orphan = out.last_mut().unwrap().as_object_mut().unwrap();
            orphan["role"] = string("orphanRole", "system").into();
            if flag(options, "stripOrphanToolId", true) {
                orphan.shift_remove("tool_call_id");
            }
        }
        for (n, id) in calls(message).iter().enumerate() {
            if calls(message)[..n].contains(id) {
                continue;
            }
            let mine = (0..messages.len()).filter(|a| owners[*a] == Some(at) && messages[*a]["tool_call_id"] == **id);
            let answers: Vec<Value> = mine.map(|a| messages[a].clone()).collect();
            if answers.is_empty() {
                let content = string("missingContent", "Tool call failed to respond");
                out.push(json!({"role": string("role", "tool"), "tool_call_id": id, "content": content}));
            }
            out.extend(answers);
        }
    }
    out
}

fn calls(message: &Value) -> Vec<&Value> {
    let calls = message["tool_calls"].as_array().filter(|_| is(message, "assistant"));
    calls.into_iter().flatten().map(|call| &call["id"]).collect()
}

/// For each answer the message that it belongs to: the nearest before it that issued its id, else the first
/// after it.
pub fn owners(messages: &[Value]) -> Vec<Option<usize>> {
    let owner = |at: usize| {
        let id = Some(&messages[at]["tool_call_id"]).filter(|id| is(&messages[at], "tool") && id.is_string())?;
        let issued = |other: &usize| calls(&messages[*other]).contains(&id);
        (0..at).rev().find(issued).or((at..messages.len()).find(issued))
    };
    (0..messages.len()).map(owner).collect()
}
