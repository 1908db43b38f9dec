//! `novelo eval rewrite`: by rules and by a model. `novelo eval routing`: by the shipped ontology and by
//! one's own.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a panic is how a test fails")]

#[path = "../../server/tests/support/mod.rs"]
mod support;

use std::path::Path;

use crate::support::models::{Act, Models};
use crate::support::{Home, Ran, json};

fn cases() -> String {
    let history = json!([{"role": "user", "content": "What is throat cancer?"}]);
    let first =
        json!({"set": "a", "history": [], "question": "What is throat cancer?", "human": "What is throat cancer?"});
    let next =
        json!({"set": "a", "history": history, "question": "Is it treatable?", "human": "Is throat cancer treatable?"});
    format!("{first}\n{next}\n")
}

#[test]
fn the_rules_are_measured() {
    let home = Home::new();
    home.write("cases.jsonl", &cases());
    let report = home.run(&["eval", "rewrite", "cases.jsonl", "--json"]).json();
    assert_eq!((&report["questions"], &report["untouched"]), (&json!(2), &json!(100.0)));
    assert_eq!((&report["need"]["questions"], &report["by_set"]["a"]["questions"]), (&json!(1), &json!(2)));
    assert_eq!(report["retrieval"]["human"]["1"], 100.0);
    assert!(home.done(&["eval", "rewrite", "cases.jsonl"]).contains("| a | 2 |"));
}

#[test]
fn a_model_is_measured_and_the_rules_stand_in_where_it_fails() {
    let home = Home::new();
    home.write("cases.jsonl", &cases());
    let args = ["eval", "rewrite", "cases.jsonl", "--json", "--with", "model"];
    home.run(&args).failed(&["there is no model that rewrites", "models.answer.url"]);
    let models = Models::start();
    let run = || {
        let mut command = home.command(&args);
        command.envs(models.settings());
        Ran::of(&mut command)
    };
    models.play([Act::says(&["Is throat cancer treatable?"])]);
    let ran = run();
    assert_eq!((&ran.json()["rouge1_f"], ran.err.as_str()), (&json!(100.0), ""));
    assert_eq!(models.asked().len(), 1, "a first question needs no model");
    models.play([Act::Status(400, "no".into())]);
    assert!(run().err.contains("1 of 2 questions were left to the rules"));
}

#[test]
fn a_broken_line_is_named() {
    let home = Home::new();
    home.write("cases.jsonl", "{\"history\": [], \"question\": \"a\", \"human\": \"a\"}\n{\n");
    home.run(&["eval", "rewrite", "cases.jsonl"]).failed(&["cases.jsonl", "line 2"]);
    home.run(&["eval", "rewrite", "none.jsonl"]).failed(&["none.jsonl"]);
}

const ROUTING: &str = include_str!("routing.jsonl");

/// The accuracy of the shipped ontology.
fn routed(home: &Home, file: &str) -> f64 {
    let mut command = home.command(&["eval", "routing", file, "--json"]);
    let report = Ran::of(command.env("NOVELO_ASK_DATABASE", "sample")).json();
    println!("{}", report["confusions"]);
    report["accuracy"].as_f64().unwrap()
}

#[test]
fn questions_of_every_intent_reach_it() {
    let home = Home::new();
    home.write("routing.jsonl", ROUTING);
    assert!(routed(&home, "routing.jsonl") >= 98.0);
    let mut command = home.command(&["eval", "routing", "routing.jsonl"]);
    let shown = Ran::of(command.env("NOVELO_ASK_DATABASE", "sample")).out;
    assert!(shown.starts_with("150 questions, "), "{shown}");
    // The 28 intents, and those questions that belong to none.
    assert_eq!(shown.lines().filter(|line| line.ends_with(".0 |")).count(), 29, "{shown}");
}

/// Written by somebody who had not seen the ontology. It is not to be changed for their sake.
#[test]
fn questions_that_the_ontology_was_not_written_for_are_routed() {
    let home = Home::new();
    home.write("unseen.jsonl", include_str!("unseen.jsonl"));
    assert!(routed(&home, "unseen.jsonl") >= 90.0);
}

#[test]
fn routing_of_the_labelled_questions_stays() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/routing-pt.jsonl");
    if !path.exists() {
        println!("skipped: {} is not there", path.display());
        return;
    }
    assert!(routed(&Home::new(), path.to_str().unwrap()) >= 98.0);
}

#[test]
fn an_ontology_of_ones_own_is_measured_and_a_broken_one_is_told_where() {
    let home = Home::new();
    let question = |text: &str, intent: &str| json!({"question": text, "intent": intent}).to_string();
    let lines = [question("tem gato?", "cats"), question("cachorro!", "cats"), question("peixe", "unroutable")];
    home.write("cases.jsonl", &lines.join("\n"));
    let yaml = "ontology:\n  subject: {name: pet, shape: AA9}\n  intents:\n    cats: {tokens: {gato: 1}}\n    dogs:\n      tokens:\n        cachorro: 1\n";
    home.write("policies/ontology.yaml", yaml);
    let report = home.run(&["eval", "routing", "cases.jsonl", "--json"]).json();
    assert_eq!((&report["questions"], report["accuracy"].as_f64().unwrap().round()), (&json!(3), 67.0));
    let confusion = json!({"expected": "cats", "got": "dogs", "count": 1, "questions": ["cachorro!"]});
    assert_eq!(report["confusions"], json!([confusion]));
    assert!(home.done(&["eval", "routing", "cases.jsonl"]).contains("| cats | dogs | 1 | cachorro! |"));
    home.write("policies/ontology.yaml", &yaml.replace("cachorro: 1", "cachorro: -1"));
    let place = "ontology.yaml: line 7: ontology.intents.dogs.tokens.cachorro must have a weight above 0";
    home.run(&["eval", "routing", "cases.jsonl"]).failed(&[place]);
}

#[test]
fn a_broken_question_is_named() {
    let home = Home::new();
    home.write("cases.jsonl", "{\"question\": \"a\", \"intent\": \"b\"}\n{\"question\": 1, \"intent\": \"b\"}\n");
    home.run(&["eval", "routing", "cases.jsonl"]).failed(&["cases.jsonl", "line 2, question"]);
    home.run(&["eval", "routing", "none.jsonl"]).failed(&["none.jsonl"]);
}
