//! How a request went: every mark of it, who may read it, and for how long.

use novelo_engine::limits::BODY_BYTES_MAX;

use crate::support::eco::{
    DEBUG, HEAVY, LIGHT, PATH, asks, course, course_of, guest, home, memories, serve, stages, with,
};
use crate::support::embeddings::{Embeddings, Manner};
use crate::support::models::Models;
use crate::support::{Answer, Client, Server, Value, eventually, json, thread, user};

fn debug(client: &Client, id: &str) -> Answer {
    client.get(&format!("/debug/trace/{id}"))
}

fn heuristic<'a>(course: &'a Value, name: &str) -> &'a Value {
    let all = course["heuristics"].as_array().unwrap();
    all.iter().find(|one| one["name"] == name).unwrap_or_else(|| panic!("no {name} in {course}"))
}

fn module<'a>(course: &'a Value, name: &str) -> &'a Value {
    let all = course["modules"].as_array().unwrap();
    all.iter().find(|one| one["name"] == name).unwrap_or_else(|| panic!("no {name} in {course}"))
}

/// A server with a model and with embeddings.
fn full(models: &Models, embeddings: &Embeddings) -> Server {
    serve(models, &embeddings.settings())
}

const SAID: &str = "Bateu o desespero: the ship sank, e estou sozinho";

#[test]
fn a_full_request_leaves_every_mark() {
    let (models, embeddings) = (Models::start(), Embeddings::start());
    let server = full(&models, &embeddings);
    let answer = server.post(PATH, asks("ana", "t", SAID));
    let told = answer.ok();
    let id = course_of(&answer);
    let course = course(&server, &id);
    assert_eq!((&course["traceId"], &course["userId"]), (&json!(id), &json!("ana")));
    assert_eq!((&course["surface"], &course["model"]), (&json!("ask-eco"), &json!("tiny")));
    let caches = course["caches"].as_array().unwrap();
    assert_eq!((&course["cacheStatus"], caches.len()), (&json!("miss"), 2), "{course}");
    assert!(caches.iter().all(|cache| cache["status"] == "miss"), "{course}");

    let signal = heuristic(&course, "sinal:desespero");
    assert_eq!(signal["value"], json!(8.0));
    assert!(signal["why"].as_str().unwrap().contains("desespero"), "{signal}");
    assert_eq!(heuristic(&course, "intensidade")["value"], json!(8.0));
    assert!(heuristic(&course, "vulnerabilidade")["why"].as_str().unwrap().contains("sozinho"));
    assert_eq!(heuristic(&course, "abertura")["value"], json!(3));
    assert_eq!(heuristic(&course, "vivaAtivo")["value"], json!(true));
    assert_eq!(heuristic(&course, "lowComplexity")["value"], json!(true));
    assert_eq!(heuristic(&course, "mode")["value"], told["meta"]["mode"]);
    assert!(heuristic(&course, "barco")["why"].as_str().unwrap().contains("The boat is gone."), "found by meaning");

    assert_eq!(module(&course, "base")["status"], "kept");
    assert_eq!(module(&course, "barco")["status"], "kept");
    let cut = module(&course, "longo");
    assert_eq!(cut["status"], "cut");
    let (tokens, missing) = (cut["tokens"].as_u64().unwrap(), cut["missingTokens"].as_u64().unwrap());
    assert!(0 < missing && missing < tokens, "{cut}");
    assert!(course["modules"].as_array().unwrap().iter().all(|module| module["why"].is_string()), "{course}");

    let embedded = &course["embeddingResult"];
    assert_eq!((&embedded["against"], &embedded["kind"]), (&json!("heuristics"), &json!("conversation")));
    assert!(embedded["similarity"].as_f64() > Some(0.9) && embedded["tookMs"].is_number(), "{embedded}");
    let memory = &course["memoryDecision"];
    assert_eq!((&memory["saveMemory"], &memory["intensity"]), (&json!(true), &json!(8.0)));
    assert_eq!(memory["memoryId"], memories(&server, "ana")[0]["id"]);
    assert!(memory["reason"].as_str().is_some_and(|reason| !reason.is_empty()));
    let latency = ["promptReadyMs", "firstTokenMs", "totalMs"].map(|name| course["latency"][name].as_f64().unwrap());
    assert!(latency.is_sorted() && latency[0] > 0.0, "{latency:?}");
    assert_eq!((stages(&course), &course["running"]), (vec![], &json!(false)));
    assert!(course["startedAt"].as_str() <= course["finishedAt"].as_str(), "{course}");

    let prompts = course["prompts"].as_array().unwrap();
    assert_eq!(prompts.len(), 1);
    let prompt = server.get(&format!("/v1/traces/{}", prompts[0].as_str().unwrap())).ok();
    assert_eq!((&prompt["user"], &prompt["thread"]), (&json!("ana"), &json!("t")));
    assert!(!course.to_string().contains("the ship sank"), "it quotes no message: {course}");
}

#[test]
fn a_warm_embedding_is_told_from_a_fresh_one() {
    let (models, embeddings) = (Models::start(), Embeddings::start());
    let server = full(&models, &embeddings);
    let kinds = |session: &str| {
        let answer = server.post(PATH, with(asks("ana", session, "A ship came"), "forcarMetodoViva", true));
        answer.ok();
        let course = course(&server, &course_of(&answer));
        let all = course["embeddingResults"].as_array().unwrap().clone();
        all.iter().map(|one| one["kind"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let (first, again) = (kinds("a"), kinds("b"));
    assert!(first.iter().any(|kind| kind == "conversation"), "{first:?}");
    assert!(again.iter().any(|kind| kind == "warm"), "{again:?}");
}

#[test]
fn a_source_that_fails_is_an_error_in_the_course_and_costs_no_answer() {
    let (models, embeddings) = (Models::start(), Embeddings::start());
    let server = full(&models, &embeddings);
    for (n, manner) in [Manner::Status(500), Manner::Nonsense, Manner::Slowly].into_iter().enumerate() {
        embeddings.behave(manner);
        let answer = server.post(PATH, asks("ana", &format!("t{n}"), &format!("{HEAVY}, caso {n}")));
        assert_eq!((&answer.ok()["message"], &answer.ok()["fallback"]), (&json!("Hello there."), &json!(false)));
        let course = course(&server, &course_of(&answer));
        assert!(stages(&course).contains(&"embedding"), "{manner:?}: {course}");
        assert_eq!(module(&course, "base")["status"], "kept");
    }
    let asked = models.asked();
    assert!(asked[0].contents().iter().any(|text| text.starts_with("MEMORIAS_RELEVANTES")), "a placeholder stands in");
}

/// Every answer, whatever it is, names its course.
#[test]
fn every_answer_names_its_course() {
    let models = Models::start();
    let server = serve(&models, &[("NOVELO_ECO_GUEST_MAX", "1")]);
    let admin = server.admin_key();
    let ana = server.user_key(&admin, "ana");
    admin.post(PATH, guest("g", LIGHT)).ok();
    let own = asks("ana", "t", LIGHT);
    let (long, stranger) = ("x".repeat(BODY_BYTES_MAX + 1), server.client());
    let answers = [
        (ana.post(PATH, &own), 200, None),
        (ana.post(PATH, with(own.clone(), "stream", true)), 200, None),
        (ana.post(PATH, &own), 200, None),
        (ana.post(PATH, "{"), 400, Some("validation")),
        (stranger.post(PATH, &own), 401, Some("auth")),
        (ana.post(PATH, asks("bia", "t", LIGHT)), 403, Some("auth")),
        (ana.post(DEBUG, &own), 403, Some("auth")),
        (ana.post(PATH, long), 413, Some("validation")),
        (ana.post(PATH, json!({"messages": []})), 422, Some("validation")),
        (ana.with("last-event-id", "x").post(PATH, ""), 422, Some("validation")),
        (ana.with("last-event-id", "00.1").post(PATH, ""), 404, Some("validation")),
        (admin.post(PATH, guest("g", "Mais")), 429, Some("rate_limit")),
    ];
    let mut ids = Vec::new();
    for (answer, status, stage) in answers {
        assert_eq!(answer.status, status, "{}", answer.text());
        let course = course(&admin, &course_of(&answer));
        assert_eq!(stages(&course), stage.into_iter().collect::<Vec<_>>(), "{course}");
        assert!(course["latency"]["totalMs"].is_number(), "{course}");
        ids.push(course_of(&answer));
    }
    let count = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), count, "each its own");
    let other = admin.get(PATH);
    assert_eq!((other.status, course_of(&other).is_empty()), (405, false));
}

#[test]
fn the_seeds_third_call_is_refused_and_its_course_says_why() {
    let server = home().serve();
    let answer = server.post(PATH, json!({"messages": []}));
    answer.refused(422, "invalid_field");
    let course = course(&server, &course_of(&answer));
    assert_eq!((stages(&course), &course["userId"]), (vec!["validation"], &Value::Null));
}

#[test]
fn only_an_admin_looks_at_a_course() {
    let server = home().serve();
    let admin = server.admin_key();
    let (ana, bia) = (server.user_key(&admin, "ana"), server.user_key(&admin, "bia"));
    let id = course_of(&ana.post(PATH, asks("ana", "t", LIGHT)));
    debug(&server.client(), &id).refused(401, "unauthorized");
    for client in [&ana, &bia] {
        debug(client, &id).refused(403, "forbidden");
    }
    debug(&admin, &id).ok();
    for unknown in ["x", "%00", "..", &id[1..], &format!("{id}A"), &"A".repeat(4_000)] {
        debug(&admin, unknown).refused(404, "not_found");
        debug(&ana, unknown).refused(403, "forbidden");
    }
    server.client().post(DEBUG, asks("ana", "t", LIGHT)).refused(401, "unauthorized");
    for client in [&ana, &bia] {
        client.post(DEBUG, asks("ana", "t", "Mais")).refused(403, "forbidden");
        client.post("/ask-eco?debug=true", asks("ana", "t", "Mais")).refused(403, "forbidden");
    }
    assert_eq!(ana.said("ana", "t").len(), 2, "what is refused is not asked");
    let told = admin.post(DEBUG, asks("ana", "t", "Mais"));
    assert_eq!(told.ok()["trace"]["traceId"], json!(course_of(&told)));
    for path in [PATH, "/ask-eco?debug=0", "/ask-eco?debug=", "/ask-eco?other=1"] {
        assert_eq!(ana.post(path, asks("ana", "t", path)).ok().get("trace"), None, "{path}");
    }
}

#[test]
fn a_course_survives_a_restart_and_goes_with_its_thread() {
    let server = home().serve();
    let ids: Vec<String> =
        ["a", "b", "c"].map(|session| course_of(&server.post(PATH, asks("ana", session, HEAVY)))).into();
    let before: Vec<Value> = ids.iter().map(|id| course(&server, id)).collect();
    server.signal("TERM");
    let (_, home) = server.ended();
    let server = home.serve();
    for (id, before) in ids.iter().zip(&before) {
        assert_eq!(course(&server, id), *before);
    }
    server.delete(&thread("ana", "a", "")).ok();
    debug(&server, &ids[0]).refused(404, "not_found");
    debug(&server, &ids[1]).ok();
    server.delete(&user("ana", "")).ok();
    ids.iter().for_each(|id| drop(debug(&server, id).refused(404, "not_found")));
    let fresh = course_of(&server.post(PATH, asks("ana", "a", LIGHT)));
    server.delete(&thread("ana", "a", "")).ok();
    debug(&server, &fresh).refused(404, "not_found");
    assert!(eventually(|| server.get("/health/ready").ok()["erasing"] == json!(false)));
}

#[test]
fn what_else_a_client_says_of_its_session_stands_in_the_course() {
    let server = home().serve();
    let meta = json!({"sessionId": "t", "aparelho": "telefone-7", "fundo": {"aba": ["inicio-9"]}});
    let answer = server.post(PATH, with(asks("ana", "t", LIGHT), "sessionMeta", meta));
    answer.ok();
    let course = course(&server, &course_of(&answer)).to_string();
    assert!(course.contains("telefone-7") && course.contains("inicio-9"), "{course}");
}
