//! What a scenario has the model do.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::models::Act;

/// One request's worth, as a page writes it. Without anything else, it says what it says.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Manner {
    #[serde(default)]
    says: Vec<String>,
    /// Before the first word.
    after_ms: Option<u64>,
    /// The connection breaks after so many words.
    dies_after: Option<usize>,
    /// An error comes after so many words.
    errs_after: Option<usize>,
    /// Skills: their names and arguments.
    calls: Option<Vec<(String, Value)>>,
    /// It answers with an error of this status.
    status: Option<u16>,
    /// It answers with a 400 that says this.
    refuses: Option<String>,
    /// It says that it will not answer, in these words.
    declines: Option<String>,
}

pub fn read(text: &str) -> Result<Act, String> {
    let Manner { says, after_ms, dies_after, errs_after, calls, status, refuses, declines } =
        serde_json::from_str(text).map_err(|e| format!("a model cannot do this: {e}"))?;
    if let Some(words) = declines {
        let message = json!({"role": "assistant", "content": null, "refusal": words});
        return Ok(Act::Whole(json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})));
    }
    let (status, why) = match refuses {
        Some(why) if status.is_none() => (Some(400), why),
        Some(_) => return Err("a model cannot do all of this at once".to_owned()),
        None => (status, "the model is not well".to_owned()),
    };
    Ok(match (after_ms, dies_after, errs_after, calls, status) {
        (None, None, None, None, None) => Act::Words(says),
        (Some(ms), None, None, None, None) => Act::Slowly(Duration::from_millis(ms), says),
        (None, Some(count), None, None, None) => Act::DiesAfter(count, says),
        (None, None, Some(count), None, None) => Act::ErrorAfter(count, says),
        (None, None, None, Some(calls), None) if says.is_empty() => Act::Calls(calls),
        (None, None, None, None, Some(status)) if says.is_empty() => {
            Act::Status(status, json!({"error": {"message": why}}).to_string())
        }
        _ => return Err("a model cannot do all of this at once".to_owned()),
    })
}
