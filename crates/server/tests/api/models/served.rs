//! What a running server says of its models.

use serde_json::{Value, json};

use crate::support::models::Models;
use crate::support::{Home, Ran, Server};

#[test]
fn without_a_model_it_says_so() {
    let server = Server::start();
    assert_eq!(server.get("/v1/models").ok(), json!({"object": "list", "data": []}));
    let none = json!({"answer": null, "rewrite": null, "summary": null, "narrate": null});
    assert_eq!(server.get("/health/ready").ok()["models"], none);
    let healthy = json!({
        "healthy": true, "findings": [], "notes": [], "models": none, "store": "local", "index": "local",
    });
    assert_eq!(server.get("/v1/doctor").ok(), healthy);
}

#[test]
fn jobs_with_a_model_are_listed_as_models() {
    let (one, two) = (Models::start(), Models::start());
    let server = Home::new().serve_with(&[
        ("NOVELO_MODELS_ANSWER_URL", &one.base),
        ("NOVELO_MODELS_SUMMARY_URL", &two.base),
        ("NOVELO_MODELS_SUMMARY_MODEL", "small"),
        ("NOVELO_MODELS_REWRITE_URL", "none"),
    ]);
    assert_eq!((one.all_asked().len(), two.all_asked().len()), (0, 0), "nobody is called at the start");
    let entry = |id: &str, model: Value| json!({"id": id, "object": "model", "created": 0, "owned_by": "novelo", "model": model});
    let listed = server.get("/v1/models").ok();
    let tiny = json!({"id": "tiny", "object": "model", "created": 0, "owned_by": "test"});
    let small = json!({"id": "small", "object": "model", "created": 0, "owned_by": "novelo"});
    let jobs = [entry("answer", Value::Null), entry("summary", json!("small")), entry("narrate", Value::Null)];
    let expected = [jobs.as_slice(), &[tiny, small]].concat();
    assert_eq!(listed["data"], json!(expected));

    let doctor = server.get("/v1/doctor").ok();
    assert_eq!(doctor["healthy"], true, "{doctor}");
    assert_eq!(doctor["models"]["answer"]["model"], "tiny", "it has asked");
    assert_eq!(server.get("/v1/models").ok()["data"][0]["model"], "tiny");
    let page = server.get("/metrics").text();
    assert!(page.contains("novelo_model_calls_total{job=\"narrate\",outcome=\"ok\"} 0\n"), "{page}");
    assert!(!page.contains("job=\"rewrite\""));
}

#[test]
fn doctor_asks_whether_the_servers_are_there() {
    let there = Models::start();
    there.page("GET /props", 200, json!({"default_generation_settings": {"n_ctx": 512}}));
    let home = Home::new();
    home.serve().kill();
    let doctor = |settings: &[(&str, &str)]| Ran::of(home.command(&["doctor"]).envs(settings.iter().copied()));
    let ran = doctor(&there.settings());
    let line = |job: &str| format!("models.{job}: tiny at {}, a window of 512 tokens\n", there.host());
    let all = ["answer", "rewrite", "summary", "narrate"].map(line).concat();
    assert_eq!((ran.code, ran.out), (Some(0), format!("{all}store: local, index: local\nhealthy\n")));

    there.page("GET /v1/models", 401, json!({"error": {"message": "Incorrect API key: sk-hidden"}}));
    for (settings, said) in [
        (
            vec![("NOVELO_MODELS_ANSWER_URL", "127.0.0.1:1")],
            "models.answer.url: http://127.0.0.1:1/v1 cannot be reached",
        ),
        (vec![("OLLAMA_HOST", "127.0.0.1:1"), ("OPENAI_API_KEY", "sk-hidden")], "http://127.0.0.1:1/v1"),
        (
            [there.settings().as_slice(), &[("NOVELO_MODELS_ANSWER_KEY", "sk-hidden")]].concat(),
            "answered 401: Incorrect API key: ***",
        ),
    ] {
        let ran = doctor(&settings);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.out.contains(said) && ran.out.contains("hint: start that server"), "{said}: {ran:?}");
        assert!(!ran.out.contains("sk-hidden") && !ran.err.contains("sk-hidden"), "{ran:?}");
    }
}

#[test]
fn a_bad_address_ends_the_start_with_its_setting() {
    let home = Home::new();
    let mut command = home.command(&["serve", "--addr", "127.0.0.1:0"]);
    let ran = Ran::of(command.env("NOVELO_MODELS_SUMMARY_URL", "ftp://models"));
    ran.failed(&["models.summary.url must begin with http:// or https://", "(from NOVELO_MODELS_SUMMARY_URL)"]);
}

#[test]
fn a_key_of_openai_stays_where_ollama_is_named() {
    let server = Models::start();
    let settings = [("OLLAMA_HOST", server.host()), ("OPENAI_API_KEY", "sk-hidden".to_owned())];
    let home = Home::new();
    home.serve().kill();
    let ran = Ran::of(home.command(&["doctor"]).envs(settings));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let asked = server.all_asked();
    assert!(!asked.is_empty() && asked.iter().all(|asked| asked.header("authorization").is_none()), "{asked:?}");
}
