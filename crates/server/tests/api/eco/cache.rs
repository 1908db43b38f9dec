//! Answers that are given again, and all that keeps them from it.

use std::time::{Duration, Instant};

use crate::support::eco::{
    FILES, HEAVY, LIGHT, ask, asks, conversation, course, course_of, end, events, heard, memories, rewrite, serve,
    turns, with,
};
use crate::support::models::{Act, Models};
use crate::support::{Server, Value, eventually, json, says, thread, user};

/// A server whose model never says the same twice.
fn talking(settings: &[(&str, &str)]) -> (Models, Server) {
    let models = Models::start();
    let numbered = |n: usize| Act::says(&[&format!("Resposta {n}.")]);
    models.play((0..200).map(numbered));
    let server = serve(&models, settings);
    (models, server)
}

/// Asks, and tells whether it was answered before; the model is asked only where it was not.
#[track_caller]
fn is_hit(server: &Server, models: &Models, body: &Value) -> bool {
    let before = models.asked().len();
    let told = ask(server, body);
    let hit = told["cache"].as_bool().unwrap();
    assert_eq!(models.asked().len(), before + usize::from(!hit), "{told}");
    hit
}

#[test]
fn a_repeat_is_answered_as_before_without_the_model() {
    let (models, server) = talking(&[]);
    let history = [says("user", "Oi"), says("assistant", "Diga."), says("user", HEAVY)];
    let tall = conversation("ana", "tall", &history);
    let bodies = [asks("ana", "fast", LIGHT), asks("ana", "guided", HEAVY), tall];
    for (n, body) in bodies.iter().enumerate() {
        let first = ask(&server, body);
        assert_eq!(first["cache"], false);
        let kept = turns(&server, "ana", body["sessionMeta"]["sessionId"].as_str().unwrap());
        for _ in 0..3 {
            let mut again = ask(&server, body);
            assert_eq!(again["cache"], true);
            again["cache"] = json!(false);
            for name in ["at", "sinceStartMs"] {
                again[name] = first[name].clone();
            }
            assert_eq!(again, first);
        }
        assert_eq!(turns(&server, "ana", body["sessionMeta"]["sessionId"].as_str().unwrap()), kept, "nothing is added");
        assert_eq!(models.asked().len(), n + 1);
    }
}

#[test]
fn a_repeat_streams_as_anything_does_and_its_course_says_so() {
    let (models, server) = talking(&[]);
    let first = heard(&server, &asks("ana", "t", HEAVY));
    let again = heard(&server, &asks("ana", "t", HEAVY));
    let (first, done) = (end(&first), end(&again));
    assert_eq!((&done["cache"], &done["message"]), (&json!(true), &first["message"]));
    assert_eq!(events(&again), ["prompt_ready", "first_token", "chunk", "latency", "done"]);
    assert_eq!((&first["trace"]["cacheStatus"], &done["trace"]["cacheStatus"]), (&json!("miss"), &json!("hit")));
    assert_ne!(first["trace"]["traceId"], done["trace"]["traceId"], "a course of its own, not the first one again");
    let latency = &done["trace"]["latency"];
    assert!(["promptReadyMs", "firstTokenMs", "totalMs"].iter().all(|name| latency[name].is_number()), "{latency}");
    assert_eq!((&done["trace"]["modules"], &done["trace"]["prompts"]), (&json!([]), &json!([])));
    assert_eq!((models.asked().len(), memories(&server, "ana").len()), (1, 1));
}

#[test]
fn whatever_differs_is_answered_anew() {
    let (models, server) = talking(&[]);
    let built = |value: Value| move |body: Value| with(body, "metaFromBuilder", value.clone());
    let flag = |name: &'static str, value: Value| move |body: Value| with(body, name, value.clone());
    let said = |messages: Vec<Value>| move |body: Value| with(body, "messages", messages.clone());
    let ways: Vec<Box<dyn Fn(Value) -> Value>> = vec![
        Box::new(flag("userId", json!("bia"))),
        Box::new(flag("forcarMetodoViva", json!(true))),
        Box::new(flag("promptOverride", json!("Own: say little."))),
        Box::new(built(json!({"nome": "Ana"}))),
        Box::new(built(json!({"aberturaHibrida": {"sugestaoNivel": 3}}))),
        Box::new(built(json!({"blocoTecnicoForcado": {"emocao": "calma"}}))),
        Box::new(built(json!({"blocoTecnicoForcado": {"intensidade": 3.5}}))),
        Box::new(said(vec![says("user", "Bateu o desespero na volta.")])),
        Box::new(said(vec![says("user", "bateu o desespero na volta")])),
        Box::new(said(vec![says("assistant", "Diga."), says("user", HEAVY)])),
        Box::new(said(vec![says("system", "Seja breve."), says("user", HEAVY)])),
    ];
    for (n, way) in ways.iter().enumerate() {
        let body = asks("ana", &format!("t{n}"), HEAVY);
        assert!(!is_hit(&server, &models, &body));
        assert!(!is_hit(&server, &models, &way(body.clone())), "{}", way(body));
    }
    let body = asks("ana", "control", HEAVY);
    assert!(!is_hit(&server, &models, &body), "another thread");
    assert!(is_hit(&server, &models, &body), "the same");
    assert!(is_hit(&server, &models, &with(body.clone(), "metaFromBuilder", json!({}))), "nothing that matters");
    assert!(is_hit(&server, &models, &with(body, "promptReadyImmediate", true)));
}

#[test]
fn what_was_said_in_between_by_any_door_makes_another_history() {
    let (models, server) = talking(&[("NOVELO_MODELS_REWRITE_URL", "none")]);
    let doors: [(&str, Value); 3] = [
        (&thread("ana", "turns", "/turns"), json!({"messages": [says("user", "Aliás, choveu.")]})),
        ("/api/ask", json!({"question": "Choveu?", "thread_id": "asked", "user_id": "ana"})),
        ("/memory/chat", json!({"message": "Choveu?", "session_id": "chat", "user_id": "ana"})),
    ];
    for (session, (path, said)) in ["turns", "asked", "chat"].into_iter().zip(doors) {
        let body = asks("ana", session, HEAVY);
        assert!(!is_hit(&server, &models, &body));
        assert!(is_hit(&server, &models, &body));
        server.post(path, said).ok();
        assert!(!is_hit(&server, &models, &body), "{path}");
        assert!(is_hit(&server, &models, &body), "{path}");
    }
}

#[test]
fn it_holds_for_so_long() {
    let (models, server) = talking(&[("NOVELO_ECO_CACHE_SECONDS", "1")]);
    let body = asks("ana", "t", LIGHT);
    let asked = Instant::now();
    assert!(!is_hit(&server, &models, &body));
    assert!(eventually(|| !is_hit(&server, &models, &body)), "it is still answered from the cache");
    assert!(asked.elapsed() >= Duration::from_secs(1), "{:?}", asked.elapsed());
    let (models, server) = talking(&[("NOVELO_ECO_CACHE_SECONDS", "0")]);
    assert!(!is_hit(&server, &models, &body));
    assert!(!is_hit(&server, &models, &body), "0 is never");
}

/// The thread is made as long again as it was, so that nothing but the forgetting keeps the answer back.
#[test]
fn what_is_forgotten_is_not_answered_again() {
    let (models, server) = talking(&[]);
    for path in [thread("ana", "t", ""), user("ana", "")] {
        let body = asks("ana", "t", HEAVY);
        assert!(!is_hit(&server, &models, &body));
        assert!(is_hit(&server, &models, &body));
        let count = turns(&server, "ana", "t").len();
        server.delete(&path).ok();
        server.append("ana", "t", &vec![says("assistant", "Outra coisa."); count]);
        assert!(!is_hit(&server, &models, &body), "{path}");
        server.delete(&path).ok();
    }
    let (a, b) = (asks("ana", "a", LIGHT), asks("bia", "a", LIGHT));
    assert!(!is_hit(&server, &models, &a) && !is_hit(&server, &models, &b));
    server.delete(&user("ana", "")).ok();
    assert!(is_hit(&server, &models, &b), "of another nothing is forgotten");
}

#[test]
fn changed_policies_answer_anew() {
    let (models, server) = talking(&[]);
    let body = asks("ana", "t", LIGHT);
    for (age, (name, text)) in (1..).step_by(2).zip(FILES) {
        assert!(!is_hit(&server, &models, &body), "{name}");
        assert!(is_hit(&server, &models, &body), "{name}");
        let changed = match name {
            "signals.yaml" => text.replace("weight: 5", "weight: 4"),
            "heuristics.yaml" => text.replace("similarity: 0.6", "similarity: 0.7"),
            "greetings.yaml" => text.replace("words_max: 4", "words_max: 5"),
            "safety.yaml" => text.replace("188", "192"),
            "answers.yaml" => text.replace("fast: 100", "fast: 101"),
            "modules.yaml" => text.replace("priority: 10}", "priority: 11}"),
            _ => text.replace("Own", "Owned"),
        };
        assert_ne!(changed, text);
        rewrite(&server, name, &changed, age);
        assert!(!is_hit(&server, &models, &body), "{name}");
        rewrite(&server, name, text, age + 1);
    }
}

#[test]
fn help_in_a_crisis_is_never_from_the_cache_and_no_model_is_asked() {
    let (models, server) = talking(&[]);
    let body = asks("ana", "t", "Corro perigo de vida, e bateu o desespero");
    for _ in 0..2 {
        let answer = server.post("/ask-eco", &body);
        let told = answer.ok();
        assert_eq!((&told["message"], &told["cache"]), (&json!("Own: ligue 188."), &json!(false)));
        assert_eq!((&told["meta"]["mode"], &told["meta"]["reason"]), (&json!("shortcut"), &json!("safety")));
        assert_eq!((&told["modelo"], &told["meta"]["saveMemory"]), (&Value::Null, &json!(false)));
        assert_eq!(course(&server, &course_of(&answer))["cacheStatus"], "miss");
    }
    assert_eq!((models.asked().len(), memories(&server, "ana").len()), (0, 0));
}

#[test]
fn a_restart_answers_anew() {
    let (models, server) = talking(&[]);
    let body = asks("ana", "t", LIGHT);
    assert!(!is_hit(&server, &models, &body));
    let server = server.kill().serve_with(&models.talking());
    assert!(!is_hit(&server, &models, &body));
}

#[test]
fn what_is_remembered_or_known_since_is_not_passed_over() {
    let (models, server) = talking(&[]);
    let body = asks("ana", "t", LIGHT);
    assert!(!is_hit(&server, &models, &body));
    for (path, change) in [("/memories", json!({"text": "Gosta de passeio"})), ("/data", json!({"nome": "Ana"}))] {
        assert!(is_hit(&server, &models, &body), "before {path}");
        match path {
            "/data" => server.put(&user("ana", path), &change).ok(),
            _ => server.post(&user("ana", path), &change).ok(),
        };
        assert!(!is_hit(&server, &models, &body), "after {path}");
    }
    assert!(is_hit(&server, &models, &body));
    server.post("/memory/reset", json!({"user_id": "ana", "scope": "vector"})).ok();
    assert!(!is_hit(&server, &models, &body), "after its memories were forgotten");
}

#[test]
fn what_a_client_calls_its_messages_does_not_matter() {
    let (models, server) = talking(&[]);
    let named = |id: &str| {
        let message = json!({"id": id, "role": "user", "content": LIGHT});
        with(asks("ana", "t", LIGHT), "messages", json!([message]))
    };
    assert!(!is_hit(&server, &models, &named("a")));
    assert!(is_hit(&server, &models, &named("b")));
}
