//! `/v1/responses` and `/v1/conversations`: OpenAI's conversation state over a model of chat completions.

mod background;
mod chains;
mod conversations;
mod embeddings;
mod errors;
mod tenants;

use crate::support::models::Models;
use crate::support::{Home, Server, Value, json};

const AT: &str = "/v1/responses";

fn serve(models: &Models) -> Server {
    Home::new().serve_with(&models.talking())
}

fn id(answer: &Value) -> String {
    answer["id"].as_str().unwrap().to_owned()
}

/// The text of a response.
fn text(response: &Value) -> String {
    let parts = response["output"].as_array().unwrap().iter().flat_map(|item| item["content"].as_array().into_iter());
    parts.flatten().filter_map(|part| part["text"].as_str()).collect()
}

fn ask(input: &str) -> Value {
    json!({"model": "answer", "input": input, "user": "ana"})
}

/// The same behind a response.
fn ask_after(previous: &str, input: impl Into<Value>) -> Value {
    json!({"model": "answer", "input": input.into(), "user": "ana", "previous_response_id": previous})
}
