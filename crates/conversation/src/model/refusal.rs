//! What servers say when they refuse.
//!
//! Pure: reads the forms of their error objects, and recognises that a prompt was too long for the window,
//! with the numbers if the server gives them.

use serde_json::Value;

/// A refusal in words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RefusalText {
    pub words: String,
    /// What it is, by the server's own names.
    pub kind: Option<String>,
    pub code: Option<String>,
    pub param: Option<String>,
    /// The status that the error itself names.
    pub status: Option<u16>,
    /// The prompt was too long.
    pub too_long: Option<Lengths>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lengths {
    pub prompt_tokens: Option<u32>,
    pub window_tokens: Option<u32>,
}

impl RefusalText {
    /// Reads the body of a refusal.
    pub(crate) fn of_body(body: &str) -> Self {
        match serde_json::from_str(body) {
            Ok(value) => Self::of(&value),
            Err(_) => Self::of(&Value::String(body.trim().to_owned())),
        }
    }

    /// Reads an error object, or what holds one.
    pub fn of(value: &Value) -> Self {
        let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
        let words = words(error);
        let lengths = lengths(error, &words);
        let is_too_long = ["code", "type"].iter().filter_map(|name| error.get(name)?.as_str()).any(is_too_long_code)
            || says_too_long(&words.to_lowercase());
        let name = |name: &str| error.get(name).and_then(Value::as_str).filter(|name| is_name(name)).map(str::to_owned);
        let number = |name: &str| error.get(name).and_then(Value::as_u64).and_then(|n| u16::try_from(n).ok());
        Self {
            words,
            kind: name("type"),
            code: name("code"),
            param: name("param"),
            status: number("status").or_else(|| number("code")).filter(|status| (400..600).contains(status)),
            too_long: is_too_long.then_some(lengths),
        }
    }
}

/// A name as servers give them, and not a text that could hold anything.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= 128 && name.bytes().all(|byte| byte.is_ascii_graphic())
}

fn words(error: &Value) -> String {
    let named = ["message", "detail", "error"].iter().find_map(|name| error.get(name)?.as_str());
    match named.or(error.as_str()) {
        Some("") => "(no words)".to_owned(),
        Some(words) => words.to_owned(),
        None => error.to_string(),
    }
}

fn is_too_long_code(code: &str) -> bool {
    matches!(code, "context_length_exceeded" | "exceed_context_size_error")
}

/// How servers put it that have no code for it.
fn says_too_long(words: &str) -> bool {
    const WINDOW: [&str; 5] = ["context length", "context size", "context window", "maximum model length", "n_ctx"];
    const PASSED: [&str; 8] = [
        "exceed",
        "longer than",
        "greater than",
        "too long",
        "too large",
        "not enough",
        "overflow",
        "maximum context length is",
    ];
    let has = |known: &[&str]| known.iter().any(|part| words.contains(part));
    words.contains("prompt is too long") || (has(&WINDOW) && has(&PASSED))
}

fn lengths(error: &Value, words: &str) -> Lengths {
    const PROMPT: [&str; 10] = [
        "resulted in ",
        "you requested a total of ",
        "you requested ",
        "your request has ",
        "request (",
        "prompt (length ",
        "input length (",
        "the input (",
        "n_keep: ",
        "keep the first ",
    ];
    const WINDOW: [&str; 8] = [
        "maximum context length is ",
        "maximum context length of ",
        "context length of only ",
        "context length of ",
        "context length (",
        "context size (",
        "maximum model length of ",
        "n_ctx: ",
    ];
    let words = words.to_lowercase();
    let told = |name: &str| error.get(name).and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok());
    let found = |phrases: &[&str]| phrases.iter().find_map(|phrase| number_after(&words, phrase));
    Lengths {
        prompt_tokens: told("n_prompt_tokens").or_else(|| found(&PROMPT)),
        window_tokens: told("n_ctx").or_else(|| found(&WINDOW)),
    }
}

/// The number that follows a phrase at once.
fn number_after(words: &str, phrase: &str) -> Option<u32> {
    words.split(phrase).skip(1).find_map(|tail| {
        let digits: String =
            tail.chars().take_while(|c| c.is_ascii_digit() || *c == ',').filter(|c| *c != ',').collect();
        digits.parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(body: &str, prompt: u32, window: u32) {
        let said = RefusalText::of_body(body);
        let expected = Lengths { prompt_tokens: Some(prompt), window_tokens: Some(window) };
        assert_eq!(said.too_long, Some(expected), "{said:?}");
    }

    #[test]
    fn a_prompt_that_is_too_long_is_recognised() {
        check(
            r#"{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
            9001,
            8192,
        );
        check(
            r#"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":5012,"n_ctx":4096}}"#,
            5012,
            4096,
        );
        check(
            r#"{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4500 in the messages, 500 in the completion). Please reduce the length.","type":"BadRequestError","param":null,"code":400}"#,
            5000,
            4096,
        );
        check(
            r#"{"error":"Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough."}"#,
            5000,
            4096,
        );
        check(
            r#"{"error":{"message":"The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 5000>= n_ctx: 4096)"}}"#,
            5000,
            4096,
        );
        check(
            r#"{"error":{"message":"request (5012 tokens) exceeds the available context size (4096 tokens)"}}"#,
            5012,
            4096,
        );
        let ollama = RefusalText::of_body(
            r#"{"error":{"message":"the input length exceeds the context length","type":"api_error"}}"#,
        );
        assert_eq!(ollama.too_long, Some(Lengths::default()));
    }

    #[test]
    fn other_refusals_are_said_in_their_words() {
        let check = |body: &str, words: &str| {
            let said = RefusalText::of_body(body);
            assert_eq!((said.words.as_str(), said.too_long), (words, None), "{body}");
        };
        check(r#"{"error":{"message":"model not found","code":"model_not_found"}}"#, "model not found");
        check(r#"{"error":"no such model"}"#, "no such model");
        check(r#"{"detail":"Unauthorized"}"#, "Unauthorized");
        check("404 page not found\n", "404 page not found");
        check(r#"{"error":{"code":7}}"#, r#"{"code":7}"#);
        check(r#"{"error":{"message":"max_tokens is too large: 900"}}"#, "max_tokens is too large: 900");
        check("", "(no words)");
    }

    #[test]
    fn names_of_an_error_are_read() {
        let said = RefusalText::of_body(
            r#"{"error":{"message":"no","type":"invalid_request_error","param":"messages[0].content","code":"bad_image"}}"#,
        );
        let names = [&said.kind, &said.param, &said.code].map(|name| name.as_deref().unwrap_or_default());
        assert_eq!(names, ["invalid_request_error", "messages[0].content", "bad_image"]);
        let said = RefusalText::of_body(r#"{"error":{"code":429,"message":"slow down","type":"two words"}}"#);
        assert_eq!((said.status, said.code, said.kind), (Some(429), None, None));
    }
}
