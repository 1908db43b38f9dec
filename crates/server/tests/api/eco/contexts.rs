//! The cache of contexts: modules that were chosen before, as long as they would be chosen again.

use crate::support::eco::{HEAVY, LIGHT, asks, course, course_of, end, heard, memories, rewrite, serve, with};
use crate::support::models::Models;
use crate::support::{Server, Value, enc, json, user};

/// Asks something that is guided and weighs nothing; the course of it.
#[track_caller]
fn guided(server: &Server, of: &str, text: &str) -> Value {
    let answer = server.post("/ask-eco", with(asks(of, "t", text), "forcarMetodoViva", true));
    answer.ok();
    course(server, &course_of(&answer))
}

/// What became of the context: `hit` or `miss`, and whether the mark of the cache stands among the modules.
#[track_caller]
fn found(course: &Value) -> (&str, bool) {
    let of = |cache: &&Value| cache["cache"] == "context";
    let status = course["caches"].as_array().unwrap().iter().find(of).unwrap()["status"].as_str().unwrap();
    let modules = course["modules"].as_array().unwrap();
    let marks: Vec<&Value> = modules.iter().filter(|module| module["name"] == "__context_cache").collect();
    assert!(marks.len() <= 1 && marks.iter().all(|mark| mark["status"] == "cached"), "{course}");
    (status, !marks.is_empty())
}

const HIT: (&str, bool) = ("hit", true);
const MISS: (&str, bool) = ("miss", false);

/// The system messages that the model was told last, without what was said.
fn instructed(models: &Models) -> Vec<Value> {
    let asked = models.asked();
    let messages = asked.last().unwrap().body["messages"].as_array().unwrap().clone();
    messages.into_iter().filter(|message| message["role"] == "system").collect()
}

#[test]
fn the_same_moment_finds_its_context_and_the_model_is_told_the_same() {
    let models = Models::start();
    let server = serve(&models, &[]);
    let first = guided(&server, "ana", LIGHT);
    let told = instructed(&models);
    assert!(json!(told).to_string().contains("Own steps: V, A"), "{told:?}");
    let again = guided(&server, "ana", "Fala do almoço de domingo");
    assert_eq!((found(&first), found(&again)), (MISS, HIT));
    assert_eq!(instructed(&models), told);
    let names = |course: &Value| {
        let modules = course["modules"].as_array().unwrap().clone();
        let kept = modules.into_iter().filter(|module| module["name"] != "__context_cache");
        kept.map(|module| (module["name"].clone(), module["status"].clone())).collect::<Vec<_>>()
    };
    assert_eq!(names(&again), names(&first), "the trace lists what became of each module");
    let key = again["caches"].as_array().unwrap().iter().find_map(|cache| cache["key"].as_str()).unwrap();
    assert!(key.starts_with("ctx:ana:1:0:ms0:v1:d0:a0:h0:e0:m"), "{key}");
    assert_eq!(found(&guided(&server, "bia", LIGHT)), MISS, "another's is not found");
}

#[test]
fn another_moment_makes_another_context() {
    let models = Models::start();
    let server = serve(&models, &[]);
    guided(&server, "ana", LIGHT);
    assert_eq!(found(&guided(&server, "ana", "O naufrágio")), MISS, "a heuristic fires");
    assert!(json!(instructed(&models)).to_string().contains("there is a boat"));
    assert_eq!(found(&guided(&server, "ana", "Que tristeza")), MISS, "another level");
    let named =
        with(asks("ana", "t", "Fala mais"), "metaFromBuilder", json!({"aberturaHibrida": {"sugestaoNivel": 2}}));
    let answer = server.post("/ask-eco", with(named, "forcarMetodoViva", true));
    answer.ok();
    assert_eq!(found(&course(&server, &course_of(&answer))), MISS, "another opening");
    let unforced = heard(&server, &asks("ana", "t", "Quero refletir"));
    assert_eq!(found(&end(&unforced)["trace"]), MISS, "guided by a trigger, and not forced");
    assert_eq!(found(&guided(&server, "ana", "E o jantar")), HIT, "the first one is still there");
}

#[test]
fn a_changed_text_is_used_at_once() {
    let models = Models::start();
    let server = serve(&models, &[]);
    guided(&server, "ana", LIGHT);
    assert_eq!(found(&guided(&server, "ana", "Fala do almoço")), HIT);
    rewrite(&server, "modules/base.txt", "Own: be very brief.\n", 1);
    assert_eq!(found(&guided(&server, "ana", "Fala do jantar")), MISS);
    let told = json!(instructed(&models)).to_string();
    assert!(told.contains("Own: be very brief.") && !told.contains("Own: be brief."), "{told}");
    assert_eq!(found(&guided(&server, "ana", "Fala da ceia")), HIT);
    let (_, manifest) = crate::support::eco::FILES[5];
    rewrite(&server, "modules.yaml", &manifest.replace("guided: true", "guided: false"), 2);
    assert_eq!(found(&guided(&server, "ana", "Fala do lanche")), MISS);
    assert!(!json!(instructed(&models)).to_string().contains("Own steps"));
}

#[test]
fn where_memories_were_found_it_is_not_used() {
    let models = Models::start();
    let server = serve(&models, &[]);
    server.post(&user("ana", "/memories"), json!({"text": "Gosta de papagaio no jardim"})).ok();
    for when in ["ontem", "hoje"] {
        let course = guided(&server, "ana", &format!("Viu o papagaio {when}"));
        assert_eq!(found(&course), MISS);
        assert!(json!(instructed(&models)).to_string().contains("Gosta de papagaio no jardim"));
    }
    assert_eq!(found(&guided(&server, "ana", LIGHT)), MISS, "with memories it was not kept either");
    assert_eq!(found(&guided(&server, "ana", "Fala do almoço")), HIT);
    assert!(!json!(instructed(&models)).to_string().contains("papagaio no jardim"));
    server.post(&user("ana", "/memories"), json!({"text": "O almoço foi ao ar livre"})).ok();
    assert_eq!(found(&guided(&server, "ana", "Fala do almoço outra vez")), MISS, "one came since");
}

#[test]
fn what_a_user_is_called_is_not_what_another_is_called() {
    let models = Models::start();
    let server = serve(&models, &[]);
    rewrite(&server, "modules/base.txt", "Own: you talk with {name}.\n", 1);
    let ask = |name: &str| {
        let body = with(asks("ana", "t", &format!("Sou eu, {}", enc(name))), "metaFromBuilder", json!({"nome": name}));
        let answer = server.post("/ask-eco", with(body, "forcarMetodoViva", true));
        answer.ok();
        let told = json!(instructed(&models)).to_string();
        assert!(told.contains(&format!("you talk with {name}.")), "{told}");
        course(&server, &course_of(&answer))
    };
    assert_eq!(found(&ask("Ana")), MISS);
    assert_eq!(found(&ask("Bia")), MISS);
}

#[test]
fn forgetting_a_user_forgets_its_contexts() {
    let models = Models::start();
    let server = serve(&models, &[]);
    guided(&server, "ana", LIGHT);
    assert_eq!(found(&guided(&server, "ana", "Fala do almoço")), HIT);
    server.delete(&user("ana", "")).ok();
    assert_eq!(found(&guided(&server, "ana", LIGHT)), MISS);
}

#[test]
fn the_callers_own_instructions_leave_no_context() {
    let models = Models::start();
    let server = serve(&models, &[]);
    let body = with(asks("ana", "t", HEAVY), "promptOverride", "Own: say little.");
    let answer = server.post("/ask-eco", body);
    assert_eq!(answer.ok()["meta"]["mode"], "full");
    let told = instructed(&models);
    assert_eq!(told.len(), 1, "neither modules nor memories: {told:?}");
    assert_eq!(told[0]["content"], "Own: say little.");
    assert_eq!(course(&server, &course_of(&answer))["modules"], json!([]));
    assert_eq!(memories(&server, "ana").len(), 1, "what it weighs does not depend on it");
}
