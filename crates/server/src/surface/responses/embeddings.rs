//! `POST /v1/embeddings`: the embedder of the searches, for callers.
//!
//! Nothing is stored. A text that the model would not read to its end is refused, and so are tokens: only the
//! tokenizer of the client that made them knows their text.

use axum::extract::State;
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use novelo_engine::Tokenizer;
use novelo_engine::limits::EMBEDDING_INPUTS_MAX;
use serde::Deserialize;
use serde_json::{Value, json};

use super::OpenAiResult;
use super::call::answer_in;
use crate::http::body::{RawBody, parse_object};
use crate::http::error::ApiResult;
use crate::surface::native::completions::unknown_model;
use novelo_conversation::app::App;
use novelo_conversation::error::{Code, Error, Result};
use novelo_conversation::search::{Embedder, EmbeddingFailure};

/// The name that the embedder has whichever model it is.
pub(crate) const EMBEDDING: &str = "embedding";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EmbeddingsRequest {
    input: Value,
    model: Option<String>,
    encoding_format: Option<String>,
    dimensions: Option<u64>,
    /// Nothing is stored for anybody.
    #[serde(rename = "user")]
    _user: Option<String>,
}

pub(super) async fn create(State(app): State<App>, body: ApiResult<RawBody>) -> OpenAiResult<Response> {
    let RawBody(body) = body?;
    let request: EmbeddingsRequest = parse_object(&body)?;
    let embedder = &app.indexes.embedder;
    let model = model(embedder, request.model.as_deref())?;
    let encode: fn(&[f32]) -> Value = match request.encoding_format.as_deref() {
        None | Some("float") => |vector| json!(vector),
        Some("base64") => {
            |vector| STANDARD.encode(vector.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>()).into()
        }
        Some(_) => return Err(Error::invalid("encoding_format", "must be float or base64").into()),
    };
    let texts = texts(&request.input)?;
    for (place, text) in texts.iter().enumerate() {
        if let Some(tokens_max) = embedder.is_too_long(text) {
            let problem = format!("has more than the {tokens_max} tokens that the model reads; split it");
            return Err(Error::invalid(format!("input[{place}]"), problem).into());
        }
    }
    let made = embedder.embed_in_batches(&texts).await.map_err(failed)?;
    let size = made.vectors.first().map_or(0, Vec::len);
    if request.dimensions.is_some_and(|dimensions| dimensions != size as u64) {
        return Err(Error::invalid("dimensions", format_args!("must be {size}: the model makes no others")).into());
    }
    let counted = || texts.iter().map(|text| u64::from(Tokenizer::Approx.count(text))).sum();
    let tokens: u64 = made.tokens.unwrap_or_else(counted);
    let row =
        |(index, vector): (usize, &Vec<f32>)| json!({"object": EMBEDDING, "index": index, "embedding": encode(vector)});
    let data: Vec<Value> = made.vectors.iter().enumerate().map(row).collect();
    let usage = json!({"prompt_tokens": tokens, "total_tokens": tokens});
    answer_in(None, &json!({"object": "list", "data": data, "model": model, "usage": usage}))
}

/// The name of the model. A caller gets no other model than the one it names.
fn model<'e>(embedder: &'e Embedder, named: Option<&str>) -> Result<&'e str> {
    let Some(model) = embedder.model_name() else {
        let why = embedder.fault.as_ref().map(|fault| format!(": {fault}")).unwrap_or_default();
        return Err(Error::new(Code::NoModel, format!("there is no embedder; the setting is embed{why}")));
    };
    match named {
        None | Some("" | EMBEDDING) => Ok(model),
        Some(named) if named == model => Ok(model),
        Some(named) => Err(unknown_model(named, &[EMBEDDING.to_owned(), model.to_owned()])),
    }
}

/// The texts of the input.
fn texts(input: &Value) -> Result<Vec<String>> {
    let of_tokens = || Error::invalid("input", "has tokens; send the texts: their tokenizer is not known here");
    let texts: Vec<String> = match input {
        Value::String(text) => vec![text.clone()],
        Value::Array(inputs) if inputs.len() > EMBEDDING_INPUTS_MAX && !inputs.iter().any(Value::is_number) => {
            let cap = format!("the cap EMBEDDING_INPUTS_MAX is {EMBEDDING_INPUTS_MAX}");
            return Err(Error::invalid("input", format_args!("has {} texts; {cap}", inputs.len())));
        }
        Value::Array(inputs) => {
            let text = |(place, input): (usize, &Value)| match input {
                Value::String(text) => Ok(text.clone()),
                Value::Number(_) | Value::Array(_) => Err(of_tokens()),
                _ => Err(Error::invalid(format!("input[{place}]"), "must be a string")),
            };
            inputs.iter().enumerate().map(text).collect::<Result<_>>()?
        }
        _ => return Err(Error::invalid("input", "must be a string or an array of strings")),
    };
    if texts.is_empty() {
        return Err(Error::invalid("input", "is empty"));
    }
    match texts.iter().position(|text| text.is_empty()) {
        Some(place) => Err(Error::invalid(format!("input[{place}]"), "is an empty string")),
        None => Ok(texts),
    }
}

fn failed(failure: EmbeddingFailure) -> Error {
    match failure {
        EmbeddingFailure::Refused(said) => Error::new(Code::ModelRefused, format!("the embedder refused: {said}")),
        EmbeddingFailure::Down(said) => Error::new(Code::ModelFailed, format!("the embedder failed: {said}")),
    }
}
