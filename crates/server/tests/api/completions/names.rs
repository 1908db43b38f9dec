//! Which model, and which server, a name means.

use super::{AT, serve};
use crate::support::models::{Act, Models};
use crate::support::{Home, Value, json, says};

fn named(name: &str) -> Value {
    json!({"model": name, "messages": [says("user", "Hi")]})
}

fn lists(models: &Models, ids: &[&str]) {
    let entry = |id: &&str| json!({"id": id, "object": "model", "created": 7, "owned_by": "them", "root": "/srv/x"});
    models.page("GET /v1/models", 200, json!({"object": "list", "data": ids.iter().map(entry).collect::<Vec<_>>()}));
}

#[test]
fn a_name_that_the_server_knows_works_from_the_first_call() {
    let models = Models::start();
    lists(&models, &["gpt-4o-mini", "org/large"]);
    models.page("GET /props", 200, json!({"default_generation_settings": {"n_ctx": 4096}}));
    let server = serve(&models);
    for name in ["org/large", "gpt-4o-mini"] {
        server.post(AT, named(name)).ok();
        assert_eq!(models.asked().last().unwrap().body["model"], name);
    }
    let listings = models.all_asked().iter().filter(|asked| asked.path == "/v1/models").count();
    assert_eq!(listings, 1, "the list is kept");
}

#[test]
fn an_unknown_name_goes_to_the_default_server_only() {
    let (default, other) = (Models::start(), Models::start());
    lists(&other, &["others-own"]);
    let server = Home::new()
        .serve_with(&[("NOVELO_MODELS_ANSWER_URL", &default.base), ("NOVELO_MODELS_SUMMARY_URL", &other.base)]);
    default.play([Act::Status(
        404,
        json!({"error": {"message": "no such model", "code": "model_not_found"}}).to_string(),
    )]);
    server.post(AT, named("gpt-9")).refused_with(404, "model_not_found", &["no such model"]);
    assert_eq!(default.asked()[0].body["model"], "gpt-9", "as it is");
    assert_eq!(other.asked().len(), 0);
    server.post(AT, named("others-own")).ok();
    assert_eq!((default.asked().len(), &other.asked()[0].body["model"]), (1, &json!("others-own")));
}

#[test]
fn without_a_default_it_is_refused_with_the_names_that_are_known() {
    let (one, two) = (Models::start(), Models::start());
    lists(&one, &["small"]);
    lists(&two, &["large"]);
    let server = Home::new().serve_with(&[
        ("NOVELO_MODELS_ANSWER_URL", "none"),
        ("NOVELO_MODELS_SUMMARY_URL", &one.base),
        ("NOVELO_MODELS_REWRITE_URL", &two.base),
    ]);
    server.post(AT, named("gpt-9")).refused_with(404, "model_not_found", &["gpt-9", "small", "large", "summary"]);
    assert_eq!((one.asked().len(), two.asked().len()), (0, 0), "neither server is called");
    server.post(AT, named("large")).ok();
    assert_eq!((one.asked().len(), two.asked().len()), (0, 1));
    server.post(AT, json!({"messages": [says("user", "Hi")]})).refused(503, "no_model");
    for name in ["", "x\u{0}y", &"x".repeat(257)] {
        let status = server.post(AT, named(name)).status;
        assert_eq!(status, if name.is_empty() { 503 } else { 422 });
    }
}

#[test]
fn a_model_that_appears_later_is_found_without_asking_each_time() {
    let models = Models::start();
    let server = serve(&models);
    for _ in 0..5 {
        server.post(AT, named("not-yet")).ok();
    }
    let listings = models.all_asked().iter().filter(|asked| asked.path == "/v1/models").count();
    assert!((1..=2).contains(&listings), "at most once in some seconds: {listings}");
}

#[test]
fn models_are_listed_and_retrieved() {
    let models = Models::start();
    lists(&models, &["gpt-4o-mini", "org/large"]);
    let server = serve(&models);
    let listed = server.get("/v1/models").ok();
    let ids: Vec<&str> = listed["data"].as_array().unwrap().iter().map(|model| model["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["answer", "rewrite", "narrate", "gpt-4o-mini", "org/large"]);
    let large = json!({"id": "org/large", "object": "model", "created": 7, "owned_by": "them"});
    for path in ["/v1/models/org/large", "/v1/models/org%2Flarge"] {
        assert_eq!(server.get(path).ok(), large);
    }
    assert_eq!(server.get("/v1/models/answer").ok()["owned_by"], "novelo");
    server.get("/v1/models/gpt-9").refused_with(404, "model_not_found", &["gpt-9", "org/large"]);
}
