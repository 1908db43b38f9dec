//! `/v1/embeddings`: the embedder of the searches, for callers.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::support::embeddings::{Embeddings, Manner};
use crate::support::{Home, Server, Value, json};

const EMBEDDINGS: &str = "/v1/embeddings";

fn serve(embeddings: &Embeddings) -> Server {
    Home::new().serve_with(&embeddings.settings())
}

#[test]
fn texts_are_embedded_as_numbers_or_bytes() {
    let embeddings = Embeddings::start();
    let server = serve(&embeddings);
    let one = server.post(EMBEDDINGS, json!({"model": "text-embedding-3-small", "input": "a ship"})).ok();
    let row = json!({"object": "embedding", "index": 0, "embedding": [1.0, 0.0, 0.0, 0.0]});
    assert_eq!((&one["object"], &one["data"]), (&json!("list"), &json!([row])));
    assert_eq!(one["model"], "text-embedding-3-small");
    assert!(one["usage"]["prompt_tokens"].as_u64().unwrap() > 0);
    assert_eq!(one["usage"]["prompt_tokens"], one["usage"]["total_tokens"]);
    let input: Vec<String> = (0..40).map(|n| format!("a {} {n}", ["boat", "parrot"][n % 2])).collect();
    let body = json!({"model": "embedding", "input": input, "encoding_format": "base64", "dimensions": 4});
    let many = server.post(EMBEDDINGS, &body).ok();
    let rows = many["data"].as_array().unwrap();
    assert_eq!(rows.len(), 40);
    for (n, row) in rows.iter().enumerate() {
        let bytes = STANDARD.decode(row["embedding"].as_str().unwrap()).unwrap();
        let vector: Vec<f32> = bytes.chunks(4).map(|four| f32::from_le_bytes(four.try_into().unwrap())).collect();
        let expected = if n % 2 == 0 { [1.0, 0.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0, 0.0] };
        assert_eq!((row["index"].as_u64(), vector), (Some(n as u64), expected.to_vec()));
    }
    let names: Vec<Value> =
        server.get("/v1/models").ok()["data"].as_array().unwrap().iter().map(|model| model["id"].clone()).collect();
    assert!(names.contains(&json!("embedding")) && names.contains(&json!("text-embedding-3-small")), "{names:?}");
    assert!(!server.get("/v1/export").text().contains("parrot"), "nothing is stored");
}

#[test]
fn bad_input_names_the_field() {
    let embeddings = Embeddings::start();
    let server = serve(&embeddings);
    let refused = |body: Value, named: &str| {
        server.post(EMBEDDINGS, &body).refused_with(400, "invalid_value", &[named]);
    };
    refused(json!({"input": [1, 2, 3]}), "tokens");
    refused(json!({"input": [[1, 2], [3]]}), "tokens");
    refused(json!({"input": []}), "input");
    refused(json!({"input": ["a", ""]}), "input[1]");
    refused(json!({"input": ["a", null]}), "input[1]");
    refused(json!({"input": {"a": 1}}), "input");
    refused(json!({"input": "a", "dimensions": 3}), "must be 4");
    refused(json!({"input": "a", "encoding_format": "hex"}), "encoding_format");
    refused(json!({"input": "a", "input_type": "query"}), "input_type");
    refused(json!({"input": vec!["x"; 2049]}), "EMBEDDING_INPUTS_MAX");
    server.post(EMBEDDINGS, json!({"input": vec!["x"; 2048]})).ok();
    let unknown = server.post(EMBEDDINGS, json!({"input": "a", "model": "another"}));
    unknown.refused_with(404, "model_not_found", &["text-embedding-3-small"]);
    server.post(EMBEDDINGS, json!({"input": "unspeakable"})).refused(400, "model_refused");
    embeddings.behave(Manner::Status(500));
    server.post(EMBEDDINGS, json!({"input": "a"})).refused(502, "model_failed");
    Server::start().post(EMBEDDINGS, json!({"input": "a"})).refused_with(503, "no_model", &["embed"]);
}

/// The model in the process says how much it reads, and what it read.
#[test]
fn a_text_that_is_too_long_for_the_local_model_is_refused() {
    let dir = std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models/all-MiniLM-L6-v2");
    assert!(dir.is_dir(), "{} is missing: run `make model`", dir.display());
    let settings = [("NOVELO_EMBED", "local"), ("NOVELO_EMBEDDING_DIR", dir.to_str().unwrap())];
    let server = Home::new().serve_with(&settings);
    let made = server.post(EMBEDDINGS, json!({"model": "all-MiniLM-L6-v2", "input": ["a boat", "a boat"]})).ok();
    assert_eq!(made["usage"], json!({"prompt_tokens": 8, "total_tokens": 8}));
    assert_eq!(made["data"][0]["embedding"], made["data"][1]["embedding"]);
    assert_eq!(made["data"][0]["embedding"].as_array().unwrap().len(), 384);
    let long = "word ".repeat(3000);
    let body = json!({"input": ["a boat", long]});
    server.post(EMBEDDINGS, &body).refused_with(400, "invalid_value", &["input[1]", "tokens that the model reads"]);
}
