//! `novelo eval routing`: how many questions are sent to the intent that a human gave them.

use std::path::Path;

use anyhow::Context;
use novelo_conversation::data;
use novelo_conversation::settings::Settings;
use novelo_server::say;

use crate::quality::routing::{self, Confusion, IntentShare, RoutingReport};

pub(crate) fn measure(file: &Path, settings: &Settings) -> anyhow::Result<RoutingReport> {
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let cases = routing::parse(&text).with_context(|| file.display().to_string())?;
    let (ontology, known) = data::ontology(settings)?;
    Ok(routing::run(&cases, &ontology, &known))
}

pub(crate) fn print(report: &RoutingReport) {
    say!("{} questions, {:.1} % of them right", report.questions, report.accuracy);
    if !report.confusions.is_empty() {
        say!("\n| expected | got | questions | such as |\n|---|---|---|---|");
    }
    for Confusion { expected, got, count, questions } in &report.confusions {
        say!("| {expected} | {got} | {count} | {} |", questions.first().map(String::as_str).unwrap_or_default());
    }
    say!("\n| intent | questions | recall |\n|---|---|---|");
    for (intent, IntentShare { questions, right }) in &report.by_intent {
        say!("| {intent} | {questions} | {:.1} |", *right as f64 * 100.0 / (*questions).max(1) as f64);
    }
}
