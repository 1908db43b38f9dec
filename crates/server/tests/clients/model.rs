//! The model behind the server: it calls the tools that it is offered, and then answers with what they
//! returned.
//!
//! It decides by the request alone, as a real model does: a question that has no results yet gets calls,
//! their arguments spelt as models spell them; one that has gets its answer. Words in the question ask for a
//! status or for silence.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::support::models::{Act, Asked, Models, words};

/// The name that it is listed under.
pub const NAME: &str = "gpt-4o-mini";
pub const FINGERPRINT: &str = "fp_44709d6fcb";

/// Arguments that a client which parses them writes differently: escapes, spaces, numbers, the order of
/// members.
const ESCAPED: &str = r#"{"city": "S\u00e3o Paulo", "days": 1.0}"#;
const SPACED: &str = r#"{ "days":1e1 , "city":"Belém 🌴",
  "options": { "units" : "metric", "nested" :{"deep":[1, 2.50,{"x":null}], "empty": {}, "z": "a\/b" } } }"#;
/// Greater than what a client written in JavaScript holds exactly.
const GREAT: &str = r#"{"city":"Recife","station":12345678901234567890}"#;

/// A running one, with what it is listed as.
pub fn start() -> Models {
    let models = Models::start();
    let listed = [NAME, "gpt-4o"].map(|id| json!({"id": id, "object": "model", "created": 1, "owned_by": "test"}));
    models.page("GET /v1/models", 200, json!({"object": "list", "data": listed}));
    models.otherwise(Act::Decides(decide));
    models
}

fn decide(asked: &Asked) -> Act {
    let messages = asked.body["messages"].as_array().unwrap();
    if messages.iter().any(has_image) {
        return Act::Status(400, refusal("this model does not take images", "invalid_request_error").to_string());
    }
    let at = messages.iter().rposition(|message| message["role"] == "user").unwrap();
    let question = text(&messages[at]["content"]);
    if let Some(refused) = status(&question) {
        return refused;
    }
    if question.contains("long story") {
        return Act::StallsAfter(3, words(&["Once", " upon", " a", " time"]));
    }
    if question.contains("break off") {
        return Act::ErrorAfter(2, words(&["Once", " upon"]));
    }
    if question.starts_with("Repeat every code word") {
        return Saying::text(code_words(messages)).act(&asked.body);
    }
    if asked.body["tool_choice"] == "required" && question.contains("lookup") {
        return Act::Calls(vec![("lookup".to_owned(), json!({"key": "alpha"}))]);
    }
    let results: Vec<String> =
        messages[at..].iter().filter(|m| m["role"] == "tool").map(|m| text(&m["content"])).collect();
    if asked.body["response_format"]["type"] == "json_schema" {
        return Saying::text(r#"{"city": "Recife", "degrees": 31}"#.to_owned()).act(&asked.body);
    }
    let offers = asked.body["tools"].as_array().is_some_and(|tools| !tools.is_empty());
    let has_tools = offers && asked.body["tool_choice"] != "none";
    let saying = match (results.is_empty(), has_tools) {
        (true, true) => Saying::calls(&question),
        (true, false) => Saying::text(format!("You said: {question}")),
        // A last line feed, as models write it and clients cut it off.
        (false, _) => Saying::text(format!("It is {}.\n", results.join(" and "))),
    };
    saying.act(&asked.body)
}

/// The words that messages call code words.
fn code_words(messages: &[Value]) -> String {
    let said: Vec<String> = messages.iter().map(|message| text(&message["content"])).collect();
    let words = said.iter().flat_map(|said| said.split_whitespace().filter(|word| word.starts_with("zx-")));
    format!("They are: {}", words.collect::<Vec<_>>().join(" "))
}

fn status(question: &str) -> Option<Act> {
    let error = |message: &str, kind: &str| refusal(message, kind).to_string();
    let status: u16 = question.split_once("status ")?.1.get(..3)?.parse().ok()?;
    Some(match status {
        400 => Act::Status(400, error("temperature is out of range", "invalid_request_error")),
        401 => {
            Act::Status(401, error("Incorrect API key provided: sk-secret-of-the-operator", "invalid_request_error"))
        }
        404 => Act::Status(404, error("the model was retired", "invalid_request_error")),
        429 => Act::StatusWith(429, "retry-after: 1".to_owned(), error("slow down", "rate_limit_error")),
        other => Act::Status(other, error("the model fell over", "server_error")),
    })
}

fn refusal(message: &str, kind: &str) -> Value {
    json!({"error": {"message": message, "type": kind, "param": null, "code": null}})
}

fn has_image(message: &Value) -> bool {
    message["content"].as_array().is_some_and(|parts| parts.iter().any(|part| part["type"] == "image_url"))
}

/// The text of a content, which may be in parts.
pub fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

/// What it says to one request.
struct Saying {
    text: String,
    /// Id and arguments.
    calls: Vec<(String, &'static str)>,
}

impl Saying {
    fn text(text: String) -> Self {
        Self { text, calls: Vec::new() }
    }

    fn calls(question: &str) -> Self {
        static CALLS: AtomicUsize = AtomicUsize::new(0);
        let (text, spelt): (&str, &[&'static str]) = match question {
            q if q.contains("both") => ("", &[ESCAPED, SPACED]),
            q if q.contains("station") => ("", &[GREAT]),
            q if q.contains("Belem") => ("Let me look.", &[SPACED]),
            _ => ("", &[ESCAPED]),
        };
        let id = |_| format!("call_{:04}", CALLS.fetch_add(1, Ordering::Relaxed));
        Self { text: text.to_owned(), calls: spelt.iter().map(|spelt| (id(spelt), *spelt)).collect() }
    }

    fn act(&self, request: &Value) -> Act {
        match request["stream"] == true {
            true => Act::Raw(self.events(request)),
            false => Act::Whole(self.whole(request)),
        }
    }

    fn finish(&self) -> &'static str {
        if self.calls.is_empty() { "stop" } else { "tool_calls" }
    }

    fn whole(&self, request: &Value) -> Value {
        let call = |(id, arguments): &(String, &str)| json!({"id": id, "type": "function", "function": {"name": "weather", "arguments": arguments}});
        let content = if self.text.is_empty() { Value::Null } else { self.text.clone().into() };
        let mut message = json!({"role": "assistant", "content": content, "refusal": null});
        if !self.calls.is_empty() {
            message["tool_calls"] = self.calls.iter().map(call).collect();
        }
        let logprobs = logprobs(request, &self.text);
        let choice = json!({"index": 0, "message": message, "logprobs": logprobs, "finish_reason": self.finish()});
        json!({
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": NAME, "choices": [choice],
            "usage": usage(), "system_fingerprint": FINGERPRINT,
        })
    }

    /// The same as the events of a stream: text in two pieces, and so the arguments of each call.
    fn events(&self, request: &Value) -> Vec<Vec<u8>> {
        let mut events = vec![chunk(&json!({"role": "assistant", "content": "", "refusal": null}), &Value::Null, None)];
        for piece in halves(&self.text).into_iter().filter(|piece| !piece.is_empty()) {
            events.push(chunk(&json!({"content": piece}), &logprobs(request, piece), None));
        }
        for (index, (id, arguments)) in self.calls.iter().enumerate() {
            let [front, back] = halves(arguments);
            let function = json!({"name": "weather", "arguments": front});
            let calls = [
                json!({"index": index, "id": id, "type": "function", "function": function}),
                json!({"index": index, "function": {"arguments": back}}),
            ];
            events.extend(calls.map(|call| chunk(&json!({"tool_calls": [call]}), &Value::Null, None)));
        }
        events.push(chunk(&json!({}), &Value::Null, Some(self.finish())));
        if request["stream_options"]["include_usage"] == true {
            events.push(event(json!([]), usage()));
        }
        events.push(b"data: [DONE]\n\n".to_vec());
        events
    }
}

fn chunk(delta: &Value, logprobs: &Value, finish: Option<&str>) -> Vec<u8> {
    let choice = json!({"index": 0, "delta": delta, "logprobs": logprobs, "finish_reason": finish});
    event(json!([choice]), Value::Null)
}

fn event(choices: Value, usage: Value) -> Vec<u8> {
    let event = json!({
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": NAME, "choices": choices,
        "usage": usage, "system_fingerprint": FINGERPRINT,
    });
    format!("data: {event}\n\n").into_bytes()
}

fn usage() -> Value {
    json!({
        "prompt_tokens": 40, "completion_tokens": 20, "total_tokens": 60,
        "prompt_tokens_details": {"cached_tokens": 32, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 7, "accepted_prediction_tokens": 0},
    })
}

/// One entry for all of a text, where the request asks for them.
fn logprobs(request: &Value, text: &str) -> Value {
    if request["logprobs"] != true || text.is_empty() {
        return Value::Null;
    }
    json!({"content": [{"token": text, "logprob": -0.25, "bytes": null, "top_logprobs": []}], "refusal": null})
}

fn halves(text: &str) -> [&str; 2] {
    let middle = (0..=text.len() / 2).rev().find(|at| text.is_char_boundary(*at)).unwrap();
    let (front, back) = text.split_at(middle);
    [front, back]
}
