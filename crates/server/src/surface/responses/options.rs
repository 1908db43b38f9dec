//! The options of a response as options of chat completions.
//!
//! Pure. What both have is passed on, under the name that chat completions give it; what nobody here knows
//! is passed on too, since servers have options of their own. Tools other than functions are refused.

use serde_json::{Map, Value, json};

use novelo_conversation::error::{Error, Result};

/// Members that are not passed to the model.
const OURS: [&str; 18] = [
    "context_management",
    "model",
    "input",
    "instructions",
    "previous_response_id",
    "conversation",
    "store",
    "stream",
    "stream_options",
    "background",
    "metadata",
    "truncation",
    "include",
    "prompt",
    "n",
    "messages",
    "max_tool_calls",
    "prompt_cache_options",
];
/// What is not done here: it would be ignored without a word.
const UNSUPPORTED: [&str; 3] = ["moderation", "image", "access_programs"];
/// A caller must not choose the model server or its credentials.
const OPERATORS: [&str; 5] = ["api_base", "base_url", "api_key", "extra_headers", "extra_body"];

/// The options that the model gets. `is_openai` says how its server calls the longest answer.
pub(super) fn chat_options(body: &Map<String, Value>, is_openai: bool) -> Result<Map<String, Value>> {
    let is_given = |name: &&&str| body.get(**name).is_some_and(|value| !value.is_null());
    if let Some(name) = OPERATORS.iter().find(is_given) {
        return Err(Error::invalid(*name, "is the operator's to set"));
    }
    if let Some(name) = UNSUPPORTED.iter().find(is_given) {
        return Err(Error::invalid(*name, "is not supported"));
    }
    let mut options = Map::new();
    for (name, value) in body.iter().filter(|(name, value)| !OURS.contains(&name.as_str()) && !value.is_null()) {
        match name.as_str() {
            "max_output_tokens" => {
                let name = if is_openai { "max_completion_tokens" } else { "max_tokens" };
                options.insert(name.to_owned(), value.clone());
            }
            "reasoning" => {
                let effort = value.get("effort").filter(|effort| !effort.is_null());
                options.extend(effort.map(|effort| ("reasoning_effort".to_owned(), effort.clone())));
            }
            "text" => text_options(value, &mut options)?,
            "top_logprobs" if *value == 0 => {}
            "top_logprobs" => return Err(Error::invalid("top_logprobs", "is not supported")),
            "tools" | "tool_choice" | "parallel_tool_calls" => {}
            _ => {
                options.insert(name.clone(), value.clone());
            }
        }
    }
    tool_options(body, &mut options)?;
    Ok(options)
}

fn text_options(text: &Value, options: &mut Map<String, Value>) -> Result<()> {
    if let Some(verbosity) = text.get("verbosity").filter(|verbosity| !verbosity.is_null()) {
        options.insert("verbosity".to_owned(), verbosity.clone());
    }
    let Some(format) = text.get("format").filter(|format| !format.is_null()) else { return Ok(()) };
    let format = match format.get("type").and_then(Value::as_str) {
        Some("text") => return Ok(()),
        Some("json_object") => json!({"type": "json_object"}),
        Some("json_schema") => {
            let mut schema = format.as_object().cloned().unwrap_or_default();
            schema.remove("type");
            for (name, is_right) in [
                ("name", schema.get("name").is_some_and(Value::is_string)),
                ("schema", schema.get("schema").is_some_and(Value::is_object)),
            ] {
                if !is_right {
                    return Err(Error::invalid(format!("text.format.{name}"), "is missing"));
                }
            }
            schema.retain(|_, value| !value.is_null());
            json!({"type": "json_schema", "json_schema": schema})
        }
        _ => return Err(Error::invalid("text.format.type", "must be text, json_object or json_schema")),
    };
    options.insert("response_format".to_owned(), format);
    Ok(())
}

/// Tools and the choice of one. A choice among some tools offers only those.
fn tool_options(body: &Map<String, Value>, options: &mut Map<String, Value>) -> Result<()> {
    let mut tools = match body.get("tools") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(tools)) => {
            tools.iter().enumerate().map(|(place, tool)| chat_tool(place, tool)).collect::<Result<Vec<_>>>()?
        }
        Some(_) => return Err(Error::invalid("tools", "must be an array")),
    };
    let choice = match body.get("tool_choice") {
        None | Some(Value::Null) => None,
        Some(Value::String(mode)) if matches!(mode.as_str(), "auto" | "none" | "required") => Some(json!(mode)),
        Some(choice) => Some(chosen(choice, &mut tools)?),
    };
    if tools.is_empty() {
        return Ok(());
    }
    options.insert("tools".to_owned(), tools.into());
    options.extend(choice.map(|choice| ("tool_choice".to_owned(), choice)));
    if let Some(parallel) = body.get("parallel_tool_calls").filter(|parallel| !parallel.is_null()) {
        options.insert("parallel_tool_calls".to_owned(), parallel.clone());
    }
    Ok(())
}

fn chat_tool(place: usize, tool: &Value) -> Result<Value> {
    let at = |name: &str| format!("tools[{place}].{name}");
    match tool.get("type").and_then(Value::as_str) {
        Some("function") => {}
        Some(other) => {
            let problem = format!("is {other:?}; the model server runs no tools: only function is supported");
            return Err(Error::invalid(at("type"), problem));
        }
        None => return Err(Error::invalid(at("type"), "is missing")),
    }
    let name = tool.get("name").and_then(Value::as_str);
    let name = name.ok_or_else(|| Error::invalid(at("name"), "must be a string"))?;
    let mut function = Map::from_iter([("name".to_owned(), Value::from(name))]);
    for member in ["description", "parameters", "strict"] {
        let value = tool.get(member).filter(|value| !value.is_null());
        function.extend(value.map(|value| (member.to_owned(), value.clone())));
    }
    Ok(json!({"type": "function", "function": function}))
}

/// One function, or a mode over some of the tools.
fn chosen(choice: &Value, tools: &mut Vec<Value>) -> Result<Value> {
    let named = |tool: &Value| tool.get("name").and_then(Value::as_str).map(str::to_owned);
    match choice.get("type").and_then(Value::as_str) {
        Some("function") => {
            let name = named(choice).ok_or_else(|| Error::invalid("tool_choice.name", "must be a string"))?;
            Ok(json!({"type": "function", "function": {"name": name}}))
        }
        Some("allowed_tools") => {
            let allowed: Vec<String> =
                choice.get("tools").and_then(Value::as_array).into_iter().flatten().filter_map(named).collect();
            let is_allowed =
                |tool: &Value| tool.get("function").and_then(named).is_some_and(|name| allowed.contains(&name));
            tools.retain(is_allowed);
            match choice.get("mode").and_then(Value::as_str) {
                Some(mode @ ("auto" | "required")) => Ok(mode.into()),
                _ => Err(Error::invalid("tool_choice.mode", "must be auto or required")),
            }
        }
        _ => Err(Error::invalid("tool_choice", "must be auto, none, required, a function or allowed_tools")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(body: Value) -> Result<Map<String, Value>> {
        chat_options(body.as_object().unwrap(), false)
    }

    #[test]
    fn options_get_the_names_of_chat_completions() {
        let tool =
            |name: &str| json!({"type": "function", "name": name, "parameters": {"type": "object"}, "strict": true});
        let made = options(json!({
            "model": "m", "input": "x", "temperature": 0.5, "top_k": 3, "max_output_tokens": 9, "store": true,
            "reasoning": {"effort": "low", "summary": "auto"}, "parallel_tool_calls": false, "seed": null,
            "text": {"format": {"type": "json_schema", "name": "n", "schema": {"type": "object"}, "strict": true}},
            "tools": [tool("a"), tool("b")], "tool_choice": {"type": "function", "name": "a"},
        }));
        let function = |name: &str| json!({"type": "function", "function": {"name": name, "parameters": {"type": "object"}, "strict": true}});
        let expected = json!({
            "temperature": 0.5, "top_k": 3, "max_tokens": 9, "reasoning_effort": "low",
            "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}, "strict": true}},
            "tools": [function("a"), function("b")], "tool_choice": {"type": "function", "function": {"name": "a"}},
            "parallel_tool_calls": false,
        });
        assert_eq!(Value::Object(made.unwrap()), expected);
        let some = json!({"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "b"}]});
        let made = options(json!({"tools": [tool("a"), tool("b")], "tool_choice": some})).unwrap();
        assert_eq!(made["tools"], json!([function("b")]));
        assert_eq!(made["tool_choice"], "required");
        let made = chat_options(json!({"max_output_tokens": 9}).as_object().unwrap(), true).unwrap();
        assert_eq!(made["max_completion_tokens"], 9);
        let without_tools = options(json!({"tool_choice": "auto", "parallel_tool_calls": true, "tools": []})).unwrap();
        assert!(without_tools.is_empty(), "servers refuse them where there are no tools");
    }

    #[test]
    fn what_is_not_done_here_is_refused() {
        for (body, param) in [
            (json!({"tools": [{"type": "web_search"}]}), "tools[0].type"),
            (json!({"tools": [{"type": "function"}]}), "tools[0].name"),
            (json!({"tools": {}}), "tools"),
            (json!({"tool_choice": "some"}), "tool_choice"),
            (json!({"tool_choice": {"type": "mcp"}}), "tool_choice"),
            (json!({"text": {"format": {"type": "grammar"}}}), "text.format.type"),
            (json!({"text": {"format": {"type": "json_schema", "schema": {}}}}), "text.format.name"),
            (json!({"moderation": {"model": "m"}}), "moderation"),
            (json!({"api_key": "k"}), "api_key"),
        ] {
            assert_eq!(options(body.clone()).unwrap_err().param.as_deref(), Some(param), "{body}");
        }
    }
}
