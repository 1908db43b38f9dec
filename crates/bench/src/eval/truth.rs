//! `novelo eval truth`: how well the rules tell which later text replaces which earlier one.

use std::path::Path;

use anyhow::Context;
use novelo_server::cli::TruthHalfChoice;
use novelo_server::say;

use crate::quality::truth::{self, TruthHalf, TruthReport, WrongPair};

pub(super) fn measure(file: &Path, half: TruthHalfChoice) -> anyhow::Result<TruthReport> {
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let cases = truth::parse(&text).with_context(|| file.display().to_string())?;
    let half = match half {
        TruthHalfChoice::All => TruthHalf::All,
        TruthHalfChoice::Odd => TruthHalf::Odd,
        TruthHalfChoice::Even => TruthHalf::Even,
    };
    Ok(truth::run(&cases, half))
}

pub(super) fn print(report: &TruthReport) {
    let TruthReport { pairs, precision, recall, .. } = report;
    say!("{pairs} pairs, precision {precision:.1} %, recall {recall:.1} %\n");
    say!("| language | replaced | missed | wrongly replaced | left alone | precision | recall |");
    say!("|---|---|---|---|---|---|---|");
    for (language, counts) in &report.by_language {
        let (precision, recall) = (counts.precision(), counts.recall());
        let truth::TruthCounts { found, missed, false_finds, left_alone } = counts;
        say!("| {language} | {found} | {missed} | {false_finds} | {left_alone} | {precision:.1} | {recall:.1} |");
    }
    if !report.wrong.is_empty() {
        say!("\n| id | kind | earlier | later | wrongly replaced because |\n|---|---|---|---|---|");
    }
    for WrongPair { id, kind, old, new, reason } in &report.wrong {
        say!("| {id} | {kind} | {old} | {new} | {} |", reason.as_deref().unwrap_or("missed"));
    }
}
