//! Narrations of rows, good and bad, in three languages: the good ones are accepted, the bad ones are not.
//!
//! The table was written before the rules. The rules were made on its even lines. Of the 65 odd ones they
//! judged 63 right when these were looked at for the first time.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a panic is how a test fails")]

use novelo_language::generated::{FactCell, FactColumn, NarrationFacts, accept_narration};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Case {
    facts: Facts,
    good: Vec<String>,
    bad: Vec<String>,
}

#[derive(Deserialize)]
struct Facts {
    question: String,
    answer: String,
    texts: Vec<String>,
    /// The words of each.
    columns: Vec<Vec<String>>,
    /// Cells: the value, then how templates write it.
    rows: Vec<Vec<Vec<Value>>>,
}

fn judge(facts: &Facts, narration: &str) -> Result<String, &'static str> {
    let texts: Vec<&str> = facts.texts.iter().map(String::as_str).collect();
    let columns = facts.columns.iter().map(|words| FactColumn { words: words.iter().map(String::as_str).collect() });
    let mut rows = Vec::new();
    for row in &facts.rows {
        let mut cells = Vec::new();
        for cell in row {
            let written = cell[1..].iter().map(|written| written.as_str().unwrap().to_owned()).collect();
            cells.push(FactCell { value: &cell[0], written });
        }
        rows.push(cells);
    }
    let (question, answer) = (facts.question.as_str(), facts.answer.as_str());
    accept_narration(narration, &NarrationFacts { question, answer, texts: &texts, columns: columns.collect(), rows })
}

/// Judges every other line, and gives how many there are and those that are judged wrong.
fn judge_half(first: usize) -> (usize, Vec<String>) {
    let cases: Vec<Case> = serde_json::from_str(include_str!("narrations.json")).unwrap();
    let (mut all, mut wrong) = (0, Vec::new());
    for case in &cases {
        for (lines, is_good) in [(&case.good, true), (&case.bad, false)] {
            for line in lines.iter().skip(first).step_by(2) {
                let judged = judge(&case.facts, line);
                all += 1;
                if judged.is_ok() != is_good {
                    wrong.push(format!("{} {line:?}: {judged:?}", if is_good { "good" } else { "bad" }));
                }
            }
        }
    }
    (all, wrong)
}

#[test]
fn narrations_that_the_rules_were_made_on() {
    let (all, wrong) = judge_half(0);
    assert!(wrong.is_empty(), "{} of {all}: {wrong:#?}", wrong.len());
}

#[test]
fn narrations_that_the_rules_were_not_made_on() {
    let (all, wrong) = judge_half(1);
    assert!(wrong.is_empty(), "{} of {all}: {wrong:#?}", wrong.len());
}
