//! `novelo eval rewrite`: by rules and by a model.

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
