//! The window of a model, asked of servers of each kind.

use std::time::{Duration, Instant};

use novelo_conversation::model::Job;
use serde_json::{Value, json};

use super::{answerer, of, open, run};
use crate::support::models::Models;

/// The window that a server tells which has these pages; the model is `tiny`.
fn window(pages: &[(&str, Value)]) -> Option<u32> {
    let server = Models::start();
    pages.iter().for_each(|(at, answer)| server.page(at, 200, answer.clone()));
    let models = of(&server, &[]);
    run(answerer(&models).window_tokens())
}

#[test]
fn each_kind_of_server_is_understood() {
    let llama_cpp = [("GET /props", json!({"default_generation_settings": {"n_ctx": 2048}, "total_slots": 1}))];
    assert_eq!(window(&llama_cpp), Some(2048));

    let loaded = json!({"id": "tiny", "state": "loaded", "max_context_length": 131072, "loaded_context_length": 8192});
    assert_eq!(window(&[("GET /api/v0/models/tiny", loaded)]), Some(8192));
    let unloaded = json!({"id": "tiny", "state": "not-loaded", "max_context_length": 32768});
    assert_eq!(window(&[("GET /api/v0/models/tiny", unloaded)]), Some(32768));

    let running = |name: &str| json!({"models": [{"name": name, "model": name, "context_length": 16384}]});
    let shown = |parameters: &str| {
        let about = json!({"general.architecture": "llama", "llama.context_length": 131072});
        ("POST /api/show", json!({"parameters": parameters, "model_info": about}))
    };
    assert_eq!(window(&[("GET /api/ps", running("tiny:latest")), shown("")]), Some(16384));
    assert_eq!(window(&[("GET /api/ps", running("other")), shown("stop \"x\"\nnum_ctx    12288")]), Some(12288));
    assert_eq!(window(&[("GET /api/ps", json!({"models": []})), shown("")]), Some(4096), "what Ollama cuts at");

    let vllm = json!({"data": [{"id": "tiny", "owned_by": "vllm", "max_model_len": 40960}]});
    assert_eq!(window(&[("GET /v1/models", vllm)]), Some(40960));

    assert_eq!(window(&[]), None);
    let chatty = json!({"error": "Unexpected endpoint or method. (GET /props)"});
    assert_eq!(window(&[("GET /props", chatty)]), None);
}

#[test]
fn what_is_set_is_not_asked() {
    let server = Models::start();
    let models = of(&server, &[("NOVELO_MODELS_ANSWER_WINDOW_TOKENS", "777")]);
    assert_eq!(run(answerer(&models).window_tokens()), Some(777));
    assert_eq!(server.all_asked().len(), 0);
    let openai = open(&[("OPENAI_API_KEY", "k")]);
    assert_eq!(run(answerer(&openai).window_tokens()), None, "and OpenAI does not tell");
}

#[test]
fn a_window_is_asked_once_for_all_jobs() {
    let server = Models::start();
    server.page("GET /props", 200, json!({"default_generation_settings": {"n_ctx": 2048}}));
    let models = of(&server, &[]);
    run(async {
        for job in Job::ALL {
            assert_eq!(models.get(job).unwrap().window_tokens().await, Some(2048));
        }
    });
    let asked: Vec<String> = server.all_asked().into_iter().map(|asked| asked.path).collect();
    assert_eq!(asked, ["/v1/models", "/props"]);
}

#[test]
fn a_server_that_does_not_tell_is_left_alone_for_a_while() {
    let server = Models::start();
    let models = of(&server, &[]);
    run(async {
        let model = answerer(&models);
        assert_eq!(model.window_tokens().await, None);
        let asked = server.all_asked().len();
        server.page("GET /props", 200, json!({"default_generation_settings": {"n_ctx": 2048}}));
        assert_eq!((model.window_tokens().await, server.all_asked().len()), (None, asked));
    });
}

#[test]
fn a_server_that_hangs_costs_two_seconds_at_most() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let models = open(&[("NOVELO_MODELS_ANSWER_URL", &url), ("NOVELO_MODELS_ANSWER_MODEL", "m")]);
    let started = Instant::now();
    assert_eq!(run(answerer(&models).window_tokens()), None);
    let took = started.elapsed();
    assert!(took >= Duration::from_millis(1900) && took < Duration::from_millis(3500), "{took:?}");
}
