//! Conversations over catalogues in English, Russian and Portuguese: how many turns are right, asked back or
//! silently wrong.
//!
//! `@NAME` chooses a catalogue and `## ` begins a conversation. A turn is `question => expected`: an intent
//! (several with `|`), and `COLUMN=VALUES` of its rows (`_` for a blank), `window=`, `agg=`, `limit=`,
//! `cond=COLUMN<NUMBER`, `says=`, or a choice by its name. `? words` is a turn that must be asked back, with
//! these words quoted; `?|` before an intent allows both.

use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;

use super::conversations::{Outcome, Score, has_condition};
use crate::support::asking::{ask, home};
use crate::support::{Home, Server, Value, json};

/// The shipped library, or one of the catalogues beside this file.
pub fn catalogue(name: &str) -> (Arc<Home>, Server) {
    if name == "library" {
        let home = Home::new();
        let server = home.serve_with(&[("NOVELO_ASK_DATABASE", "sample"), ("NOVELO_ASK_CATALOGUE", "library")]);
        return (home, server);
    }
    let home = home(
        "context: {enabled: true, max_turns: 6, planner: {max_turns: 4}, last_reference: {enable_last_ticker: true}}\n",
    );
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/api/ask/catalogues").join(name);
    let text = |path: &Path| std::fs::read_to_string(path).unwrap();
    for file in ["ontology.yaml", "param_inference.yaml"] {
        home.write(&format!("policies/{file}"), &text(&from.join(file)));
    }
    for file in std::fs::read_dir(from.join("entities")).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        home.write(&format!("policies/entities/{name}"), &text(&path));
    }
    let database = home.path("own.db");
    Connection::open(&database).unwrap().execute_batch(&text(&from.join("data.sql"))).unwrap();
    let server = home.serve_with(&[("NOVELO_ASK_DATABASE", database.to_str().unwrap())]);
    assert_eq!(server.get("/v1/doctor").ok()["findings"], json!([]), "{name}");
    (home, server)
}

#[test]
fn hard_conversations_in_other_languages_are_right_or_asked_back() {
    for (name, text) in [
        ("development", include_str!("catalogues/development.txt")),
        ("held out", include_str!("catalogues/held_out.txt")),
    ] {
        let score = run(name, text);
        let turns = score.turns();
        let (right, wrong) = (score.share(score.right), score.share(score.wrong.len()));
        println!(
            "{name}: {turns} turns, {right:.1} % right, {} asked back, {wrong:.1} % silently wrong",
            score.asked_back.len()
        );
        assert!(right >= 75.0 && wrong <= 4.0, "{name}: {score:#?}");
    }
}

fn run(name: &str, text: &str) -> Score {
    let mut score = Score::default();
    let mut conversation = String::new();
    let mut served: Option<(Arc<Home>, Server)> = None;
    for line in text.lines() {
        if let Some(catalogue_name) = line.strip_prefix('@') {
            served = Some(catalogue(catalogue_name));
        }
        if let Some(title) = line.strip_prefix("## ") {
            conversation = format!("{name} {title}");
        }
        let Some((question, expected)) = line.split_once(" => ") else { continue };
        let (_, server) = served.as_ref().unwrap();
        let answer = ask(server, "demo", &conversation, question);
        let outcome = judge(&answer, expected);
        score.add(outcome, &format!("{conversation}: {question}"), &answer);
    }
    score
}

fn judge(answer: &Value, expected: &str) -> Outcome {
    let is_answered = answer["status"] == "ok";
    let (may_ask, expected) = expected.strip_prefix("?|").map_or((false, expected), |rest| (true, rest));
    if let Some(words) = expected.strip_prefix('?') {
        let text = answer["answer"].as_str().unwrap().to_lowercase();
        return match (is_answered, text.contains(&words.trim().to_lowercase())) {
            (true, _) => Outcome::Wrong("it was answered".to_owned()),
            (false, true) => Outcome::Right,
            (false, false) => Outcome::AskedBack,
        };
    }
    if !is_answered {
        return if may_ask { Outcome::Right } else { Outcome::AskedBack };
    }
    let mut parts = expected.split_whitespace();
    let is_asked = parts.next().unwrap().split('|').any(|intent| answer["meta"]["intent"] == intent);
    match parts.find(|part| !fits(answer, part)) {
        _ if !is_asked => Outcome::Wrong(format!("the intent is {}", answer["meta"]["intent"])),
        Some(part) => {
            Outcome::Wrong(format!("{part} is not in {} {}", answer["meta"]["parameters"], answer["results"]))
        }
        None => Outcome::Right,
    }
}

fn fits(answer: &Value, part: &str) -> bool {
    let parameters = &answer["meta"]["parameters"];
    let (name, value) = part.split_once('=').unwrap();
    let rows = answer["results"].as_array().unwrap();
    if rows.first().is_some_and(|row| !row[name].is_null()) && parameters["choices"][name].is_null() {
        let wanted: Vec<String> = value.split(',').map(|one| one.replace('_', " ")).collect();
        let found: Vec<&str> = rows.iter().filter_map(|row| row[name].as_str()).collect();
        let is_wanted = |one: &&str| wanted.iter().any(|it| it == one);
        return wanted.iter().all(|it| found.contains(&it.as_str())) && found.iter().all(is_wanted);
    }
    match name {
        "window" => parameters["window"] == value,
        "agg" => parameters["aggregation"] == value,
        "limit" => parameters["limit"].as_u64().is_some_and(|limit| value.parse() == Ok(limit)),
        "says" => answer["answer"].as_str().unwrap().contains(value),
        "cond" => has_condition(parameters, value),
        _ => parameters["choices"][name] == json!([value]),
    }
}
